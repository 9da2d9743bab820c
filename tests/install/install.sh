#!/bin/sh
# install.sh CMAKE BUILD SOURCE SCRATCH CC NM SANITIZERS: installs the build into a scratch folder, moves
# it, and uses it from there in the three ways that people do: pkg-config (shared and static), CMake's
# find_package, and the command.
set -eu
cmake=$1 build=$2 source=$3 scratch=$4 cc=$5 nm=$6 sanitize=$7
fail() {
    echo "install: $*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >log
mv first here # nothing in it may know where it was put
export PKG_CONFIG_PATH="$scratch/here/lib/pkgconfig" LD_LIBRARY_PATH="$scratch/here/lib"
flags=
[ -z "$sanitize" ] || flags="-fsanitize=$sanitize"

echo "what the headers declare is visible, and nothing else"
cat here/include/mfc.h here/include/mfc/solve.h | tr '\n' ' ' |
    grep -oE 'MFC_API [^;(]*' | grep -oE 'mfc_[a-z_]+$' | sort >declared
for symbols in "$nm -D --defined-only here/lib/libmfc.so" "$nm --defined-only -g here/lib/libmfc.a"; do
    names=$($symbols | awk 'NF == 3 {print $3}')
    echo "$names" | grep '^mfc_' | sort | cmp declared - || fail "not what the headers declare: $symbols"
    others=$(echo "$names" | grep -Ev '^mfc_|^_(init|fini)$|^__odr_asan' || true)
    [ -z "$others" ] || fail "$symbols shows $others"
done
readelf -d here/lib/libmfc.so | grep -q 'SONAME.*libmfc\.so\.0\.2\]' || fail "wrong soname"

echo "pkg-config, shared"
$cc $flags -Wall -Wextra -Werror "$source/examples/pipeline.c" $(pkg-config --cflags --libs mfc) -o shared
ldd shared | grep -q "$scratch/here/lib/libmfc.so.0.2" || fail "the shared library is not used"

echo "pkg-config, static"
libs=$(pkg-config --static --libs mfc | sed "s,-lmfc ,$scratch/here/lib/libmfc.a ,")
$cc $flags "$source/examples/pipeline.c" $(pkg-config --cflags mfc) $libs -o static
! ldd static | grep -q libmfc || fail "the static library is not used"

echo "CMake"
mkdir project
cp "$source/examples/pipeline.c" project
cat >project/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(pipeline C)
find_package(mfc 0.2 REQUIRED)
add_executable(pipeline pipeline.c)
target_link_libraries(pipeline mfc::mfc)
add_executable(pipeline_static pipeline.c)
target_link_libraries(pipeline_static mfc::static)
END
"$cmake" -S project -B project/build -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_PREFIX_PATH="$scratch/here" >log
"$cmake" --build project/build >log

echo "a C++ compiler reads the headers, and the version is the library's"
echo '#include <mfc/solve.h>
#include <cstdio>
int main() {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", MFC_VERSION_MAJOR, MFC_VERSION_MINOR, MFC_VERSION_PATCH);
    static_assert(MFC_VERSION_NUMBER >= MFC_VERSION_OF(0, 2, 0), "");
    return __builtin_strcmp(version, mfc_version());
}' >header.cc
c++ $flags -Wall -Wextra -Werror header.cc $(pkg-config --cflags --libs mfc) -o header
./header || fail "the header has another version than the library"

echo "the solver in 40 lines"
$cc $flags -Wall -Wextra -Werror "$source/examples/solve.c" $(pkg-config --cflags --libs mfc) -o solve
./solve >solve.out
[ "$(grep -c '^compute' solve.out)" -gt 24 ] && tail -n 1 solve.out | grep -q '^peak 6291456 of 13631488 bytes' ||
    fail "the solver: $(tail -n 1 solve.out)"

echo "all of them write what the command writes"
here/bin/mfc "$source/examples/mlp.onnx" -o command.onnx
for program in ./shared ./static project/build/pipeline project/build/pipeline_static; do
    $program "$source/examples/mlp.onnx" out.onnx - 2>err | grep -q "out.onnx is written by mfc" ||
        fail "$program: $(cat err)"
    cmp command.onnx out.onnx || fail "$program writes something else"
    rm out.onnx
    rc=0
    $program missing.onnx out.onnx - 2>err || rc=$?
    [ $rc = 8 ] && grep -q 'missing.onnx.*\[io\]' err || fail "$program: $rc $(cat err)"
    [ ! -e out.onnx ] || fail "$program left an output"
done
echo "a cost model of one's own: what is expensive to send is not sent"
$cc $flags -Wall -Wextra -Werror "$source/examples/cost_model.c" $(pkg-config --cflags --libs mfc) -o cost_model
for price in 0 1e9; do
    ./cost_model "$source/examples/mlp.onnx" $price.mfc 2xV100-16GB $price || fail "cost_model $price"
done
grep -q 'role="transfer"' 0.mfc || fail "nothing is sent though it costs nothing"
! grep -q 'role="transfer"' 1e9.mfc || fail "what is expensive is sent"
echo "done"

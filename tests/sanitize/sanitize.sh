#!/bin/sh
# sanitize.sh CMAKE CTEST SOURCE BUILD SANITIZERS SMALL UNITS TESTS LAUNCHER: builds mfc and the unit tests whose names match UNITS
# with the sanitizers and runs the tests whose names match TESTS, all on one processor.
set -eu
cmake=$1 ctest=$2 source=$3 build=$4 sanitizers=$5 small=$6 units=$7 tests=$8 launcher=$9
"$cmake" -S "$source" -B "$build" -G Ninja -DMFC_SANITIZE="$sanitizers" -DMFC_SMALL="$small" -DMFC_UNITS="$units" \
    -DMFC_WERROR=ON -DCMAKE_C_COMPILER_LAUNCHER="$launcher" >/dev/null
"$cmake" --build "$build" --target mfc units flips -j1 >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    exit 1
}
exec "$ctest" --test-dir "$build" -R "$tests" --output-on-failure --no-tests=error

#!/bin/sh
# fuzz.sh CMAKE SOURCE BUILD CC CXX SECONDS: builds the fuzz target with sanitizers and runs it for so long.
set -eu
cmake=$1 source=$2 build=$3 cc=$4 cxx=$5 seconds=$6
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DMFC_FUZZ=ON -DMFC_SANITIZE=address,undefined -DMFC_WERROR=ON >/dev/null
"$cmake" --build "$build" --target fuzz_import -j1 >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    exit 1
}
# What it finds worth keeping goes to `corpus`, from where the next run goes on; the small sample models are
# where the first one starts.
mkdir -p "$build/corpus"
for model in control functions old surroundings types unsorted; do
    cp "$source/tests/models/$model.onnx" "$build/corpus"
done
cd "$build"
exec tests/fuzz/fuzz_import -max_total_time="$seconds" -max_len=4096 -timeout=300 -rss_limit_mb=1024 \
    -print_final_stats=1 corpus

#!/bin/sh
# sanitize.sh CMAKE CTEST SOURCE BUILD SANITIZERS SMALL TESTS: builds with the sanitizers and runs the
# quick tests whose names match.
set -eu
cmake=$1 ctest=$2 source=$3 build=$4 sanitizers=$5 small=$6 tests=$7
"$cmake" -S "$source" -B "$build" -G Ninja -DMFC_SANITIZE="$sanitizers" -DMFC_SMALL="$small" -DMFC_WERROR=ON >/dev/null
"$cmake" --build "$build" >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    exit 1
}
exec "$ctest" --test-dir "$build" -L quick -R "$tests" -j2 --output-on-failure --no-tests=error

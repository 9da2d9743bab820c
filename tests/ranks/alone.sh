#!/bin/sh
# alone.sh CMAKE SOURCE SCRATCH MFC [OPTION...]: configures and builds mfc without MPI, as where there is none. It must say so,
# and place a problem as MFC does, which may have MPI.
set -eu
cmake=$1 source=$2 scratch=$3 mfc=$4
shift 4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$cmake" -S "$source" -B build -DMFC_MPI=OFF -DMFC_TESTS=OFF -DMFC_WERROR=ON "$@" >log
"$cmake" --build build --target mfc -j 2 >log
build/mfc --version | grep "built without MPI"
"$source/bench/solver/generate" unet 2 >plain.json
"$source/bench/placement/on_devices.py" plain.json problem.json --memory 60%
"$mfc" place problem.json --work 20000 -q -o with.json >with.txt
build/mfc place problem.json --work 20000 -q -o without.json >without.txt
cmp with.json without.json
cmp with.txt without.txt

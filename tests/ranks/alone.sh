#!/bin/sh
# alone.sh CMAKE SOURCE SCRATCH MFC ALONE [OPTION...]: ALONE is mfc without MPI. It must say so, and place a problem as MFC does, which
# may have MPI. A build that is configured without MPI compiles the command as ALONE was.
set -eu
cmake=$1 source=$2 scratch=$3 mfc=$4 alone=$5
shift 5
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$cmake" -S "$source" -B build -DMFC_MPI=OFF -DMFC_TESTS=OFF "$@" >log
grep -q 'frontend/cli/' build/compile_commands.json
! grep -e -DMFC_MPI -e openmpi build/compile_commands.json
"$alone" --version | grep "built without MPI"
"$source/bench/solver/generate" unet 2 >plain.json
"$source/bench/placement/on_devices.py" plain.json problem.json --memory 60%
"$mfc" place problem.json --work 20000 -q -o with.json >with.txt
"$alone" place problem.json --work 20000 -q -o without.json >without.txt
cmp with.json without.json
cmp with.txt without.txt

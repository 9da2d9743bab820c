#!/bin/sh
# threads.sh MFC SOURCE SCRATCH: whole searches on four threads, for the thread sanitizer: a race ends mfc with an exit code
# of its own. The results are checked as well.
set -eu
mfc=$1 source=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$source/bench/solver/generate" unet 2 >plain.json
"$source/bench/placement/on_devices.py" plain.json problem.json --memory 60%

echo "the portfolio"
"$mfc" solve plain.json --budget 60% --gap 0 --work 10 --threads 4 -q -o schedule.json
"$mfc" verify plain.json schedule.json
echo "the placement search"
"$mfc" place problem.json --work 16000 --chains 4 --threads 4 -q -o strategy.json
"$mfc" simulate problem.json strategy.json
echo "a placed plan"
"$mfc" "$source/examples/mlp.onnx" -o placed.onnx --rig 2xV100-16GB --work 1000 --threads 4 -q
echo "the search for addresses"
"$mfc" layout "$source/examples/mlp.onnx" --compare --work 1 --threads 4 -q

#!/bin/sh
# profile.sh MFC TOP: profiles the baseline step of an example, without and with graph optimizations, and gives the
# profiles to mfc: without, every node must be found; with, what was not fused away.
set -eu
mfc=$1 top=$2
model=$top/examples/training/cnn.onnx
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export MFC_NODE_MODULES="$top/tests/runtime"

"$mfc" "$model" -o step.onnx --optimizer sgd --budget none
for level in disabled all; do
  node "$top/examples/profile.mjs" step.onnx -o $level.json --runs 2 --threads 1 --level $level
  "$mfc" "$model" -o $level.mfc --optimizer sgd --budget none --profile $level.json 2> $level.txt
  cat $level.txt
done
grep -q "nodes matched (100.0 %), 100.0 % of the time \[profile\]" disabled.txt
grep -q "nodes matched ([0-9.]* %), [0-9.]* % of the time; the others scaled by [0-9.]* \[profile\]" all.txt

# Every node has a measured time: a multiple of half a microsecond.
grep -c " cost=[0-9]*[05]00 " disabled.mfc > measured
grep -c " cost=" disabled.mfc > all
cmp measured all

# Inputs of one's own, and what is wrong with them.
echo '{"labels": [1, 2]}' > inputs.json
if node "$top/examples/profile.mjs" step.onnx -o own.json --inputs inputs.json 2> wrong.txt; then exit 1; fi
grep -q "input labels: 2 numbers are given for" wrong.txt

#!/bin/sh
# train.sh MFC TOP OPTIMIZER: makes the step of examples/training/cnn.onnx and trains with it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$2/examples/training/cnn.onnx" -o "$folder/step.onnx" --optimizer "$3" --weights inputs --initial "$folder/start.onnx"
MFC_NODE_MODULES=$2/tests/runtime node "$2/examples/training/train.mjs" "$folder/step.onnx" "$folder/start.onnx" "$3"

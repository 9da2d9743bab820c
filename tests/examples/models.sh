#!/bin/sh
# models.sh PYTHON EXAMPLES SCRATCH: makes the example models afresh and compares.
set -eu
python=$1 examples=$2 scratch=$3
mkdir -p "$scratch"
"$python" "$examples/make_models.py" "$scratch"
for model in "$examples"/*.onnx; do
    cmp "$model" "$scratch/$(basename "$model")"
    echo "$model: $(wc -c <"$model") bytes"
done

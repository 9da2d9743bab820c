#!/bin/sh
# models.sh PYTHON EXAMPLES SCRATCH: makes the example models afresh and compares.
set -eu
python=$1 examples=$2 scratch=$3
for folder in . browser; do
    mkdir -p "$scratch/$folder"
    PYTHONDONTWRITEBYTECODE=1 "$python" "$examples/$folder/make_models.py" "$scratch/$folder"
    for model in "$examples/$folder"/*.onnx; do
        cmp "$model" "$scratch/$folder/$(basename "$model")"
        echo "$model: $(wc -c <"$model") bytes"
    done
done

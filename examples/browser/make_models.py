#!/usr/bin/python3
"""Makes the two models of the browser example with Debian's python3-onnx. The same bytes on every run.

    python3 examples/browser/make_models.py examples/browser
"""
import os
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from make_models import floats, save, weights  # noqa: E402

BATCH, SIDE, SHAPES = 128, 32, 5  # images
LINES, LENGTH, SYMBOLS, WIDTH = 128, 32, 40, 32  # text


def image(folder):
    """Three convolutions for pictures of 32x32 pixels, batch 128."""
    random = numpy.random.RandomState(4)
    nodes, initializers, x, n_in = [], [], "image", 3
    for i, n_out in enumerate((8, 16, 32)):
        initializers += [weights(random, f"conv{i}.w", n_out, n_in, 3, 3), weights(random, f"conv{i}.b", n_out)]
        nodes += [helper.make_node("Conv", [x, f"conv{i}.w", f"conv{i}.b"], [f"conv{i}"], f"conv{i}", kernel_shape=[3, 3],
                                   pads=[1, 1, 1, 1]),
                  helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"], f"relu{i}"),
                  helper.make_node("MaxPool", [f"relu{i}"], [f"pool{i}"], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2])]
        x, n_in = f"pool{i}", n_out
    nodes += [helper.make_node("Flatten", [x], ["flat"], "flat", axis=1),
              helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], ["scores"], "fc", transB=1)]
    initializers += [weights(random, "fc.w", SHAPES, 32 * 16), weights(random, "fc.b", SHAPES)]
    save(folder, "image", nodes, [floats("image", BATCH, 3, SIDE, SIDE)], [floats("scores", BATCH, SHAPES)], initializers, [])


def text(folder):
    """A transformer of one layer that predicts the next letter; 128 lines of 32 letters."""
    random = numpy.random.RandomState(5)
    nodes, initializers = [], []

    def constant(name, values):
        initializers.append(numpy_helper.from_array(values, name))
        return name

    def node(op, inputs, name, **attributes):
        nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def linear(x, name, n_in, n_out):
        # In the orientation of MatMul: [in, out].
        values = random.standard_normal((n_in, n_out)) * (1.0 / n_in) ** 0.5
        constant(f"{name}.w", values.astype(numpy.float32))
        initializers.append(weights(random, f"{name}.b", n_out))
        return node("Add", [node("MatMul", [x, f"{name}.w"], f"{name}.product"), f"{name}.b"], name)

    def normal(x, name):
        constant(f"{name}.scale", numpy.ones(WIDTH, numpy.float32))
        initializers.append(weights(random, f"{name}.bias", WIDTH))
        return node("LayerNormalization", [x, f"{name}.scale", f"{name}.bias"], name, axis=-1)

    letters = constant("letters", (random.standard_normal((SYMBOLS, WIDTH)) * 0.1).astype(numpy.float32))
    places = constant("places", (random.standard_normal((LENGTH, WIDTH)) * 0.1).astype(numpy.float32))
    mask = constant("mask", numpy.triu(numpy.full((LENGTH, LENGTH), -1e9, numpy.float32), 1))
    scale = constant("root", numpy.array(WIDTH ** -0.5, numpy.float32))
    x = node("Add", [node("Gather", [letters, "text"], "embedded"), places], "placed")
    y = normal(x, "norm0")
    query, key, value = (linear(y, name, WIDTH, WIDTH) for name in ("query", "key", "value"))
    turned = node("Transpose", [key], "turned", perm=[0, 2, 1])
    affinity = node("Mul", [node("MatMul", [query, turned], "affinity"), scale], "scaled")
    attention = node("Softmax", [node("Add", [affinity, mask], "masked")], "attention", axis=-1)
    x = node("Add", [x, linear(node("MatMul", [attention, value], "mixed"), "mix", WIDTH, WIDTH)], "attended")
    hidden = node("Relu", [linear(normal(x, "norm1"), "wide", WIDTH, 4 * WIDTH)], "hidden")
    x = node("Add", [x, linear(hidden, "narrow", 4 * WIDTH, WIDTH)], "thought")
    scores = linear(normal(x, "norm2"), "scores", WIDTH, SYMBOLS)
    save(folder, "text", nodes, [helper.make_tensor_value_info("text", TensorProto.INT64, [LINES, LENGTH])],
         [floats(scores, LINES, LENGTH, SYMBOLS)], initializers, [])


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else HERE
    image(target)
    text(target)

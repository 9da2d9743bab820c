#!/usr/bin/python3
"""Makes the example models with Debian's python3-onnx. The same bytes on every run.

    python3 examples/make_models.py examples
"""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def weights(random, name, *dims):
    """He's initialization for weights, zeros for biases."""
    values = numpy.zeros(dims)
    if len(dims) > 1:
        values = random.standard_normal(dims) * (2.0 / numpy.prod(dims[1:])) ** 0.5
    return numpy_helper.from_array(values.astype(numpy.float32), name)


def save(folder, name, nodes, inputs, outputs, initializers, shapes):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers, value_info=shapes)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                              producer_name="mfc examples", ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(folder, name + ".onnx"))


def floats(name, *dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def mlp(folder):
    """A perceptron for 8x8 digits: three layers, batch 32."""
    random = numpy.random.RandomState(1)
    widths = [64, 48, 32, 10]
    nodes, initializers, shapes, x = [], [], [], "image"
    for i in range(3):
        initializers += [weights(random, f"w{i}", widths[i + 1], widths[i]),
                         weights(random, f"b{i}", widths[i + 1])]
        y = "logits" if i == 2 else f"h{i}"
        nodes.append(helper.make_node("Gemm", [x, f"w{i}", f"b{i}"], [y], f"layer{i}", transB=1))
        x = y
        if i < 2:
            nodes.append(helper.make_node("Relu", [y], [f"a{i}"], f"relu{i}"))
            shapes += [floats(y, 32, widths[i + 1]), floats(f"a{i}", 32, widths[i + 1])]
            x = f"a{i}"
    save(folder, "mlp", nodes, [floats("image", 32, 64)], [floats("logits", 32, 10)],
         initializers, shapes)


def resnet(folder):
    """Two residual blocks on 16x16 images, batch 16: activations outweigh parameters by far."""
    random = numpy.random.RandomState(2)
    nodes, initializers, shapes = [], [], []

    def conv(x, y, n_in, n_out):
        initializers.extend([weights(random, y + ".w", n_out, n_in, 3, 3),
                             weights(random, y + ".b", n_out)])
        nodes.append(helper.make_node("Conv", [x, y + ".w", y + ".b"], [y], y,
                                      kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        shapes.append(floats(y, 16, n_out, 16, 16))

    def relu(x, y):
        nodes.append(helper.make_node("Relu", [x], [y], y))
        shapes.append(floats(y, 16, 8, 16, 16))

    conv("image", "stem", 3, 8)
    relu("stem", "x0")
    for i in range(2):
        conv(f"x{i}", f"conv{i}a", 8, 8)
        relu(f"conv{i}a", f"relu{i}a")
        conv(f"relu{i}a", f"conv{i}b", 8, 8)
        nodes.append(helper.make_node("Add", [f"conv{i}b", f"x{i}"], [f"sum{i}"], f"sum{i}"))
        shapes.append(floats(f"sum{i}", 16, 8, 16, 16))
        relu(f"sum{i}", f"x{i + 1}")
    nodes.append(helper.make_node("GlobalAveragePool", ["x2"], ["pool"], "pool"))
    nodes.append(helper.make_node("Flatten", ["pool"], ["flat"], "flat", axis=1))
    shapes.extend([floats("pool", 16, 8, 1, 1), floats("flat", 16, 8)])
    initializers.extend([weights(random, "fc.w", 10, 8), weights(random, "fc.b", 10)])
    nodes.append(helper.make_node("Gemm", ["flat", "fc.w", "fc.b"], ["logits"], "fc", transB=1))
    save(folder, "resnet", nodes, [floats("image", 16, 3, 16, 16)], [floats("logits", 16, 10)],
         initializers, shapes)


def unet(folder):
    """A U-Net of three levels on 256x256 images, batch 8: half of its memory can be saved for a few percent of time."""
    random = numpy.random.RandomState(3)
    nodes, initializers = [], []

    def conv(x, y, n_in, n_out):
        initializers.extend([weights(random, y + ".w", n_out, n_in, 3, 3), weights(random, y + ".b", n_out)])
        nodes.append(helper.make_node("Conv", [x, y + ".w", y + ".b"], [y], y,
                                      kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [y], [y + ".relu"], y + ".relu"))
        return y + ".relu"

    def double_conv(x, y, n_in, n_out):
        return conv(conv(x, y + "a", n_in, n_out), y + "b", n_out, n_out)

    x = double_conv("image", "down0", 3, 4)
    skips = []
    for i in range(1, 3):
        skips.append(x)
        nodes.append(helper.make_node("MaxPool", [x], [f"pool{i}"], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2]))
        x = double_conv(f"pool{i}", f"down{i}", 2 << i, 4 << i)
    for i in (1, 0):
        n = 4 << i
        initializers.append(weights(random, f"up{i}.w", 2 * n, n, 2, 2))
        nodes.append(helper.make_node("ConvTranspose", [x, f"up{i}.w"], [f"up{i}"], f"up{i}",
                                      kernel_shape=[2, 2], strides=[2, 2]))
        nodes.append(helper.make_node("Concat", [f"up{i}", skips[i]], [f"skip{i}"], f"skip{i}", axis=1))
        x = double_conv(f"skip{i}", f"up{i}", 2 * n, n)
    initializers.extend([weights(random, "head.w", 2, 4, 1, 1), weights(random, "head.b", 2)])
    nodes.append(helper.make_node("Conv", [x, "head.w", "head.b"], ["logits"], "head", kernel_shape=[1, 1]))
    save(folder, "unet", nodes, [floats("image", 8, 3, 256, 256)], [floats("logits", 8, 2, 256, 256)],
         initializers, [])


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    mlp(target)
    resnet(target)
    unet(target)

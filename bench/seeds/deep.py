"""Residual networks of any depth and LSTMs of any length, as ONNX, node by node: torch takes minutes to trace a thousand layers."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Deep:
    def __init__(self, width):
        self.width, self.nodes, self.weights, self.random = width, [], [], np.random.default_rng(1)

    def weight(self, name, *shape, value=None):
        data = self.random.normal(0, 0.1, shape) if value is None else np.full(shape, value)
        self.weights.append(numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def node(self, kind, inputs, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        more = [name + "/mean", name + "/variance"] if kind == "BatchNormalization" else []
        self.nodes.append(helper.make_node(kind, inputs, [name, *more], name=name, **attributes))
        return name

    def conv_norm(self, x, n_in):
        at, w = len(self.nodes), self.width
        x = self.node("Conv", [x, self.weight(f"w{at}", w, n_in, 3, 3)], pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        parts = [self.weight(f"{part}{at}", w, value=value) for part, value in (("scale", 1), ("shift", 0), ("mean", 0), ("variance", 1))]
        return self.node("BatchNormalization", [x, *parts], training_mode=1)


def save(net, name, inputs, output, path):
    """The last node makes the output."""
    net.nodes[-1].output[0] = "y"
    values = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in {**inputs, "y": output}.items()]
    graph = helper.make_graph(net.nodes, name, values[:-1], values[-1:], net.weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def deep_resnet(layers, shape, path, width=8, classes=10):
    """So many layers in all: two convolutions a block, one before and a linear one behind."""
    net = Deep(width)
    x = net.node("Relu", [net.conv_norm("x", shape[1])])
    for _ in range((layers - 2) // 2):
        y = net.conv_norm(net.node("Relu", [net.conv_norm(x, width)]), width)
        x = net.node("Relu", [net.node("Add", [x, y])])
    x = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    x = net.node("Gemm", [x, net.weight("last", classes, width), net.weight("last_shift", classes)], transB=1)
    save(net, "resnet", {"x": shape}, (shape[0], classes), path)


def unrolled_lstm(steps, batch, width, path, classes=10):
    """One cell a step, and a linear layer behind the last: every step is an input of its own, so that nothing is there for all steps
    at once but the inputs."""
    net = Deep(width)
    h = c = None
    names = [f"x{t}" for t in range(steps)]
    into, back = net.weight("into", width, 4 * width), net.weight("back", width, 4 * width)
    shift = net.weight("shift", 4 * width, value=0)
    for name in names:
        gates = net.node("Gemm", [name, into, shift])
        if h:
            gates = net.node("Add", [gates, net.node("MatMul", [h, back])])
        parts = [f"{part}{len(net.nodes)}" for part in ("in", "out", "forget", "new")]
        net.nodes.append(helper.make_node("Split", [gates], parts, axis=1))
        kept, shown, held = (net.node("Sigmoid", [part]) for part in parts[:3])
        fresh = net.node("Mul", [kept, net.node("Tanh", [parts[3]])])
        c = net.node("Add", [net.node("Mul", [held, c]), fresh]) if c else fresh
        h = net.node("Mul", [shown, net.node("Tanh", [c])])
    net.node("Gemm", [h, net.weight("last", classes, width), net.weight("last_shift", classes)], transB=1)
    save(net, "lstm", {name: (batch, width) for name in names}, (batch, classes), path)

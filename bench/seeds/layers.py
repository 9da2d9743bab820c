"""Checkmate's networks as its paper plans them: a node for each Keras layer, forward and backward, of one image.

What a layer makes is held, and its gradient is as large. The gradient of a layer reads what the layer made, what its readers made, and
their gradients. Costs count multiplications: of a convolution, twice as many backward; pooling, padding and joining cost
nothing. Parameters and their gradients are persistent. Segmentation has images of 416x608 and 19 classes, one convolution at
each depth, and padding as layers of their own.
"""
import json
from math import prod

FLOAT = 4


class Net:
    def __init__(self, height, width, channels=3):
        self.layers, self.n_parameters = [], 0  # a layer: (name, inputs, shape, operations)
        self.image = (None, (height, width, channels))

    def add(self, name, inputs, shape, operations=0):
        self.layers.append((f"{name}{len(self.layers)}", [i for i, _ in inputs if i is not None], shape, int(operations)))
        return len(self.layers) - 1, shape

    def conv(self, x, n_out, size=3, stride=1, same=True, bias=True):
        h, w, n_in = x[1]
        h, w = (-(-h // stride), -(-w // stride)) if same else ((h - size) // stride + 1, (w - size) // stride + 1)
        self.n_parameters += size * size * n_in * n_out + bias * n_out
        return self.add("conv", [x], (h, w, n_out), size * size * n_in * h * w * n_out)

    def depthwise(self, x, stride):
        h, w, c = x[1]
        h, w = (h, w) if stride == 1 else ((h - 3) // stride + 1, (w - 3) // stride + 1)
        self.n_parameters += 9 * c
        return self.add("depthwise", [x], (h, w, c), 9 * h * w * c)

    def transposed(self, x, size, stride, n_out):
        h, w, n_in = x[1]
        h, w = (h - 1) * stride + size, (w - 1) * stride + size
        self.n_parameters += size * size * n_in * n_out
        return self.add("transposed", [x], (h, w, n_out), n_in * h * w * n_out)

    def norm(self, x):
        self.n_parameters += 4 * x[1][2]
        return self.add("norm", [x], x[1], 4 * prod(x[1]))

    def relu(self, x):
        return self.add("relu", [x], x[1], prod(x[1]))

    def pad(self, x, sides=2):
        h, w, c = x[1]
        return self.add("pad", [x], (h + sides, w + sides, c))

    def pool(self, x, size=2, stride=2):
        h, w, c = x[1]
        return self.add("pool", [x], ((h - size) // stride + 1, (w - size) // stride + 1, c))

    def up(self, x):
        h, w, c = x[1]
        return self.add("up", [x], (2 * h, 2 * w, c), 4 * h * w * c)

    def crop(self, x, like):
        return self.add("crop", [x], like[1][:2] + x[1][2:])

    def join(self, *xs):
        return self.add("join", xs, xs[0][1][:2] + (sum(x[1][2] for x in xs),))

    def sum(self, *xs):
        return self.add("sum", xs, xs[0][1], sum(prod(x[1]) for x in xs))

    def dense(self, x, n_out):
        self.n_parameters += (prod(x[1]) + 1) * n_out
        return self.add("dense", [x], (n_out,), prod(x[1]) * n_out)

    def reshape(self, x, shape=None):
        return self.add("reshape", [x], shape or (prod(x[1]),))


def vgg(blocks):
    net = Net(224, 224)
    x = net.image
    for width, n in zip((64, 128, 256, 512, 512), blocks):
        for _ in range(n):
            x = net.conv(x, width)
        x = net.pool(x)
    x = net.reshape(x)
    for width in (4096, 4096, 1000):
        x = net.dense(x, width)
    return net


def mobilenet():
    net = Net(224, 224)
    x = net.relu(net.norm(net.conv(net.pad(net.image, 1), 32, stride=2, same=False, bias=False)))
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for width, stride in plan:
        x = net.relu(net.norm(net.depthwise(net.pad(x, 1) if stride > 1 else x, stride)))
        x = net.relu(net.norm(net.conv(x, width, 1, bias=False)))
    x = net.reshape(net.reshape(net.pool(x, 7, 7)), (1, 1, 1024))  # and its Dropout
    net.relu(net.reshape(net.conv(x, 1000, 1)))
    return net


def resnet50():
    net = Net(224, 224)
    x = net.relu(net.norm(net.conv(net.pad(net.image, 6), 64, 7, 2, same=False)))
    x = net.pool(net.pad(x), 3, 2)
    for width, n, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for k in range(n):
            stride = first if k == 0 else 1
            y = net.relu(net.norm(net.conv(x, width, 1, stride)))
            y = net.norm(net.conv(net.relu(net.norm(net.conv(y, width))), 4 * width, 1))
            x = net.relu(net.sum(y, x if k else net.norm(net.conv(x, 4 * width, 1, stride))))
    net.dense(net.pool(x, 7, 7), 1000)
    return net


def encoder(net, depth):
    x, levels = net.image, []
    for width in (64, 128, 256, 256, 256)[:depth]:
        x = net.pool(net.relu(net.norm(net.conv(net.pad(x), width, same=False))))
        levels.append(x)
    return levels


def scores(net, x):
    h, w, classes = x[1]
    net.relu(net.reshape(x, (h * w, classes)))  # a softmax, counted as the paper counts activations
    return net


def unet(classes=19):
    net = Net(416, 608)
    f1, f2, f3, x = encoder(net, 4)
    x = net.norm(net.conv(net.pad(x), 512, same=False))
    for width, skip in ((256, f3), (128, f2), (64, f1)):
        x = net.norm(net.conv(net.pad(net.join(net.up(x), skip)), width, same=False))
    return scores(net, net.conv(x, classes))


def segnet(classes=19):
    net = Net(416, 608)
    x = encoder(net, 4)[-1]
    x = net.norm(net.conv(net.pad(x), 512, same=False))
    for width in (256, 128, 64):
        x = net.norm(net.conv(net.pad(net.up(x)), width, same=False))
    return scores(net, net.conv(x, classes))


def fcn8(classes=19):
    net = Net(416, 608)
    _, _, f3, f4, x = encoder(net, 5)
    for size in (7, 1):
        x = net.conv(x, 4096, size)
        x = net.add("dropout", [x], x[1])
    x = net.conv(x, classes, 1)
    for skip in (f4, f3):
        x = net.transposed(x, 4, 2, classes)
        y = net.conv(skip, classes, 1)
        x = net.sum(net.crop(x, y), y)
    return scores(net, net.transposed(x, 16, 8, classes))


NETS = {"unet": unet, "vgg16": lambda: vgg((2, 2, 3, 3, 3)), "vgg19": lambda: vgg((2, 2, 4, 4, 4)), "mobilenet": mobilenet,
        "segnet": segnet, "fcn8": fcn8, "resnet50": resnet50}


def problem(net, keep_all=False):
    """As an mfc-problem of one image without its parameters; with keep_all, nothing of the forward pass is freed."""
    n = len(net.layers)
    readers = [[] for _ in range(n)]
    for i, (_, inputs, _, _) in enumerate(net.layers):
        for k in inputs:
            readers[k].append(i)
    nodes = [{"name": name, "cost": operations, "bytes": FLOAT * prod(shape), "keep": keep_all}
             for name, _, shape, operations in net.layers]
    nodes.append({"name": "loss", "cost": 0, "bytes": FLOAT, "backward": True})
    edges = [[k, i] for i, (_, inputs, _, _) in enumerate(net.layers) for k in inputs] + [[n - 1, n]]
    for i in reversed(range(n)):
        name, _, shape, operations = net.layers[i]
        at = len(nodes)
        nodes.append({"name": "grad " + name, "cost": 2 * operations, "bytes": FLOAT * prod(shape), "backward": True, "keep": i == 0})
        edges += [[i, at]] + [[k, at] for k in readers[i]] + [[2 * n - k, at] for k in readers[i]]
        if not readers[i]:
            edges.append([n, at])
    return {"format": "mfc-problem", "version": 1, "nodes": nodes, "edges": edges}


def fixed_bytes(net):
    return 2 * FLOAT * net.n_parameters


def write_problem(net, path, keep_all=False):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(problem(net, keep_all), f)
    return path

"""Makes the small networks that reference.mjs compares with PyTorch: NAME-op17.onnx with real weights, and NAME.ref.onnx,
a model without nodes whose outputs are constants: input:*, seed:*, output:*, loss and grad:*, computed in float64. The
loss is the sum over the outputs of output times seed.

    make_networks.py FOLDER        (with Debian's python3-torch and python3-onnx)

The batches are large enough for batch normalization to be well conditioned: PyTorch's own float32 is off by 1e-3 where
they are tiny. A channel's scale that only meets Relu before it is normalized again has a gradient of zero, which no
float32 can be compared with: such places have other activations.
"""
import io
import os
import sys

import numpy
import onnx
import torch
from onnx import helper, numpy_helper
from torch import nn


def conv_bn(cin, cout, k=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(cin, cout, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(cout), act())


class Residual(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.body = nn.Sequential(conv_bn(cin, cout, stride=stride), nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout))
        self.skip = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def resnet():
    return nn.Sequential(conv_bn(3, 8, 3, 1), nn.MaxPool2d(3, 2, 1), Residual(8, 8, 1), Residual(8, 16, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))


class Inverted(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(conv_bn(c, 3 * c, 1, act=nn.Hardswish), conv_bn(3 * c, 3 * c, 3, groups=3 * c, act=nn.ReLU6),
                                  nn.Conv2d(3 * c, c, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        return x + self.body(x)


def mobilenet():
    return nn.Sequential(conv_bn(3, 8, stride=2, act=nn.ReLU6), Inverted(8), conv_bn(8, 8, stride=2, groups=8, act=nn.Hardswish),
                         conv_bn(8, 12, 1, act=nn.Hardswish), Inverted(12), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 5))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = conv_bn(3, 6), conv_bn(6, 8), conv_bn(8, 12)
        self.up2, self.up1 = nn.ConvTranspose2d(12, 8, 2, 2), nn.ConvTranspose2d(8, 6, 2, 2)
        self.join2, self.join1, self.head = conv_bn(16, 8), conv_bn(12, 6), nn.Conv2d(6, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.max_pool2d(b, 2))
        b = self.join2(torch.cat([b, self.up2(c)], 1))
        a = self.join1(torch.cat([a, self.up1(b)], 1))
        return self.head(a)


class Block(nn.Module):
    """Pre-norm attention and feed-forward, written out, so that its export is the same whatever fast paths torch has."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(n, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-2, -1) / (w // self.heads) ** 0.5
        if self.causal:
            score = score.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), -1e9)
        x = x + self.out((score.softmax(-1) @ v).transpose(1, 2).reshape(n, t, w))
        return x + self.ff(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, causal, words=20, width=12):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(1, 6, width) * 0.1)
        self.blocks = nn.Sequential(Block(width, 3, causal), Block(width, 3, causal))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words if causal else 4)
        self.causal = causal

    def forward(self, ids):
        x = self.norm(self.blocks(self.words(ids) + self.places))
        return self.head(x if self.causal else x.mean(1))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(5, 8, num_layers=2, bidirectional=True), nn.Linear(16, 3)

    def forward(self, x):
        y, _ = self.lstm(x)
        return self.head(y)


class Dense(nn.Module):
    def __init__(self, c, grow, n):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(c + k * grow), nn.ReLU(), nn.Conv2d(c + k * grow, grow, 3, 1, 1, bias=False))
                                    for k in range(n))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return x


def densenet():
    return nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1, bias=False), Dense(8, 4, 3), conv_bn(20, 10, 1, act=nn.SiLU), nn.AvgPool2d(2), Dense(10, 4, 3),
                         nn.BatchNorm2d(22), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(22, 5))


class Mixed(nn.Module):
    def __init__(self, cin):
        super().__init__()
        self.a, self.b = conv_bn(cin, 4, 1), nn.Sequential(conv_bn(cin, 4, 1), conv_bn(4, 6, 3))
        self.c = nn.Sequential(conv_bn(cin, 3, 1), nn.Conv2d(3, 4, (1, 7), padding=(0, 3)), nn.Conv2d(4, 4, (7, 1), padding=(3, 0)), nn.ReLU())
        self.d = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), conv_bn(cin, 4, 1))

    def forward(self, x):
        return torch.cat([self.a(x), self.b(x), self.c(x), self.d(x)], 1)


def inception():
    return nn.Sequential(conv_bn(3, 8), nn.MaxPool2d(3, 2, ceil_mode=True), Mixed(8), nn.MaxPool2d(3, 1, 1), Mixed(18),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(18, 5))


def image(n=8, size=12):
    return torch.randn(n, 3, size, size)


NETWORKS = {
    "resnet": (resnet, image), "mobilenet": (mobilenet, lambda: image(16, 12)), "unet": (UNet, lambda: image(4, 12)),
    "encoder": (lambda: Transformer(False), lambda: torch.randint(0, 20, (3, 6))),
    "decoder": (lambda: Transformer(True), lambda: torch.randint(0, 20, (3, 6))),
    "lstm": (Lstm, lambda: torch.randn(5, 3, 5)), "densenet": (densenet, image), "inception": (inception, lambda: image(8, 13)),
}


def reference(values):
    outputs, initializers = [], []
    for name, x in values.items():
        x = numpy.asarray(x)
        x = x.astype(numpy.float32) if x.dtype.kind == "f" and name.startswith(("input:", "seed:")) else x
        initializers.append(numpy_helper.from_array(x, name))
        outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype)
                                                     if hasattr(helper, "np_dtype_to_tensor_dtype")
                                                     else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[x.dtype], x.shape))
    graph = helper.make_graph([], "reference", [], outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def make(folder, name, build, draw):
    torch.manual_seed(sum(map(ord, name)))
    net, x = build().train(), draw()
    file = io.BytesIO()
    torch.onnx.export(net, x, file, opset_version=17, training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                      input_names=["x"], output_names=["y"], keep_initializers_as_inputs=False)
    model = onnx.load_from_string(file.getvalue())
    # What the file holds is float32: the reference starts from the same numbers.
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    net = net.double()
    x64 = x.double().requires_grad_() if x.is_floating_point() else x
    y = net(x64)
    seed = torch.randn(y.shape).float().double()
    loss = (y * seed).sum()
    loss.backward()
    values = {"input:x": x.numpy(), "seed:y": seed.numpy(), "output:y": y.detach().numpy(), "loss": loss.detach().numpy()}
    if x64.requires_grad:
        values["grad:x"] = x64.grad.numpy()
    for k, p in net.named_parameters():
        stored = find(weights, k, p)
        values[f"grad:{stored}"] = grad_of(weights[stored], p)
    onnx.save(model, os.path.join(folder, f"{name}-op17.onnx"))
    onnx.save(reference(values), os.path.join(folder, f"{name}.ref.onnx"))


def find(weights, name, p):
    """The initializer of a parameter: by its name, or, where the exporter has transposed a Linear's weights, by value."""
    if name in weights:
        return name
    w = p.detach().numpy().astype(numpy.float32)
    same = [k for k, x in weights.items() if x.shape == w.T.shape and (x == w.T).all()]
    if len(same) != 1:
        sys.exit(f"{name} is not among the initializers")
    return same[0]


def grad_of(weight, p):
    g = p.grad.numpy()
    return g if (weight.shape == g.shape and (weight == p.detach().numpy().astype(numpy.float32)).all()) else g.T.copy()


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, (build, draw) in NETWORKS.items():
        make(folder, name, build, draw)


if __name__ == "__main__":
    main(*sys.argv[1:])

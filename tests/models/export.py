"""Writes the models of this folder that come from PyTorch: common networks as torch.onnx exports
them, without their weights. A float tensor of more than 64 bytes becomes external data in a file that
is not there, NAME.weights; nothing but running a model needs it.

    /usr/bin/python3 tests/models/export.py [NAME...]

Needs Debian's python3-torch, python3-torchvision and python3-onnx. The same versions give the same
files."""
import io
import os
import sys
import warnings

import onnx
import torch
import torchvision
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 300_000


class Encoder(nn.Module):
    """Two layers of a transformer, spelled out, so that every operator shows."""

    def __init__(self, width=64, heads=4, words=100):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(
            nn.ModuleDict(dict(qkv=nn.Linear(width, 3 * width), out=nn.Linear(width, width),
                               up=nn.Linear(width, 4 * width), down=nn.Linear(4 * width, width),
                               norm1=nn.LayerNorm(width), norm2=nn.LayerNorm(width)))
            for _ in range(2))
        self.heads = heads

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            b, n, w = x.shape
            q, k, v = (t.reshape(b, n, self.heads, w // self.heads).transpose(1, 2)
                       for t in layer["qkv"](layer["norm1"](x)).chunk(3, dim=-1))
            weight = (q @ k.transpose(-1, -2) / (w // self.heads) ** 0.5).softmax(dim=-1)
            x = x + layer["out"]((weight @ v).transpose(1, 2).reshape(b, n, w))
            x = x + layer["down"](nn.functional.gelu(layer["up"](layer["norm2"](x))))
        return x


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(48, 12, batch_first=True)
        self.tag = nn.Linear(12, 7)

    def forward(self, tokens):
        return self.tag(self.gru(self.lstm(self.words(tokens))[0])[0]).log_softmax(dim=-1)


def conv2(n_in, n_out):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU(),
                         nn.Conv2d(n_out, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64)):
        super().__init__()
        ins = (3,) + widths[:-1]
        self.down = nn.ModuleList(conv2(i, o) for i, o in zip(ins, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(o, i, 2, stride=2)
                                for i, o in zip(widths[:-1], widths[1:]))
        self.join = nn.ModuleList(conv2(2 * w, w) for w in widths[:-1])
        self.last = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        for i in reversed(range(len(self.up))):
            x = self.join[i](torch.cat([skips[i], self.up[i](x)], dim=1))
        return self.last(nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear",
                                                   align_corners=False))


class Steps(nn.Module):
    """Control flow that stays control flow: scripted, so If and Loop are in the file."""

    def forward(self, x, n: int):
        for i in range(n):
            if bool(x.sum() > 0):
                x = x * 0.5
            else:
                x = x + i
        return x


def image(side=224, batch=1):
    return (torch.zeros(batch, 3, side, side),)


def tokens():
    return (torch.zeros(2, 10, dtype=torch.long),)


def vision(name, **options):
    module, _, function = name.rpartition(".")
    module = getattr(torchvision.models, module) if module else torchvision.models
    return lambda: getattr(module, function)(weights=None, **options)


# name -> (model, its inputs, [(mode, opset, further options of torch.onnx.export)...])
TRAIN, EVAL = torch.onnx.TrainingMode.TRAINING, torch.onnx.TrainingMode.EVAL
BATCH = dict(input_names=["x"], dynamic_axes={"x": {0: "N"}})
MODELS = {
    "alexnet": (vision("alexnet"), image, [(TRAIN, 17, {})]),
    "densenet121": (vision("densenet121"), image, [(EVAL, 13, {})]),
    "efficientnet_b0": (vision("efficientnet_b0"), image, [(EVAL, 17, {})]),
    "fcn_resnet50": (vision("segmentation.fcn_resnet50", weights_backbone=None), image,
                     [(EVAL, 17, {})]),
    "googlenet": (vision("googlenet", init_weights=False, aux_logits=False), image, [(TRAIN, 13, {})]),
    "inception_v3": (vision("inception_v3", init_weights=False), lambda: image(299),
                     [(EVAL, 17, {})]),
    "mobilenet_v2": (vision("mobilenet_v2"), image, [(TRAIN, 17, {}), (EVAL, 13, BATCH)]),
    "resnet18": (vision("resnet18"), image,
                 [(TRAIN, 13, BATCH), (TRAIN, 17, {}), (EVAL, 13, {}), (EVAL, 17, BATCH)]),
    "shufflenet_v2": (vision("shufflenet_v2_x0_5"), image, [(TRAIN, 13, {})]),
    "squeezenet": (vision("squeezenet1_1"), image, [(TRAIN, 13, {}), (EVAL, 17, {})]),
    "vgg11_bn": (vision("vgg11_bn"), image, [(TRAIN, 17, {}), (EVAL, 13, {})]),
    "vit": (lambda: torchvision.models.VisionTransformer(32, 8, 2, 2, 32, 64), lambda: image(32, 2),
            [(TRAIN, 17, {})]),
    "encoder": (Encoder, tokens, [(TRAIN, 13, {}), (TRAIN, 17, {})]),
    "lstm": (Tagger, tokens, [(TRAIN, 13, {}), (EVAL, 17, {})]),
    "unet": (UNet, lambda: image(64, 2), [(TRAIN, 13, {}), (TRAIN, 17, BATCH)]),
    "steps": (lambda: torch.jit.script(Steps()), lambda: (torch.ones(3), torch.tensor(4)),
              [(EVAL, 17, {})]),
}


def strip(model, location):
    """Large float tensors, wherever they are, become external data one after the other."""
    offset = 0

    def tensors(graph):
        yield from graph.initializer
        for node in graph.node:
            for a in node.attribute:
                if a.HasField("t"):
                    yield a.t
                if a.HasField("g"):
                    yield from tensors(a.g)

    for t in tensors(model.graph):
        n = len(t.raw_data)
        if t.data_type == onnx.TensorProto.FLOAT and n > 64:
            t.ClearField("raw_data")
            t.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", location), ("offset", offset), ("length", n)):
                t.external_data.add(key=key, value=str(value))
            offset += n


def export(name, mode, opset, options):
    make, inputs, _ = MODELS[name]
    torch.manual_seed(0)
    model = make()
    if not isinstance(model, torch.jit.ScriptModule):
        model.train(mode == TRAIN)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, inputs(), file, training=mode, opset_version=opset,
                          do_constant_folding=mode == EVAL, **options)
    proto = onnx.ModelProto()
    proto.ParseFromString(file.getvalue())
    stem = f"{name}-{'train' if mode == TRAIN else 'eval'}-op{opset}"
    strip(proto, f"{stem}.weights")
    bytes_ = proto.SerializeToString()
    print(f"{stem}.onnx: {len(bytes_)} bytes, {len(proto.graph.node)} nodes")
    assert len(bytes_) < LIMIT, "too large for this folder"
    with open(os.path.join(HERE, f"{stem}.onnx"), "wb") as out:
        out.write(bytes_)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        for mode_, opset_, options_ in MODELS[wanted][2]:
            export(wanted, mode_, opset_, options_)

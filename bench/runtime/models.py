#!/usr/bin/python3
"""Writes the networks that plans are measured on, as torch.onnx exports them, with random weights.

    bench/runtime/models.py FOLDER [--small] [NAME...]

At their full size the baseline training step of each needs 1 to 4 GB in ONNX Runtime; with --small it has the same operators
in the same depth, or a little less of it, with fewer channels and smaller images, and needs 50 to 250 MB. BatchNormalization
and Dropout are in training mode; Dropout gets seeds, so that two steps draw the same. All class labels and words may be 0 to 9.
Needs Debian's python3-torch, python3-torchvision and python3-onnx; the same versions give the same files.
"""
import argparse
import io
import math
import os
import warnings

import onnx
import torch
from onnx import helper
from torch import nn
from torchvision.models import densenet, mobilenetv2, resnet, vgg


class NarrowBottleneck(resnet.Bottleneck):
    """With 16 channels a group, ResNet's bottleneck of 4 to 1 in a quarter of the channels."""
    expansion = 1


def resnet50(small):
    if small:
        return resnet.ResNet(NarrowBottleneck, [3, 4, 6, 3], width_per_group=16)
    return resnet.resnet50()


def vgg16(small):
    shrink = 8 if small else 1
    plan = ["M" if c == "M" else c // shrink for c in vgg.cfgs["D"]]
    model = vgg.VGG(vgg.make_layers(plan), init_weights=False)
    if small:
        model.avgpool = nn.AdaptiveAvgPool2d(4)
        model.classifier[0], model.classifier[3] = nn.Linear(64 * 16, 256), nn.Linear(256, 256)
        model.classifier[6] = nn.Linear(256, 1000)
    return model


def mobilenet_v2(small):
    return mobilenetv2.MobileNetV2(width_mult=0.5 if small else 1.0)


def densenet121(small):
    if small:
        return densenet.DenseNet(8, (6, 12, 24, 16), 16)
    return densenet.densenet121()


def conv_bn(n_in, n_out):
    return nn.Sequential(nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, widths):
        super().__init__()
        ins = (3,) + widths[:-1]
        self.down = nn.ModuleList(nn.Sequential(conv_bn(i, o), conv_bn(o, o)) for i, o in zip(ins, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(o, i, 2, stride=2) for i, o in zip(widths[:-1], widths[1:]))
        self.join = nn.ModuleList(nn.Sequential(conv_bn(2 * w, w), conv_bn(w, w)) for w in widths[:-1])
        self.last = nn.Conv2d(widths[0], 12, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        for i in reversed(range(len(self.up))):
            x = self.join[i](torch.cat([skips[i], self.up[i](x)], dim=1))
        return self.last(x)


def gelu(x):
    """As GPT has it, by tanh."""
    return 0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x ** 3)))


class Block(nn.Module):
    """Pre-norm attention and feed-forward, spelled out, so that the export does not depend on torch's fast paths."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, w = (int(d) for d in x.shape)  # plain numbers: the file shall not compute its own shapes
        y = self.norm1(x)
        q, k, v = (f(y).reshape(n, t, self.heads, w // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        score = q @ k.transpose(-2, -1) / (w // self.heads) ** 0.5
        if self.causal:
            score = score.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), -1e9)
        x = x + self.out((score.softmax(-1) @ v).transpose(1, 2).reshape(n, t, w))
        act = gelu if self.causal else nn.functional.gelu
        return x + self.down(act(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """A BERT-like classifier, or with causal a GPT-like predictor of the next word."""

    def __init__(self, layers, width, heads, length, words, causal):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(1, length, width) * 0.1)
        self.blocks = nn.Sequential(*(Block(width, heads, causal) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words if causal else 10)
        self.causal = causal

    def forward(self, tokens):
        x = self.norm(self.blocks(self.words(tokens) + self.places))
        return self.head(x.reshape(-1, x.shape[-1]) if self.causal else x.mean(1))


class Lstm(nn.Module):
    """The last state of a stack of LSTM layers, which mfc unrolls."""

    def __init__(self, width, layers):
        super().__init__()
        self.lstm, self.head = nn.LSTM(width, width, num_layers=layers), nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][-1])


def images(batch, side):
    return torch.zeros(batch, 3, side, side)


def words(batch, length):
    return torch.zeros(batch, length, dtype=torch.long)


# name -> (model, input), each of whether it is the small one
MODELS = {
    "resnet50": (resnet50, lambda s: images(16, 96) if s else images(16, 224)),
    "vgg16": (vgg16, lambda s: images(16, 128) if s else images(8, 224)),
    "mobilenet_v2": (mobilenet_v2, lambda s: images(16, 96) if s else images(20, 224)),
    "densenet121": (densenet121, lambda s: images(12, 112) if s else images(12, 224)),
    "unet": (lambda s: UNet((8, 16, 32, 64) if s else (32, 64, 128, 256)), lambda s: images(6, 160) if s else images(6, 256)),
    "bert": (lambda s: Transformer(*((4, 64, 4, 96, 200, False) if s else (12, 512, 8, 256, 8000, False))),
             lambda s: words(32, 96) if s else words(8, 256)),
    "gpt": (lambda s: Transformer(*((4, 64, 4, 96, 200, True) if s else (12, 384, 6, 256, 4000, True))),
            lambda s: words(32, 96) if s else words(8, 256)),
    "gpt48": (lambda s: Transformer(*((48, 32, 2, 32, 100, True) if s else (48, 256, 4, 128, 4000, True))),
              lambda s: words(16, 32) if s else words(8, 128)),
    "lstm": (lambda s: Lstm(128 if s else 512, 2), lambda s: torch.zeros(24, 512, 128) if s else torch.zeros(64, 256, 512)),
}


def seed_dropouts(model):
    """torch leaves the seed to chance."""
    for i, node in enumerate(n for n in model.graph.node if n.op_type == "Dropout"):
        node.attribute.append(helper.make_attribute("seed", i + 1))


def save(model, sample, path):
    model.train()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, sample, file, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=False, input_names=["x"], output_names=["y"])
    exported = onnx.load_from_string(file.getvalue())
    seed_dropouts(exported)
    onnx.save(exported, path)
    print(f"{path}: {len(exported.graph.node)} nodes, {os.path.getsize(path) / 1e6:.1f} MB", flush=True)


def write(name, small, folder):
    torch.manual_seed(1)
    make, sample = MODELS[name]
    save(make(small), sample(small), os.path.join(folder, name + ".onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--small", action="store_true", help="few channels and small images")
    args = parser.parse_intermixed_args()
    unknown = [n for n in args.names if n not in MODELS]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are: {', '.join(MODELS)}")
    torch.set_num_threads(1)
    os.makedirs(args.folder, exist_ok=True)
    for name in args.names or MODELS:
        write(name, args.small, args.folder)


if __name__ == "__main__":
    main()

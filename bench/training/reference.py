#!/usr/bin/python3
"""Ten small networks, and what PyTorch makes of them in twenty steps of AdamW.

    bench/training/reference.py FOLDER

For each network NAME.onnx, exported in training mode, and NAME.safetensors: the data of every step (x.K, labels.K), the loss of
every step, data to predict on, and the predictions of the trained network in evaluation mode. bench/training/roundtrip.mjs
does the same with mfc and compares. Running variances are of the population, as ONNX defines them; PyTorch's own are unbiased,
which moves predictions by the inverse of the number of samples. Needs Debian's python3-torch, python3-torchvision, python3-onnx.
"""
import json
import math
import os
import struct
import sys
import warnings

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import nn
from torchvision.models import densenet, mobilenetv2, resnet, vgg

STEPS, SETTINGS = 20, dict(lr=1e-5, betas=(0.9, 0.99), eps=1e-3, weight_decay=0.05)


class PopulationNorm(nn.BatchNorm2d):
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        with torch.no_grad():
            self.running_mean.lerp_(x.mean((0, 2, 3)), self.momentum)
            self.running_var.lerp_(x.var((0, 2, 3), unbiased=False), self.momentum)
        return F.batch_norm(x, None, None, self.weight, self.bias, True, 0, self.eps)


class UNet(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.down, self.mid = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, padding=1)
        self.up, self.out = nn.ConvTranspose2d(2 * c, c, 2, 2), nn.Conv2d(2 * c, 4, 3, padding=1)

    def forward(self, x):
        a = torch.relu(self.down(x))
        b = torch.relu(self.mid(F.max_pool2d(a, 2)))
        return self.out(torch.cat([a, torch.relu(self.up(b))], 1))


class Transformer(nn.Module):
    def __init__(self, causal, width=24, heads=2, words=20, length=8):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(length, width) * 0.1)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head, self.heads, self.causal = nn.Linear(width, words), heads, causal

    def forward(self, x):
        h = self.words(x) + self.places
        n, t, w = h.shape
        q, k, v = (a.reshape(n, t, self.heads, w // self.heads).transpose(1, 2) for a in self.qkv(self.norm1(h)).chunk(3, -1))
        s = q @ k.transpose(-1, -2) / math.sqrt(w // self.heads)
        if self.causal:
            s = s + torch.triu(torch.full((t, t), -1e4), 1)
        h = h + self.proj((torch.softmax(s, -1) @ v).transpose(1, 2).reshape(n, t, w))
        return self.head(h + self.narrow(F.gelu(self.wide(self.norm2(h)))))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.head = kind(6, 16, batch_first=True), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])


def small_vgg():
    m = vgg.VGG(vgg.make_layers([8, "M", 16, "M", 16, "M"]), num_classes=4, dropout=0.0)
    m.avgpool, m.classifier = nn.AdaptiveAvgPool2d(2), nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
    return m


def small_resnet():
    m = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1], num_classes=4)
    m.inplanes, m.conv1, m.bn1, m.fc = 8, nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.Linear(64, 4)
    for k in range(4):
        setattr(m, f"layer{k + 1}", m._make_layer(resnet.BasicBlock, 8 << k, 1, stride=1 + (k > 0)))
    return m


def small_mobilenet():
    m = mobilenetv2.MobileNetV2(num_classes=4, width_mult=0.25, inverted_residual_setting=[[1, 8, 1, 1], [3, 16, 2, 2]])
    m.classifier = nn.Linear(m.last_channel, 4)
    return m


image, words = (8, 3, 16, 16), (6, 8)
NETWORKS = {
    "mlp": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(768, 32), nn.Tanh(), nn.Linear(32, 4)), image, 4),
    "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(392, 4)), image, 4),
    "resnet": (small_resnet, (8, 3, 64, 64), 4),
    "vgg": (small_vgg, image, 4),
    "mobilenet": (small_mobilenet, (8, 3, 64, 64), 4),
    "densenet": (lambda: densenet.DenseNet(4, (2, 2), 8, num_classes=4), (8, 3, 32, 32), 4),
    "unet": (UNet, image, 4),
    "encoder": (lambda: Transformer(False), words, 20),
    "decoder": (lambda: Transformer(True), words, 20),
    "lstm": (lambda: Recurrent(nn.LSTM), (6, 8, 6), 4),
}


def write_safetensors(path, tensors):
    kinds = {torch.float32: "F32", torch.int64: "I64"}
    header, blobs, at = {}, [], 0
    for name, t in sorted(tensors.items(), key=lambda p: p[1].dtype != torch.int64):
        raw = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": kinds[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(raw)]}
        blobs.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def draw(shape):
    return torch.randint(0, 20, shape) if shape == words else torch.randn(shape)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    warnings.simplefilter("ignore")
    for name, (make, shape, n_classes) in NETWORKS.items():
        torch.manual_seed(1)
        net = make().train()
        x = draw(shape)
        torch.onnx.export(net, x, os.path.join(folder, name + ".onnx"), opset_version=16, input_names=["x"], output_names=["y"],
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
        for module in net.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.__class__ = PopulationNorm
        start = {t.name: torch.tensor(numpy_helper.to_array(t)) for t in onnx.load(os.path.join(folder, name + ".onnx")).graph.initializer}
        for key, buffer in net.named_buffers():
            if "running" in key:  # the exporter has run the network
                buffer.copy_(start[key])
        optimizer, out = torch.optim.AdamW(net.parameters(), **SETTINGS), {}
        for k in range(STEPS):
            x = draw(shape)
            y = net(x)
            dims = [d for i, d in enumerate(y.shape) if i != (2 if shape == words else 1)]
            labels = torch.randint(0, n_classes, dims)
            loss = F.cross_entropy(y.transpose(1, 2) if shape == words else y, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            out[f"x.{k}"], out[f"labels.{k}"], out[f"loss.{k}"] = x, labels, loss.detach()
        net.eval()
        out["x"] = draw(shape)
        with torch.no_grad():
            out["y"] = net(out["x"])
        write_safetensors(os.path.join(folder, name + ".safetensors"), out)
        print(name, sum(p.numel() for p in net.parameters()), "numbers, loss", float(out["loss.0"]), "to", float(loss))


main(sys.argv[1])

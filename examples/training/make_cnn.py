#!/usr/bin/python3
"""Makes cnn.onnx, a small convolutional network, and cnn_curve.json, its losses when PyTorch trains it.

train.mjs trains the same network with its training step made by mfc, on the same data in the same order, and must
reach the same losses. Needs Debian's python3-torch.
"""
import copy
import json
import os

import torch
import torch.nn as nn

BATCH, CLASSES, SIDE = 32, 4, 12
HERE = os.path.dirname(os.path.abspath(__file__))


class Random:
    """A linear congruential generator, the same as in train.mjs, so that both have the same data."""

    def __init__(self, seed):
        self.x = seed

    def unit(self):
        self.x = (self.x * 1103515245 + 12345) % 2147483648
        return self.x / 2147483648


def batch(random):
    """Images of noise with a bright bar, whose position is the class."""
    images = torch.zeros(BATCH, 1, SIDE, SIDE)
    labels = torch.zeros(BATCH, dtype=torch.int64)
    for i in range(BATCH):
        label = int(random.unit() * CLASSES)
        labels[i] = label
        for y in range(SIDE):
            for x in range(SIDE):
                noise = random.unit() - 0.5
                bar = 1.0 if (x if label < 2 else y) // 3 == (1 if label % 2 else 2) else 0.0
                images[i, 0, y, x] = noise + bar
    return images, labels


torch.manual_seed(7)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
                    nn.Linear(16 * 9, CLASSES))
torch.onnx.export(net, torch.zeros(BATCH, 1, SIDE, SIDE), os.path.join(HERE, "cnn.onnx"), opset_version=17,
                  input_names=["image"], output_names=["scores"], do_constant_folding=False,
                  training=torch.onnx.TrainingMode.TRAINING)

OPTIMIZERS = {
    "sgd": (200, {"lr": 0.1}, torch.optim.SGD, {"lr": 0.1}),
    "momentum": (50, {"lr": 0.05, "momentum": 0.9}, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}),
    "adam": (50, {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}, torch.optim.Adam, {"lr": 0.01}),
    "adamw": (50, {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.1}, torch.optim.AdamW,
              {"lr": 0.01, "weight_decay": 0.1}),
}
curves = {}
for name, (steps, scalars, kind, arguments) in OPTIMIZERS.items():
    student = copy.deepcopy(net).double().train()
    optimizer = kind(student.parameters(), **arguments)
    random, losses = Random(1), []
    for _ in range(steps):
        images, labels = batch(random)
        loss = nn.functional.cross_entropy(student(images.double()), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 6))
    curves[name] = {"scalars": scalars, "loss": losses}
    print(name, "first", losses[0], "last", losses[-1])
with open(os.path.join(HERE, "cnn_curve.json"), "w") as out:
    json.dump(curves, out, separators=(",", ":"))
    out.write("\n")

#!/usr/bin/python3
"""One training step of a network of bench/runtime/models.py in PyTorch, eager, on one thread.

    torch_step.py NETWORK eager|checkpoint RUNS [--small]

Prints a JSON object: what the loaded model takes, and for every run the peak above it, in bytes, and processor seconds.
`checkpoint` recomputes the blocks of the network (torch.utils.checkpoint): residual blocks, dense layers, transformer
blocks, the two convolutions of each level of a U-Net, three layers at a time elsewhere. The loss is the cross-entropy of
the output, as mfc chooses it. Gradients are freed between steps, and the first step, which loads code, does not count.
"""
import ctypes
import json
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runtime"))

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torchvision.models import densenet, mobilenetv2, resnet, vgg

import models


def field(name):
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(name + ":"))


def used():
    return field("RssAnon") + field("RssShmem")


def wrap(module):
    """The module's results are recomputed in the backward pass."""
    forward = module.forward
    module.forward = lambda *inputs: checkpoint(forward, *inputs, use_reentrant=False)


def blocks(model):
    """What a user of PyTorch would checkpoint."""
    kinds = (resnet.Bottleneck, mobilenetv2.InvertedResidual, densenet._DenseLayer, models.Block)
    found = [m for m in model.modules() if isinstance(m, kinds)]
    if isinstance(model, models.UNet):
        found = list(model.down) + list(model.join)
    return found


def checkpoint_blocks(model):
    if isinstance(model, vgg.VGG):
        layers = list(model.features)
        model.features = nn.Sequential(*(nn.Sequential(*layers[i:i + 3]) for i in range(0, len(layers), 3)))
        found = list(model.features)
    else:
        found = blocks(model)
    for module in found:
        wrap(module)
    return len(found)


def sample(name, small):
    x = models.MODELS[name][1](small)
    return torch.randint(0, 10, x.shape) if x.dtype == torch.long else torch.randn(x.shape)


def step(model, x, labels):
    loss = nn.functional.cross_entropy(model(x), labels)
    loss.backward()


def measured(model, x, labels):
    model.zero_grad(set_to_none=True)
    ctypes.CDLL(None).malloc_trim(0) # what the last step has freed
    loaded = used()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
        f.write("5")
    start = time.process_time()
    step(model, x, labels)
    seconds = time.process_time() - start
    return field("VmHWM") - field("RssFile") - loaded, seconds


def main():
    name, mode, runs, small = sys.argv[1], sys.argv[2], int(sys.argv[3]), "--small" in sys.argv
    torch.set_num_threads(1)
    torch.manual_seed(1)
    before = used()
    model = models.MODELS[name][0](small).train()
    loaded = used() - before
    if mode == "checkpoint" and not checkpoint_blocks(model):
        print(json.dumps({"refused": "the network has no blocks"}))
        return
    x = sample(name, small)
    with torch.no_grad():
        y = model(x)
    labels = torch.zeros([y.shape[0], *y.shape[2:]], dtype=torch.long)
    del y
    step(model, x, labels)
    each = [measured(model, x, labels) for _ in range(runs)]
    print(json.dumps({"loaded": loaded, "runs": [e[0] for e in each], "cpu_s": [e[1] for e in each]}))


if __name__ == "__main__":
    main()

"""The networks of the papers' comparisons, as torch.onnx exports them, with random weights; what bench/runtime/models.py has is
taken from there. Nets are at the papers' resolutions with a batch of 1. A network that torch could draw is written by its
layers."""
import importlib.util
import os

import torch
from torch import nn
from torchvision.models import resnet, vgg

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("runtime_models", os.path.join(HERE, "..", "runtime", "models.py"))
runtime = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runtime)


def mobilenet_v1():
    """Howard et al. 2017: depthwise and pointwise convolutions in turn."""
    plan = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
    plan += [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
    layers = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()]
    for n_in, n_out, stride in plan:
        layers += [nn.Conv2d(n_in, n_in, 3, stride, 1, groups=n_in, bias=False), nn.BatchNorm2d(n_in), nn.ReLU6(),
                   nn.Conv2d(n_in, n_out, 1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU6()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


class SegNet(nn.Module):
    """Badrinarayanan et al. 2017 with VGG's 13 convolutions; it goes up again by repeating pixels."""

    def __init__(self, classes=12):
        super().__init__()
        widths = [(3, 64, 64), (64, 128, 128), (128, 256, 256, 256), (256, 512, 512, 512), (512, 512, 512, 512)]
        self.down = nn.ModuleList(nn.Sequential(*map(runtime.conv_bn, w, w[1:])) for w in widths)
        back = [tuple(reversed(w)) for w in reversed(widths)]
        back[-1] = (64, 64, 64)
        self.up = nn.ModuleList(nn.Sequential(*map(runtime.conv_bn, w, w[1:])) for w in back)
        self.last = nn.Conv2d(64, classes, 3, padding=1)

    def forward(self, x):
        for block in self.down:
            x = nn.functional.max_pool2d(block(x), 2)
        for block in self.up:
            x = block(nn.functional.interpolate(x, scale_factor=2))
        return self.last(x)


class FCN8(nn.Module):
    """Long et al. 2015 on VGG16, the scores of three depths added up."""

    def __init__(self, classes=12):
        super().__init__()
        layers = vgg.make_layers(vgg.cfgs["D"])
        ends = [i for i, layer in enumerate(layers) if isinstance(layer, nn.MaxPool2d)]
        self.a, self.b, self.c = layers[:ends[2] + 1], layers[ends[2] + 1:ends[3] + 1], layers[ends[3] + 1:]
        self.head = nn.Sequential(nn.Conv2d(512, 4096, 7, padding=3), nn.ReLU(), nn.Conv2d(4096, 4096, 1), nn.ReLU(),
                                  nn.Conv2d(4096, classes, 1))
        self.score_a, self.score_b = nn.Conv2d(256, classes, 1), nn.Conv2d(512, classes, 1)
        self.up1, self.up2 = (nn.ConvTranspose2d(classes, classes, 2, 2) for _ in range(2))
        self.up3 = nn.ConvTranspose2d(classes, classes, 8, 8)

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        return self.up3(self.up2(self.up1(self.head(self.c(b))) + self.score_b(b)) + self.score_a(a))


WIDE = (1, 3, 416, 608)  # what Checkmate segments
MODELS = {
    "vgg16": (lambda: vgg.VGG(vgg.make_layers(vgg.cfgs["D"]), init_weights=False), (1, 3, 224, 224)),
    "vgg19": (lambda: vgg.VGG(vgg.make_layers(vgg.cfgs["E"]), init_weights=False), (1, 3, 224, 224)),
    "mobilenet": (mobilenet_v1, (1, 3, 224, 224)),
    "resnet50": (resnet.resnet50, (1, 3, 224, 224)),
    "unet": (lambda: runtime.UNet((64, 128, 256, 512, 1024)), WIDE),
    "segnet": (SegNet, WIDE),
    "fcn8": (FCN8, WIDE),
}


def export(name, folder):
    """The path of the model, which is written when it is not there."""
    path = os.path.join(folder, name + ".onnx")
    if os.path.exists(path):
        return path
    make, shape = MODELS[name]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    runtime.save(make(), torch.zeros(*shape), path)
    return path

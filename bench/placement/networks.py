#!/usr/bin/python3
"""Writes the networks that placements are measured on, at the size at which they are trained.

    bench/placement/networks.py FOLDER [NAME...]

Planning reads shapes, not values: every parameter is external data in one file of holes beside the models, zeros.weights, so
that the folder takes a few megabytes. The batch is open, a dimension named batch; placing.py binds it. Needs Debian's
python3-torch, python3-torchvision and python3-onnx; the same versions give the same files.
"""
import argparse
import io
import os
import sys
import warnings

import onnx
import torch
from onnx import TensorProto, numpy_helper
from torch import nn
from torchvision.models import AlexNet, inception, resnet, vgg

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runtime"))
from models import Lstm, Transformer, UNet, seed_dropouts  # noqa: E402

WEIGHTS = "zeros.weights"
BATCH = 2     # of the samples that are traced
LEAST = 1024  # elements: smaller tensors may hold shapes, which are read


def inception_v3():
    return inception.Inception3(aux_logits=False, init_weights=False)


def images(side):
    return torch.zeros(BATCH, 3, side, side)


def words(length):
    return torch.zeros(BATCH, length, dtype=torch.long)


# name -> (model, input, axis of the batch)
NETWORKS = {
    "alexnet": (AlexNet, images(224), 0),
    "vgg16": (vgg.vgg16, images(224), 0),
    "vgg19": (vgg.vgg19, images(224), 0),
    "resnet50": (resnet.resnet50, images(224), 0),
    "inception_v3": (inception_v3, images(299), 0),
    "bert24": (lambda: Transformer(24, 1024, 16, 512, 30522, False), words(512), 0),
    "lstm": (lambda: Lstm(1024, 8), torch.zeros(16, BATCH, 1024), 1),
    "unet": (lambda: UNet((64, 128, 256, 512)), images(256), 0),
}


def open_batch(model):
    """Shapes that were traced with the sample's batch keep it open: a Reshape to [BATCH, ...] becomes one to [-1, ...]."""
    shapes = {n.output[0]: n for n in model.graph.node if n.op_type == "Constant"}
    for n in model.graph.node:
        at = shapes.get(n.input[1]) if n.op_type == "Reshape" else None
        if at is None:
            continue
        shape = numpy_helper.to_array(at.attribute[0].t).copy()
        if len(shape) > 1 and shape[0] == BATCH and -1 not in shape:
            shape[0] = -1
            at.attribute[0].t.CopyFrom(numpy_helper.from_array(shape))


def without_values(model, folder):
    """Moves every large tensor to the file of holes, which grows as needed."""
    most = 0
    for t in model.graph.initializer:
        n = len(numpy_helper.to_array(t).tobytes())
        if t.data_type != TensorProto.FLOAT or n < 4 * LEAST:
            continue
        most = max(most, n)
        t.ClearField("raw_data")
        t.ClearField("float_data")
        t.data_location = TensorProto.EXTERNAL
        del t.external_data[:]
        for key, value in (("location", WEIGHTS), ("offset", "0"), ("length", str(n))):
            t.external_data.add(key=key, value=value)
    path = os.path.join(folder, WEIGHTS)
    with open(path, "ab"):
        pass
    os.truncate(path, max(most, os.path.getsize(path)))


def write(name, folder):
    make, sample, axis = NETWORKS[name]
    model, file = make().train(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, sample, file, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                          do_constant_folding=False, input_names=["x"], output_names=["y"],
                          dynamic_axes={"x": {axis: "batch"}})
    exported = onnx.load_from_string(file.getvalue())
    seed_dropouts(exported)
    open_batch(exported)
    without_values(exported, folder)
    path = os.path.join(folder, name + ".onnx")
    onnx.save(exported, path)
    print(f"{path}: {len(exported.graph.node)} nodes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    args = parser.parse_intermixed_args()
    unknown = [n for n in args.names if n not in NETWORKS]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are: {', '.join(NETWORKS)}")
    torch.set_num_threads(1)
    os.makedirs(args.folder, exist_ok=True)
    for name in args.names or NETWORKS:
        write(name, args.folder)


if __name__ == "__main__":
    main()

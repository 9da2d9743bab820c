#!/usr/bin/env python3
"""A trainable network of any number of nodes: bench/limits/network.py NODES FILE [BLOCK].

Residual blocks x + MatMul(Relu(MatMul(x, w) + b), v), five nodes each, and a linear classifier. Names are as long as those of
exporters. BLOCK: every so many blocks one more node adds the output of a block far before, so that the graph is not a chain of
articulation points (default 7; 0: none). The file is made of protobuf's fields directly: onnx.helper takes minutes for a million
nodes."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "import"))
from fields import around, field, node, value  # noqa: E402

WIDTH, BATCH, CLASSES = 8, 4096, 4


def tensor(name, *dims):
    n = 4
    for d in dims:
        n *= d
    return field(5, b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, bytes([0, 0, 128, 61]) * (n // 4)))


def network(n_nodes, every):
    parts, last, before, n, draw = [], "input", [], 1, random.Random(1)

    def add(op, inputs, name):
        nonlocal n
        n += 1
        parts.append(field(1, node(op, inputs, f"{name}_output_0", name)))
        return f"{name}_output_0"

    block = 0
    while n + 5 + (every > 0) < n_nodes:
        at = f"/model/encoder/layers.{block}"
        w, b, v = (f"model.encoder.layers.{block}.{k}" for k in ("w", "b", "v"))
        parts += [tensor(w, WIDTH, 2 * WIDTH), tensor(b, 2 * WIDTH), tensor(v, 2 * WIDTH, WIDTH)]
        h = add("MatMul", [last, w], f"{at}/in/MatMul")
        h = add("Relu", [add("Add", [h, b], f"{at}/in/Add")], f"{at}/act/Relu")
        last = add("Add", [last, add("MatMul", [h, v], f"{at}/out/MatMul")], f"{at}/Add")
        if every and before and block % every == 0:
            last = add("Add", [last, before[draw.randrange(len(before))]], f"{at}/skip/Add")
        before.append(last)
        block += 1
    parts += [tensor("classifier", WIDTH, CLASSES), field(1, node("MatMul", [last, "classifier"], "scores", "/classifier/MatMul"))]
    return (b"".join(parts) + field(2, "network") + field(11, value("input", BATCH, WIDTH)) +
            field(12, value("scores", BATCH, CLASSES)))


def write(path, n_nodes, every=7):
    graph = network(n_nodes, every)
    head, tail = around(len(graph))
    with open(path, "wb") as f:
        f.write(head + graph + tail)


if __name__ == "__main__":
    write(sys.argv[2], int(sys.argv[1]), *map(int, sys.argv[3:]))

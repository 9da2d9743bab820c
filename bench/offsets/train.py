#!/usr/bin/env python3
"""Writes the buffers of synthetic training steps as CSV files for bench/offsets/run.

    bench/offsets/train.py FOLDER

A network is a list of operations (bytes of the output, of the weight, of the workspace; the operation it also
reads, or None). Operation i runs at time i, its backward at 2n-1-i. An activation is held until its backward, a
gradient from the step that makes it to the one that reads it, a weight's gradient to the end, and a workspace for
one step.
"""
import os
import random
import sys


def step(ops, seed, keep_weight_gradients=True):
    rnd, n, rows = random.Random(seed), len(ops), []
    end = 2 * n
    for i, (out, weight, workspace, skip) in enumerate(ops):
        back = end - 1 - i
        # Some backward operations read their own output (Relu), the others only their input.
        rows.append((i, end - i if rnd.random() < 0.75 else back, out))
        if workspace:
            rows += [(i, i + 1, workspace), (back, back + 1, 2 * workspace)]
        rows.append((max(back - 1, n), back + 1, out))
        if skip is not None:
            rows.append((back, end - skip, ops[skip][0]))
        if weight:
            rows.append((back, end if keep_weight_gradients else back + 2, weight))
    return rows


def resnet(n_blocks, batch, rnd):
    ops, channels, side = [], 64, 56
    for _ in range(4):
        for _ in range(n_blocks // 4):
            first, narrow = len(ops), channels // 4
            for c_in, c_out, k in ((channels, narrow, 1), (narrow, narrow, 3), (narrow, channels, 1)):
                out = batch * c_out * side * side * 4
                workspace = rnd.choice([0, out // 3, rnd.randint(1, 30) << 20])
                ops += [(out, c_in * c_out * k * k * 4, workspace, None), (out, 8 * c_out, 0, None), (out, 0, 0, None)]
            ops.append((batch * channels * side * side * 4, 0, 0, first))
        channels, side = 2 * channels, side // 2
    return ops


def unet(depth, n_convs, batch, rnd):
    ops, skips, channels, side = [], [], 64, 512

    def level(skip):
        for k in range(n_convs):
            out = batch * channels * side * side * 4
            ops.append((out, channels * channels * 36, rnd.choice([0, out // 2, 12345678]), None if k else skip))
            ops.append((out, 0, 0, None))

    for _ in range(depth):
        level(None)
        skips.append(len(ops) - 1)
        channels, side = 2 * channels, side // 2
    for _ in range(depth):
        channels, side = channels // 2, 2 * side
        level(skips.pop())
    return ops


def transformer(n_layers, width, length, batch, rnd):
    ops, t, heads = [], batch * length * 4, 16
    scores = batch * heads * length * length
    for _ in range(n_layers):
        first = len(ops)
        ops.append((t * width, 8 * width, 2 * t, None))
        ops += [(t * width, 4 * width * width, 0, None)] * 3
        ops += [(4 * scores, 0, 0, None), (4 * scores, 0, 4 * scores // length, None), (scores, 0, 0, None)]
        ops += [(t * width, 0, 0, None), (t * width, 4 * width * width, rnd.randint(0, 1) << 22, first)]
        ops += [(t * width, 8 * width, 2 * t, None), (4 * t * width, 16 * width * width, 0, None)]
        ops += [(4 * t * width, 0, 0, None), (t * width, 16 * width * width, rnd.randint(0, 1) << 22, first + 9)]
    return ops + [(t * 32000, width * 32000 * 4, t, None), (4, 0, t * 32000, None)]


def mixed(n, rnd):
    return [(rnd.randint(1, 1000) * rnd.choice([64, 4096, 65536]), rnd.choice([0, rnd.randint(1, 4000) * 256]),
             rnd.choice([0, 0, rnd.randint(1, 10**7)]), rnd.randrange(i) if i > 20 and rnd.random() < 0.1 else None)
            for i in range(n)]


def main():
    folder, rnd = sys.argv[1], random.Random(7)
    os.makedirs(folder, exist_ok=True)
    steps = {
        "resnet_50": step(resnet(16, 32, rnd), 1),
        "resnet_1000": step(resnet(336, 8, rnd), 2),
        "unet": step(unet(5, 3, 4, rnd), 3),
        "transformer_24": step(transformer(24, 1024, 512, 4, rnd), 4),
        "transformer_144": step(transformer(144, 1024, 512, 4, rnd), 5),
        "transformer_144_sgd": step(transformer(144, 1024, 512, 4, rnd), 5, False),
        "mixed_1000": step(mixed(400, rnd), 6),
        "mixed_10000": step(mixed(3500, rnd), 6),
        "mixed_50000": step(mixed(18000, rnd), 6),
        "mixed_50000_sgd": step(mixed(18000, rnd), 6, False),
    }
    for name, rows in steps.items():
        with open(os.path.join(folder, name + ".csv"), "w", encoding="ascii") as f:
            f.write("id,lower,upper,size\n")
            f.writelines(f"{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows))


if __name__ == "__main__":
    main()

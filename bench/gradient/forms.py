#!/usr/bin/python3
"""Time and workspace of alternative gradient forms on ONNX Runtime.

    bench/gradient/forms.py            prints a Markdown table

Each form is a small model of its own; all run in one Node process, one after the other in turns, so that what else the machine
does hits them alike. Time is the median over the turns, given as a ratio to the form that mfc uses (the first of each group);
"extra" is what the run allocates for tensors inside the form and for the kernels' own use, in units of the largest input.
Needs python3-onnx and the packages of tests/runtime.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Form:
    """A model under construction: inputs with shapes, then operators by name."""

    def __init__(self, inputs):
        self.inputs, self.nodes, self.inits, self.n = inputs, [], [], 0

    def const(self, array):
        self.n += 1
        self.inits.append(numpy_helper.from_array(np.asarray(array), f"c{self.n}"))
        return f"c{self.n}"

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = []
        for _ in range(outputs):
            self.n += 1
            names.append(f"v{self.n}")
        self.nodes.append(helper.make_node(op, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path, result):
        kinds = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int64"): TensorProto.INT64}
        ins = [helper.make_tensor_value_info(n, kinds[np.dtype(t)], s) for n, (t, s) in self.inputs.items()]
        out = [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "form", ins, out, self.inits)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def floats(**shapes):
    return {name: ("float32", shape) for name, shape in shapes.items()}


N, C, H = 8, 32, 56
ACT = [N, C, H, H]


def conv_dx(how):
    f = Form(floats(dy=ACT, w=[C, C, 3, 3]))
    if how == "Conv, weights turned":
        ends = np.array([np.iinfo(np.int64).min] * 2)
        w = f("Slice", f("Transpose", "w", perm=[1, 0, 2, 3]), f.const(np.array([-1, -1])), f.const(ends),
              f.const(np.array([2, 3])), f.const(np.array([-1, -1])))
        return f, f("Conv", "dy", w, pads=[1] * 4)
    return f, f("ConvTranspose", "dy", "w", pads=[1] * 4)


def conv_dw(how):
    f = Form(floats(x=ACT, dy=ACT))
    if how == "Conv, batch and channels exchanged":
        dw = f("Conv", f("Transpose", "x", perm=[1, 0, 2, 3]), f("Transpose", "dy", perm=[1, 0, 2, 3]), pads=[1] * 4)
        return f, f("Transpose", dw, perm=[1, 0, 2, 3])
    padded = f("Pad", "x", f.const(np.array([0, 0, 1, 1, 0, 0, 1, 1])))
    if how == "Gemm per tap":
        rows, turned = f.const(np.array([C, N * H * H])), f("Transpose", padded, perm=[1, 0, 2, 3])
        dy = f("Reshape", f("Transpose", "dy", perm=[1, 0, 2, 3]), rows)
        taps = []
        for i in range(3):
            for j in range(3):
                tap = f("Slice", turned, f.const(np.array([i, j])), f.const(np.array([i + H, j + H])), f.const(np.array([2, 3])))
                taps.append(f("Gemm", dy, f("Reshape", tap, rows), transB=1))
        stacked = f("Reshape", f("Concat", *taps, axis=0), f.const(np.array([9, C, C])))
        return f, f("Reshape", f("Transpose", stacked, perm=[1, 2, 0]), f.const(np.array([C, C, 3, 3])))
    flat = f.const(np.array([N, C, H * H]))
    dy = f("Transpose", f("Reshape", "dy", flat), perm=[0, 2, 1])
    taps = []
    for i in range(3):
        for j in range(3):
            tap = f("Slice", padded, f.const(np.array([i, j])), f.const(np.array([i + H, j + H])), f.const(np.array([2, 3])))
            each = f("MatMul", f("Reshape", tap, flat), dy)
            taps.append(f("ReduceSum", each, f.const(np.array([0])), keepdims=0))
    stacked = f("Reshape", f("Concat", *taps, axis=0), f.const(np.array([9, C, C])))
    return f, f("Reshape", f("Transpose", stacked, perm=[2, 1, 0]), f.const(np.array([C, C, 3, 3])))


def pointwise_dw(how):
    f = Form(floats(x=ACT, dy=ACT))
    if how == "MatMul, summed over the batch":
        flat = f.const(np.array([N, C, H * H]))
        each = f("MatMul", f("Reshape", "x", flat), f("Transpose", f("Reshape", "dy", flat), perm=[0, 2, 1]))
        return f, f("Transpose", f("ReduceSum", each, f.const(np.array([0])), keepdims=0), perm=[1, 0])
    dw = f("Conv", f("Transpose", "x", perm=[1, 0, 2, 3]), f("Transpose", "dy", perm=[1, 0, 2, 3]))
    return f, f("Transpose", dw, perm=[1, 0, 2, 3])


def relu(how):
    f = Form(floats(y=ACT, dy=ACT))
    zero = f.const(np.float32(0))
    if how == "dy * Cast(Cast(y, bool))":
        return f, f("Mul", "dy", f("Cast", f("Cast", "y", to=TensorProto.BOOL), to=TensorProto.FLOAT))
    if how == "dy * Sign(y)":
        return f, f("Mul", "dy", f("Sign", "y"))
    if how == "Where(y > 0, dy, 0)":
        return f, f("Where", f("Greater", "y", zero), "dy", zero)
    return f, f("Mul", "dy", f("Cast", f("Greater", "y", zero), to=TensorProto.FLOAT))


def max_pool(how):
    f = Form({"indices": ("int64", [N, C, H // 2, H // 2]), **floats(dy=[N, C, H // 2, H // 2])})
    if how == "ScatterElements, sums":
        zeros = f("ConstantOfShape", f.const(np.array([N * C * H * H])))
        flat = f.const(np.array([-1]))
        dx = f("ScatterElements", zeros, f("Reshape", "indices", flat), f("Reshape", "dy", flat), axis=0, reduction="add")
        return f, f("Reshape", dx, f.const(np.array(ACT)))
    return f, f("MaxUnpool", "dy", "indices", kernel_shape=[2, 2], strides=[2, 2])


def batch_norm(how):
    f = Form(floats(x=ACT, dy=ACT, g=[1, C, 1, 1]))
    axes = [0, 2, 3]
    centred = f("Sub", "x", f("ReduceMean", "x", axes=axes))
    var = f("ReduceMean", f("Mul", centred, centred), axes=axes)
    rstd = f("Reciprocal", f("Sqrt", f("Add", var, f.const(np.float32(1e-5)))))
    xhat = f("Mul", centred, rstd)
    scale = f("Mul", "g", rstd)
    if how == "sums shared with the parameters":
        a = f.const(np.array(axes))
        db, dg = f("ReduceSum", "dy", a), f("ReduceSum", f("Mul", "dy", xhat), a)
        share = f.const(np.float32(1 / (N * H * H)))
        centred_dy = f("Sub", "dy", f("Mul", db, share))
        return f, f("Mul", scale, f("Sub", centred_dy, f("Mul", xhat, f("Mul", dg, share))))
    mean, along = f("ReduceMean", "dy", axes=axes), f("ReduceMean", f("Mul", "dy", xhat), axes=axes)
    return f, f("Mul", scale, f("Sub", f("Sub", "dy", mean), f("Mul", xhat, along)))


ROWS, WIDE = 4096, 256


def layer_norm(how):
    f = Form(floats(x=[ROWS, WIDE], dy=[ROWS, WIDE], mean=[ROWS, 1], rstd=[ROWS, 1]))
    if how == "from Mean and InvStdDev":
        rstd, xhat = "rstd", f("Mul", f("Sub", "x", "mean"), "rstd")
    else:
        centred = f("Sub", "x", f("ReduceMean", "x", axes=[-1]))
        var = f("ReduceMean", f("Mul", centred, centred), axes=[-1])
        rstd = f("Reciprocal", f("Sqrt", f("Add", var, f.const(np.float32(1e-5)))))
        xhat = f("Mul", centred, rstd)
    mean, along = f("ReduceMean", "dy", axes=[-1]), f("ReduceMean", f("Mul", "dy", xhat), axes=[-1])
    return f, f("Mul", rstd, f("Sub", f("Sub", "dy", mean), f("Mul", xhat, along)))


def softmax(how):
    f = Form(floats(y=[ROWS, WIDE], dy=[ROWS, WIDE]))
    axis = f.const(np.array([-1]))
    product = f("Mul", "dy", "y")
    total = f("ReduceSum", product, axis)
    if how == "dy y - y sum":
        return f, f("Sub", product, f("Mul", "y", total))
    return f, f("Mul", "y", f("Sub", "dy", total))


VOCABULARY, TOKENS = 8192, 1024


def gather(how):
    f = Form({"ids": ("int64", [TOKENS]), **floats(dy=[TOKENS, WIDE])})
    if how == "ScatterND, sums":
        zeros = f("ConstantOfShape", f.const(np.array([VOCABULARY, WIDE])))
        return f, f("ScatterND", zeros, f("Unsqueeze", "ids", f.const(np.array([1]))), "dy", reduction="add")
    hot = f("OneHot", "ids", f.const(np.int64(VOCABULARY)), f.const(np.array([0, 1], np.float32)))
    return f, f("MatMul", f("Transpose", hot), "dy")


GROUPS = [
    ("Conv 3x3, dX", conv_dx, ["Conv, weights turned", "ConvTranspose"]),
    ("Conv 3x3, dW", conv_dw, ["MatMul per tap, summed over the batch", "Gemm per tap", "Conv, batch and channels exchanged"]),
    ("Conv 1x1, dW", pointwise_dw, ["MatMul, summed over the batch", "Conv, batch and channels exchanged"]),
    ("Relu", relu, ["dy * Cast(Cast(y, bool))", "dy * Cast(y > 0)", "dy * Sign(y)", "Where(y > 0, dy, 0)"]),
    ("MaxPool 2x2", max_pool, ["ScatterElements, sums", "MaxUnpool (where windows do not overlap)"]),
    ("BatchNormalization, dX", batch_norm, ["sums shared with the parameters", "means of their own"]),
    ("LayerNormalization, dX", layer_norm, ["from Mean and InvStdDev", "statistics recomputed"]),
    ("Softmax", softmax, ["y (dy - sum)", "dy y - y sum"]),
    ("Gather", gather, ["ScatterND, sums", "OneHot and MatMul"]),
]

RUNNER = """
const fs = require('fs');
const ort = require('module').createRequire(process.argv[1] + '/x.js')('onnxruntime-node');
const jobs = JSON.parse(fs.readFileSync(process.argv[2]));
(async () => {
  for (const j of jobs) {
    const extra = { session: { collect_node_memory_stats_to_file: j.path + '.csv' } };
    j.session = await ort.InferenceSession.create(j.path, { logSeverityLevel: 3, intraOpNumThreads: 1, enableMemPattern: false,
      enableCpuMemArena: false, extra });
    j.feeds = Object.fromEntries(Object.entries(j.inputs).map(([n, [t, s]]) => {
      const size = s.reduce((a, b) => a * b, 1);
      return [n, t === 'int64' ? new ort.Tensor('int64', BigInt64Array.from({ length: size }, (_, i) => BigInt(i * j.spread)), s)
        : new ort.Tensor('float32', Float32Array.from({ length: size }, (_, i) => Math.sin(i)), s)];
    }));
    j.times = [];
  }
  for (let turn = 0; turn < 9; turn++)
    for (const j of jobs) {
      const t = process.hrtime.bigint();
      await j.session.run(j.feeds);
      if (turn) j.times.push(Number(process.hrtime.bigint() - t) / 1e6);
    }
  for (const j of jobs) await j.session.release();
  console.log(JSON.stringify(jobs.map((j) => j.times.sort((a, b) => a - b)[j.times.length >> 1])));
})();
"""


def extra_bytes(path):
    """Sum over the nodes of what they allocate, from ONNX Runtime's own statistics."""
    total = 0
    with open(path + ".csv") as f:
        rows = [line.strip().split(",") for line in f if line.strip()]
    head = rows[0]
    for row in rows[1:]:
        r = dict(zip(head, row))
        total += int(r.get("total_dynamic_sizes", 0)) + int(r.get("total_temp_allocations", 0))
    return total


def main():
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for group, make, hows in GROUPS:
            for how in hows:
                f, result = make(how)
                path = os.path.join(folder, f"{len(jobs)}.onnx")
                f.save(path, result)
                largest = max(int(np.prod(s)) * np.dtype(t).itemsize for t, s in f.inputs.values())
                spread = 7 if group == "Gather" else 4
                jobs.append({"path": path, "inputs": f.inputs, "group": group, "how": how, "largest": largest, "spread": spread})
        listing = os.path.join(folder, "jobs.json")
        with open(listing, "w") as out:
            json.dump(jobs, out)
        run = subprocess.run(["node", "-e", RUNNER, os.path.join(TOP, "tests/runtime"), listing], capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        times = json.loads(run.stdout)
        print("| gradient | form | time | extra |\n|---|---|---|---|")
        first = {}
        for job, ms in zip(jobs, times):
            base = first.setdefault(job["group"], ms)
            note = " (mfc)" if base is ms else ""
            print(f"| {job['group']} | {job['how']}{note} | {ms / base:.2f} | {extra_bytes(job['path']) / job['largest']:.2f} |")


main()

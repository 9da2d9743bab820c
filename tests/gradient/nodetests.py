"""ONNX's own node tests (Debian's libonnx-testdata): the shapes and types that mfc infers are those of the reference
outputs, and the gradients of what can be differentiated agree with finite differences (nodetests.mjs, on ONNX Runtime).

    nodetests.py MFC OP.DEF TESTDATA SCRATCH NODE [PATTERN]

A test's model is stripped of the types of its outputs, its inputs get the shapes of the test's data, and the operands
that determine shapes become initializers with the test's values. What is skipped is listed by reason.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import numpy_helper

# The operands whose values decide on the shape of a result, or on which way a gradient takes.
SHAPING = {
    "Clip": [1, 2], "Compress": [1], "ConstantOfShape": [0], "CumSum": [1], "Dropout": [1, 2], "Expand": [1],
    "If": [0], "MaxUnpool": [2], "OneHot": [1], "Pad": [1, 2, 3], "Range": [0, 1, 2], "Reshape": [1],
    "Resize": [1, 2, 3], "Slice": [1, 2, 3, 4], "Split": [1], "Squeeze": [1], "Tile": [1], "TopK": [1], "Trilu": [1],
    "Unsqueeze": [1], "Upsample": [1], "BlackmanWindow": [0], "HannWindow": [0], "HammingWindow": [0],
    "GRU": [4], "LSTM": [4], "RNN": [4],
}
# Operands that are taken as constants by the gradient rules.
CONSTANT = {"DequantizeLinear": [1], "NegativeLogLikelihoodLoss": [2], "SoftmaxCrossEntropyLoss": [2]}
REPLACED = {"If", "Upsample"}  # by what they stand for, before shapes are inferred
DEPENDS_ON_DATA = {"Compress", "NonMaxSuppression", "NonZero", "StringNormalizer", "Unique"}
TYPES = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.DOUBLE: "float64", onnx.TensorProto.INT64: "int64",
         onnx.TensorProto.INT32: "int32", onnx.TensorProto.BOOL: "bool", onnx.TensorProto.UINT8: "uint8",
         onnx.TensorProto.INT8: "int8", onnx.TensorProto.UINT32: "uint32", onnx.TensorProto.UINT64: "uint64"}


def rules(path):
    """Operator -> (shape rule, gradient rule), from the table."""
    found = {}
    for line in open(path):
        m = re.match(r"OP\((\w+),.*, (\w+), \w+, (\w+)\)", line)
        if m:
            found[m[1]] = (m[2], m[3])
    return found


def tensor(path):
    t = onnx.TensorProto()
    with open(path, "rb") as f:
        t.ParseFromString(f.read())
    return t


def is_tensor(info):
    return info.type.WhichOneof("value") == "tensor_type"


def operators(graph):
    for n in graph.node:
        yield n.op_type if n.domain in ("", "ai.onnx") else n.domain + "." + n.op_type
        for a in n.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                yield from operators(a.g)


class Test:
    def __init__(self, folder, name):
        self.name = name
        self.model = onnx.load(os.path.join(folder, name, "model.onnx"))
        graph = self.model.graph
        self.ops = sorted(set(operators(graph)))
        self.tensors_only = all(is_tensor(v) for v in list(graph.input) + list(graph.output))
        data = os.path.join(folder, name, "test_data_set_0")
        read = lambda kind, infos: {v.name: tensor(os.path.join(data, f"{kind}_{k}.pb"))
                                    for k, v in enumerate(infos) if self.tensors_only}
        self.inputs = read("input", graph.input)
        self.outputs = read("output", graph.output)

    def shaping(self):
        """Inputs that become initializers."""
        sizes = {k for k, t in self.inputs.items() if not t.dims and t.data_type in (onnx.TensorProto.INT32, onnx.TensorProto.INT64)}
        return sizes | self.at(lambda n: [1] if n.op_type.startswith("Reduce") else SHAPING.get(n.op_type, []))

    def constant(self):
        return self.at(lambda n: CONSTANT.get(n.op_type, []))

    def at(self, slots_of):
        names = {n.input[k] for n in self.model.graph.node for k in slots_of(n) if k < len(n.input)}
        return names & set(self.inputs)

    def prepare(self, path):
        graph = self.model.graph
        shaping = self.shaping()
        for v in graph.input:
            v.type.tensor_type.ClearField("shape")
            for d in self.inputs[v.name].dims:
                v.type.tensor_type.shape.dim.add().dim_value = d
            if not self.inputs[v.name].dims:
                v.type.tensor_type.shape.SetInParent()
        for v in [v for v in graph.input if v.name in shaping]:
            init = graph.initializer.add()
            init.CopyFrom(self.inputs[v.name])
            init.name = v.name
            graph.input.remove(v)
        del graph.value_info[:]
        self.declared = {v.name: v.type.tensor_type.elem_type for v in graph.output}
        for v in graph.output:
            v.ClearField("type")
        self.model.ir_version = max(self.model.ir_version, 4)
        onnx.save(self.model, path)
        self.fed = {v.name: self.inputs[v.name] for v in graph.input}


def mfc_run(mfc, *args):
    done = subprocess.run([mfc, *args, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return None if done.returncode == 0 else done.stderr.strip()


def spell(elem, dims):
    return f"{onnx.TensorProto.DataType.Name(elem)}[{','.join(str(d) for d in dims)}]"


def shape_errors(test, path):
    """What differs between the inferred types of the outputs and the reference."""
    wrong = []
    for v in onnx.load(path).graph.output:
        t, want = v.type.tensor_type, test.outputs[v.name]
        dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in t.shape.dim]
        have = spell(t.elem_type, dims) if t.HasField("shape") else "no shape"
        full = spell(test.declared[v.name], want.dims)  # numpy had no bfloat16 for the data themselves
        if have != full:
            wrong.append(f"{v.name} is {full}, inferred {have}")
    return wrong


def as_json(t):
    x = numpy_helper.to_array(t)
    return {"type": TYPES[t.data_type], "dims": list(t.dims), "data": [float(e) if x.dtype.kind == "f" else int(e) for e in x.flat]}


def gradient_skip(test, table):
    """Why a test has no gradient to check; None: it has."""
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    if not any(t.data_type in floats for t in test.outputs.values()):
        return "no output in float or double"
    if not any(t.data_type in floats and t.dims != [0] for t in test.fed.values()):
        return "no input in float or double"
    if any(t.data_type not in TYPES for t in test.fed.values()):
        return "an input in float16, bfloat16 or text"
    if not any(t.data_type in floats and k not in test.constant() for k, t in test.fed.items()):
        return "only scales of a quantization are floats"
    if len(test.ops) == 1 and table[test.ops[0]][1] == "zero":
        return "no gradient by nature"
    if any(not numpy.isfinite(numpy_helper.to_array(t)).all() for t in test.fed.values() if t.data_type in floats):
        return "infinite or NaN inputs"
    return None


def main(mfc, op_def, data, scratch, node, pattern=""):
    table = rules(op_def)
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    skipped, failed, right, todo = collections.defaultdict(list), [], 0, []
    for name in sorted(os.listdir(data)):
        if pattern not in name:
            continue
        test = Test(data, name)
        unknown = [o for o in test.ops if table.get(o, ("unknown",))[0] == "unknown" and o not in REPLACED]
        if not test.tensors_only:
            skipped["sequences and optionals"].append(name)
            continue
        if unknown:
            skipped["operators without a shape rule: " + " ".join(unknown)].append(name)
            continue
        if DEPENDS_ON_DATA & set(test.ops):
            skipped["the shape depends on the data"].append(name)
            continue
        path, typed = (os.path.join(scratch, name + end) for end in (".onnx", ".typed.onnx"))
        test.prepare(path)
        error = mfc_run(mfc, "opt", path, "--passes=upgrade,shapes,fold,shapes", "-o", typed)
        wrong = [error] if error else shape_errors(test, typed)
        if wrong:
            failed.append(f"{name}: {'; '.join(wrong)}")
        else:
            right += 1
        reason = gradient_skip(test, table)
        todo.append({"name": name, "model": path, "skip": reason, "ops": test.ops, "constant": sorted(test.constant()),
                     "inputs": {} if reason else {k: as_json(t) for k, t in test.fed.items()}})
    for reason, names in sorted(skipped.items()):
        print(f"shapes: skipped {len(names):3}, {reason}")
    for line in failed:
        print("FAIL shapes of", line)
    print(f"shapes: {right} of {right + len(failed)} node tests")
    with open(os.path.join(scratch, "tests.json"), "w") as f:
        json.dump(todo, f)
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run([node, os.path.join(here, "nodetests.mjs"), mfc, scratch])
    good = not failed and done.returncode == 0
    if good:
        shutil.rmtree(scratch)
    sys.exit(not good)


if __name__ == "__main__":
    main(*sys.argv[1:])

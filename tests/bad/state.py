"""Safetensors files that are damaged, or made to do harm: each is refused by `mfc export` with a message and exit code 3 (4 for
a type that mfc does not have, 9 for a matter of size), and nothing is written."""
import json
import os
import struct
import sys
import tempfile

from command import check, finish, run

MODEL = sys.argv[3]
SHAPES = {"w0": [48, 64], "b0": [48], "w1": [32, 48], "b1": [32], "w2": [10, 32], "b2": [10]}


def file(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def whole(change=lambda header: None, more=b"", order=None):
    """The state of the model, with something changed."""
    header, at = {}, 0
    for name in order or SHAPES:
        n = 4
        for dim in SHAPES[name]:
            n *= dim
        header[name] = {"dtype": "F32", "shape": SHAPES[name], "data_offsets": [at, at + n]}
        at += n
    change(header)
    return file(header, bytes(at) + more)


def set_entry(name, **what):
    return whole(lambda h: h[name].update(what))


def rename(header):
    header["other"] = header.pop("w0")


entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
good = whole()
CASES = [  # name, bytes, exit codes, what the message must have
    ("empty", b"", (3,), r"empty|0 bytes|shorter|not an ONNX"),
    ("seven bytes", bytes(7), (3,), r"shorter than 8"),
    ("length beyond the file", struct.pack("<Q", 1 << 20) + b"{}", (3,), r"behind the file"),
    ("length of 2^63", struct.pack("<Q", 1 << 63) + b"{}", (3,), r"behind the file"),
    ("length of 2^64 - 1", b"\xff" * 8 + b"{}", (3,), r"behind the file"),
    ("no header", file(b"", b""), (3,), r"JSON"),
    ("not JSON", file(b"{nonsense", b""), (3,), r"JSON"),
    ("an array", file(b"[]", b""), (3,), r"object"),
    ("bad UTF-8", file(b'{"\xff\xfe": {}}', b""), (3,), r"JSON"),
    ("NUL in a name", file(b'{"a\\u0000b": {}}', b""), (3,), r"JSON"),
    ("the same name twice", file(b'{"w0": 1, "w0": 2}', b""), (3,), r"JSON"),
    ("nesting", file(b'{"a":' * 5000 + b"1" + b"}" * 5000, b""), (3, 9), r"nested"),
    ("an entry that is no object", file({"w0": 7}, b""), (3,), r"w0: has no \"dtype\""),
    ("no type", file({"w0": {"shape": [1], "data_offsets": [0, 4]}}, bytes(4)), (3,), r"dtype"),
    ("unknown type", set_entry("w0", dtype="Q7"), (4,), r"Q7"),
    ("no shape", file({"w0": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4)), (3,), r"shape"),
    ("negative dimension", set_entry("w0", shape=[-48, 64]), (3,), r"dimension"),
    ("fraction", set_entry("w0", shape=[47.5, 64]), (3,), r"dimension"),
    ("dimension beyond 64 bits", file(b'{"w0":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}', bytes(4)),
     (3,), r"JSON|dimension"),
    ("product beyond 64 bits", set_entry("w0", shape=[1 << 40, 1 << 40]), (3,), r"bytes"),
    ("too many dimensions", file({"w0": {"dtype": "F32", "shape": [1] * 65, "data_offsets": [0, 4]}}, bytes(4)), (3,), r"64"),
    ("no offsets", file({"w0": {"dtype": "F32", "shape": [1]}}, bytes(4)), (3,), r"data_offsets"),
    ("three offsets", set_entry("w0", data_offsets=[0, 4, 8]), (3,), r"data_offsets"),
    ("offsets that are texts", set_entry("w0", data_offsets=["0", "4"]), (3,), r"data_offsets"),
    ("negative offset", set_entry("w0", data_offsets=[-4, 12284]), (3,), r"outside"),
    ("end before the start", set_entry("w0", data_offsets=[12288, 0]), (3,), r"outside"),
    ("behind the file", set_entry("b2", data_offsets=[1 << 40, (1 << 40) + 40]), (3,), r"outside"),
    ("offset of 2^63 - 1", set_entry("b2", data_offsets=[(1 << 63) - 41, (1 << 63) - 1]), (3,), r"outside"),
    ("size that is not the shape's", set_entry("b0", shape=[47]), (3,), r"number of bytes"),
    ("overlap", set_entry("b0", data_offsets=[0, 192]), (3,), r"overlap|belong to no tensor"),
    ("two at one place", file({"a": entry, "b": entry}, bytes(4)), (3,), r"overlap"),
    ("a gap", file({"a": {**entry, "data_offsets": [4, 8]}}, bytes(8)), (3,), r"belong to no tensor"),
    ("bytes at the end", whole(more=b"more"), (3,), r"belong to no tensor"),
    ("metadata that is no object", whole(lambda h: h.update(__metadata__=[])), (3,), r"__metadata__"),
    ("metadata that is no text", whole(lambda h: h.update(__metadata__={"a": 1})), (3,), r"metadata"),
    ("a tensor that the model does not have", whole(rename), (3,), r"other.*no parameter of this name"),
    ("another shape", set_entry("w0", shape=[64, 48]), (3,), r"w0.*is f32\[48,64\] in the model, but f32\[64,48\] in the state"),
    ("another type", set_entry("w0", dtype="I32"), (3,), r"w0.*is f32\[48,64\] in the model, but i32"),
    ("nothing of the model", file({"step": entry}, bytes(4)), (3,), r"none of the model's parameters"),
]
CASES += [(f"cut at {n}", good[:n], (3,), r"\[(state|malformed|wire|not-onnx)\]") for n in [8, 9, 50, 300, 400, 5000, len(good) - 1]]

with tempfile.TemporaryDirectory() as folder:
    target = os.path.join(folder, "out")
    os.mkdir(target)
    path, out = os.path.join(folder, "bad.safetensors"), os.path.join(target, "out.onnx")
    for name, data, codes, message in CASES:
        with open(path, "wb") as f:
            f.write(data)
        check(name, run(["export", MODEL, "--state", path, "-o", out]), codes, message, target)
    # The same without damage, in any order of its tensors.
    for order in (None, sorted(SHAPES), sorted(SHAPES, reverse=True)):
        with open(path, "wb") as f:
            f.write(whole(order=order))
        check("good", run(["export", MODEL, "--state", path, "-o", out]), (0,), "", target, ["out.onnx"])
    check("absent", run(["export", MODEL, "--state", path + "x", "-o", out]), (8,), "bad.safetensorsx")
finish(45)

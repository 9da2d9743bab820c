"""Files that are not the model they claim to be: every one gets a message and exit code 3 (or 9 when it is
a matter of size), within a second of processor time, from `mfc FILE -o OUT` and from `mfc inspect FILE`."""
import os
import random
import resource
import tempfile

import onnx
from onnx import TensorProto, helper

from command import SANITIZED, check, finish, run


def one_second():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))


def field(number, payload):
    """A length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def nested(levels):
    """graph { node { attribute { g { node { ... to that depth, built from the inside out."""
    numbers, size, heads = [6, 5, 1], 0, []  # AttributeProto.g, NodeProto.attribute, GraphProto.node
    for i in range(levels // 3 * 3):
        heads.append(varint(numbers[i % 3] << 3 | 2) + varint(size))
        size += len(heads[-1])
    return field(7, b"".join(reversed(heads)))


def model(nodes, inputs=("x",), outputs=("y",), initializers=(), dims=(2, 3)):
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    graph = helper.make_graph(nodes, "g", [value(n) for n in inputs], [value(n) for n in outputs],
                              initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def external(location):
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", "0"), ("length", "8")):
        t.external_data.add(key=key, value=text)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[t]).SerializeToString()


def raw_tensor(dims, payload):
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, raw_data=payload)
    t.dims.extend(dims)
    return model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[t]).SerializeToString()


relu = lambda a, b: helper.make_node("Relu", [a], [b])
good = model([relu("x", "y")]).SerializeToString()
bad_utf8 = bytearray(model([relu("x", "middle"), relu("middle", "y")]).SerializeToString())
bad_utf8 = bytes(bad_utf8).replace(b"middle", b"mid\xff\xfee")

rng = random.Random(1)
future = good.replace(b"\x08\x01\x12", b"\x08\x4d\x12")  # element type 77
no_graph = b"\x08\x08"

CASES = [  # name, bytes, exit codes, what the message must have
    ("empty", b"", (3,), r"empty|no graph|0 bytes"),
    ("zip", b"PK\x03\x04" + bytes(100), (3,), r"byte \d"),
    ("png", b"\x89PNG\r\n\x1a\n" + bytes(100), (3,), r"byte \d"),
    ("text", b"Hello, I am not a model.\n" * 10, (3,), r"byte \d"),
    ("html", b"<!DOCTYPE html><html></html>", (3,), r"byte \d"),
    ("zeros", bytes(1000), (3,), r"byte \d"),
    ("ones", b"\xff" * 1000, (3,), r"byte \d"),
    ("json", b'{"graph": []}', (3,), r"byte \d"),
    ("nesting bomb", nested(1000000), (3, 9), r"nest|deep|depth|level"),
    ("size bomb", field(7, field(5, b"") * 1000000), (3, 9), r"would take"),
    ("length beyond the end", field(7, b"")[:-1] + varint(1 << 40), (3,), r"byte \d"),
    ("field number 0", b"\x02\x00" + good, (3,), r"byte \d"),
    ("graphs to be merged", b"\x08\x08" + field(7, field(1, b"")) * 1000000, (3,), r"twice"),
    ("no graph", no_graph, (3,), r"no graph"),
    ("no operator set", no_graph + field(7, field(1, relu("x", "y").SerializeToString()) +
                                         field(11, field(1, b"x"))), (3,), r"which version"),
    ("element type of the future", future, (4,), r"77"),
    ("negative dimension of a type", model([relu("x", "y")], dims=(2, -3)).SerializeToString(), (3,), r"-3"),
    ("negative dimension", raw_tensor([-2], b""), (3,), r"-2"),
    ("overflowing dimensions", raw_tensor([1 << 40, 1 << 40], b""), (3, 9), r"63 bits"),
    ("payload too short", raw_tensor([4], bytes(8)), (3,), r"8"),
    ("two nodes make one value", model([relu("x", "y"), relu("x", "y")]).SerializeToString(), (3,), r"\by\b"),
    ("dangling name", model([relu("nowhere", "y")]).SerializeToString(), (3,), r"nowhere"),
    ("dangling output", model([relu("x", "z")]).SerializeToString(), (3,), r"\by\b"),
    ("self-reference", model([relu("y", "y")]).SerializeToString(), (3,), r"\by\b"),
    ("cycle", model([relu("b", "a"), relu("a", "b"), relu("a", "y")]).SerializeToString(), (3,), r"cycle"),
    ("bad UTF-8", bad_utf8, (3,), r"UTF-8"),
    ("external: dot-dot", external("../secret"), (3,), r"\.\./secret"),
    ("external: inner dot-dot", external("a/../../secret"), (3,), r"secret"),
    ("external: absolute", external("/etc/passwd"), (3,), r"/etc/passwd"),
    ("external: symbolic link", external("link"), (3,), r"link"),
    ("external: device", external("null"), (3,), r"null"),
    ("external: hard link", external("hard"), (3,), r"hard link"),
    ("external: too short", external("short"), (3,), r"short"),
]
CASES += [(f"random bytes {i}", rng.randbytes(1 << rng.randrange(4, 20)), (3,), r"byte \d|no graph") for i in range(20)]
CASES += [(f"cut at {n}", good[:n], (3,), r"byte \d|no graph|which version") for n in range(1, len(good) - 5, 5)]

with tempfile.TemporaryDirectory() as folder:
    target = os.path.join(folder, "out")
    os.mkdir(target)
    os.symlink("/etc/passwd", os.path.join(folder, "link"))
    os.symlink("/dev/null", os.path.join(folder, "null"))
    with open(os.path.join(folder, "short"), "wb") as f:
        f.write(bytes(7))
    with open(os.path.join(folder, "hard"), "wb") as f:
        f.write(bytes(8))
    os.link(os.path.join(folder, "hard"), os.path.join(folder, "harder"))
    path = os.path.join(folder, "bad.onnx")
    for name, data, codes, message in CASES:
        with open(path, "wb") as f:
            f.write(data)
        where = rf"bad\.onnx(.|\n)*({message})"
        check(name, run([path, "-o", os.path.join(target, "out.onnx")], one_second), codes, where, target)
        check(name + ", inspect", run(["inspect", path], one_second), codes, where, target)
        check(name + ", stdin", run(["-", "-o", os.path.join(target, "out.onnx")], stdin=open(path, "rb")),
              codes + ((0,) if name.startswith("external") else ()), "" if name.startswith("external") else message,
              None)
        for left in os.listdir(target):
            os.unlink(os.path.join(target, left))
finish(190)

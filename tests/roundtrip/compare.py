"""Compares ONNX files message by message, field by field, by the protobuf classes of Debian's
python3-onnx, which share no code with mfc. Fields that those classes do not know are compared too,
as they are on the wire.

What the format leaves free does not count: whether a scalar that has its default is written, the
order of the bytes, and
  - the IR version may be raised, for mfc raises it when the model uses a later feature;
  - the type of an attribute may be added, where an old file left it to be guessed;
  - nodes that were not in an order in which they can run may come in another one.

    compare.py PAIRS            each line of the file: original, tab, copy
    compare.py --self-test MODEL  changes the model in every place; each change must be seen
"""
import collections
import itertools
import struct
import sys

import onnx
from google.protobuf.descriptor import FieldDescriptor

FLOATS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)


def unknown(message):
    """The unknown fields in an order of their own, groups as nested tuples."""
    def rows(fields):
        return sorted((f.field_number, f.wire_type,
                       rows(f.data) if f.wire_type == 3 else f.data) for f in fields)
    return [repr(r) for r in rows(message.UnknownFields())]


def scalar(field, value):
    """Floats by their bits: NaNs and zeros of either sign are told apart."""
    return struct.pack("<d", value) if field.type in FLOATS else value


def in_order(nodes):
    """Whether each node comes after those that make its inputs."""
    made = {name for n in nodes for name in n.output}
    seen = set()
    for n in nodes:
        if any(name in made and name not in seen for name in n.input):
            return False
        seen.update(n.output)
    return True


def same_nodes(a, b):
    """The nodes of b in the order of a, when a needed sorting; else b as it is."""
    if len(a) != len(b) or in_order(a) or list(a) == list(b):
        return b
    left = collections.defaultdict(list)
    for n in b:
        left[tuple(n.output)].append(n)
    picked = [left[tuple(n.output)].pop(0) for n in a if left[tuple(n.output)]]
    return picked if len(picked) == len(b) and in_order(b) else b


def differences(a, b, path=""):
    """Where two messages of one type differ, as text, one by one."""
    kind = a.DESCRIPTOR.name
    if unknown(a) != unknown(b):
        yield f"{path}: unknown fields {unknown(a)} became {unknown(b)}"
    for field in a.DESCRIPTOR.fields:
        where = f"{path}.{field.name}"
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.label == FieldDescriptor.LABEL_REPEATED:
            if len(x) != len(y):
                yield f"{where}: {len(x)} became {len(y)}"
                continue
            if field.name == "node":
                y = same_nodes(x, y)
            if field.message_type:
                for i, (p, q) in enumerate(zip(x, y)):
                    yield from differences(p, q, f"{where}[{i}]")
            elif [scalar(field, v) for v in x] != [scalar(field, v) for v in y]:
                yield f"{where}: {str(x)[:80]} became {str(y)[:80]}"
        elif field.message_type:
            if a.HasField(field.name) != b.HasField(field.name):
                yield f"{where}: there in only one of them"
            elif a.HasField(field.name):
                yield from differences(x, y, where)
        elif scalar(field, x) != scalar(field, y):
            raised = (kind, field.name) == ("ModelProto", "ir_version") and x < y
            guessed = (kind, field.name) == ("AttributeProto", "type") and x == 0
            if not raised and not guessed:
                yield f"{where}: {str(x)[:80]!r} became {str(y)[:80]!r}"


def load(path):
    with open(path, "rb") as f:
        bytes_ = f.read()
    model = onnx.ModelProto()
    model.ParseFromString(bytes_)
    return bytes_, model


def compare_files(pairs):
    n, same, identical, raised = 0, 0, 0, 0
    for original, copy in pairs:
        n += 1
        try:
            old, a = load(original)
            new, b = load(copy)
        except Exception as problem:  # no file, or not a message
            print(f"{original}: {problem}")
            continue
        found = list(itertools.islice(differences(a, b), 5))
        for text in found:
            print(f"{original}: {text}")
        same += not found
        identical += old == new
        raised += a.ir_version != b.ir_version
    print(f"{same} of {n} models are the same message; {identical} of them byte for byte; "
          f"the IR version of {raised} was raised")
    return n > 0 and same == n


def changed(field, value):
    if field.type == FieldDescriptor.TYPE_ENUM:
        return next(v.number for v in field.enum_type.values if v.number != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value - 1 if value > 0 else value + 1  # the IR version may rise, but not fall
    if isinstance(value, float):
        return value * 2 + 1 if 0 < abs(value) < 1e30 else 1.0
    return value + value[:1] if value else type(value)(b"x" if type(value) is bytes else "x")


def edits(message, path=""):
    """Functions that change one place of the message each, with the path of that place."""
    yield (f"{path}+unknown", lambda: message.MergeFromString(b"\xf8\x3f\x01"))
    for field, value in message.ListFields():
        where, name = f"{path}.{field.name}", field.name
        if field.label == FieldDescriptor.LABEL_REPEATED:
            yield (f"{where}-last", lambda n=name: getattr(message, n).pop())
            for i in range(len(value)):
                if field.message_type:
                    yield from edits(value[i], f"{where}[{i}]")
                else:
                    def change(n=name, k=i, f=field):
                        getattr(message, n)[k] = changed(f, getattr(message, n)[k])
                    yield (f"{where}[{i}]", change)
        elif field.message_type:
            yield (f"{where}-", lambda n=name: message.ClearField(n))
            yield from edits(value, where)
        else:
            yield (where, lambda n=name, f=field:
                   setattr(message, n, changed(f, getattr(message, n))))


def self_test(path):
    bytes_, model = load(path)
    if list(differences(model, load(path)[1])):
        print("a model differs from itself")
        return False
    missed = []
    n = sum(1 for _ in edits(model))
    for i in range(n):
        copy = onnx.ModelProto()
        copy.ParseFromString(bytes_)
        where, do = next(itertools.islice(edits(copy), i, None))
        do()
        if next(differences(model, copy), None) is None:
            missed.append(where)
    print(f"{n - len(missed)} of {n} changes were seen")
    for where in missed[:20]:
        print(f"not seen: {where}")
    return n > 100 and not missed


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--self-test":
        sys.exit(not self_test(sys.argv[2]))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as listed:
        sys.exit(not compare_files([line.rstrip("\n").split("\t") for line in listed]))

"""Models of any size that take no space on disk: their weights are holes in the file, but for a mark
at both ends of each, so that a byte that went astray shows.

    sparse.py MODEL N_TENSORS TENSOR_BYTES [inline|external]
"""
import os
import struct
import sys

MARK = struct.Struct("<IIII")
KIND = 1  # float


def varint(x):
    out = b""
    while x >= 0x80:
        out += bytes([x & 0x7F | 0x80])
        x >>= 7
    return out + bytes([x])


def head(number, n):
    """What precedes a field of n bytes."""
    return varint(number << 3 | 2) + varint(n)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return head(number, len(content)) + content


def marks(k, n_bytes):
    return MARK.pack(0x6D66636D, k, n_bytes >> 32, n_bytes & 0xFFFFFFFF)


def value_info(name, n):
    shape = field(1, field(1, n))
    return field(1, name) + field(2, field(1, field(1, KIND) + field(2, shape)))


def pairs(**entries):
    return b"".join(field(13, field(1, k) + field(2, str(v))) for k, v in entries.items())


def plant(f, at, k, n_bytes):
    for place in (at, at + n_bytes - MARK.size):
        f.seek(place)
        f.write(marks(k, n_bytes))


def write(path, n_tensors, n_bytes, external=False):
    """y = x + w0 + w1 + ..., with n_bytes in each w."""
    n = n_bytes // 4
    data = os.path.basename(path) + ".weights"
    before, after = [], []
    for k in range(n_tensors):
        tensor = field(1, n) + field(2, KIND) + field(8, f"w{k}")
        if external:
            tensor += pairs(location=data, offset=k * n_bytes, length=n_bytes) + field(14, 1)
            before.append(field(5, tensor))
        else:
            tensor += head(9, n_bytes)
            before.append(head(5, len(tensor) + n_bytes) + tensor)
    for k in range(n_tensors):
        after.append(field(1, field(1, f"v{k}") + field(1, f"w{k}") + field(2, f"v{k + 1}") +
                           field(4, "Add")))
    after += [field(2, "sparse"), field(11, value_info("v0", n)),
              field(12, value_info(f"v{n_tensors}", n))]
    payload = 0 if external else n_bytes * n_tensors
    graph_bytes = sum(map(len, before)) + sum(map(len, after)) + payload
    with open(path, "wb") as f:
        f.write(field(1, 8) + head(7, graph_bytes))
        for k, tensor in enumerate(before):
            f.write(tensor)
            if not external:
                at = f.tell()
                plant(f, at, k, n_bytes)
                f.seek(at + n_bytes)
        f.write(b"".join(after) + field(8, field(1, "") + field(2, 17)))
    if external:
        with open(os.path.join(os.path.dirname(path), data), "wb") as f:
            for k in range(n_tensors):
                plant(f, k * n_bytes, k, n_bytes)


def check(path, n_tensors, n_bytes):
    """The weights that an exported model has in other files are those that `write` made. Returns
    what is wrong."""
    import onnx
    model = onnx.load(path, load_external_data=False)
    wrong = []
    if [i.name for i in model.graph.initializer] != [f"w{k}" for k in range(n_tensors)]:
        wrong.append("other initializers")
    for k, t in enumerate(model.graph.initializer):
        entry = {e.key: e.value for e in t.external_data}
        if "location" not in entry or int(entry.get("length", -1)) != n_bytes:
            wrong.append(f"{t.name}: {entry}")
            continue
        with open(os.path.join(os.path.dirname(path), entry["location"]), "rb") as f:
            f.seek(int(entry["offset"]))
            first = f.read(64)
            f.seek(int(entry["offset"]) + n_bytes - 64)
            last = f.read(64)
        zeros = bytes(64 - MARK.size)
        if first != marks(k, n_bytes) + zeros or last != zeros + marks(k, n_bytes):
            wrong.append(f"{t.name}: other bytes")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:] == ["external"])

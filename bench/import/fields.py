"""Pieces of an ONNX file, as bytes: for models that are too large for onnx.helper."""


def varint(x):
    out = bytearray()
    while x >= 0x80:
        out.append(x & 0x7F | 0x80)
        x >>= 7
    out.append(x)
    return bytes(out)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def value(name, *dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, output, name):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, name) + field(4, op)


def around(graph_bytes):
    """What stands before and after a graph of so many bytes."""
    return field(1, 8) + varint(7 << 3 | 2) + varint(graph_bytes), field(8, field(2, 17))

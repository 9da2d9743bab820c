"""What a plan file claims: its metadata, read without the graph, which may be large."""
import os
from typing import BinaryIO, Dict, Iterator, Tuple, Union

PREFIX = "dev.mfc."
METADATA = 14  # the field of metadata_props in a ModelProto


def varint(f: BinaryIO) -> int:
    value = shift = 0
    while True:
        byte = f.read(1)
        if not byte or shift > 63:
            raise ValueError("not an ONNX file")
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
        shift += 7


def fields(f: BinaryIO, end: int) -> Iterator[Tuple[int, int]]:
    """Number and size of each field of a message, with the file at its content. Numbers are passed over."""
    while f.tell() < end:
        tag = varint(f)
        if tag & 7 == 0:
            varint(f)
            continue
        size = {1: 8, 5: 4}.get(tag & 7) or varint(f)
        after = f.tell() + size
        if tag & 7 == 2:
            yield tag >> 3, size
        f.seek(after)


def claims(path: Union[str, "os.PathLike[str]"]) -> Dict[str, Union[int, str]]:
    """What `mfc` wrote into a plan: {"peak_bytes": 99629697, "runtime": "ort", ...}; whole numbers as such. docs/plans.md
    explains the names, `mfc verify` proves what they say."""
    found: Dict[str, Union[int, str]] = {}
    with open(path, "rb") as f:
        for number, size in fields(f, os.fstat(f.fileno()).st_size):
            if number != METADATA:
                continue
            entry = {n: f.read(k).decode() for n, k in fields(f, f.tell() + size)}
            name, text = entry.get(1, ""), entry.get(2, "")
            if name.startswith(PREFIX) and name != PREFIX + "nodes":  # a row for each node is no figure
                found[name[len(PREFIX):]] = int(text) if text.lstrip("-").isdigit() else text
    return found

"""Safetensors files with numpy arrays: 8 bytes with the length of a JSON header, the header, the data. The form of training
states; any tool of the format reads them."""
import json
import os
from typing import Any, Dict, Tuple, Union

import numpy as np

Path = Union[str, "os.PathLike[str]"]

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U64": "<u8",
         "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}
MAX_HEADER_BYTES = 100_000_000


def load(path: Path) -> Tuple[Dict[str, np.ndarray], Dict[str, str]]:
    """The arrays by name, and the texts of the metadata. ValueError: the file is damaged."""
    with open(path, "rb") as f:
        data = f.read()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < 8 or start > min(len(data), MAX_HEADER_BYTES):
        raise ValueError(f"{os.fspath(path)}: not a safetensors file: the header would end behind the file")
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind, count = entry["dtype"], int(np.prod(entry["shape"], dtype=np.int64))
        if kind not in TYPES:
            raise ValueError(f"{os.fspath(path)}: {name} has the type {kind}, which numpy does not have")
        if not 0 <= begin <= end <= len(data) - start or end - begin != count * np.dtype(TYPES[kind]).itemsize:
            raise ValueError(f"{os.fspath(path)}: {name} does not fit the file")
        arrays[name] = np.frombuffer(data[start + begin:start + end], TYPES[kind]).reshape(entry["shape"]).copy()
    return arrays, metadata


def save(path: Path, arrays: Dict[str, np.ndarray], metadata: Dict[str, str]) -> None:
    """Writes a file that appears complete or not at all, also when the process ends at any moment."""
    header: Dict[str, Any] = {"__metadata__": metadata}
    offset, order = 0, sorted(arrays, key=lambda name: -arrays[name].itemsize)  # so that each is aligned
    for name in order:
        array = arrays[name]
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{os.fspath(path)}.tmp"
    with open(temporary, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            f.write(np.ascontiguousarray(arrays[name]).tobytes())
        f.flush()
        os.fsync(f.fileno())
    os.replace(temporary, path)

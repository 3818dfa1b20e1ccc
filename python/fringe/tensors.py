"""Files of tensors (.safetensors): 8 bytes with the length of a JSON header, the header, the arrays.

SPDX-License-Identifier: Apache-2.0
"""
import json
import struct
from typing import Dict, Mapping

import numpy as np

TYPES = {"BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4",
         "F64": "<f8"}
NAMES = {np.dtype(short): name for name, short in TYPES.items()}


def read_tensors(path: str) -> Dict[str, np.ndarray]:
    """The arrays of a .safetensors file by name."""
    with open(path, "rb") as f:
        (length,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(length))
        data = f.read()
    arrays = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            if tensor["dtype"] not in TYPES:
                raise ValueError(f"{path}: '{name}' is {tensor['dtype']}; only {', '.join(TYPES)} are read")
            arrays[name] = np.frombuffer(data[begin:end], TYPES[tensor["dtype"]]).reshape(tensor["shape"]).copy()
    return arrays


def write_tensors(path: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes a .safetensors file; the header is padded so that the arrays are aligned."""
    header, blocks, at = {}, [], 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        array = np.asarray(array, order="C")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        header[name] = {"dtype": NAMES[little.dtype], "shape": list(array.shape),
                        "data_offsets": [at, at + array.nbytes]}
        blocks.append(little.tobytes())
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blocks))


def _array(value):
    """An array of numpy, of a torch tensor too."""
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)

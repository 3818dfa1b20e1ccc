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
    """An array of numpy, of a torch tensor of any layout, device and type, too."""
    if not hasattr(value, "detach"):
        array = np.asarray(value)
        return np.array(array.tolist()) if array.dtype == object else array  # of frames, or of numbers one by one
    if value.device.type == "meta":
        raise ValueError("a tensor on the device 'meta' has a shape and no numbers; give one on a real device")
    value = value.detach().cpu()
    value = value.to_dense() if "sparse" in str(value.layout) else value
    return np.asarray(value.float() if str(value.dtype) == "torch.bfloat16" else value)


def _entries(matrix):
    """Rows, columns and values (None: all are 1) of a sparse matrix of scipy, torch or torch_sparse; else None."""
    if hasattr(matrix, "tocoo"):
        matrix = matrix.tocoo()
        found = matrix.row, matrix.col, matrix.data
    elif hasattr(matrix, "coo"):
        found = matrix.coo()
    elif "sparse" in str(getattr(matrix, "layout", "")):
        matrix = matrix.detach().to_sparse_coo().coalesce()
        found = (*matrix.indices(), matrix.values())
    else:
        return None
    rows, columns, values = (None if part is None else _array(part) for part in found)
    return rows, columns, None if values is None or (values == 1).all() else values

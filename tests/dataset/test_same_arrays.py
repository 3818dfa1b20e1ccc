# once
"""If this failed, fringe would read other numbers than numpy and scipy do from the same file.

Small random arrays of every type, order and packing are written by numpy and scipy, read by fringe convert and, from
the same files, by numpy and scipy; edges with their weights, features, labels and splits must be equal bit for bit.
"""
import concurrent.futures
import gzip
import io
import os
import tempfile
import warnings
import zipfile

from interpreter import start_over
from program import call, write, write_json

start_over("numpy, scipy", "python3-scipy")

import numpy as np
import scipy.io
import scipy.sparse as sp

warnings.filterwarnings("ignore")
N, E, F, K = 40, 150, 5, 4
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
TYPES = ("f2", "f4", "f8", "b1") + INTEGERS
ORDERS = ("<", ">")
PACKINGS = ("stored", "deflated", "zip64", "streamed")
VERSIONS = ((1, 0), (2, 0), (3, 0))
CASES = []


def case(*arguments):
    """A function of a random generator, a folder and these arguments, which returns what to read and what to find."""
    def add(function):
        CASES.append((f"{function.__name__}{arguments}", function, arguments))
        return function
    return add


# ---- writing as numpy does, with a choice of packing

def save(path, arrays, packing, version=None):
    """packing: stored, deflated, zip64 (sizes of 64 bits), streamed (sizes behind the data)."""
    method = zipfile.ZIP_STORED if packing == "stored" else zipfile.ZIP_DEFLATED
    packed = io.BytesIO()
    target = packed if packing != "streamed" else Unseekable(packed)
    with zipfile.ZipFile(target, "w", method) as archive:
        for key, array in arrays.items():
            with archive.open(key + ".npy", "w", force_zip64=packing == "zip64") as member:
                np.lib.format.write_array(member, np.asanyarray(array), version)
    write(path, packed.getvalue())


class Unseekable(io.RawIOBase):
    def __init__(self, out):
        self.out = out

    def writable(self):
        return True

    def write(self, data):
        return self.out.write(data)


def numbers(draw, kind, shape, order):
    """Random numbers over all that the type holds, as far as it becomes a finite 32-bit float."""
    if kind == "b1":
        array = draw.integers(0, 2, shape).astype("?")
    elif kind[0] == "f":
        most = {"f2": 4, "f4": 37, "f8": 37}[kind]
        array = draw.standard_normal(shape) * 10.0 ** draw.integers(-most, most, shape)
    else:
        info = np.iinfo(kind)
        array = draw.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
        if kind[1] == "8":  # rounded twice, through 64-bit floats, this is another 32-bit float
            array.flat[0] = (1 << 60) + (1 << 36) + 1
    return np.array(array, dtype=order + kind)


def ids(draw, kind, most, shape, order="<"):
    return draw.integers(0, most, shape).astype(order + kind)


def laid_out(array, fortran):
    return np.asfortranarray(array) if fortran else np.ascontiguousarray(array)


# ---- what is expected: edges as (row, column, weight), features, labels, lists of nodes

def edges(row, column, weight=None):
    weight = np.ones(len(row)) if weight is None else np.asarray(weight)
    return np.asarray(row).astype(int), np.asarray(column).astype(int), weight.astype(np.float32)


def in_order(triple):
    order = np.lexsort((triple[2], triple[1], triple[0]))
    return [part[order] for part in triple]


def rows_of(file, prefix):
    matrix = sp.csr_matrix((file[prefix + "data"], file[prefix + "indices"], file[prefix + "indptr"]),
                           file[prefix + "shape"])
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return matrix, edges(row, matrix.indices, matrix.data)


def check(name, source, wanted, folder):
    out = os.path.join(folder, "out.npz")
    done = call("convert", source, out, "--store")
    if "refused" in wanted:
        assert done.returncode == 65 and wanted["refused"] in done.stderr, (name, done.stderr)
        return
    assert done.returncode == 0, (name, done.stderr)
    with np.load(out) as file:
        found = in_order(rows_of(file, "adj_")[1])
        for part, expected, what in zip(found, in_order(wanted["edges"]), ("rows", "columns", "weights")):
            assert part.tobytes() == expected.tobytes(), (name, what, part, expected)
        if "x" in wanted:
            x = file["attr_matrix"] if "attr_matrix" in file else rows_of(file, "attr_")[0].toarray()
            expected = wanted["x"].astype(np.float32)
            unequal = x != expected
            assert x.dtype == np.float32 and not unequal.any(), (name, x[unequal], expected[unequal])
        if "y" in wanted:
            assert np.array_equal(file["labels"], wanted["y"]), (name, file["labels"], wanted["y"])
        for key in ("train_idx", "val_idx", "test_idx"):
            assert key not in wanted or np.array_equal(file[key], wanted[key]), (name, key)


# ---- npz of PyG: features of every type, byte order and layout; ids and labels of every integer type

def pyg(draw, folder, kind, order, fortran, packing, integer, version):
    other = ORDERS[order == "<"]
    x = laid_out(numbers(draw, kind, (N, F), order), fortran)
    edge_index = laid_out(ids(draw, integer, N, (2, E), other), not fortran)
    y = ids(draw, "f4" if TYPES.index(kind) % 3 == 0 else integer, K, (N, 1) if fortran else (N,), order)
    train = draw.random(N) < 0.5
    arrays = {"edge_index": edge_index, "x": x, "y": y, "train_mask": train, "val_mask": np.zeros(N, bool),
              "test_mask": ~train if fortran else (~train).astype(order + integer)}
    path = os.path.join(folder, "pyg.npz")
    save(path, arrays, packing, version)
    with np.load(path) as file:  # as numpy reads it, not as it was written
        return path, {"edges": edges(*file["edge_index"]), "x": file["x"], "y": file["y"].reshape(N).astype(int),
                      "train_idx": np.nonzero(file["train_mask"])[0], "test_idx": np.nonzero(file["test_mask"])[0]}


for pick, (kind, order) in enumerate((kind, order) for kind in TYPES for order in ORDERS):
    case(kind, order, bool(pick // 2 + pick & 1), PACKINGS[pick % 4], INTEGERS[pick % 8], VERSIONS[pick % 3])(pyg)


# ---- matrices of scipy

def random_matrix(draw, kind, index):
    """With entries that are stored twice and rows that do not ascend."""
    row, column = ids(draw, index, N, E), ids(draw, index, N, E)
    weight = np.abs(numbers(draw, kind, E, "<").astype("f8")) if kind[0] in "fi" else numbers(draw, kind, E, "<")
    if kind[0] == "i":
        weight = np.minimum(weight, np.iinfo(kind).max // 2)
    return sp.coo_matrix((weight.astype(kind), (row, column)), (N, N))


@case("csr", "f4", "i4", True)
@case("csr", "f8", "i8", False)
@case("csr", "i8", "i4", True)
@case("csc", "f4", "i4", False)
@case("csc", "u1", "i8", True)
@case("csc", "i2", "i4", True)
@case("csr", "f8", "i4", True, 1)
@case("csr", "f4", "i4", True, 3)
@case("csr", "b1", "i8", False, 1)
@case("csr", "i8", "i8", True, 1, 5)
def scipy_matrix(draw, folder, layout, kind, index, compressed, weight=None, last=None):
    coo = random_matrix(draw, kind, index)
    if weight is not None:
        coo.data[:] = weight
    pointer = np.concatenate([[0], np.cumsum(np.bincount(coo.row if layout == "csr" else coo.col, minlength=N))])
    order = np.argsort(coo.row if layout == "csr" else coo.col, kind="stable")
    if last is not None:
        coo.data[order[-1]] = last
    places = (coo.col if layout == "csr" else coo.row)[order]
    make = sp.csr_matrix if layout == "csr" else sp.csc_matrix
    matrix = make((coo.data[order], places, pointer), (N, N))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    path = os.path.join(folder, "matrix.npz")
    sp.save_npz(path, matrix, compressed)
    read = sp.load_npz(path).tocoo()
    return path, {"edges": edges(read.row, read.col, read.data)}


@case("i4", "f4", "reddit_graph")
@case("i8", "i8", "reddit_graph")
@case("i4", "u1", "reddit_self_loop_graph")
def reddit(draw, folder, index, kind, name):
    coo = sp.coo_matrix((np.ones(E, kind), (ids(draw, index, N, E), ids(draw, index, N, E))), (N, N))
    if index == "i4":  # rows that ascend
        coo = coo.tocsr().tocoo()
    coo.row, coo.col = coo.row.astype(index), coo.col.astype(index)
    sp.save_npz(os.path.join(folder, name), coo)
    types = draw.integers(1, 4, N)
    np.savez_compressed(os.path.join(folder, "reddit_data"), feature=numbers(draw, "f8", (N, F), "<"),
                        label=ids(draw, "i4", K, N), node_types=types, node_ids=np.arange(N))
    read = sp.load_npz(os.path.join(folder, name + ".npz"))
    keep = read.row != read.col if "self_loop" in name else slice(None)
    with np.load(os.path.join(folder, "reddit_data.npz")) as file:
        return folder, {"edges": edges(read.row[keep], read.col[keep]), "x": file["feature"], "y": file["label"],
                        "train_idx": np.nonzero(types == 1)[0], "val_idx": np.nonzero(types == 2)[0]}


@case("f4", "i4", "stored")
@case("f8", "i8", "deflated")
@case("i8", "u2", "zip64")
@case("f4", "i4", "deflated")
def benchmark(draw, folder, kind, index, packing):
    """Features as CSR; equal entries are added."""
    adj = random_matrix(draw, "f4", "i4").tocsr()
    attr = sp.random(N, F, 0.3, "csr", random_state=int(draw.integers(1 << 30)))
    attr.data = draw.integers(1, 1 << 20, attr.nnz).astype(kind)
    wide = sp.csr_matrix((np.concatenate([attr.data, attr.data[:1]]), np.concatenate([attr.indices, attr.indices[-1:]]),
                          np.concatenate([attr.indptr[:-1], [attr.nnz + 1]])), attr.shape)
    arrays = {"adj_data": adj.data, "adj_indices": adj.indices.astype(index), "adj_indptr": adj.indptr,
              "adj_shape": adj.shape, "attr_data": wide.data.astype(kind), "attr_indices": wide.indices.astype(index),
              "attr_indptr": wide.indptr.astype("u4"), "attr_shape": wide.shape, "labels": ids(draw, "i1", 2, (N, K))}
    path = os.path.join(folder, "benchmark.npz")
    save(path, arrays, packing)
    with np.load(path) as file:
        return path, {"edges": rows_of(file, "adj_")[1], "x": rows_of(file, "attr_")[0].toarray(), "y": file["labels"]}


# ---- texts

@case("real", "general", "f8", ".mtx")
@case("real", "symmetric", "f4", ".mtx.gz")
@case("integer", "general", "i4", ".mtx.gz")
@case("integer", "symmetric", "i8", ".mtx")
@case("pattern", "general", "i4", ".mtx")
@case("pattern", "symmetric", "i4", ".mtx.gz")
@case("real", "skew-symmetric", "f8", ".mtx")
def matrix_market(draw, folder, field, symmetry, kind, ending):
    matrix = sp.random(N, N, 0.1, random_state=int(draw.integers(1 << 30)))
    matrix.data = draw.integers(0, 1000, matrix.nnz) / (8 if kind[0] == "f" else 1)
    if symmetry == "symmetric":
        matrix = matrix + matrix.T
    elif symmetry != "general":
        matrix = sp.tril(matrix, -1) - sp.tril(matrix, -1).T
    path = os.path.join(folder, "m" + ending)
    opened = (gzip.open if ending.endswith(".gz") else open)(path, "wb")
    with opened as file:
        scipy.io.mmwrite(file, matrix.astype(kind).tocoo(), "two lines\nof comment", field, None, symmetry)
    if symmetry == "skew-symmetric":
        return path, {"refused": "'skew-symmetric' is not read; a graph is general or symmetric"}
    read = scipy.io.mmread(path).tocoo()
    keep = read.data != 0  # as in a matrix, no edge
    return path, {"edges": edges(read.row[keep], read.col[keep], read.data[keep])}


@case("\t", False, ".tsv", "\n")
@case(",", True, ".csv.gz", "\r\n")
@case(" ", True, ".txt", "\n")
@case(",", False, ".csv", "\n")
@case(" ", False, ".edges.gz", "\r\n")
def edge_list(draw, folder, separator, weighted, ending, line_end):
    """Ids become places among the ids, as numpy.unique counts them."""
    pairs = draw.integers(0, 60, (E, 2)) ** 3
    weight = np.abs(numbers(draw, "f4", E, "<"))
    columns = [pairs[:, 0], pairs[:, 1]] + ([weight] if weighted else [])
    lines = ["# a comment"] + [separator.join(f"{v:.9g}" if i == 2 else str(v) for i, v in enumerate(row))
                               for row in zip(*columns)]
    path = os.path.join(folder, "list" + ending)
    with (gzip.open if ending.endswith(".gz") else open)(path, "wt", newline="") as file:
        file.write(line_end.join(lines) + (line_end if weighted else ""))
    read = np.loadtxt(path, delimiter=separator.strip() or None, ndmin=2)
    number = np.unique(read[:, :2], return_inverse=True)[1].reshape(-1, 2)
    return path, {"edges": edges(number[:, 0], number[:, 1], read[:, 2] if weighted else None)}


@case(False)
@case(True)
def ogb(draw, folder, several):
    tables = {"raw/num-node-list": [[N]], "raw/num-edge-list": [[E]], "raw/edge": ids(draw, "i8", N, (E, 2)),
              "raw/node-feat": numbers(draw, "f4", (N, F), "<"),
              "raw/node-label": ids(draw, "i8", 2, (N, K)) if several else ids(draw, "f4", K, (N, 1))}
    order = draw.permutation(N)
    for name, nodes in (("train", order[:20]), ("valid", order[20:30]), ("test", order[30:])):
        tables["split/random/" + name] = np.sort(nodes)[:, None]
    for name, rows in tables.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with gzip.open(os.path.join(folder, name + ".csv.gz"), "wt") as file:
            file.write("".join(",".join(str(v) for v in row) + "\n" for row in np.asarray(rows).tolist()))

    def read(name):
        return np.loadtxt(os.path.join(folder, name + ".csv.gz"), delimiter=",", ndmin=2)
    y = read("raw/node-label").astype(int)
    wanted = {"edges": edges(*read("raw/edge").T), "x": read("raw/node-feat"), "y": y if several else y[:, 0]}
    for ours, theirs in (("train_idx", "train"), ("val_idx", "valid"), ("test_idx", "test")):
        wanted[ours] = read("split/random/" + theirs)[:, 0].astype(int)
    return folder, wanted


# ---- npy files beside a graph

@case((2, E), "i8", "f2", False)
@case((E, 2), "u4", "i2", True)
@case((2, E), "u8", "f8", True)
def beside(draw, folder, shape, integer, kind, fortran):
    pairs = ids(draw, integer, N, shape, ">" if fortran else "<")
    pairs.flat[:2] = 0, N - 1
    arrays = {"edges": laid_out(pairs, fortran), "x": laid_out(numbers(draw, kind, (N, F), ">"), fortran),
              "y": ids(draw, "u1", K, N)}
    for key, array in arrays.items():
        np.save(os.path.join(folder, key), array)
    splits = {"train_idx": np.arange(0, N, 2), "test_idx": np.arange(1, N, 2)}
    save(os.path.join(folder, "splits.npz"), splits, "stored")
    path = os.path.join(folder, "beside.json")
    write_json(path, {"data": {"path": "edges.npy", "features": "x.npy", "labels": "y.npy", "splits": "splits.npz"}})
    read = {key: np.load(os.path.join(folder, key + ".npy")) for key in arrays}
    row, column = read["edges"] if shape[0] == 2 else read["edges"].T
    return path, {"edges": edges(row, column), "x": read["x"], "y": read["y"], "train_idx": splits["train_idx"]}


def run(number, folder):
    name, function, arguments = CASES[number]
    place = os.path.join(folder, str(number))
    os.mkdir(place)
    source, wanted = function(np.random.default_rng(number), place, *arguments)
    check(f"{number}: {name}", source, wanted, place)


with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda number: run(number, folder), range(len(CASES))))
print(f"ok: {len(CASES)} sets of arrays are read as numpy and scipy read them")

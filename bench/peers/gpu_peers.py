"""The rivals of the CUDA backend on one device: cuSPARSE with each of its algorithms, and epochs of GCN in torch, PyG, DGL.

usage: bench/run.sh gpu_peers, or gpu_peers.py FOLDER [--rows FILE] [--epochs 12] [--device cuda|cpu]
smoke: DATA/reddit-small --device=cpu --epochs=1

FOLDER is a fringe dataset directory. Appends to FILE what bench/gpu.sh keeps: stage, row, value, unit, bar, met. What
cannot run is a row that says so. --device cpu is for trying the script: it leaves cuSPARSE out.

A peer is fair if its backward pass multiplies by a matrix that is stored. PyG's GCNConv on a torch CSR is shown and no
rival: torch transposes that CSR anew in every backward pass, which takes longer than the rest of the epoch.
"""
import argparse
import ctypes
import glob
import importlib
import math
import os
import statistics
import sys
import time
import warnings

from figures import needs_module, skip

warnings.filterwarnings("ignore", message=".*(torch.jit.script|Sparse).*")  # not ours to mend
np, torch, sp = (needs_module(name) for name in ("numpy", "torch", "scipy.sparse"))
needs_module("safetensors")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "systems"))
dataset_dir, training = (importlib.import_module(name) for name in ("dataset_dir", "training"))
SparseTimes = importlib.import_module("reference").SparseTimes  # torch would transpose the CSR anew in each backward pass
sys.path.pop(0)  # whose dgl.py would hide the library

WIDTH, HIDDEN, ROUNDS = 256, 256, 5
ALGORITHMS = {"default": 0, "ALG1": 4, "ALG2": 6, "ALG3": 12}  # cusparseSpMMAlg_t, of CSR
SPMM, EPOCH, FASTEST = "cuSPARSE, fastest of its algorithms, 256 wide", "epoch of GCN 3 x 256", "fastest fair peer"
IN_BF16 = "torch in bf16 with both CSRs stored"  # a rival of bf16
UNFAIR = "PyG's GCNConv on a torch CSR, which each backward pass transposes"


def row(opt, name, value, unit=""):
    text = value if isinstance(value, str) else f"{value:.4g}"
    print(f"{name}: {text} {unit}", flush=True)
    if opt.rows:
        with open(opt.rows, "a") as out:
            out.write(f"speed\t{name}\t{text}\t{unit}\t\t\n")


def finish(opt):
    if opt.device == "cuda":
        torch.cuda.synchronize()


def empty_cache(opt):
    if opt.device == "cuda":
        torch.cuda.empty_cache()


def seconds_of(opt, call):
    """Median over rounds of some 20 ms each."""
    def once(calls):
        finish(opt)
        began = time.perf_counter()
        for _ in range(calls):
            call()
        finish(opt)
        return (time.perf_counter() - began) / calls

    once(1)
    calls = min(1000, math.ceil(0.02 / max(once(1), 1e-6)))
    return statistics.median(once(calls) for _ in range(ROUNDS))


# ---- cuSPARSE

def check(status, what):
    if status != 0:
        raise RuntimeError(f"{what} failed with status {status}")


def library():
    folders = [os.path.join(p, "nvidia", "*", "lib") for p in sys.path if p]
    for pattern in [f"{f}/libcusparse.so.*" for f in folders] + ["/usr/local/cuda*/lib64/libcusparse.so"]:
        for path in sorted(glob.glob(pattern)):
            return ctypes.CDLL(path)
    return ctypes.CDLL("libcusparse.so.12")


class Spmm:
    """out = A x by cuSPARSE's generic interface: A is CSR with 32-bit indices, as PyTorch makes it, x and out row-major."""

    def __init__(self, offset, column, value, x, out):
        self.lib, self.kept = library(), (offset, column, value, x, out)
        self.handle, self.a, self.b, self.c = (ctypes.c_void_p() for _ in range(4))
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        pointer, long = (lambda t: ctypes.c_void_p(t.data_ptr())), ctypes.c_int64
        check(self.lib.cusparseCreate(ctypes.byref(self.handle)), "cusparseCreate")
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(self.lib.cusparseSetStream(self.handle, stream), "cusparseSetStream")
        index32, base0, fp32, by_row = 2, 0, 0, 2
        check(self.lib.cusparseCreateCsr(ctypes.byref(self.a), long(len(offset) - 1), long(len(x)), long(len(column)),
                                         pointer(offset), pointer(column), pointer(value), index32, index32, base0,
                                         fp32), "cusparseCreateCsr")
        for made, matrix in ((self.b, x), (self.c, out)):
            check(self.lib.cusparseCreateDnMat(ctypes.byref(made), long(matrix.shape[0]), long(matrix.shape[1]),
                                               long(matrix.shape[1]), pointer(matrix), fp32, by_row),
                  "cusparseCreateDnMat")

    def words(self, algorithm):
        plain, fp32 = 0, 0
        return (self.handle, plain, plain, ctypes.byref(self.one), self.a, self.b, ctypes.byref(self.zero), self.c,
                fp32, algorithm)

    def prepare(self, algorithm):
        size = ctypes.c_size_t()
        check(self.lib.cusparseSpMM_bufferSize(*self.words(algorithm), ctypes.byref(size)), "cusparseSpMM_bufferSize")
        self.buffer = torch.empty(max(size.value, 256), dtype=torch.uint8, device="cuda")
        self.at = ctypes.c_void_p(self.buffer.data_ptr())
        check(self.lib.cusparseSpMM_preprocess(*self.words(algorithm), self.at), "cusparseSpMM_preprocess")

    def __call__(self, algorithm):
        check(self.lib.cusparseSpMM(*self.words(algorithm), self.at), "cusparseSpMM")


def spmm(opt, data):
    """The edges as stored, all weights 1: what fringe's own kernel is timed on."""
    if data.edges >= 2**31:
        return row(opt, SPMM, "did not run: more than 2^31 edges")
    offset = torch.from_numpy(data.edge_offset.astype(np.int32)).cuda()
    column, value = torch.from_numpy(data.edge_target).cuda(), torch.ones(data.edges, device="cuda")
    x = torch.rand(data.nodes, WIDTH, device="cuda") - 0.5
    out = torch.empty_like(x)
    product = Spmm(offset, column, value, x, out)
    want = torch.stack([x[column[offset[i]:offset[i + 1]].long()].double().sum(0) for i in range(20)])
    times = {}
    for name, algorithm in ALGORITHMS.items():
        try:
            product.prepare(algorithm)
            product(algorithm)
            away = ((out[:20].double() - want).norm() / want.norm()).item()
            assert away < 1e-4, f"its result is off by {away:.2g}"
            times[name] = seconds_of(opt, lambda: product(algorithm))
            row(opt, f"cuSPARSE {name}, 256 wide", times[name] * 1e3, "ms")
        except (RuntimeError, AssertionError) as error:
            row(opt, f"cuSPARSE {name}, 256 wide", f"did not run: {error}")
    if times:
        row(opt, SPMM, min(times.values()) * 1e3, "ms")
    else:
        row(opt, SPMM, "did not run: none of its algorithms did")


# ---- whole epochs

def normalised(data):
    """D^-1/2 (A + I) D^-1/2, scipy CSR [target, source]."""
    ones = np.ones(len(data.source), np.float32)
    a = sp.csr_matrix((ones, (data.target, data.source)), shape=(data.nodes, data.nodes))
    d_in, d_out = (np.asarray(a.sum(axis)).ravel() for axis in (1, 0))
    a = sp.csr_matrix(sp.diags(d_in**-0.5) @ a @ sp.diags(d_out**-0.5), dtype=np.float32)
    a.sort_indices()
    return a


def torch_csr(opt, a):
    index = np.int32 if opt.device == "cuda" else np.int64
    parts = (a.indptr.astype(index), a.indices.astype(index), a.data)
    return torch.sparse_csr_tensor(*(torch.from_numpy(p).to(opt.device) for p in parts), a.shape)


def check_product(opt, a, matrix, transposed):
    """The result and the gradient, against scipy's."""
    rows = torch.rand(a.shape[1], 4, device=opt.device, dtype=matrix.dtype, requires_grad=True)
    weight = torch.rand(a.shape[0], 4, device=opt.device, dtype=matrix.dtype)
    out = SparseTimes.apply(matrix, transposed, rows)
    (out * weight).sum().backward()
    mine = [array.detach().float().cpu().numpy() for array in (out, rows.grad, rows, weight)]
    for found, want in ((mine[0], a @ mine[2]), (mine[1], a.T @ mine[3])):
        away = np.linalg.norm(found - want) / np.linalg.norm(want)
        assert away < (1e-4 if matrix.dtype == torch.float32 else 1e-2), f"its product is off by {away:.2g}"


class Convolution(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))


def both_stored(opt, a, data, numbers=torch.float32):
    matrix, transposed = (torch_csr(opt, m).to(numbers) for m in (a, sp.csr_matrix(a.T)))
    check_product(opt, a, matrix, transposed)
    return Convolution, lambda conv, h: SparseTimes.apply(matrix, transposed, conv.linear(h)) + conv.bias


def both_in_bf16(opt, a, data):
    """Matrices, rows, weights and what Adam keeps; the loss is of floats."""
    return both_stored(opt, a, data, torch.bfloat16)


def gcn_conv(inputs, outputs):
    return importlib.import_module("torch_geometric.nn").GCNConv(inputs, outputs, normalize=False, add_self_loops=False)


def one_csr(opt, a, data):
    matrix = torch_csr(opt, a)
    return gcn_conv, lambda conv, h: conv(h, matrix)


def sparse_tensor(opt, a, data):
    SparseTensor = importlib.import_module("torch_sparse").SparseTensor
    parts = (torch.from_numpy(p) for p in (a.indptr.astype(np.int64), a.indices.astype(np.int64), a.data))
    matrix = SparseTensor(**dict(zip(("rowptr", "col", "value"), parts)), sparse_sizes=a.shape).to(opt.device).fill_cache_()
    return gcn_conv, lambda conv, h: conv(h, matrix)


def ends_of(opt, a):
    """(sources, targets) and weights, by targets."""
    a = a.tocoo()
    return torch.from_numpy(np.stack([a.col, a.row]).astype(np.int64)).to(opt.device), torch.from_numpy(a.data).to(opt.device)


def edge_index(opt, a, data):
    EdgeIndex = importlib.import_module("torch_geometric").EdgeIndex
    ends, weight = ends_of(opt, a)
    ends = EdgeIndex(ends, sparse_size=a.shape, sort_order="col").fill_cache_()
    return gcn_conv, lambda conv, h: conv(h, ends, weight)


def dgl_graph(opt, a, data):
    dgl, nn = importlib.import_module("dgl"), importlib.import_module("dgl.nn")
    ends, weight = ends_of(opt, a)
    graph = dgl.graph((ends[0], ends[1]), num_nodes=data.nodes).to(opt.device)
    return lambda i, o: nn.GraphConv(i, o, norm="none"), lambda conv, h: conv(graph, h, edge_weight=weight)


PEERS = {"torch with both CSRs stored": both_stored, "PyG's GCNConv on a torch_sparse matrix": sparse_tensor,
         "PyG's GCNConv on an EdgeIndex": edge_index, "DGL's GraphConv": dgl_graph,
         IN_BF16: both_in_bf16, UNFAIR: one_csr}


def epoch_seconds(opt, data, numbers, make_conv, apply):
    x, y, fit = (t.to(opt.device) for t in (data.x.to(numbers), data.y, data.fit))
    model = argparse.Namespace(hidden=HIDDEN, layers=3, dropout=0.5)
    stack = training.Stack(make_conv, data, model).to(opt.device, numbers).train()
    adam = torch.optim.Adam(stack.parameters(), lr=0.01)
    seconds = []
    for _ in range(opt.epochs + 2):  # two unmeasured ones first
        finish(opt)
        began = time.perf_counter()
        adam.zero_grad()
        loss = training.loss_of(stack(apply, x)[fit].float(), y[fit])
        loss.backward()
        adam.step()
        loss.item()
        finish(opt)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[2:])


def epochs(opt):
    """A row for each peer, and the name of the fastest one that is fair."""
    data, times = training.load(opt.folder, "gcn"), {}
    a = normalised(data)
    for name, make in PEERS.items():
        try:
            times[name] = epoch_seconds(opt, data, torch.bfloat16 if name == IN_BF16 else torch.float32,
                                        *make(opt, a, data))
            row(opt, f"{name}: {EPOCH}", times[name] * 1e3, "ms")
        except ImportError as error:
            row(opt, f"{name}: {EPOCH}", f"did not run: no {error.name}")
        except Exception as error:
            row(opt, f"{name}: {EPOCH}", f"did not run: {type(error).__name__}: {error}".split("\n")[0])
        empty_cache(opt)
    for other in (IN_BF16, UNFAIR):
        times.pop(other, None)
    row(opt, FASTEST, min(times, key=times.get) if times else "none ran")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder")
    ap.add_argument("--rows")
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    opt = ap.parse_args()
    if opt.device == "cuda" and not torch.cuda.is_available():
        for name in (SPMM, FASTEST):
            row(opt, name, "did not run: torch sees no CUDA device")
        skip("torch sees no CUDA device")
    if opt.device == "cuda":
        try:
            spmm(opt, dataset_dir.read(opt.folder))
        except Exception as error:  # a row in any case; the epochs are another matter
            row(opt, SPMM, f"did not run: {type(error).__name__}: {error}".split("\n")[0])
        empty_cache(opt)
    epochs(opt)


main()

# once
"""If this failed, fringe.train and its like would start another program than they should, lose an epoch, a stop or an error
of it, return what another run wrote, or leave a training without a checkpoint.

Parts that need pandas, matplotlib, PyG or mypy run in a Python that has them (FRINGE_PYG, or that of setup.sh)."""
import contextlib
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import warnings

from interpreter import start_over
from program import FRINGE, ROOT, command, has, json_lines, own_folder, write, write_json

start_over("numpy", "python3-numpy")

import numpy as np

import fringe
from fringe import process

os.environ.update(FRINGE_PROGRAM=FRINGE, MPLBACKEND="Agg")
LONG = 1_000_000  # epochs that no test waits for
CONFIG = {"data": {"path": "tiny"}, "model": fringe.Model(layer="gcn", hidden=[8]),
          "train": {"epochs": 4, "eval_every": 2}, "run": {"threads": 1}}


def raised(kind, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"nothing was raised; expected {kind.__name__}")


def first():
    """The run of CONFIG by itself."""
    return fringe.read_run("runs/tiny-1") if os.path.exists("runs/tiny-1") else fringe.train(CONFIG)


def metrics_of(run):
    return json_lines(os.path.join(run.folder, "metrics.jsonl"))


def has_checkpoint(folder):
    return os.path.exists(os.path.join(folder, "checkpoints", "LATEST"))


def test_train():
    seen = []
    run = fringe.train(CONFIG, on_epoch=seen.append)
    assert run.folder == os.path.abspath("runs/tiny-1") and run.finished and run.result["best_epoch"] > 0
    assert seen == metrics_of(run) and [line["epoch"] for line in seen] == [1, 2, 3, 4]
    assert np.array_equal(run.epochs["loss"], [line["loss"] for line in seen])
    again = fringe.train(fringe.Config(**CONFIG), set={"train": {"epochs": 2}, "model.norm": "none"})
    assert again.folder == os.path.abspath("runs/tiny-2") and again.config["model"]["norm"] == "none"
    assert len(again.epochs["loss"]) == 2 and len(fringe.read_run(run.folder).epochs["loss"]) == 4
    assert raised(fringe.Error, fringe.train, CONFIG, ranks=3, hosts=["localhost:2"]).code == 64
    assert fringe.train("tiny.json", ranks=2, hosts=["localhost"], mode="quantize", dir="named").folder == os.path.abspath("named")
    other = fringe.train("tiny.json", dir="named")
    assert other.folder == os.path.abspath("named-2") and other.config["mode"] == "overlap"
    assert fringe.read_run("named").record["parts"]["count"] == 2 and fringe.read_run("named").config["mode"] == "quantize"


def test_input():
    """A dict reaches ranks and a program that starts itself again, and leaves no file."""
    before = set(os.listdir())
    of_two = fringe.train(CONFIG, ranks=2, dir="input")
    assert of_two.record["parts"]["count"] == 2 and of_two.config["data"]["path"] == os.path.abspath("tiny")
    crowded = fringe.train(CONFIG, dir="input", set={"run.threads": os.cpu_count() + 1})  # so threads spin briefly
    assert len(crowded.epochs["loss"]) == 4 and crowded.record["config_file"] == ""
    assert set(os.listdir()) - before == {"input", "input-2"}
    given = json.dumps({"data": {"path": "tiny"}, "model": {"hidden": [8]}, "train": {"epochs": 2}}).encode()
    said = subprocess.run([FRINGE, "train", "-", "--ranks", "2", "--quiet"], input=given, capture_output=True)
    assert said.returncode == 0 and len(fringe.read_run("runs/fringe").epochs["loss"]) == 2, said


def test_run():
    run = first()
    found = run.predict(layer=-1)
    command("predict", run.folder, "--layer", "2", "--quiet")
    assert np.array_equal(found.scores, fringe.predictions(run).scores) and found.ids.tolist() == list(range(600))
    assert np.array_equal(found.classes, fringe.predictions(run).classes)
    assert np.array_equal(run.embeddings(-1), fringe.embeddings(run, 2))
    assert all(np.array_equal(value, fringe.weights(run)[name]) for name, value in run.weights().items())
    assert np.array_equal(run.predict("tiny").scores, found.scores) and "4 epochs" in repr(run)
    assert np.array_equal(fringe.predict(run.folder, fringe.Data(*parts()), output="out").scores, found.scores)
    assert os.path.exists("out/scores.npy")
    edges, x, y, masks = parts()
    turned = fringe.predict(run, fringe.Data(edges, x[::-1], y, masks)).scores
    assert not np.array_equal(turned, found.scores)
    with warnings.catch_warnings(record=True):  # it has no masks
        of_graph = run.predict(Graph(edge_index=edges, x=x[::-1])).scores
    assert np.abs(of_graph - turned).max() < 1e-5  # without splits rows stand in another order: sums of floats
    early = fringe.train(CONFIG, set={"train.lr": 1.0, "train.epochs": 9, "train.eval_every": 1})  # the best is not the last
    assert not np.array_equal(early.predict(best=True).scores, early.predict().scores)
    assert not np.array_equal(early.weights(best=True)["convs.0.bias"], early.weights()["convs.0.bias"])
    if has("torch_geometric"):
        assert run.to_pyg().eval() is not None
    if has("matplotlib"):
        assert [axis.get_ylabel() for axis in run.plot()] == ["loss", "validation.accuracy"]


def parts():
    tiny = fringe.read_dataset("tiny")
    return tiny.edges, tiny.features, tiny.labels, tiny.masks


def test_ids():
    """Nodes that are named by their input keep their names."""
    tiny = fringe.read_dataset("tiny")
    write("named.csv", "".join(f"n{a},n{b}\n" for a, b in tiny.edges.T))
    write("named-nodes.csv", "id,label,split,x1\n" + "".join(
        f"n{i},c{i % 2},{'train' if i % 3 else 'val' if i % 2 else 'test'},{i % 5}\n" for i in range(600)))
    run = fringe.train({**CONFIG, "data": {"path": "named.csv", "nodes": "named-nodes.csv", "ids": "text"}})
    found = run.predict()
    assert sorted(found.ids) == sorted(f"n{i}" for i in range(600)) and len(found.scores) == 600
    of_node = dict(zip(found.ids, (found.class_names[label] for label in found.classes.ravel())))
    right = sum(of_node[f"n{i}"] == f"c{i % 2}" for i in range(600) if i % 3 == 1 and i % 2 == 0)
    assert sorted(found.class_names) == ["c0", "c1"] and right / 100 == run.result["last"]["test"]["accuracy"], right


def test_numbers():
    """Labels that are numbers: scores without classes, and their own curves."""
    edges, x, y, masks = parts()
    run = fringe.train({**CONFIG, "data": {"path": fringe.Data(edges, x, y + 0.5, masks)}}, dir="numbers")
    found = run.predict()
    assert found.classes is None and found.scores.shape == (600, 1) and "test rmse" in repr(run), run
    error = np.sqrt(np.mean((found.scores.ravel() - y - 0.5)[masks["test"]] ** 2))
    assert abs(error - run.result["last"]["test"]["rmse"]) < 1e-5
    if has("matplotlib"):
        assert [axis.get_ylabel() for axis in run.plot()] == ["loss", "validation.rmse"]
        assert "only epoch, loss" in str(raised(ValueError, run.plot, ["accuracy"]))


def test_stop():
    """Stopped, resumed and trained on is never stopped; the callback's False returns the Run."""
    run = fringe.train({**CONFIG, "train": {"epochs": LONG}}, on_epoch=lambda line: line["epoch"] < 3)
    stopped = len(run.epochs["loss"])
    assert 3 <= stopped < LONG and not run.finished and run.result == {} and has_checkpoint(run.folder)
    resumed = run.resume(epochs=stopped + 2)
    whole = fringe.train({**CONFIG, "train": {"epochs": stopped + 2}})
    assert resumed.folder == run.folder and resumed.finished
    assert np.array_equal(resumed.epochs["loss"], whole.epochs["loss"])
    assert all(np.array_equal(value, whole.weights()[name]) for name, value in resumed.weights().items())


def test_raise():
    def fails(line):
        raise LookupError("mine")

    error = raised(LookupError, fringe.train, {**CONFIG, "train": {"epochs": LONG}}, dir="raised", on_epoch=fails)
    assert str(error) == "mine" and has_checkpoint("raised")
    timers = []

    def interrupts(line):
        if not timers:  # comes while train waits for the next epoch
            timers.append(threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()

    raised(KeyboardInterrupt, fringe.train, {**CONFIG, "train": {"epochs": LONG}}, ranks=2, dir="interrupted",
           on_epoch=interrupts)
    assert has_checkpoint("interrupted") and fringe.read_run("interrupted").result == {}
    goes_on = fringe.read_run("interrupted").resume(on_epoch=lambda line: False)
    assert os.path.samefile(goes_on.folder, "interrupted") and goes_on.record["resumed_at_epoch"] > 0
    assert goes_on.record["parts"]["count"] == 2
    again = fringe.train({**CONFIG, "train": {"epochs": LONG}}, ranks=2, dir="interrupted", resume=True,
                         on_epoch=lambda line: False)
    assert again.record["resumed_at_epoch"] > goes_on.record["resumed_at_epoch"]


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as f:
        return [int(child) for child in f.read().split()]


gone_already = contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError)  # a later epoch was under way


def kills_a_rank(line):
    """The last process below mpirun, which the program starts, which Python started in this thread."""
    with gone_already:
        with open(f"/proc/self/task/{threading.get_native_id()}/children") as f:
            os.kill(children(children(int(f.read().split()[0]))[0])[-1], signal.SIGKILL)


def test_error():
    first()
    for graph in np.eye(2), [[0, 1]], 5:
        assert "fringe.Data(edges, x, y, masks)" in str(raised(TypeError, fringe.train, {"data": {"path": graph}}))
    assert "set: expected a dict" in str(raised(TypeError, fringe.train, CONFIG, set=["train.lr=1"]))
    assert "did you mean vanilla" in str(raised(fringe.Error, fringe.compare, CONFIG, modes="vanila"))
    assert "found '0'" in str(raised(fringe.Error, fringe.plan, CONFIG, ranks=0))
    before = set(os.listdir("runs"))
    raised(TypeError, fringe.train, CONFIG, set={"train.lr": object()})
    raised(fringe.Error, fringe.compare, CONFIG, modes=[3])
    raised(fringe.Error, fringe.sweep, CONFIG, {"train.lrr": [1]})
    error = raised(fringe.Error, fringe.train, {**CONFIG, "train": {"epoch": 4}})
    assert error.code == 78 and "did you mean train.epochs?" in str(error) and "fringe: " in error.output, error
    assert set(os.listdir("runs")) == before
    assert raised(fringe.Error, fringe.inspect, "not-there").code == 66
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, str(again), again.output) == (error.code, str(error), error.output)

    def kills(line):
        with gone_already:
            with open(f"/proc/self/task/{threading.get_native_id()}/children") as f:
                child = int(f.read().split()[0])
            assert os.getsid(child) == child  # so that Ctrl-C of a terminal reaches Python alone
            os.kill(child, signal.SIGKILL)

    error = raised(fringe.Error, fringe.train, {**CONFIG, "train": {"epochs": LONG}}, on_epoch=kills)
    assert error.code == 128 + signal.SIGKILL, error.code
    error = raised(fringe.Error, fringe.train, {**CONFIG, "train": {"epochs": LONG}}, ranks=2, on_epoch=kills_a_rank)
    assert error.code == 128 + signal.SIGKILL and "a rank or mpirun was killed by signal 9" in str(error), error
    os.environ["FRINGE_PROGRAM"], path = "", os.environ["PATH"]
    module, process.__file__ = process.__file__, "/none/fringe/process.py"
    os.environ["PATH"] = "/none"
    try:
        assert raised(fringe.Error, process.program_path).code == 69
    finally:
        process.__file__, os.environ["PATH"], os.environ["FRINGE_PROGRAM"] = module, path, FRINGE


def test_inside_a_job():
    """The marks of an MPI job are not inherited; what users set for Open MPI is."""
    marks = {"OMPI_COMM_WORLD_SIZE": "7", "OMPI_COMM_WORLD_RANK": "3", "PMIX_RANK": "3", "PMI_RANK": "3", "ORTE_X": "1",
             "OMPI_MCA_orte_hnp_uri": "1", "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    before = dict(os.environ)
    os.environ.update(marks)
    try:
        kept = set(marks) & set(process.environment())
        run = fringe.train(CONFIG, ranks=2)
    finally:
        os.environ.clear()
        os.environ.update(before)
    assert kept == {"OMPI_MCA_btl_tcp_if_include", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}, kept
    assert run.finished and run.record["parts"]["count"] == 2


def test_threads():
    runs = []
    threads = [threading.Thread(target=lambda: runs.append(fringe.train(CONFIG))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run.folder for run in runs}) == 2 and np.array_equal(runs[0].epochs["loss"], runs[1].epochs["loss"])


def test_tables():
    folders = set()
    table = fringe.compare(CONFIG, modes=["vanilla", "lossless"], ranks=2, on_epoch=lambda line: folders.add(line["run"]))
    assert [row["name"] for row in table.rows] == ["vanilla", "lossless"] and table.finished and table.best is None
    assert folders == {os.path.join(table.folder, name) for name in ("vanilla", "lossless")}, folders
    assert [run.config["mode"] for name in ("vanilla", "lossless") for run in table.runs(name)] == ["vanilla", "lossless"]
    swept = fringe.sweep(CONFIG, {"train.lr": [0.01, 1e-9], "model.layer": ["gcn"]}, runs=2)
    names = [row["name"] for row in swept.rows]
    assert len(names) == 2 and "train.lr=0.01" in swept.best["name"], swept.record
    assert [run.config["run"]["seed"] for run in swept.runs(names[0])] == [0, 1] and "0.01" in repr(swept)
    if has("pandas"):
        assert table.frame().loc["vanilla", "runs"] == 1 and "validation.mean" in swept.frame().columns


def test_commands():
    assert fringe.partition(CONFIG, 3)["parts"][2]["own"] > 0
    planned = fringe.plan(CONFIG, [1, 2], ranks_per_host=1, cores=1, link=(10, 1e-5), compute=(10, 10))
    assert [row["ranks"] for row in planned["modes"]["vanilla"]] == [1, 2] and planned["ranks_per_host"] == 1
    assert fringe.inspect(first().folder)["kind"] == "run" and fringe.inspect(first())["epochs"] == 4
    folder = fringe.generate("planted:nodes=300,edges=2000,features=8,communities=4", seed=3)
    assert len(fringe.read_dataset(folder).features) == 300 and os.path.basename(folder).startswith("planted")
    other = fringe.read_dataset(fringe.generate("planted:nodes=300,edges=2000,features=8,communities=4", "other", seed=4))
    assert not np.array_equal(other.features, fringe.read_dataset(folder).features) and os.path.isdir("other")
    assert fringe.program("components", CONFIG, ranks=2).record["ranks"] == 2
    found = fringe.program("spectral", CONFIG, pairs=3)
    assert found.embeddings.shape == (600, 3) and found.record["pairs"] == 3
    assert "only eigenvalues" in str(raised(AttributeError, lambda: found.nothing))
    assert fringe.convert("tiny", "tiny-copy.npz") == "tiny-copy.npz" and fringe.inspect("tiny-copy.npz")["nodes"] == 600


class Graph:
    """What PyG's Data is to others: attributes, a dict of them, and pairs when it is iterated."""

    def __init__(self, **arrays):
        self.__dict__.update(arrays)

    def to_dict(self):
        return dict(self.__dict__)

    def __iter__(self):
        return iter(self.__dict__.items())

    def __len__(self):
        return len(self.__dict__)

    def __getitem__(self, name):
        return self.__dict__[name]


def stored_arrays():
    return {name for name in os.listdir(os.environ["XDG_CACHE_HOME"] + "/fringe") if name.startswith("arrays-")}


def test_data():
    """Arrays train as the folder does that they were read from, and are written once."""
    run = fringe.train({**CONFIG, "data": {"path": fringe.Data(*parts())}})
    assert run.folder == os.path.abspath("runs/arrays-1")
    assert np.array_equal(run.epochs["loss"], first().epochs["loss"])
    folder = fringe.Data(*parts()).store()
    assert folder == run.config["data"]["path"] and os.path.dirname(folder) == os.environ["XDG_CACHE_HOME"] + "/fringe"
    edges, x, y, masks = parts()
    graph = Graph(edge_index=edges, x=x, y=y, **{f"{key}_mask": masks[split] for key, split in
                                                (("train", "train"), ("val", "validation"), ("test", "test"))})
    of_graph = fringe.train({**CONFIG, "data": {"path": graph}})
    assert np.array_equal(of_graph.epochs["loss"], run.epochs["loss"]) and of_graph.config["data"]["path"] != folder
    before, others = stored_arrays(), [fringe.Data(edges, x + 1, y, masks), fringe.Data(edges, x, y, masks, name="b")]
    made = {os.path.basename(one.store()) for one in others}
    assert len(made) == 2 and stored_arrays() - before == made
    listed = command("cache")
    assert len(re.findall("^dataset +(?:arrays|b) ", listed, re.M)) == len(before | made), listed
    command("cache", "prune", "--all")
    assert not os.path.exists(folder)


def test_progress():
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fringe.train(CONFIG, progress=True, set={"data.splits": "random:1"})  # no validation has no score
        fringe.train(CONFIG, progress=True, set={"model.alpha": 0.5})
    last = shown.getvalue().rstrip().split("\r")[-1]
    assert re.match(r"epoch 4 of 4: loss [\d.]+, validation accuracy [\d.]+, ", last), last
    assert any("model.alpha" in str(one.message) for one in said), said


def test_program():
    """python3 -m fringe is the program, and converts what only Python reads."""
    def run(*words):
        done = subprocess.run([sys.executable, "-B", *words], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
        return done.returncode, done.stdout + done.stderr

    assert run("-m", "fringe", "--version")[1].startswith("fringe ")
    others = "scipy pandas matplotlib torch networkx"
    assert run("-c", f"import fringe, sys; print(sys.modules.keys() & {others.split()})") == (0, "set()\n")
    assert run(os.path.join(ROOT, "python", "fringe"), "train", "none.json")[0] == 66
    write("matrix.svmlight", "1 1:0.5\n0 2:1\n")
    code, said = run("-m", "fringe", "convert", "matrix.svmlight", "matrix.npz")
    assert ("wrote matrix.npz" in said) if code == 0 else (code == 69 and "scikit-learn" in said), said
    write("cut.pkl", b"\x80\x04\x95 cut")
    code, said = run("-m", "fringe", "convert", "cut.pkl", "cut.npz")
    assert code == 65 and said.startswith("fringe: cut.pkl is not read, so it is perhaps damaged"), said


def test_keys():
    """keys.py is what the program's table of keys makes."""
    schema = subprocess.run([FRINGE, "config", "schema"], capture_output=True, check=True).stdout
    made = subprocess.run([sys.executable, os.path.join(ROOT, "python/write_keys.py")], input=schema, capture_output=True)
    with open(os.path.join(ROOT, "python/fringe/keys.py"), "rb") as f:
        assert made.stdout == f.read(), "run: build/fringe config schema | python3 python/write_keys.py > python/fringe/keys.py"
    assert raised(TypeError, fringe.Model, layr="gcn")
    if has("mypy"):
        check_types()


def check_types():
    """The examples of docs/python.md have no mistakes of types by mypy --strict, and mistakes are found."""
    with open(os.path.join(ROOT, "docs/python.md")) as page, open("examples.py", "w") as f:
        f.write("\n".join(re.findall(r"```python\n(.*?)```", page.read(), re.S)))
    write("wrong.py", "import fringe\nfringe.Model(layer='gnc')\nfringe.train({}, rank=2)\nfringe.to_pyg('runs/x')\n"
                      "fringe.train('x').epochs['loss'].minimum()\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "examples.py", "wrong.py"],
                          capture_output=True, text=True, env={**os.environ, "MYPYPATH": os.path.join(ROOT, "python")})
    found = [line for line in done.stdout.splitlines() if re.match(r"(examples|wrong)\.py:\d+: error:", line)]
    ours = [line for line in found if line.startswith("examples") and "no-untyped-def" not in line and "happenings" not in line]
    assert not ours and sum(line.startswith("wrong") for line in found) == 4, found


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a shell ignore it
    own_folder()
    fringe.generate("tiny", "tiny")
    write_json("tiny.json", {**CONFIG, "model": {"hidden": [8]}})
    wanted = [word for word in sys.argv[1:] if word != "--here"]  # all, or those that are named
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not wanted or name[5:] in wanted):
            test()
            print("ok:", name[5:], flush=True)

"""The program `fringe`: where it is, what it inherits, and a call of it that reports events and can be stopped.

Every call is a process in a session of its own, so that Ctrl-C in a terminal or notebook reaches Python alone, which
then stops the program with a checkpoint (USR1). A crash of the program never ends Python.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, Callable, Dict, Iterator, List, Optional, Sequence

STOPPED = 75  # the exit code of a training that wrote a checkpoint because it was asked to stop
UNAVAILABLE = 69
LAST_SECONDS = 5  # between a signal that ends the program at once and the one that nothing survives


class Error(Exception):
    """What the program refused or could not do: `code` is its exit code (docs/exit-codes.md), the text its sentence,
    and `output` all that it wrote on stderr."""

    def __init__(self, code: int, sentence: str, output: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.output = output

    def __reduce__(self) -> Any:
        return Error, (self.code, str(self), self.output)


def _in_wheel(module: str) -> Optional[str]:
    """The program that was installed with this very module by pip."""
    import importlib.metadata  # takes as long as a tenth of all else that is imported

    try:
        files = importlib.metadata.distribution("fringe-gnn").files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = {str(file): os.path.realpath(str(file.locate())) for file in files}
    if os.path.join(module, "__init__.py") not in found.values():
        return None
    return next((path for name, path in found.items() if name.endswith("/bin/fringe")), None)


def _places(module: str) -> Iterator[Optional[str]]:
    """Where the program may be: FRINGE_PROGRAM, in the same wheel, beside the module, in the same prefix, in the source
    tree's build folder, or on PATH."""
    yield os.environ.get("FRINGE_PROGRAM")
    yield _in_wheel(module)
    for place in ("fringe", "../../../../bin/fringe", "../../build/fringe"):
        yield os.path.join(module, place)
    yield shutil.which("fringe")


def program_path() -> str:
    """The program, in the first place where there is one."""
    for place in _places(os.path.dirname(os.path.realpath(__file__))):
        if place and os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.normpath(place)
    raise Error(UNAVAILABLE, "the program fringe is not found beside the module, in its environment or on PATH; install "
                             "it, or name it in the variable FRINGE_PROGRAM")


OF_THE_JOB = ("OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_initial_wdir", "OMPI_MCA_shmem_RUNTIME",
              "OMPI_MCA_mpi_oversubscribe")  # what mpirun itself gives its processes among the names of users


def environment() -> Dict[str, str]:
    """That of Python without the marks of an MPI job: under mpi4py or mpirun the program would otherwise believe that it
    is one of its processes. What users set for Open MPI (OMPI_MCA_*, OMPI_ALLOW_*) stays."""
    in_job = any(name in os.environ for name in ("PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"))

    def stays(name: str) -> bool:
        if name.startswith(("OMPI_MCA_", "OMPI_ALLOW_")):
            return not (in_job and name.startswith(OF_THE_JOB))
        return not name.startswith(("OMPI_", "PMIX_", "PMI_", "ORTE_"))

    return {name: value for name, value in os.environ.items() if stays(name)}


def _input(text: str) -> IO[bytes]:
    """A file without a name that holds the text."""
    file = tempfile.TemporaryFile()
    file.write(text.encode())
    file.seek(0)
    return file


class Call:
    """A run of the program. `words` follow its name, `config` is the text of a config that a word `-` stands for: the
    program reads it from its standard input, and its relative paths begin in the current folder. With `events` the
    program reports what happens as dicts."""

    def __init__(self, words: Sequence[str], config: Optional[str] = None, events: bool = False) -> None:
        if not sys.platform.startswith("linux"):
            raise Error(UNAVAILABLE, f"fringe runs on Linux; this is {sys.platform}")
        self.stopping = False
        self._stopped_at = 0.0
        self._queue: "queue.SimpleQueue[Optional[Dict[str, Any]]]" = queue.SimpleQueue()
        self._errors: List[bytes] = []
        self._output: List[bytes] = []
        reader, writer = os.pipe() if events else (-1, -1)
        try:
            with _input(config or "") as given:
                self._process = subprocess.Popen(
                    [program_path(), *words, *(["--events", str(writer)] if events else [])], env=environment(),
                    stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                    pass_fds=(writer,) if events else ())
        except BaseException:
            if events:
                os.close(reader)
            raise
        finally:
            if events:
                os.close(writer)
        self._threads = [self._start(self._read, self._process.stderr, self._errors),
                         self._start(self._read, self._process.stdout, self._output)]
        if events:
            self._threads.append(self._start(self._listen, reader))
        self._start(self._await)

    @staticmethod
    def _start(target: Callable[..., None], *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        thread.start()
        return thread

    @staticmethod
    def _read(stream: Any, chunks: List[bytes]) -> None:
        with stream:
            chunks.extend(iter(lambda: stream.read1(1 << 16), b""))

    def _listen(self, descriptor: int) -> None:
        """Reads at once what is written, so that a slow callback only lags and the training never waits for it."""
        with open(descriptor, "rb") as stream:
            for line in stream:
                self._queue.put(json.loads(line))

    def _await(self) -> None:
        self._process.wait()
        for thread in self._threads:
            thread.join(LAST_SECONDS)
        self._queue.put(None)

    def stop(self) -> None:
        """Asks the program to finish the epoch, write a checkpoint and end; asked again, a second later, it ends now."""
        if self._process.poll() is not None:
            return
        if not self.stopping:
            self.stopping, self._stopped_at = True, time.monotonic()
            self._process.send_signal(signal.SIGUSR1)
        elif time.monotonic() - self._stopped_at > 0.2:  # one key press may come as two signals
            self._end()

    def _end(self) -> None:
        time.sleep(max(0.0, 1.1 - (time.monotonic() - self._stopped_at)))
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)

    def follow(self, on_event: Callable[[Dict[str, Any]], Optional[bool]] = lambda event: None) -> int:
        """Hands every event on until the program has ended, and returns its exit code. If on_event returns False the
        program is stopped; if it raises, or Ctrl-C comes, the program is stopped and the exception raised afterwards."""
        raised: Optional[BaseException] = None
        while True:
            try:
                event = self._queue.get()
                if event is None:
                    break
                if not self.stopping and on_event(event) is False:
                    self.stop()
            except BaseException as error:
                raised = raised or error
                self.stop()
        if raised is not None:
            raise raised
        code = self._process.returncode
        return code if code >= 0 else 128 - code

    @property
    def errors(self) -> str:
        """All that was written on stderr."""
        return b"".join(self._errors).decode(errors="replace")

    @property
    def output(self) -> str:
        """All that was written on stdout."""
        return b"".join(self._output).decode(errors="replace")

    def error(self, code: int) -> Error:
        """The program's sentences as an exception."""
        lines = [line[len("fringe: "):].replace("standard input", "the config")
                 for line in self.errors.splitlines() if line.startswith("fringe: ")]
        return Error(code, "\n".join(lines) or f"the program ended with code {code} and said nothing", self.errors)


def answer(words: Sequence[str], config: Optional[str] = None) -> str:
    """What a command prints on stdout; raises Error if it fails."""
    call = Call(words, config)
    code = call.follow()
    if code != 0:
        raise call.error(code)
    return call.output

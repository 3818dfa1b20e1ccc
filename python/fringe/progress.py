"""The line that follows a training in notebooks and terminals.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import time
from typing import Any, Dict, Optional

EVERY = 0.1  # seconds between two lines


def _is_watched() -> bool:
    """True in a terminal, and in a notebook, whose stderr is a stream of its kernel."""
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in type(sys.stderr).__module__)


class Line:
    """Written over itself; nothing where nobody watches."""

    def __init__(self, wanted: Optional[bool] = None) -> None:
        self._shown = _is_watched() if wanted is None else wanted
        self._next = 0.0
        self._score = ""
        self._text = ""
        self._of = ""

    def run(self, event: Dict[str, Any]) -> None:
        """A training begins, of so many epochs."""
        self._score, self._of = "", f" of {event['epochs']}"

    def epoch(self, line: Dict[str, Any]) -> None:
        """Shows an epoch, if the last one was shown a tenth of a second ago."""
        scores = line.get("validation") or {}
        name = next((name for name in scores if name not in ("loss", "rows") and scores[name] is not None), None)
        if name is not None:
            self._score = f", validation {name} {scores[name]:.4f}"
        self._text = f"epoch {line['epoch']}{self._of}: loss {line['loss']:.4f}{self._score}, {line['time']['epoch']:.3g} s"
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            self._write("")

    def end(self) -> None:
        """Shows the last epoch."""
        if self._shown and self._text:
            self._write("\n")

    def _write(self, ending: str) -> None:
        sys.stderr.write(f"\r{self._text:<78}{ending}")
        sys.stderr.flush()

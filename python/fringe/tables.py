"""The tables of comparisons and sweeps.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, List

from .runs import Run, read_run


@dataclass(repr=False)
class Table:
    """rows: a dict of figures for each mode or setting; record: all of compare.json or sweep.json, {} if it was stopped."""

    folder: str
    rows: List[Dict[str, Any]]
    record: Dict[str, Any]

    @property
    def finished(self) -> bool:
        """False if it was stopped; call it again with resume=True."""
        return bool(self.record)

    @property
    def best(self) -> Any:
        """Of a sweep the row with the best validation score, a dict; None of others."""
        return next((row for row in self.rows if row["name"] == self.record.get("winner")), None)

    def runs(self, name: str) -> List[Run]:
        """The trainings of a row, by the order of their seeds."""
        folder = os.path.join(self.folder, name)
        if os.path.exists(os.path.join(folder, "run.json")):
            return [read_run(folder)]
        inside = [entry for entry in os.listdir(folder) if re.fullmatch(r"run-\d+", entry)]
        return [read_run(os.path.join(folder, entry)) for entry in sorted(inside, key=lambda entry: int(entry[4:]))]

    def frame(self) -> Any:
        """The rows as a table of pandas, columns of dicts as "test.mean"."""
        import pandas

        flat = [{key: value for key, value in row.items() if not isinstance(value, list)} for row in self.rows]
        return pandas.json_normalize(flat).set_index("name")

    def __repr__(self) -> str:
        return f"<fringe.Table {self.folder}: {', '.join(str(row['name']) for row in self.rows) or 'stopped'}>"


def table_of(folder: str, name: str, key: str) -> Table:
    """The table that a command wrote into its folder; without rows where it was stopped before."""
    path, record = os.path.join(folder, name), {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            record = json.load(f)
    return Table(folder, record.get(key, []), record)

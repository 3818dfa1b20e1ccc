#!/usr/bin/env python3
"""Writes fringe/keys.py, the sections of a config as dataclasses, from the program's own table of keys:

    build/fringe config schema | python3 python/write_keys.py > python/fringe/keys.py

SPDX-License-Identifier: Apache-2.0
"""
import json
import sys
import textwrap

HEAD = '''"""The sections of a config as dataclasses: fringe.Model(layer="gcn", hidden=[256]). What is not given keeps its default,
which docs/config.md lists with unit, range and help.

Written by python/write_keys.py from the table of keys of the program; not to be edited.

SPDX-License-Identifier: Apache-2.0
"""
from dataclasses import dataclass
from typing import Any, Literal, Mapping, Optional, Sequence, Union
'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
TAKEN = {"data": "DataSection", "run": "RunSection"}  # fringe.Data are arrays, fringe.Run is a training
KEYWORDS = {"lambda": "lambda_"}


def type_of(key):
    """The type of a key's value as Python writes it."""
    if "anyOf" in key and key.get("type") != "string":
        return "Union[" + ", ".join(dict.fromkeys(type_of(one) for one in key["anyOf"])) + "]"
    if key["type"] == "array":
        return f"Sequence[{type_of(key['items'])}]"
    if key["type"] == "object":
        return "Mapping[str, Any]"
    if "enum" in key:
        return "Literal[" + ", ".join(json.dumps(word) for word in key["enum"]) + "]"
    return SIMPLE[key["type"]]


def field(name, type_text):
    line = f"    {KEYWORDS.get(name, name)}: Optional[{type_text}] = None\n"
    if len(line) <= 121:
        return line
    inner = textwrap.fill(type_text, 120, initial_indent=" " * 8, subsequent_indent=" " * 16, break_on_hyphens=False)
    return f"    {KEYWORDS.get(name, name)}: Optional[\n{inner}\n    ] = None\n"


def class_name(section):
    return TAKEN.get(section, section.capitalize())


def write(schema, out):
    sections = {name: key for name, key in schema["properties"].items() if "properties" in key}
    out.write(HEAD)
    for name, section in sections.items():
        out.write(f'\n\n@dataclass\nclass {class_name(name)}:\n    """Section "{name}"."""\n\n')
        for key, value in section["properties"].items():
            kind = "Any" if (name, key) == ("data", "path") else type_of(value)  # a path, or arrays
            out.write(field(key, kind))
    out.write('\n\n@dataclass\nclass Config:\n    """A whole config."""\n\n')
    out.write(field("mode", type_of(schema["properties"]["mode"])))
    for name in sections:
        out.write(f"    {name}: Union[{class_name(name)}, Mapping[str, Any], None] = None\n")
    names = ", ".join(f'"{name}"' for name in ["Config", *map(class_name, sections)])
    out.write("\n\n" + textwrap.fill(f"__all__ = [{names}]", 120, subsequent_indent="           ") + "\n")


if __name__ == "__main__":
    write(json.load(sys.stdin), sys.stdout)

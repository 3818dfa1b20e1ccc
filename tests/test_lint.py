# once
"""If this failed, a Python file would use a name that nothing defines, or import what it does not use; or the linter
would not see a missing import.

From a copy of each file one import that is used is taken out, and the linter has to complain.
"""
import ast
import os
import sys

from interpreter import start_over

start_over("pyflakes", "python3-pyflakes")

from pyflakes.checker import Checker

ROOT = os.environ["FRINGE_SOURCE"]


def python_files():
    """Those of the source tree, without its build folders."""
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if not name.startswith(("build", "."))]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def complaints(tree, path):
    return [f"{os.path.relpath(path, ROOT)}:{m.lineno}: {m.message % m.message_args}" for m in Checker(tree, path).messages]


def bound_by(alias):
    return alias.asname or alias.name.split(".")[0]


def without_an_import(tree):
    """Takes the first import out whose name is read and bound nowhere else. True if there was one."""
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    bound = [bound_by(alias) for node in imports for alias in node.names]
    bound += [node.id for node in names if isinstance(node.ctx, ast.Store)]
    for node in imports:
        for alias in node.names:
            if bound_by(alias) in read and bound.count(bound_by(alias)) == 1:
                node.names.remove(alias)
                return True
    return False


failed = tried = 0
files = sorted(python_files())
for path in files:
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    found = complaints(tree, path)
    for complaint in found:
        print("FAILED:", complaint)
    failed += len(found)
    if without_an_import(tree):
        tried += 1
        if not any("undefined name" in complaint for complaint in complaints(tree, path)):
            print(f"FAILED: {os.path.relpath(path, ROOT)} lacks an import, and the linter does not complain")
            failed += 1
assert tried > 20, (tried, len(files))
print(f"{len(files)} Python files; from copies of {tried} an import was taken")
sys.exit(failed > 0)

#!/usr/bin/env python3
# once
"""If this failed, a word that this project no longer uses would be back, and a reader would have to learn two words for one
thing. The list is tests/retired_words.tsv."""
import os
import re
import subprocess
import sys

ROOT = os.environ.get("FRINGE_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = "tests/retired_words.tsv"
TEXT = re.compile(r"\.(c|h|cu|def|py|sh|cmake|md|svg|tsv|txt|js|json|awk)$|CMakeLists")
NEVER = re.compile(r"^(CHANGELOG\.md|LICENSE|bench/results/|configs/|tests/retired_words\.tsv|tests/test_words\.py)")


def files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    return [name for name in listed if TEXT.search(name) and not NEVER.search(name) and os.path.exists(f"{ROOT}/{name}")]


def found(text, rows):
    """(line, word) of each retired word"""
    for word, _ in rows:
        for match in re.finditer(word, text):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def main():
    with open(f"{ROOT}/{LIST}", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if line.strip() and line[0] != "#"]
    if list(found("the numbering law says\nmind the door", rows)) != [(2, "door"), (1, "numbering law")]:
        sys.exit("FAILED: the list does not find its own words")
    names, failed = files(), False
    for name in names:
        with open(f"{ROOT}/{name}", encoding="utf-8", errors="replace") as file:
            text = file.read()
        mine = [row for row in rows if row[1] == "-" or not re.search(row[1], name)]
        for line, word in found(text, mine):
            print(f"FAILED: {name}:{line}: \"{word}\" is a word that is gone ({LIST})")
            failed = True
    if not names:
        print("skipped: this is no checkout of git")
        sys.exit(77)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""The code blocks of a page in Markdown, each with the mark that stands in a comment before it.

A block is fenced, or indented by four spaces after an empty line, a heading or a comment. A fenced one names its
language; an indented one is for the shell. Marks, which nobody sees on the rendered page:

    <!-- not run: REASON, … -->   a command that a test cannot run, because of one of REASONS
    <!-- not a command -->        an output, a formula, a drawing
    <!-- file: NAME -->           the content of a file that the reader writes
"""
import re
from dataclasses import dataclass

REASONS = ("cluster", "container", "device", "download", "hours", "minutes", "root")
NO_COMMAND = "not a command"
MARK = re.compile(r"^<!-- (?:not run: (?P<reasons>[a-z, ]+)|(?P<no_command>not a command)|file: (?P<file>\S+)) -->$")


@dataclass
class Block:
    line: int  # of the page, from 1: the first of the text
    language: str
    text: str
    marks: tuple = ()  # words of REASONS, or NO_COMMAND
    file: str = ""


def fenced(lines, at):
    """The block that begins with the fence in line `at`, and the line behind it."""
    end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("```"))
    return Block(at + 2, lines[at][3:].strip(), "".join(line + "\n" for line in lines[at + 1:end])), end + 1


def indented(lines, at):
    end = at
    while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
        end += 1
    return Block(at + 1, "sh", "".join(line[4:] + "\n" for line in lines[at:end]).rstrip() + "\n"), end


def begins_indented(lines, at):
    """Behind text such a line goes on with its paragraph."""
    before = lines[at - 1].strip() if at > 0 else ""
    return lines[at].startswith("    ") and lines[at].strip() and (before == "" or before.startswith(("#", "<!--")))


def set_mark(block, comment):
    found = MARK.match(comment)
    if found["reasons"]:
        block.marks = tuple(found["reasons"].split(", "))
        unknown = set(block.marks) - set(REASONS)
        assert not unknown, f"line {block.line}: {', '.join(unknown)}: no reason; there are {', '.join(REASONS)}"
    elif found["no_command"]:
        block.marks = (NO_COMMAND,)
    else:
        block.file = found["file"]


def blocks_of(text):
    """All of a page, in order. A mark that no block follows is an error."""
    lines, found, last, at = text.split("\n"), [], "", 0
    while at < len(lines):
        if lines[at].startswith("```") or begins_indented(lines, at):
            block, at = (fenced if lines[at].startswith("```") else indented)(lines, at)
            if MARK.match(last):
                set_mark(block, last)
            found.append(block)
            last = ""
            continue
        assert not MARK.match(last) or not lines[at].strip(), f"line {at}: no block follows the mark {last}"
        last = lines[at].strip() or last
        at += 1
    assert not MARK.match(last), f"the last line: no block follows the mark {last}"
    return found

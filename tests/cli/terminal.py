"""Runs a command in a pseudo-terminal and keeps what a person would have seen."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

COLUMNS = 80


class Seen:
    """status: exit status; raw: all bytes as text; silence: the longest pause in seconds, and what stood on the
    screen during it."""

    def __init__(self, status, raw, silence, during):
        self.status, self.raw, self.silence, self.during = status, raw, silence, during

    def lines(self):
        """All lines that were ever drawn, also those drawn over, without colours."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.raw)
        return [line for line in re.split(r"\r\n|\n|\r\x1b\[K|\r", plain)]

    def too_long(self):
        """Lines that a terminal would wrap. A path alone on its line may."""
        return [line for line in self.lines() if len(line) > COLUMNS and len(line.split()) > 1]


def run(command, folder=None, limit=600, **environment):
    """Runs the command as the only program of a terminal of 80 columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    names = {"TERM": "xterm", "COLUMNS": None, "NO_COLOR": None} | environment
    values = {name: value for name, value in (os.environ | names).items() if value is not None}
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=child, stderr=child, env=values)
    os.close(child)
    raw, silence, during, began = b"", 0, "", time.monotonic()
    heard = began
    while time.monotonic() - began < limit:
        if select.select([parent], [], [], 0.05)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:  # Linux says so when the last program has closed its end
                break
            if not piece:
                break
            if time.monotonic() - heard > silence:
                silence, during = time.monotonic() - heard, raw[-100:].decode(errors="replace")
            heard, raw = time.monotonic(), raw + piece
    else:
        process.kill()
    os.close(parent)
    return Seen(process.wait(), raw.decode(errors="replace"), silence, during)

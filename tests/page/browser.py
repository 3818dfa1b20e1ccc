"""A headless Chromium that opens one page: runs expressions in it, moves the pointer, takes pictures, and collects what
the page complains of. It talks the DevTools protocol over the pipe of --remote-debugging-pipe: JSON, 0 after each."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]


def program():
    """The path of a browser; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp(prefix="fringe-browser-")
        to_read, self.to = os.pipe()
        self.of, of_write = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; a shell puts the pipes there.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{of_write}', "-", program(), *FLAGS, "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}", f"--window-size={width},{height}"], pass_fds=[to_read, of_write],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(of_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to) # the end of the pipe ends the browser
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, seconds):
        until = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.of], [], [], max(0, until - time.monotonic()))
            more = os.read(self.of, 1 << 16) if ready else b""
            if not more:
                raise RuntimeError("the browser does not answer")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message(60)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message(60))

    def open(self, path):
        """Opens a file; returns the milliseconds until it was loaded and drawn."""
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")
        return self.value("performance.timing.loadEventEnd - performance.timing.navigationStart")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path, clip=None, scale=1):
        """A PNG of the whole page, or of clip: x, y, width, height."""
        if clip is None:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = [0, 0, size["width"], size["height"]]
        x, y, width, height = clip
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": x, "y": y, "width": width, "height": height, "scale": scale})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """Errors and warnings of the page, and what it tried to fetch besides itself."""
        found = []
        for event in self.events:
            method, of = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + json.dumps(of["exceptionDetails"])[:600])
            elif method == "Runtime.consoleAPICalled":
                found.append("console: " + json.dumps(of["args"])[:600])
            elif method == "Log.entryAdded":
                found.append("log: " + of["entry"]["text"])
            elif method == "Network.requestWillBeSent" and of["type"] != "Document":
                found.append("request: " + of["request"]["url"][:200])
        return found

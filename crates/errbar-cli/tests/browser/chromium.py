"""Chromium without a window, spoken to over a pipe (its DevTools protocol): nothing to install but it.

    with Chromium(path()) as browser:
        page = browser.page(width=1200, height=800)
        page.open("file:///…/report.html")
        page.run("document.title")
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
--disable-background-networking --disable-component-update --disable-default-apps --disable-extensions
--disable-dev-shm-usage --hide-scrollbars --mute-audio --force-color-profile=srgb
--remote-debugging-pipe""".split()


def path():
    """The browser's path; ERRBAR_CHROMIUM goes first. None where there is none."""
    given = os.environ.get("ERRBAR_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with a profile of its own, which is gone in the end."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="errbar-browser-")
        self.downloads = tempfile.mkdtemp(prefix="errbar-downloads-")
        # The browser reads commands from its file 3 and answers to its file 4.
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()

        def settle():
            # Out of the way first: 3 or 4 may be one of ours.
            ends = [os.dup(theirs_in), os.dup(theirs_out)]
            ends = [os.dup(end) if end in (3, 4) else end for end in ends]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=settle, close_fds=False,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except Exception:
            self.process.kill()
            self.process.wait()
        for folder in (self.profile, self.downloads):
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.into, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, session=None, timeout=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, width, height, dark=False, phone=False):
        return Page(self, width, height, dark, phone)


class Page:
    """One page in a window of its own size."""

    def __init__(self, browser, width, height, dark, phone):
        self.browser = browser
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        answer = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = answer["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        browser.send("Browser.setDownloadBehavior", behavior="allow",
                     downloadPath=browser.downloads, eventsEnabled=True)

    def send(self, method, **parameters):
        return self.browser.send(method, session=self.session, **parameters)

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)

    def open(self, url):
        self.browser.events.clear()
        self.send("Page.navigate", url=url)
        deadline = time.monotonic() + 30
        while self.run("document.readyState + location.href") != "complete" + url:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{url} is not loaded after 30 seconds")
            time.sleep(0.02)

    def run(self, expression):
        """The value of a JavaScript expression, awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name, code=name,
                      windowsVirtualKeyCode={"Tab": 9, "Escape": 27, "End": 35, "Home": 36,
                                             "ArrowLeft": 37, "ArrowRight": 39}[name])

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def troubles(self):
        """What the console complained of, and every request but that for the page itself."""
        self.run("new Promise(done => setTimeout(done, 50))")
        out = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                out.append(f"exception: {parameters['exceptionDetails']}")
            elif method == "Runtime.consoleAPICalled":
                out.append(f"console: {parameters['args']}")
            elif method == "Log.entryAdded":
                out.append(f"log: {parameters['entry']['text']}")
            elif method == "Network.requestWillBeSent":
                request = parameters["request"]["url"]
                if not request.startswith("data:") and parameters.get("type") != "Document":
                    out.append(f"request: {request[:200]}")
        return out

    def screenshot(self, file, whole=True):
        answer = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(file, "wb") as out:
            out.write(base64.b64decode(answer["data"]))

    def pdf(self, file):
        answer = self.send("Page.printToPDF", printBackground=False, preferCSSPageSize=True,
                           paperWidth=8.27, paperHeight=11.69)
        with open(file, "wb") as out:
            out.write(base64.b64decode(answer["data"]))

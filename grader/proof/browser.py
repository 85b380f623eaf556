"""Headless Chromium, driven through its DevTools protocol: one page that goes from address to address.

Needs Debian's chromium and, from PyPI, websocket-client: `tools/setup.sh --prove` has both, the latter in build/python.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

FROM_PYPI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/python")
sys.path.insert(0, FROM_PYPI)
PATIENCE = 60   # seconds for an answer: the machine may be busy
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--allow-file-access-from-files",
            "--remote-debugging-port=0", "--remote-allow-origins=*"]


class Browser:
    """with Browser() as browser: browser.open(address, 400, 900, dark=True); browser.ask("document.title")"""

    def __enter__(self):
        self.profile = tempfile.mkdtemp()
        self.process = subprocess.Popen([*CHROMIUM, f"--user-data-dir={self.profile}", "about:blank"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def connect(self):
        import websocket   # pylint: disable=import-outside-toplevel,import-error
        port, path = self.address()
        self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=PATIENCE)
        self.number, self.session, self.events = 0, None, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.send(f"{domain}.enable")

    def address(self):
        """Chromium writes it into its profile: port and path."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with open(f"{self.profile}/DevToolsActivePort", encoding="ascii") as file:
                    port, path = file.read().split()
                    return port, path
            except (OSError, ValueError):
                time.sleep(0.05)
        raise TimeoutError("chromium does not start")

    def receive(self):
        message = json.loads(self.socket.recv())
        if "method" in message:
            self.events.append(message)
        return message

    def send(self, method, **parameters):
        self.number += 1
        of = {"sessionId": self.session} if self.session else {}
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters, **of}))
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(self, path, width, height, dark=False):
        """The page has loaded, and its scripts have run, when this returns."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        failed = self.send("Page.navigate", url="file://" + os.path.abspath(path)).get("errorText")
        if failed:
            raise RuntimeError(f"{path}: {failed}")
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.receive()

    def ask(self, expression):
        """The value of a JavaScript expression; of a promise what it promises."""
        done = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description", "an exception"))
        return done["result"].get("value")

    def said(self):
        """Errors and exceptions on the console since the page was opened."""
        return [event["params"] for event in self.events if event["method"] == "Runtime.exceptionThrown"
                or (event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] == "error")]

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

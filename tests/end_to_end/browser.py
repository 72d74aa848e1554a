"""A headless Chromium, spoken to by the DevTools protocol over a pipe."""
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page. `messages` collects console messages and exceptions, `asked` the addresses it loads."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory()
        to_read, self.to = os.pipe()
        self.come, from_write = os.pipe()
        # It reads commands from 3 and answers on 4, whatever numbers the pipes have here.
        line = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", line, program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.messages = []
        self.asked = []
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.come)
        for _ in range(50):  # its children may still be writing there
            try:
                self.profile.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.come, 1 << 16)
            if not more:
                raise RuntimeError("the browser has gone")
            self.buffer += more
        first, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(first)

    def note(self, message):
        what, values = message.get("method"), message.get("params", {})
        self.events.append(what)
        if what in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.messages.append(json.dumps(values)[:500])
        elif what == "Network.requestWillBeSent":
            self.asked.append(values["request"]["url"])

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})
            self.note(answer)

    def open(self, path, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=f"file://{path}")
        while "Page.loadEventFired" not in self.events:
            self.note(self.message())

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self, path, whole=True):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

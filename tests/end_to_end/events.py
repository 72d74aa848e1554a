"""Events that tests wait for, so that no result depends on how fast or busy the machine is.

Calls are held by rules hold=FILE of tests/fault/rules.hpp.
"""
import os
import pathlib
import signal
import time

GUARD = 600  # seconds after which a test gives up: more than any wait takes on a busy machine


def wait_until(condition, what):
    """Returns once it is true."""
    end = time.monotonic() + GUARD
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not in {GUARD} s")
        time.sleep(0.002)


def held(file="held"):
    """The processes in which a rule hold=FILE holds a call."""
    path = pathlib.Path(file)
    return [int(found.suffix[1:]) for found in path.parent.glob(path.name + ".*")]


def wait_for_held(process, count=1, file="held"):
    """Waits until `count` processes are held, or the run that they belong to has ended; whether
    they are held."""
    wait_until(lambda: len(held(file)) >= count or process.poll() is not None, f"{count} held")
    return len(held(file)) >= count


def release(file="held"):
    """Lets all held calls go; also removes what killed processes left."""
    for pid in held(file):
        pathlib.Path(f"{file}.{pid}").unlink()


def status_fields(pid):
    """/proc/PID/status by field; empty where there is no such process, or only its exit code."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return {} if fields.get("State", "Z")[0] in "ZX" else fields


def stopped(pids):
    """Those of the processes that SIGSTOP has stopped."""
    return [pid for pid in pids if status_fields(pid).get("State", "")[:1] == "T"]


def send_and_wait(pid, number):
    """Sends a signal and waits until the process has taken it, so that the next one of the same
    number does not merge with it."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    bit = 1 << (number - 1)

    def is_taken():
        fields = status_fields(pid)
        return not any(int(fields.get(name, "0"), 16) & bit for name in ("SigPnd", "ShdPnd"))

    wait_until(is_taken, f"process {pid} takes {signal.Signals(number).name}")

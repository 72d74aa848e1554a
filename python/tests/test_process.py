"""What calls do beside their result: progress, interrupts, threads, memory, the import, a fork."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import runner
from test_arrays import noise, same


def test_progress_and_its_exceptions():
    x = noise((3000, 1000))
    seen = []
    runner.median(x, [3, 3], backend="cpu", progress=lambda *now: seen.append(now))
    assert seen[-1] == (3000, 3000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def fail(done, total):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        runner.median(x, [3, 3], backend="cpu", progress=fail)


def test_interrupt_ends_a_long_call():
    """The call would take minutes."""
    x = noise((300, 300, 300))
    main = threading.main_thread().ident

    def interrupt(done, total):
        signal.pthread_kill(main, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        runner.denoise(x, sigma=1.0, backend="cpu", window=[13, 13, 13], progress=interrupt)


def test_threads_side_by_side():
    x = noise((200, 300))
    wanted = runner.median(x, [5, 5])
    made = [None] * 4

    def work(i):
        made[i] = runner.median(x, [5, 5])
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in made:
        same(each, wanted)


def test_nothing_is_printed_and_nothing_leaks(capfd):
    x = noise((8, 8))
    for _ in range(100):
        runner.median(x, [3, 3], backend="cpu", lanes=1)
    before = len(os.listdir("/proc/self/fd")), threading.active_count()
    status = pathlib.Path("/proc/self/status").read_text
    resident = [int(status().split("VmRSS:")[1].split()[0])]
    for _ in range(10_000):
        runner.median(x, [3, 3], backend="cpu", lanes=1)
    resident.append(int(status().split("VmRSS:")[1].split()[0]))
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
    assert resident[1] - resident[0] < 8192  # KiB
    assert capfd.readouterr() == ("", "")


def test_the_cpu_keeps_no_staging_memory():
    runner.release_memory()
    runner.transpose(np.zeros((100, 50), np.float32), (1, 0), backend="cpu")
    assert runner._arrays._staging.bytes == 0


def test_import_starts_nothing():
    code = ("import os, runner; "
            "assert len(os.listdir('/proc/self/task')) <= 1 + int(os.environ['THREADS']); "
            "maps = open('/proc/self/maps').read(); assert 'mca_' not in maps, 'MPI has started'")
    threads = subprocess.run([sys.executable, "-c", "import os, numpy; print(len(os.listdir("
                              "'/proc/self/task')))"], capture_output=True, text=True, check=True)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                          env={**os.environ, "THREADS": threads.stdout})
    assert done.returncode == 0 and done.stdout == done.stderr == "", done


def test_after_fork():
    x = noise((20, 20))
    wanted = runner.median(x, [3, 3]).tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if runner.median(x, [3, 3], backend="cpu").tobytes() == wanted else 1)
    deadline = time.monotonic() + 120
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            pytest.fail("the forked process hangs")
        time.sleep(0.01)
    assert status == 0

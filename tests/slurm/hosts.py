"""Hosts made of name spaces on this machine, for tests.

Each has its own host name, address, processes, /dev/shm and System V shared memory, as hosts have,
and the files of this machine; /run is a file system in memory that they share. All of it ends with
the process that made it, whatever happens to that.
"""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SPACES = ["unshare", "--net", "--pid", "--mount", "--uts", "--ipc", "--fork", "--kill-child",
          "--mount-proc"]
INSIDE = "RUNNER_TEST_HOSTS"
PR_SET_PDEATHSIG = 1


def why_not(programs):
    """Why there can be no hosts here; "" where there can."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [program for program in [*programs, "unshare", "ip"] if not shutil.which(program)]
    if missing:
        return "not installed: " + ", ".join(missing)
    if os.geteuid() != 0:
        return "not root, who alone makes name spaces and networks"
    tried = subprocess.run([*SPACES, "sh", "-ec", "mount -t tmpfs tmpfs /dev/shm; "
                            "ip link add name veth0 type veth peer name veth1"],
                           capture_output=True, text=True)
    return "" if tried.returncode == 0 else "no name spaces: " + tried.stderr.strip()


def skip(reason):
    """Ends the test as one that was skipped, in the words that scripts/test looks for."""
    print(f"{sys.argv[0]}: Skipped\n{reason}\n[  PASSED  ] 0 tests.\n[  SKIPPED ] 1 test")
    sys.exit(0)


def enter(names):
    """Starts this program again in name spaces of its own, with a network that has hosts of these
    names, and ends with it; returns in the one that was started."""
    if os.environ.get(INSIDE) == "1":
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        make_network(names)
        return
    # When this one dies, however it does, the kernel kills `unshare`, then the first process in the
    # name spaces, and with that all others there.
    child = subprocess.Popen([*SPACES, sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"},
                             preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG,
                                                                        signal.SIGKILL))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: child.kill())
    sys.exit(child.wait())


def address(index):
    return f"10.77.0.{11 + index}"


def make_network(names):
    """This host is called head; the others hang with it on one bridge."""
    script = """
        hostname head
        mount -t tmpfs tmpfs /run
        echo 127.0.0.1 localhost >/run/hosts
        echo 10.77.0.1 head >>/run/hosts
        ip link add bridge type bridge
        ip address add 10.77.0.1/24 dev bridge
        ip link set lo up
        ip link set bridge up
    """
    for i, name in enumerate(names):
        script += f"""
        echo {address(i)} {name} >>/run/hosts
        ip netns add {name}
        ip link add to-{name} master bridge up type veth peer name eth0 netns {name}
        ip -n {name} address add {address(i)}/24 dev eth0
        ip -n {name} link set lo up
        ip -n {name} link set eth0 up
        """
    script += "mount --bind /run/hosts /etc/hosts"
    subprocess.run(["sh", "-ec", script], check=True)


def on_host(name, script):
    """The command that runs a shell script as the first process of a host. Killing it ends all that
    ran there, as pulling the host's plug would."""
    return ["ip", "netns", "exec", name, "unshare", "--pid", "--mount", "--uts", "--ipc", "--fork",
            "--kill-child", "--mount-proc", "sh", "-c",
            f"hostname {name}; mount -t tmpfs tmpfs /dev/shm; {script}"]


def children(pid):
    return [int(child)
            for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


GUARD = 900  # seconds after which something hangs, however busy the machine is


def wait_for(condition, what, pause=0.1):
    end = time.monotonic() + GUARD
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not in {GUARD} s")
        time.sleep(pause)
    return value

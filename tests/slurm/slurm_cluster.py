"""A Slurm on this machine, for tests: slurm_cluster.py [COMMAND...].

Run as a program it starts a controller and four nodes, runs COMMAND (a shell where there is none) on
them and ends them.

The nodes are hosts of hosts.py, so ports and files collide with nothing and all ends with this
process; each has two stand-ins for GPUs. Slurm and munge must be installed; nothing of theirs needs
to be running or set up. README.md says why each line is there.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import hosts
from hosts import address, wait_for

PARTITIONS = {"test": ("n1", "n2"), "spare": ("n3", "n4")}
NODES = sum(PARTITIONS.values(), ())
CPUS = 16
MEMORY_MB = 16000
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "sinfo")


def why_not():
    """Why no cluster can be started here; "" where one can."""
    reason = hosts.why_not(PROGRAMS)
    return reason and "no Slurm here: " + reason


def enter():
    """See hosts.enter()."""
    hosts.enter(NODES)


class Cluster:
    """Entered, it runs; left, it is gone."""

    nodes = NODES
    head = "head(10.77.0.1)"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = {}

    def __enter__(self):
        self.write_settings()
        self.start_munge()
        self.start("slurmctld", ["slurmctld", "-D", "-i"])
        for node in self.nodes:
            self.start_node(node)
        wait_for(self.is_ready, "the nodes idle")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()

    def start(self, name, command):
        with open(self.folder / (name + ".out"), "a") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log,
                                                    stdin=subprocess.DEVNULL)

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        socket = self.folder / "munge.socket"
        self.start("munged", ["munged", "--foreground", "--force", f"--socket={socket}",
                              f"--key-file={key}", f"--log-file={self.folder}/munge.log",
                              f"--pid-file={self.folder}/munge.pid",
                              f"--seed-file={self.folder}/munge.seed"])
        # Its first answer may come late, and Slurm does not ask twice.
        wait_for(lambda: socket.exists() and subprocess.run(
            ["munge", "-n", "--socket", socket], capture_output=True).returncode == 0, "munge")

    def start_node(self, node):
        # As on a node without disks: the PMIx plugin's sockets that a killed job left there would
        # keep the same job from starting again.
        for name in [f"spool-{node}", f"tmp-{node}"]:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        # A slurmd that dies alone is started again, as a service is.
        self.start(node, hosts.on_host(node, f"while :; do slurmd -D -N {node}; sleep 1; done"))

    def kill_node(self, node):
        process = self.processes.pop(node)
        process.kill()
        process.wait()

    def kill_slurmd(self, node):
        """Only the daemon; what runs on the node stays."""
        shell = hosts.children(self.processes[node].pid)[0]
        os.kill(hosts.children(shell)[0], signal.SIGKILL)

    def is_ready(self):
        found = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %t"], capture_output=True, text=True)
        return set(found.stdout.split("\n")[:-1]) == {node + " idle" for node in self.nodes}

    def write_settings(self):
        d = self.folder
        (d / "state").mkdir()
        (d / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={self.head}
SlurmctldPort=6817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={d}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={d}/state
SlurmctldPidFile={d}/slurmctld.pid
SlurmctldLogFile={d}/slurmctld.log
SlurmdSpoolDir={d}/spool-%n
SlurmdPidFile={d}/slurmd-%n.pid
SlurmdLogFile={d}/slurmd-%n.log
TmpFS={d}/tmp-%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc={d}/jobs.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
MpiDefault=pmix
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=5
MinJobAge=600
SlurmdTimeout=15
ReturnToService=2
""" + self.node_lines())
        (d / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        (d / "gres.conf").write_text("AutoDetect=off\n" + self.gpu_lines())
        os.environ["SLURM_CONF"] = str(d / "slurm.conf")

    def node_lines(self):
        """For slurm.conf."""
        return "".join(
            f"NodeName={node} NodeAddr={address(i)} CPUs={CPUS} RealMemory={MEMORY_MB} "
            "Gres=gpu:fake:2\n" for i, node in enumerate(NODES)) + "".join(
            f"PartitionName={name} Nodes={','.join(nodes)} MaxTime=INFINITE State=UP "
            f"Default={'YES' if name == 'test' else 'NO'} GraceTime=30\n"
            for name, nodes in PARTITIONS.items()) + (
            f"PartitionName=urgent Nodes={','.join(PARTITIONS['spare'])} PriorityTier=9\n")

    def gpu_lines(self):
        """For gres.conf; makes the stand-ins."""
        lines = ""
        for node in NODES:
            for i in range(2):
                file = self.folder / f"gpu_{node}_{i}"
                os.mknod(file, 0o666 | 0o020000, os.makedev(1, 3))
                lines += f"NodeName={node} Name=gpu Type=fake File={file}\n"
        return lines


def main():
    reason = why_not()
    if reason:
        sys.exit(reason)
    enter()
    with tempfile.TemporaryDirectory(dir="/run") as folder, Cluster(folder):
        sys.exit(subprocess.run(sys.argv[1:] or [os.environ.get("SHELL", "bash")]).returncode)


if __name__ == "__main__":
    main()

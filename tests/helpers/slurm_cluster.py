"""A small Slurm: Debian's daemons on hosts made of namespaces, with names and addresses of their own on one switch.

    with slurm(3, tmp_path) as cluster:
        cluster.run("srun", "-N", "2", "hostname")

Run as a program it is the first process inside: all others end with it, and nothing is seen outside.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import require_command

NETWORK = "10.78.0.0/16"
START_SECONDS = 60.0
RUN_SECONDS = 120.0
LOGIN = "login"


@dataclass(frozen=True)
class Cluster:
    """Where the namespaces are: those of the first process, of the hosts by name, and the folder of it all."""

    first: int
    folder: Path
    hosts: tuple[str, ...]

    def command(self, *words: str, host: str = LOGIN) -> list[str]:
        """What runs a command on a host, in the folder where one is."""
        inside = (self.folder / f"{host}.pid").read_text()
        here = f"--wdns={os.getcwd()}"
        outer = ["nsenter", "-t", str(self.first), "-m", "-n", "-u", "-p", here, "--"]
        inner = ["nsenter", "-t", inside, "-m", "-n", "-u", here, "--"]
        return [*outer, *inner, "env", f"SLURM_CONF={self.folder / 'slurm.conf'}", *words]

    def run(
        self, *words: str, seconds: float = RUN_SECONDS, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the login host to its end."""
        with contextlib.chdir(cwd or Path.cwd()):
            command = self.command(*words)
            return subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
            )


@contextlib.contextmanager
def slurm(hosts: int, folder: Path) -> Iterator[Cluster]:
    """A cluster of so many hosts n1, n2, ... and one to log in, up and idle; skipped without root or Slurm."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    for program, package in (
        ("slurmctld", "slurmctld"),
        ("slurmd", "slurmd"),
        ("srun", "slurm-client"),
        ("munged", "munge"),
        ("ip", "iproute2"),
        ("nsenter", "util-linux"),
    ):
        require_command(program, package)
    names = tuple(f"n{number + 1}" for number in range(hosts))
    _configure(names, folder)
    log = (folder / "cluster.log").open("wb")
    flags = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--mount-proc")
    command = [sys.executable, __file__, str(folder), *names]
    process = subprocess.Popen(
        ["unshare", *flags, "--kill-child", *command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        yield _await_idle(process, folder, names)
    finally:
        process.kill()
        process.wait()
        log.close()


def _await_idle(process: subprocess.Popen[bytes], folder: Path, names: tuple[str, ...]) -> Cluster:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children and (folder / "ready").exists():
            cluster = Cluster(int(children[0]), folder, names)
            idle = cluster.run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N", seconds=30.0)
            if set(idle.stdout.split()) == set(names):
                return cluster
        time.sleep(0.1)
    said = (folder / "cluster.log").read_text(errors="replace")
    if "Operation not permitted" in said:
        pytest.skip(f"namespaces can't be made here: {said.strip().splitlines()[-1]}")
    raise AssertionError(f"Slurm did not come up: {said}")


def _addresses(names: Sequence[str]) -> dict[str, str]:
    return {name: f"10.78.0.{number + 1}" for number, name in enumerate((LOGIN, *names))}


def _configure(names: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("save", "spool"):
        (folder / name).mkdir()
    (folder / "munge").mkdir(mode=0o700)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    addresses = _addresses(names)
    (folder / "hosts").write_text(
        "127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in addresses.items())
    )
    # Slurm makes a folder for PMIx on each host, and /tmp belongs to all of them together.
    (folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
    settings = {
        "ClusterName": "chiplog",
        "SlurmctldHost": f"{LOGIN}({addresses[LOGIN]})",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder / 'munge' / 'socket'}",
        "CredType": "cred/munge",
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "StateSaveLocation": folder / "save",
        "SlurmdSpoolDir": f"{folder / 'spool'}/%n",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": f"{folder}/slurmd.%n.pid",
        "SlurmctldLogFile": folder / "slurmctld.log",
        "SlurmdLogFile": f"{folder}/slurmd.%n.log",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "SwitchType": "switch/none",
        "TopologyPlugin": "topology/tree",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "SchedulerType": "sched/builtin",
        "SlurmdParameters": "config_overrides",
        "ReturnToService": "2",
        "MpiDefault": "none",
        "KillWait": "5",
    }
    leaves = {"leaf1": names[:2], "leaf2": names[2:]} if len(names) > 2 else {"leaf1": names}
    tree = "".join(f"SwitchName={leaf} Nodes={','.join(of)}\n" for leaf, of in leaves.items())
    (folder / "topology.conf").write_text(f"{tree}SwitchName=spine Switches={','.join(leaves)}\n")
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    text += "NodeName=DEFAULT CPUs=2 State=UNKNOWN\n"
    text += "".join(f"NodeName={name} NodeAddr={addresses[name]}\n" for name in names)
    text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    (folder / "slurm.conf").write_text(text)


def _be_first(folder: Path, names: Sequence[str]) -> None:
    """Inside: the switch, munge, and a process in namespaces of its own for each host."""
    _do("mount --make-rprivate / && hostname switch && ip link set lo up")
    munge = folder / "munge"
    subprocess.Popen(
        [
            *("munged", "--force", "--foreground", "--origin", "127.0.0.1"),
            *("--socket", str(munge / "socket"), "--key-file", str(munge / "key")),
            *("--seed-file", str(munge / "seed"), "--pid-file", str(munge / "pid")),
            *("--log-file", str(munge / "log")),
        ]
    )
    while not (munge / "socket").exists():
        time.sleep(0.02)
    _do("ip link add switch type bridge forward_delay 0 stp_state 0 && ip link set switch up")
    for name, address in _addresses(names).items():
        daemon = "slurmctld -D" if name == LOGIN else f"slurmd -D -N {name}"
        script = (
            f"hostname {name} && mount -t tmpfs tmpfs /dev/shm && mount -t sysfs sysfs /sys\n"
            f"mount --bind {folder}/hosts /etc/hosts\n"
            "until [ -e /sys/class/net/eth0 ]; do sleep 0.02; done\n"
            f"ip link set lo up && ip address add {address}/16 dev eth0 && ip link set eth0 up\n"
            f"exec {daemon}\n"
        )
        host = subprocess.Popen(
            ["unshare", "--mount", "--net", "--uts", "sh", "-ec", script],
            env={**os.environ, "SLURM_CONF": str(folder / "slurm.conf")},
        )
        own = Path("/proc/self/ns/net").readlink()
        while Path(f"/proc/{host.pid}/ns/net").readlink() == own:
            time.sleep(0.01)
        _do(f"ip link add {name} type veth peer name eth0 netns {host.pid}")
        _do(f"ip link set {name} master switch up")
        (folder / f"{name}.pid").write_text(str(host.pid))
    (folder / "ready").touch()
    while True:
        with contextlib.suppress(ChildProcessError):
            os.wait()  # whatever lost its parent ends here
        time.sleep(0.05)


def _do(script: str) -> None:
    subprocess.run(["sh", "-ec", script], check=True)


if __name__ == "__main__":
    _be_first(Path(sys.argv[1]), sys.argv[2:])

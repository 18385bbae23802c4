"""Hosts made of network namespaces on a switch of known delay and rate, and ranks of an MPI on them.

The switch is testbeds/delays/relay.cpp: it needs TAP devices, no module of the kernel's such as netem. Ranks and relay
have real-time priorities, so that what else runs on this machine hardly changes their times.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import REPOSITORY, require_command
from nodes import LINK, NETWORK, inside, make_namespace, remove_namespace, run_checked

from chiplog.measurement.mpis import Mpi

RELAY = REPOSITORY / "testbeds" / "delays" / "relay.cpp"
PRIORITY = 50
AGENT = """\
#!/bin/bash
# In place of ssh: runs a command on the host of an address or a name, on the processor of its number.
while [[ "$1" == -* ]]; do case "$1" in -l|-p|-o) shift 2;; *) shift;; esac; done
case "$1" in *.*) number=$((${{1##*.}} - 1));; *) number=${{1##*node}};; esac
host={prefix}node$number; shift
processor=$((number % {processors}))
exec chrt -r {priority} taskset -c $processor ip netns exec $host unshare -u sh -c "hostname $host; $*"
"""
LAUNCHER = """\
#!/bin/bash
host={host}
rename='hostname "$0"; exec "$@"'
exec chrt -r {priority} taskset -c 0 ip netns exec $host unshare -u sh -c "$rename" $host {command} "$@"
"""


@dataclass(frozen=True)
class DelayedHosts:
    """Hosts whose links are set by `set`."""

    names: tuple[str, ...]
    relay: subprocess.Popen[str]

    def set(self, bits_per_second: float, delay_us: float) -> None:
        """From now on, each link has this rate, and a frame arrives so long after its last bit has left."""
        self._write(f"{bits_per_second} {delay_us}\n")
        assert self._read() == "set", "the relay has ended"

    def close(self) -> str:
        """Ends the relay; how late its frames were."""
        assert self.relay.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.relay.stdin.close()
        return self._read()

    def launcher(self, mpi: Mpi, ranks: int, directory: Path) -> Path:
        """A program in `directory` that starts its arguments on so many ranks, one a host."""
        prefix = self.names[0].removesuffix("node0")
        agent, launcher = directory / "agent", directory / f"launch-{ranks}"
        fields = {"priority": PRIORITY, "processors": os.cpu_count() or 1}
        agent.write_text(AGENT.format(prefix=prefix, **fields))
        words = _open_mpi(self.names, agent) if mpi.kind == "openmpi" else _mpich(self.names, agent)
        command = " ".join([str(mpi.launcher), "-n", str(ranks), *words])
        launcher.write_text(LAUNCHER.format(host=self.names[0], command=command, **fields))
        for script in (agent, launcher):
            script.chmod(0o755)
        return launcher

    def _write(self, line: str) -> None:
        assert self.relay.stdin is not None
        self.relay.stdin.write(line)
        self.relay.stdin.flush()

    def _read(self) -> str:
        assert self.relay.stdout is not None
        return self.relay.stdout.readline().strip()


@contextlib.contextmanager
def delayed_hosts(count: int, build: Path) -> Iterator[DelayedHosts]:
    """`count` hosts at 200 Mbit/s without delay; the relay is compiled into `build`. Skips the test without root."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if not Path("/dev/net/tun").exists():
        pytest.skip("there is no /dev/net/tun")
    for program, package in (("ip", "iproute2"), ("chrt", "util-linux"), ("g++", "g++")):
        require_command(program, package)
    relay_program = build / "relay"
    run_checked("g++", "-std=c++20", "-O2", "-pthread", str(RELAY), "-o", str(relay_program))
    names = tuple(f"chiplog{os.getpid()}node{number}" for number in range(count))
    with contextlib.ExitStack() as opened:
        for name in names:
            make_namespace(name)
            opened.callback(remove_namespace, name)
        relay = opened.enter_context(
            subprocess.Popen(
                [str(relay_program), "200e6", "0", *names],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        opened.callback(relay.kill)
        hosts = DelayedHosts(names, relay)
        opened.enter_context(contextlib.closing(hosts))
        if hosts._read() != "set":
            pytest.skip(f"the relay can't run here: {relay.communicate()[1].strip()}")
        for command in _addresses(names):
            run_checked(*command)
        yield hosts


def _addresses(names: tuple[str, ...]) -> Iterator[list[str]]:
    for number, name in enumerate(names):
        ip = ["ip", "-n", name]
        yield [*ip, "link", "set", "lo", "up"]
        hardware = f"02:00:00:00:00:{number:02x}"
        yield [*ip, "link", "set", "dev", LINK, "address", hardware, "txqueuelen", "10000", "up"]
        yield [*ip, "addr", "add", f"10.77.0.{number + 1}/24", "dev", LINK]
        tcp = ("ipv4.tcp_congestion_control=reno", "ipv4.tcp_slow_start_after_idle=0")
        settings = [f"net.{setting}" for setting in (*tcp, "ipv6.conf.all.disable_ipv6=1")]
        yield [*inside(name), "sysctl", "-qw", *settings]
        # Acknowledged at once, and with a window from the start: what TCP learns of a link would be a delay of its own.
        route = ["replace", NETWORK, "dev", LINK, "quickack", "1", "initcwnd", "256"]
        yield [*ip, "route", *route]
        for other in set(range(len(names))) - {number}:
            known = [f"10.77.0.{other + 1}", "lladdr", f"02:00:00:00:00:{other:02x}", "dev", LINK]
            yield [*ip, "neigh", "replace", *known, "nud", "permanent"]


def _open_mpi(names: tuple[str, ...], agent: Path) -> list[str]:
    settings = {
        "plm_rsh_agent": str(agent),
        "plm_rsh_no_tree_spawn": "1",
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": NETWORK,
        "oob_tcp_if_include": NETWORK,
        "mpi_yield_when_idle": "1",
    }
    options = [word for name, value in settings.items() for word in ("--mca", name, value)]
    return ["--map-by", "node", "--bind-to", "none", "-H", ",".join(names), *options]


def _mpich(names: tuple[str, ...], agent: Path) -> list[str]:
    # Over libfabric: Debian's, which has UCX only, may hang in MPI_Finalize between such hosts.
    addresses = [f"10.77.0.{number + 1}" for number in range(len(names))]
    variables = {
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": LINK,
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": LINK,
    }
    options = [word for name, value in variables.items() for word in ("-genv", name, value)]
    places = ["-ppn", "1", "-hosts", ",".join(addresses), "-localhost", addresses[0]]
    places += ["-iface", LINK]
    return ["-launcher", "ssh", "-launcher-exec", str(agent), *places, *options]

"""Nodes made of network namespaces: hosts with names and addresses of their own on one switch, with known rates.

Every frame that leaves a node passes a token bucket (HTB) of the node's rate, and those of one rank's connections one
of a process' rate before it. Only payload is counted: the buckets don't see the 66 bytes of headers that each full
segment has. All is in memory and goes when the context ends, and no frame leaves the machine.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import require_command

LINK = "uplink"
NETWORK = "10.77.0.0/24"
FIRST_PORT = 7100
"""Where rank 0 listens with `tcp:port=7100`; rank r listens at 7100 + r, which tells its connections apart."""
MEETING_PORT = 7099
HEADER_BYTES = 66
"""Ethernet, IPv4, TCP and its time stamps."""
FRAME_BYTES = 1600
"""What a bucket lets through at once: one frame, and the least that the rates allow."""
START_RANKS = Path(__file__).parent / "start_ranks.py"


@dataclass(frozen=True)
class Nodes:
    """The namespaces of the nodes, in order."""

    names: tuple[str, ...]

    @property
    def rendezvous(self) -> str:
        """Where ranks meet: on the first node."""
        return f"{_address(0)}:{MEETING_PORT}"

    @property
    def target(self) -> str:
        """tcp between the nodes, each rank at a port of its own."""
        return f"tcp:bind={NETWORK},port={FIRST_PORT}"

    def launcher(self, *ranks: int) -> str:
        """What starts so many ranks on each node, numbered from the first node on."""
        places = [f"{name}:{count}" for name, count in zip(self.names, ranks, strict=True)]
        return shlex.join([sys.executable, str(START_RANKS), *places, "--"])


@dataclass(frozen=True)
class Shape:
    """Rates of payload in 1e6 bit/s, in each direction: of a node, and of each of its `processes` first ranks.

    A bucket fills up to `burst_frames`: these pass free after a pause, and a timer of the kernel that wakes later than
    they last loses what it is late by for good.
    """

    process_mbit: float
    node_mbit: float
    processes: int
    burst_frames: int = 1


@contextlib.contextmanager
def nodes(
    count: int, *, process_mbit: float, node_mbit: float, processes: int, burst_frames: int = 1
) -> Iterator[Nodes]:
    """`count` nodes of a Shape. Needs root: the test is skipped without it."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    for program in ("ip", "tc"):
        require_command(program, "iproute2")
    prefix = f"chiplog{os.getpid()}"
    switch = f"{prefix}switch"
    names = tuple(f"{prefix}node{number}" for number in range(count))
    made: list[str] = []
    try:
        for name in (switch, *names):
            make_namespace(name)
            made.append(name)
        shape = Shape(process_mbit, node_mbit, processes, burst_frames)
        for command in commands(switch, names, shape):
            run_checked(*command)
        yield Nodes(names)
    finally:
        for name in made:
            remove_namespace(name)


def commands(switch: str, names: tuple[str, ...], shape: Shape) -> Iterator[list[str]]:
    """What connects the namespaces `names`, once they and `switch` are made."""
    yield ["ip", "-n", switch, "link", "add", "bridge", "type", "bridge"]
    yield ["ip", "-n", switch, "link", "set", "bridge", "up"]
    for number, name in enumerate(names):
        yield from _plugged(name, number, switch)
        yield from _shaped(name, shape)


def _address(node: int) -> str:
    return f"10.77.0.{node + 1}"


def inside(name: str) -> list[str]:
    """What runs the words behind it in a namespace."""
    return ["ip", "netns", "exec", name]


def make_namespace(name: str) -> None:
    """The namespace of a host; the test is skipped where there can be none."""
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"network namespaces can't be made here: {made.stderr.strip()}")


def remove_namespace(name: str) -> None:
    """Ends what runs in a namespace, and removes it."""
    running = subprocess.run(
        ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
    )
    for process in running.stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
    subprocess.run(["ip", "netns", "del", name], check=False)


def _plugged(node: str, number: int, switch: str) -> Iterator[list[str]]:
    """Connect a node with the switch. Its frames are single segments, as buckets count them."""
    port = f"port{number}"
    on_node, on_switch = (["ip", "-n", name] for name in (node, switch))
    pair = ["type", "veth", "peer", "name", port, "netns", switch]
    yield [*on_node, "link", "set", "lo", "up"]
    yield [*on_node, "link", "add", LINK, *pair]
    yield [*on_node, "link", "set", "dev", LINK, "gso_max_segs", "1"]
    yield [*on_switch, "link", "set", "dev", port, "gso_max_segs", "1", "master", "bridge"]
    yield [*on_switch, "link", "set", "dev", port, "up"]
    # Reno keeps a window that no loss ever cuts here; others pace their segments, which is a rate of its own.
    settings = ("tcp_congestion_control=reno", "tcp_slow_start_after_idle=0")
    yield [*inside(node), "sysctl", "-qw", *(f"net.ipv4.{one}" for one in settings)]
    yield [*on_node, "addr", "add", f"{_address(number)}/24", "dev", LINK]
    yield [*on_node, "link", "set", "dev", LINK, "up"]


def _shaped(node: str, shape: Shape) -> Iterator[list[str]]:
    """A class for each rank, below one for the node; what ranks meet over, and ARP, pass by."""
    burst = str(shape.burst_frames * FRAME_BYTES)
    bucket = ("burst", burst, "cburst", burst, "quantum", str(FRAME_BYTES))
    root = ("root", "handle", "1:", "stab", "overhead", str(-HEADER_BYTES), "htb")
    yield _tc(node, "qdisc", *root)
    of_node = ("parent", "1:", "classid", "1:1", "htb", *_rate(shape.node_mbit, shape.node_mbit))
    yield _tc(node, "class", *of_node, *bucket)
    # Each class is promised its fair share alone, and borrows from the node's what it gets beyond.
    promised = min(shape.process_mbit, shape.node_mbit / shape.processes)
    for rank in range(shape.processes):
        flow = f"1:{0x10 + rank:x}"
        rate = _rate(promised, shape.process_mbit)
        yield _tc(node, "class", "parent", "1:1", "classid", flow, "htb", *rate, *bucket)
        yield _tc(node, "qdisc", "parent", flow, "pfifo", "limit", "4000")
        for side in ("sport", "dport"):
            match = ("match", "ip", side, str(FIRST_PORT + rank), "0xffff")
            yield _tc(
                node, "filter", "parent", "1:", "protocol", "ip", "u32", *match, "flowid", flow
            )


def _rate(mbit: float, ceiling_mbit: float) -> tuple[str, ...]:
    return ("rate", f"{mbit * 1e6:.0f}", "ceil", f"{ceiling_mbit * 1e6:.0f}")


def _tc(node: str, kind: str, *words: str) -> list[str]:
    return ["tc", "-n", node, kind, "add", "dev", LINK, *words]


def run_checked(*command: str) -> None:
    """Run a command that must end with 0."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"

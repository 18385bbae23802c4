"""1:n n:1 on 64 simulated ranks is what the simulated network's own parameters say."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.measure.launchers import SimulatedPlatform, launch_command
from chiplog.measure.probes import BuiltProbe
from chiplog.measure.run import measure
from chiplog.measure.session import Session
from chiplog.plan.plan import PlanOptions

RANKS = 64
O_S, O_R, LATENCY, BYTES_PER_SECOND = 0.4e-6, 0.7e-6, 3e-6, 100e6
ENVELOPE_BYTES = 16
STAR = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="node" suffix="" radical="0-63" speed="1Gf" bw="100MBps" lat="1.5us"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def one_to_many_seconds(peers: int) -> float:
    """The sender posts all, and the first answer may be there before that; then it takes the answers in turn."""
    on_the_wire = LATENCY + ENVELOPE_BYTES / BYTES_PER_SECOND
    first_answer = 2 * (O_S + on_the_wire) + O_R
    return max(peers * O_S, first_answer) + peers * O_R


def test_empty_messages_to_all_numbers_of_peers_are_within_one_per_cent(
    smpi_probe: BuiltProbe, tmp_path: Path
) -> None:
    platform, hosts, out = tmp_path / "star64.xml", tmp_path / "hosts", tmp_path / "run.jsonl"
    platform.write_text(STAR)
    hosts.write_text("\n".join(f"node{number}" for number in range(RANKS)) + "\n")
    options = (f"smpi/os:0:{O_S}:0", f"smpi/ois:0:{O_S}:0", f"smpi/or:0:{O_R}:0")
    simulated = SimulatedPlatform(platform, hosts, tuple(f"--cfg={one}" for one in options))

    def launch(number: int) -> Session:
        arguments = ["--target", "mpi", "--pin", "none", "--launch", str(number)]
        started = launch_command(smpi_probe, RANKS, arguments, simulated=simulated)
        return Session(started.command, environment=started.environment)

    plan = PlanOptions("mpi", ("one_to_many",), (0,), visits=1, ranks=RANKS)
    measure("mpi", plan, out, launch)

    series = read_run(out).select(pattern="one_to_many", purpose="grid").series
    assert sorted(one.peers for one in series) == list(range(1, RANKS))
    for one in series:
        assert one.median == pytest.approx(one_to_many_seconds(one.peers), rel=0.01), one.peers

"""1:n n:1 on 64 simulated ranks is what the simulated network's own parameters say."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.session import Session
from chiplog.plan.request import Request, SeriesRequest, StopRule

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


@pytest.mark.parametrize("posting", ["normal", "list"])
def test_empty_messages_to_all_numbers_of_peers_are_within_one_per_cent(
    smpi_probe: BuiltProbe, tmp_path: Path, posting: str
) -> None:
    platform, hosts = tmp_path / "star64.xml", tmp_path / "hosts"
    platform.write_text(STAR)
    hosts.write_text("\n".join(f"node{number}" for number in range(RANKS)) + "\n")
    options = (f"smpi/os:0:{O_S}:0", f"smpi/ois:0:{O_S}:0", f"smpi/or:0:{O_R}:0")
    simulated = SimulatedPlatform(platform, hosts, tuple(f"--cfg={one}" for one in options))

    started = launch_command(
        smpi_probe, RANKS, ["--target", "mpi", "--pin", "none"], simulated=simulated
    )
    series = tuple(
        SeriesRequest("one_to_many", 0, peers=peers, posting=posting) for peers in range(1, RANKS)
    )
    stop = StopRule(relative_half_width=0.01, min_samples=3, max_samples=3, budget_ns=10**10)
    with Session(started.command, environment=started.environment) as session:
        record = json.loads(session.measure(Request(0, 0, series, stop, check_payload=False)))

    assert {one["posting"] for one in record["series"]} == {posting}
    assert [one["peers"] for one in record["series"]] == list(range(1, RANKS))
    for one in record["series"]:
        median_seconds = statistics.median(one["samples_ns"][one["warmup"] :]) * 1e-9
        assert median_seconds == pytest.approx(one_to_many_seconds(one["peers"]), rel=0.01)

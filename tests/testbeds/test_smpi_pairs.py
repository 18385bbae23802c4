"""k pairs between two simulated nodes give back the rates of the node and of a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.measuring import measure
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.session import Session
from chiplog.plan.plan import PlanOptions
from chiplog.plan.sizes import parse_sizes

PAIRS = 8
NODE_RATE, PROCESS_RATE = 10e9, 3e9
TWO_NODES = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="two" routing="Full">
    <host id="left" speed="1Gf" core="8"/>
    <host id="right" speed="1Gf" core="8"/>
    <link id="left_nic" bandwidth="10GBps" latency="0.5us" sharing_policy="SPLITDUPLEX"/>
    <link id="right_nic" bandwidth="10GBps" latency="0.5us" sharing_policy="SPLITDUPLEX"/>
    <link id="process" bandwidth="3GBps" latency="0us" sharing_policy="FATPIPE"/>
    <link id="memory" bandwidth="20GBps" latency="0.2us" sharing_policy="FATPIPE"/>
    <route src="left" dst="right" symmetrical="NO"><link_ctn id="process"/>
      <link_ctn id="left_nic" direction="UP"/><link_ctn id="right_nic" direction="DOWN"/></route>
    <route src="right" dst="left" symmetrical="NO"><link_ctn id="process"/>
      <link_ctn id="right_nic" direction="UP"/><link_ctn id="left_nic" direction="DOWN"/></route>
    <route src="left" dst="left"><link_ctn id="memory"/></route>
    <route src="right" dst="right"><link_ctn id="memory"/></route>
  </zone>
</platform>
"""


@pytest.mark.parametrize("direction", [None, "one-way"])
def test_both_rates_come_back_within_one_per_cent_between_the_nodes_that_mpi_tells_of(
    smpi_probe: BuiltProbe, tmp_path: Path, direction: str | None
) -> None:
    platform, hosts, out = tmp_path / "two.xml", tmp_path / "hosts", tmp_path / "run.jsonl"
    platform.write_text(TWO_NODES)
    hosts.write_text("left\n" * PAIRS + "right\n" * PAIRS)

    def launch(number: int) -> Session:
        arguments = ["--target", "mpi", "--pin", "none", "--launch", str(number)]
        started = launch_command(
            smpi_probe, 2 * PAIRS, arguments, simulated=SimulatedPlatform(platform, hosts, ())
        )
        return Session(started.command, environment=started.environment)

    plan = PlanOptions(
        "mpi",
        ("pairs",),
        parse_sizes("128KiB:4MiB"),
        visits=1,
        ranks=2 * PAIRS,
        direction=direction,
    )
    measure("mpi", plan, out, launch)

    run = read_run(out)
    assert run.header["nodes"] == ["left"] * PAIRS + ["right"] * PAIRS
    (found,) = fit(run, ["max-rate"])
    assert (found.between, found.convention) == (("left", "right"), direction or "round-trip")
    # Exact times tell one way more than one protocol: a receive that is posted late costs each message of a window.
    for segment in found.segments:
        assert segment.parameters["R_C"].value == pytest.approx(PROCESS_RATE, rel=0.01)
        assert segment.parameters["R_N"].value == pytest.approx(NODE_RATE, rel=0.01)
    if direction is None:
        (segment,) = found.segments
        assert segment.parameters["s0"].value == pytest.approx(1e-6, rel=0.05)
        assert found.error.max_relative < 0.01

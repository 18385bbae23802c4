"""A survey of simulated leaves names the uplink that is slow, with what it lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chiplog.measure.launchers import SimulatedPlatform, launch_command
from chiplog.measure.probes import BuiltProbe
from chiplog.measure.session import Session
from chiplog.survey.of_run import MachineVerdict, verdict_of_run
from chiplog.survey.plan import SurveyOptions
from chiplog.survey.sweep import measure_sweep

LEAVES, NODES_OF_LEAF = 4, 3
LONG = bool(os.environ.get("CHIPLOG_TEST_LONG"))
NIC = 1e9
UPLINK = NODES_OF_LEAF * NIC
HOSTS = [f"n{number:02d}" for number in range(LEAVES * NODES_OF_LEAF)]
NAMES = tuple(f"leaf{number}" for number in range(LEAVES))


def leaf_of(node: int) -> int:
    return node // NODES_OF_LEAF


def tree(slow: dict[int, float]) -> str:
    """A platform of leaves under a spine that is never full; each uplink carries its share of what its nodes send."""
    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in HOSTS)
    links = "".join(_link(f"nic{number}", NIC) for number in range(len(HOSTS)))
    links += "".join(_link(f"up{leaf}", UPLINK * slow.get(leaf, 1.0)) for leaf in range(LEAVES))
    pairs = [(a, b) for a in range(len(HOSTS)) for b in range(len(HOSTS)) if a != b]
    routes = "".join(_route(one, other) for one, other in pairs)
    return (
        '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
        f'<platform version="4.1"><zone id="tree" routing="Full">{hosts}{links}{routes}</zone></platform>'
    )


def _link(name: str, bandwidth: float) -> str:
    return (
        f'<link id="{name}" bandwidth="{bandwidth}Bps" latency="1us" sharing_policy="SPLITDUPLEX"/>'
    )


def _route(one: int, other: int) -> str:
    across = [(f"up{leaf_of(one)}", "UP"), (f"up{leaf_of(other)}", "DOWN")]
    links = [
        (f"nic{one}", "UP"),
        *(across if leaf_of(one) != leaf_of(other) else []),
        (f"nic{other}", "DOWN"),
    ]
    parts = "".join(f'<link_ctn id="{name}" direction="{way}"/>' for name, way in links)
    return f'<route src="{HOSTS[one]}" dst="{HOSTS[other]}" symmetrical="NO">{parts}</route>'


def survey(probe: BuiltProbe, folder: Path, slow: dict[int, float]) -> MachineVerdict:
    platform, hostfile = folder / "tree.xml", folder / "hosts"
    platform.write_text(tree(slow))
    hostfile.write_text("\n".join(HOSTS) + "\n")

    def launch(number: int) -> Session:
        arguments = ["--target", "mpi", "--pin", "none", "--launch", str(number)]
        simulated = SimulatedPlatform(platform, hostfile, ())
        started = launch_command(probe, len(HOSTS), arguments, simulated=simulated)
        return Session(started.command, environment=started.environment)

    leaves = tuple(leaf_of(node) for node in range(len(HOSTS)))
    options = SurveyOptions("mpi", len(HOSTS), own=False)
    return verdict_of_run(
        measure_sweep(
            "mpi", options, folder / "pairs.jsonl", launch, leaves_of=lambda _: (leaves, NAMES)
        )
    )


@pytest.mark.parametrize("lost", [0.05, 0.1, 0.3] if LONG else [0.1])
def test_a_slow_uplink_is_named_with_what_it_lost(
    smpi_probe: BuiltProbe, tmp_path: Path, lost: float
) -> None:
    (one,) = survey(smpi_probe, tmp_path, {2: 1 - lost}).accused
    assert (one.kind, one.name, one.direction) == ("uplink", "leaf2", "both")
    assert one.effect == pytest.approx(-lost, abs=0.01)


def test_healthy_leaves_are_not_accused(smpi_probe: BuiltProbe, tmp_path: Path) -> None:
    found = survey(smpi_probe, tmp_path, {})
    assert (found.accused, found.inconclusive, found.agrees) == ((), (), True)

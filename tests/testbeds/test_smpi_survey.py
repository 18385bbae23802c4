"""A survey of simulated leaves names who is slow, with what it lost."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chiplog.machine_survey.machine_verdict import MachineVerdict, verdict_of_run
from chiplog.machine_survey.measurement import SurveyConditions, measure_sweep
from chiplog.machine_survey.plan import SurveyOptions
from chiplog.measurement.launchers import SimulatedPlatform, launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.session import Session

LEAVES = 4
NIC = 1e9
NAMES = tuple(f"leaf{number}" for number in range(LEAVES))


@dataclass(frozen=True)
class Tree:
    """Leaves under a spine that is never full; each uplink carries its share of what its nodes send."""

    uplinks: Mapping[int, float] = field(default_factory=dict)
    """What those of some leaves give of it."""
    nics: Mapping[int, float] = field(default_factory=dict)
    """Likewise of nodes."""
    of_leaf: int = 3
    """Nodes of each leaf."""

    @property
    def hosts(self) -> list[str]:
        return [f"n{number:02d}" for number in range(LEAVES * self.of_leaf)]

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(number // self.of_leaf for number in range(len(self.hosts)))

    def platform(self) -> str:
        numbers = range(len(self.hosts))
        hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in self.hosts)
        links = [_link(f"nic{one}", NIC * self.nics.get(one, 1.0)) for one in numbers]
        uplink = self.of_leaf * NIC
        links += [_link(f"up{one}", uplink * self.uplinks.get(one, 1.0)) for one in range(LEAVES)]
        routes = [self._route(one, other) for one in numbers for other in numbers if one != other]
        return (
            '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
            f'<platform version="4.1"><zone id="tree" routing="Full">{hosts}{"".join(links)}{"".join(routes)}'
            "</zone></platform>"
        )

    def _route(self, one: int, other: int) -> str:
        here, there = self.leaves[one], self.leaves[other]
        across = [(f"up{here}", "UP"), (f"up{there}", "DOWN")] if here != there else []
        links = [(f"nic{one}", "UP"), *across, (f"nic{other}", "DOWN")]
        parts = "".join(f'<link_ctn id="{name}" direction="{way}"/>' for name, way in links)
        return f'<route src="{self.hosts[one]}" dst="{self.hosts[other]}" symmetrical="NO">{parts}</route>'


def _link(name: str, bandwidth: float) -> str:
    return (
        f'<link id="{name}" bandwidth="{bandwidth}Bps" latency="1us" sharing_policy="SPLITDUPLEX"/>'
    )


def survey(probe: BuiltProbe, folder: Path, tree: Tree) -> MachineVerdict:
    platform, hostfile = folder / "tree.xml", folder / "hosts"
    platform.write_text(tree.platform())
    hostfile.write_text("\n".join(tree.hosts) + "\n")

    def launch(number: int) -> Session:
        arguments = ["--target", "mpi", "--pin", "none", "--launch", str(number)]
        simulated = SimulatedPlatform(platform, hostfile, ())
        started = launch_command(probe, len(tree.hosts), arguments, simulated=simulated)
        return Session(started.command, environment=started.environment)

    options = SurveyOptions("mpi", len(tree.hosts), own=False)
    out = folder / "pairs.jsonl"
    conditions = SurveyConditions(leaves_of=lambda _: (tree.leaves, NAMES))
    return verdict_of_run(measure_sweep("mpi", options, out, launch, conditions))


def node(number: int) -> str:
    """What a survey calls a simulated host: its rank on the one machine that there is."""
    return f"{socket.gethostname()}#{number}"


CASES = [
    (Tree({2: 0.9}), {"leaf2": -0.1}),
    (Tree({2: 0.9}, {1: 0.95}), {"leaf2": -0.1, node(1): -0.05}),
    (Tree({2: 0.95}), {"leaf2": -0.05}),
    (Tree({2: 0.7}), {"leaf2": -0.3}),
    (Tree({2: 0.9}, {9: 0.95}, 4), {"leaf2": -0.1, node(9): -0.05}),
]


@pytest.mark.parametrize(("tree", "lost"), CASES)
def test_who_is_slow_is_named_with_what_it_lost(
    smpi_probe: BuiltProbe, tmp_path: Path, tree: Tree, lost: dict[str, float]
) -> None:
    found = survey(smpi_probe, tmp_path, tree).accused
    assert {one.name: one.effect for one in found} == pytest.approx(lost, abs=0.005)
    assert {one.direction for one in found} == {"both"}


def test_healthy_leaves_are_not_accused(smpi_probe: BuiltProbe, tmp_path: Path) -> None:
    found = survey(smpi_probe, tmp_path, Tree())
    assert (found.accused, found.inconclusive, found.agrees) == ((), (), True)

"""k pairs over TCP between nodes of known rates give these rates back, in a machine whose timers are never late.

The rate that a token bucket lets through falls with what the host's timers are late by. In a machine whose clock counts
instructions they are exact, however busy the host is.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from nodes import Nodes, Shape, commands

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.measurement.probes import base_probe
from chiplog.plan import PlanOptions
from chiplog.plan.plan import make_plan

BOTH = Nodes(("first", "second"))
RANKS_A_NODE = 3
PROCESS_MBIT, NODE_MBIT = 8.0, 20.0
SIZES = {None: (3 << 16, 1 << 18), "one-way": (1 << 13, 1 << 14)}
"""A frame passes free after a pause: half a per cent of what follows one, if messages or a window of 64 are large."""
BYTES_PER_SECOND = 1e6 / 8.0
Boot = Callable[..., str]


@pytest.mark.parametrize("direction", SIZES)
def test_the_rates_of_a_process_and_of_the_node_come_back_within_three_per_cent(
    direction: str | None, boot: Boot, tmp_path: Path
) -> None:
    shape = Shape(PROCESS_MBIT, NODE_MBIT, RANKS_A_NODE)
    connect = [shlex.join(command) + "\n" for command in commands("switch", BOTH.names, shape)]
    (tmp_path / "connect").write_text("".join(connect))
    ranks = RANKS_A_NODE * len(BOTH.names)
    how = {"ranks": ranks, "direction": direction, "visits": 1, "budget_seconds": 0.5}
    plan = make_plan(PlanOptions("tcp", ("pairs",), SIZES[direction], **how))
    (tmp_path / "requests.jsonl").write_text("".join(one.line() for one in plan.requests))
    places = [f"{name}:{RANKS_A_NODE}" for name in BOTH.names]
    target = f"{BOTH.target},poll=block"
    script = ("nodes.sh", base_probe(), target, BOTH.rendezvous, "switch", *places)
    boot("virtual", tmp_path, *script)
    (found,) = fit(read_run(tmp_path / "run.jsonl"), ["max-rate"])
    (segment,) = found.segments
    rates = [segment.parameters[symbol].value for symbol in ("R_C", "R_N")]
    known = [PROCESS_MBIT * BYTES_PER_SECOND, NODE_MBIT * BYTES_PER_SECOND]
    assert rates == pytest.approx(known, rel=0.03)

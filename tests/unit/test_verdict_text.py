"""What the screen says of a verdict, made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chiplog.cli.survey_text import verdict_lines
from chiplog.machine_survey.findings import Finding
from chiplog.machine_survey.judge.verdict import SweepVerdict
from chiplog.machine_survey.machine_verdict import MachineVerdict

DOUBT = "it is slow in both measurements, but not beyond doubt"


def pair(number: int, effect: float) -> Finding:
    names = (f"n{number}", f"n{number + 1}")
    return Finding("pair", *names, "out", "bandwidth", effect, math.nan, math.nan, DOUBT)


def shown(doubts: Sequence[Finding], *, least: float | None = 0.04) -> list[str]:
    detectable = {"node": 0.02, "uplink": None, "pair": least}
    judged = SweepVerdict((), tuple(doubts), detectable)
    late = SweepVerdict((), (), {"node": 0.2, "uplink": None, "pair": 7.19})
    machine = MachineVerdict({"bandwidth": judged, "latency": late}, 11, None, None, (), {})
    return [line for line in verdict_lines(machine) if line.startswith(("unclear", "would", " "))]


def test_pairs_that_are_less_slow_than_would_be_found_share_a_line() -> None:
    lines = shown([pair(1, -0.028), pair(3, -0.06), pair(5, -0.031)])
    assert lines[:2] == [
        f"unclear    n3 with n4, out only: bandwidth -6.0 %: {DOUBT}",
        "unclear    2 pairs by 3.1 % at most (bandwidth), less than this survey finds",
    ]


def test_a_node_in_doubt_has_its_own_line_however_small() -> None:
    node = Finding("node", "n4", None, "both", "bandwidth", -0.015, -0.03, 0.0, DOUBT)
    first, second, *_ = shown([node, pair(1, -0.028)])
    assert first.startswith("unclear    node n4: bandwidth -1.5 %")
    assert second.startswith("unclear    1 pair by 2.8 % at most")


def test_where_it_is_unknown_what_would_be_found_each_pair_has_its_line() -> None:
    assert shown([pair(1, -0.028)], least=None)[0].startswith("unclear    n1 with n2")
    assert len(shown([pair(one, -0.028) for one in range(9)], least=None)) == 5 + 1 + 2


def test_what_takes_more_than_twice_as_long_is_a_factor() -> None:
    assert shown([])[-1] == "would find a node at 20.0 %, a pair at 8.19 times (latency, with 95 %)"

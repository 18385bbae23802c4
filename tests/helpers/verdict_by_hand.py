"""A survey's verdict whose words are known: a slow node, a doubtful one and a slow uplink."""

from __future__ import annotations

from datetime import UTC, datetime

from chiplog.machine_survey.findings import Finding
from chiplog.machine_survey.operators.by_node import Effect, NodeVerdict, SurveyVerdict

SLOW = Finding("node", "n05.cluster", None, "out", "bandwidth", -0.052, -0.058, -0.046)
DOUBT = Finding("node", "n06", None, "both", "latency", 0.05, 0.01, 0.09, "too few controls")


def verdict_of(name: str = "n05.cluster", *, time: datetime | None = None) -> SurveyVerdict:
    effects = {"bandwidth": Effect(-0.05, -0.06, -0.04), "latency": Effect(0.001, None, None)}
    return SurveyVerdict(
        "pairs.jsonl",
        "tcp",
        time or datetime.now(UTC),
        True,
        (
            NodeVerdict("N04.cluster", "ok", (), effects),
            NodeVerdict(name, "slow", (SLOW,), effects),
            NodeVerdict("n06", "unclear", (DOUBT,), effects),
        ),
        (Finding("uplink", "leaf 2", None, "both", "bandwidth", -0.1, -0.11, -0.09),),
        {"bandwidth": {"node": 0.02, "uplink": None, "pair": 0.06}},
    )

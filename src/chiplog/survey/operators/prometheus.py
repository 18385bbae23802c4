"""A verdict as a Prometheus text file, for the textfile collector of node_exporter: 4 series a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chiplog.quoting import for_terminal
from chiplog.survey.pair_values import KINDS

if TYPE_CHECKING:
    from chiplog.survey.operators.by_node import SurveyVerdict

Sample = tuple[dict[str, str], float]


def prometheus_text(verdict: SurveyVerdict) -> str:
    """The whole file; figures that a survey lacks have no sample."""
    base = {"target": verdict.target}
    metrics = [
        _metric(
            "chiplog_survey_timestamp_seconds",
            "When the survey began.",
            [(base, verdict.time.timestamp())],
        ),
        _metric(
            "chiplog_survey_complete",
            "1 where all planned rounds were measured.",
            [(base, float(verdict.complete))],
        ),
        _metric(
            "chiplog_survey_nodes", "Nodes of the survey.", [(base, float(len(verdict.nodes)))]
        ),
        _metric(
            "chiplog_survey_accused",
            "What is slow beyond doubt, by its kind.",
            [({**base, "kind": kind}, float(count)) for kind, count in _accused(verdict).items()],
        ),
        _metric(
            "chiplog_survey_detectable_ratio",
            "The smallest relative change that the survey finds with a probability of 95 %.",
            [
                ({**base, "kind": kind, "quantity": quantity}, least)
                for quantity, effects in verdict.detectable.items()
                for kind, least in effects.items()
                if least is not None
            ],
        ),
        _metric(
            "chiplog_node_effect_ratio",
            "Relative change of the node's figures from those of the median node.",
            [
                ({**base, "node": node.name, "quantity": kind}, effect.effect)
                for node in verdict.nodes
                for kind, effect in node.effects.items()
            ],
        ),
        _metric(
            "chiplog_node_slow",
            "1 where the node is slow beyond doubt.",
            [
                (
                    {**base, "node": node.name, "quantity": kind},
                    float(any(finding.quantity == kind for finding in node.findings))
                    if node.verdict == "slow"
                    else 0.0,
                )
                for node in verdict.nodes
                if node.verdict != "not-judged"
                for kind in KINDS
                if kind in node.effects
            ],
        ),
    ]
    return "".join(metrics)


def _accused(verdict: SurveyVerdict) -> dict[str, int]:
    others = [other.kind for other in verdict.others]
    return {
        "node": len(verdict.slow),
        "uplink": others.count("uplink"),
        "pair": others.count("pair"),
    }


def _metric(name: str, text: str, samples: Iterable[Sample]) -> str:
    lines = [f"{name}{{{_labels(labels)}}} {value!r}\n" for labels, value in samples]
    return f"# HELP {name} {text}\n# TYPE {name} gauge\n{''.join(lines)}" if lines else ""


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return for_terminal(escaped)

"""A verdict as a Prometheus text file, for the textfile collector of node_exporter: 4 series a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from chiplog.machine_survey.pair_values import KINDS
from chiplog.quoting import for_terminal

if TYPE_CHECKING:
    from chiplog.machine_survey.operators.by_node import SurveyVerdict

Sample = tuple[dict[str, str], float]


def prometheus_text(verdict: SurveyVerdict) -> str:
    """Returns the whole file; figures that a survey lacks have no sample."""
    target = {"target": verdict.target}
    metrics: tuple[tuple[str, str, Iterable[Sample]], ...] = (
        (
            "chiplog_survey_timestamp_seconds",
            "When the survey began.",
            [({}, verdict.time.timestamp())],
        ),
        (
            "chiplog_survey_complete",
            "1 where all planned rounds were measured.",
            [({}, float(verdict.complete))],
        ),
        ("chiplog_survey_nodes", "Nodes of the survey.", [({}, float(len(verdict.nodes)))]),
        (
            "chiplog_survey_accused",
            "What is slow beyond doubt, by its kind.",
            _accused(verdict),
        ),
        (
            "chiplog_survey_detectable_ratio",
            "The smallest relative change that the survey finds with a probability of 95 %.",
            _detectable(verdict),
        ),
        (
            "chiplog_node_effect_ratio",
            "Relative change of the node's figures from those of the median node.",
            _effects(verdict),
        ),
        ("chiplog_node_slow", "1 where the node is slow beyond doubt.", _slow(verdict)),
    )
    return "".join(_metric(name, text, target, samples) for name, text, samples in metrics)


def _accused(verdict: SurveyVerdict) -> Iterator[Sample]:
    others = [other.kind for other in verdict.others]
    yield {"kind": "node"}, float(len(verdict.slow))
    yield {"kind": "uplink"}, float(others.count("uplink"))
    yield {"kind": "pair"}, float(others.count("pair"))


def _detectable(verdict: SurveyVerdict) -> Iterator[Sample]:
    for quantity, effects in verdict.detectable.items():
        for kind, least in effects.items():
            if least is not None:
                yield {"kind": kind, "quantity": quantity}, least


def _effects(verdict: SurveyVerdict) -> Iterator[Sample]:
    for node in verdict.nodes:
        for kind, effect in node.effects.items():
            yield {"node": node.name, "quantity": kind}, effect.effect


def _slow(verdict: SurveyVerdict) -> Iterator[Sample]:
    for node in verdict.nodes:
        for kind in KINDS:
            if node.verdict == "not-judged" or kind not in node.effects:
                continue
            has_finding = any(finding.quantity == kind for finding in node.findings)
            is_slow = node.verdict == "slow" and has_finding
            yield {"node": node.name, "quantity": kind}, float(is_slow)


def _metric(name: str, text: str, target: dict[str, str], samples: Iterable[Sample]) -> str:
    lines = [f"{name}{{{_labels({**target, **labels})}}} {value!r}\n" for labels, value in samples]
    return f"# HELP {name} {text}\n# TYPE {name} gauge\n{''.join(lines)}" if lines else ""


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return for_terminal(escaped)

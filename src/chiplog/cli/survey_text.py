"""What `chiplog survey` prints: the plan of a dry run, and one screen of what was found."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from chiplog.cli.output import LABEL, wrapped
from chiplog.counts import counted, listed
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.trust import trust_sentence
from chiplog.plan.units import format_bytes
from chiplog.report import format

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chiplog.machine_survey.findings import Finding, HostKind
    from chiplog.machine_survey.judge.verdict import SweepVerdict
    from chiplog.machine_survey.link_classes import LinkClass, LinkParameter
    from chiplog.machine_survey.lost import LostNode
    from chiplog.machine_survey.machine_verdict import MachineVerdict
    from chiplog.machine_survey.plan import Sweep
    from chiplog.machine_survey.result import PairValue, Spread, SurveyResult
    from chiplog.machine_survey.sweep import UplinkFill

MOST_NAMES, MOST_FINDINGS = 4, 5
"""Given: what a line, and a screen, has room for."""
_ARTICLE = {"node": "a ", "uplink": "an ", "pair": "a ", "cpu": "a ", "memory": ""}
LEAST_SPREAD = 0.005
"""Given: pairs whose quartiles are closer than this, as logarithms, count as alike."""


def sweep_text(target: str, sweep: Sweep) -> str:
    """The plan of a survey in words."""
    options = sweep.options
    which = "" if options.sparse is None else f", drawn by seed {options.seed}"
    return "\n".join(
        [
            f"target     {target}",
            f"ranks      {options.ranks}, one on each node",
            f"rounds     {len(sweep.rounds)} of disjoint pairs{which}: "
            f"{sweep.pairs:,} of {sweep.all_pairs:,} pairs, {_times(options.visits)} each",
            f"latency    {format_bytes(options.latency_bytes)}, one pair after the other",
            f"bandwidth  {format_bytes(options.bandwidth_bytes)}, the pairs of a round at once",
            *_again_lines(sweep),
            f"predicted  {_duration(sweep.seconds)}, if links are as fast as those within one host",
        ]
    )


def _again_lines(sweep: Sweep) -> list[str]:
    if not sweep.options.has_confirmation:
        return []
    most = min(SETTINGS.most_confirmation_rounds, len(sweep.rounds))
    return [
        f"again      up to {most} rounds, {2 * SETTINGS.repeats} times, to tell who is slow: "
        f"{_duration(sweep.seconds_again(most))} more"
    ]


def survey_text(result: SurveyResult, *, again: str, launcher: str | None) -> str:
    """One screen: whether it may be relied on, the figures, the slowest pairs, the file and what to do next.

    `again` is the command line of the survey itself.
    """
    rounds = counted(result.rounds, "round")
    lines = [
        f"nodes      {len(result.nodes)}",
        f"pairs      {result.pairs:,} of {result.pairs_in_all:,}, in {rounds}",
    ]
    for spread, meaning in (
        (result.latency, "half round trip, minima"),
        (result.bandwidth, "medians"),
    ):
        if spread is not None:
            lines += _spread_lines(spread, meaning)
    if result.at_once is not None:
        share = f"{100 * result.at_once.ratio:.0f} % of the bandwidth alone"
        limit = (
            ": CPUs or shared links were the limit, so a slow link may not show"
            if result.at_once.limits
            else ""
        )
        lines.append(
            f"at once    {share}, median of {counted(result.at_once.pairs, 'pair')}{limit}"
        )
    lines += [_class_line(link_class) for link_class in result.classes]
    if result.uplinks is not None:
        lines.append(f"uplinks    {_filled(result.uplinks)}")
    lines += verdict_lines(result.verdict)
    lines += [line for node in result.lost for line in _lost_lines(node)]
    wrapped_lines = [wrapped(trust_sentence(result))]
    wrapped_lines += [wrapped(line, LABEL) for line in lines]
    wrapped_lines += [f"raw data   {result.path}", f"next       {_next(result, again, launcher)}"]
    return "\n".join(wrapped_lines)


def _class_line(link_class: LinkClass) -> str:
    """The class's parameters: half a round trip of one byte, and the seconds a byte of a large message."""
    shown = [
        f"{name} {_parameter(link_class.parameters[name], unit, factor)}"
        for name, unit, factor in (("L_half", "us", 1e6), ("G", "ns/B", 1e9))
    ]
    return f"links      {link_class.name}, {counted(link_class.pairs, 'pair')}: {', '.join(shown)}"


def _parameter(parameter: LinkParameter, unit: str, factor: float) -> str:
    ends = (parameter.low, parameter.high)
    if parameter.value is not None and None not in ends:
        shown = [factor * number for number in (parameter.value, *ends) if number is not None]
        short = {f"{number:.4g}" for number in shown}
        if len(short) == 1:  # narrower than what is printed
            return "{0} {1} [{0}, {0}]".format(*short, unit)
        decimals = format.decimals_of(*shown)
        middle, low, high = (f"{number:.{decimals}f}" for number in shown)
        return f"{middle} {unit} [{low}, {high}]"
    low, high = (f"{factor * end:.4g}" if end is not None else "" for end in ends)
    if parameter.value is not None:
        return f"{factor * parameter.value:.4g} {unit}"
    if low and high:
        return f"{low} to {high} {unit}"
    return f"below {high} {unit}" if high else "not identified"


def _filled(uplinks: UplinkFill) -> str:
    often = f"full in {uplinks.least} of {uplinks.rounds} rounds or more, each of them each way"
    if uplinks.shows_slow_ones:
        return often
    often = often if uplinks.least else "one was never full"
    return f"{often}: a slow one may not show; --topology FILE makes rounds that fill them"


def lost_sentence(result: SurveyResult) -> str:
    """What a survey ends with in which nodes were lost."""
    nodes = ", ".join(node.node for node in result.lost)
    were = "was" if len(result.lost) == 1 else "were"
    others = counted(len(result.nodes), "node was", "nodes were")
    return f"{nodes} {were} lost; the other {others} measured without."


def _lost_lines(lost: LostNode) -> list[str]:
    missing = f"with {listed(lost.missing, MOST_NAMES)}" if lost.missing else "nothing"
    return [
        f"lost       {lost.node}: {lost.reason}",
        f"           not measured: {missing}; what was: {lost.path}",
    ]


def _spread_lines(spread: Spread, meaning: str) -> list[str]:
    name = f"{spread.kind:<10}"
    low, median, high = (_value(spread, quartile) for quartile in spread.quartiles)
    failed = f"; {counted(spread.failed, 'pair')} without a sample" if spread.failed else ""
    return [
        f"{name} {median} (quartiles {low} to {high}) of {format_bytes(spread.message_bytes)}: {meaning}{failed}",
        *(f"  slowest  {_pair(spread, pair_value)}" for pair_value in spread.slowest),
    ]


def _pair(spread: Spread, pair: PairValue) -> str:
    joint = "with" if spread.kind == "latency" else "to"
    return f"{pair.client} {joint} {pair.server}: {_value(spread, pair.value)}"


def _value(spread: Spread, value: float) -> str:
    if spread.kind == "latency":
        return f"{value * 1e6:.3g} us" if value < 1e-3 else f"{value * 1e3:.3g} ms"
    return f"{value / 1e9:.3g} GB/s" if value >= 1e9 else f"{value / 1e6:.3g} MB/s"


def _next(result: SurveyResult, again: str, launcher: str | None) -> str:
    if not result.complete:
        return f"{again} --resume" if "--resume" not in again.split() else again
    slowest = _slowest(result)
    if slowest and launcher and launcher.split()[:1] == ["srun"] and "#" not in slowest.client:
        hosts = f"{slowest.client},{slowest.server}"
        return f'chiplog measure {result.target} --launcher "srun -N 2 -w {hosts}" -o pair.jsonl'
    return f"chiplog report {result.path} -o survey.html"


def _slowest(result: SurveyResult) -> PairValue | None:
    """The pair that is furthest from the median of its kind, in logarithms, beside how far the quartiles are apart."""
    furthest_of_kinds = [
        (_distance(spread, spread.slowest[0].value), spread.slowest[0])
        for spread in (result.latency, result.bandwidth)
        if spread is not None
    ]
    return (
        max(furthest_of_kinds, key=lambda distance_and_pair: distance_and_pair[0])[1]
        if furthest_of_kinds
        else None
    )


def _distance(spread: Spread, value: float) -> float:
    first, median, third = spread.quartiles
    return abs(math.log(value / median)) / max(math.log(third / first), LEAST_SPREAD)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _duration(seconds: float) -> str:
    minutes = timedelta(seconds=seconds) / timedelta(minutes=1)
    return f"{seconds:.1f} s" if minutes < 2 else f"{minutes:.1f} min"


def verdict_lines(verdict: MachineVerdict) -> list[str]:
    """Who is accused, what is not concluded, what could have been found, and where the topology differs."""
    lines = slow_lines(verdict.accused)
    if not verdict.accused:
        lines.append(f"slow       {_nobody(verdict)}")
    lines += _unclear(verdict)
    lines += [
        f"would find {_detectable(kind_verdict)} ({kind}, with 95 %)"
        for kind, kind_verdict in verdict.verdicts.items()
    ]
    if verdict.hosts is not None:
        lines.append(f"would find {_own(verdict.hosts.detectable)} (alone, with 95 %)")
    lines += [f"topology   {difference.text}" for difference in verdict.differences[:MOST_FINDINGS]]
    lines += _more(len(verdict.differences))
    if verdict.unit == "node":
        lines.append("topology   several ranks run on a node, so leaves can't be told")
    if verdict.agrees:
        lines.append(f"topology   {verdict.leaves} leaves, as declared")
    return lines


def slow_lines(accused: Sequence[Finding]) -> list[str]:
    """The accused ones, the first few."""
    lines = [f"slow       {_finding(finding)}" for finding in accused[:MOST_FINDINGS]]
    return lines + _more(len(accused))


def _unclear(verdict: MachineVerdict) -> list[str]:
    """What is not concluded. Pairs that are less slow than this run would find share a line."""
    shared: list[str] = []
    others = list(verdict.inconclusive)
    for kind, judged in verdict.verdicts.items():
        least = judged.detectable["pair"] or 0.0
        small = [
            other
            for other in others
            if (other.kind, other.quantity) == ("pair", kind) and abs(other.effect) < least
        ]
        others = [other for other in others if other not in small]
        if small:
            pairs = counted(len(small), "pair")
            most = 100 * max(abs(finding.effect) for finding in small)
            shared.append(
                f"unclear    {pairs} by {most:.1f} % at most ({kind}), less than this survey finds"
            )
    lines = [f"unclear    {_finding(other)}: {other.reason}" for other in others[:MOST_FINDINGS]]
    return lines + _more(len(others)) + shared


def _own(detectable: Mapping[HostKind, float | None]) -> str:
    parts = [
        f"{_ARTICLE[kind]}{kind} at {100 * least:.1f} %"
        for kind, least in detectable.items()
        if least is not None
    ]
    return ", ".join(parts) or "nothing: nodes share CPUs, or are too few"


def _nobody(verdict: MachineVerdict) -> str:
    if verdict.visits < 2:
        return f"not judged: nothing was measured again (with {SETTINGS.least_ranks} nodes and more, without --once)"
    return "nobody beyond doubt"


def _more(count: int) -> list[str]:
    return [f"           and {count - MOST_FINDINGS} more"] if count > MOST_FINDINGS else []


def _finding(finding: Finding) -> str:
    from chiplog.machine_survey.findings import figure_text, who

    return f"{who(finding)}: {figure_text(finding)}"


def _detectable(verdict: SweepVerdict) -> str:
    parts = [
        f"{_ARTICLE[name]}{name} at {_size(least)}"
        for name, least in verdict.detectable.items()
        if least is not None
    ]
    return ", ".join(parts) or "nothing: too few nodes or pairs"


def _size(effect: float) -> str:
    return f"{100 * effect:.1f} %" if effect < 1 else f"{1 + effect:.3g} times"

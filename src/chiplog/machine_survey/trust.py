"""Whether a survey may be relied on: the line that stands above everything else, on screen and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.counts import listed
from chiplog.machine_survey.settings import SETTINGS

if TYPE_CHECKING:
    from chiplog.machine_survey.result import SurveyResult


def trust_sentence(result: SurveyResult) -> str:
    """Returns what the survey may be used for, and why, in one sentence."""
    if result.latency is None and result.bandwidth is None:
        unfinished = "" if result.complete else ": the survey is not finished"
        return f"not usable, because no pair was measured{unfinished}."
    doubts = _doubts(result)
    if doubts:
        return f"of limited use: {'; '.join(doubts)}."
    pairs = f"{result.pairs:,} of {result.pairs_in_all:,} pairs were measured"
    return f"usable: {pairs}, and suspects were measured again."


def _doubts(result: SurveyResult) -> list[str]:
    """What a reader should know before using the verdict, the gravest first."""
    doubts = []
    if not result.complete:
        doubts.append("the survey is not finished")
    if result.lost:
        nodes = listed([node.node for node in result.lost], SETTINGS.most_names)
        doubts.append(f"nodes were lost ({nodes})")
    if result.busy is not None:
        doubts.append(f"the machine was busy ({result.busy}); measure again when it is idle")
    if result.verdict.visits < 2:
        doubts.append(
            f"nobody is judged, since nothing was measured again (with {SETTINGS.least_ranks} nodes and more, without "
            "--once)"
        )
    if result.at_once is not None and result.at_once.limits:
        doubts.append("CPUs or shared links were the limit, so a slow link may not show")
    return doubts

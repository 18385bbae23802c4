"""Which guidelines an MPI surely violates: one launch finds suspects, fresh launches decide.

The first launch measures all calls. A guideline whose emulation, larger message or larger number of ranks did not take
less time there is not pursued. The others are measured again in fresh launches, each with its cells in an order drawn
at random, and only these decide. Of a launch the logarithm of the ratio of two medians counts, of the two ways to begin
the one that speaks more for the MPI. All intervals hold together with 95 % confidence, by the race's statistics: of
twenty lists of violations, at most one names a guideline that the MPI holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chiplog.counts import counted
from chiplog.errors import RunFailed
from chiplog.tune.guidelines.guideline import Guideline, TimedCall, entries_of
from chiplog.tune.measured.launch import (
    CandidateSamples,
    Effort,
    Launcher,
    RaceEntry,
    Result,
)
from chiplog.tune.measured.statistics import CandidateRatio, log_ratio, ratio_over_launches

Tell = Callable[[str], None]
Log = Callable[[str, Sequence[RaceEntry], Result], None]
"""Keeps what a launch measured; the first argument is `screen` or `confirm`."""
Launched = Mapping[TimedCall, CandidateSamples]


@dataclass(frozen=True)
class JudgeOptions:
    """How much is measured."""

    launches: int = 5
    """Given: that decide, after the first one."""
    samples: int = 200
    """Given: of each call in each launch, at most."""
    budget_seconds: float = 10.0
    """Given: of the samples of one launch."""
    seed: int = 1
    """Given: any will do."""


@dataclass(frozen=True)
class GuidelineFinding:
    """What is known of one guideline."""

    guideline: Guideline
    ratio: CandidateRatio
    """Of the other call to the operation, with its interval; of a single launch nothing bounds it."""
    seconds: float
    """Of the operation: the median over launches, as below."""
    other_seconds: float

    @property
    def verdict(self) -> str:
        """`violated` where the operation is surely slower, `kept` where it surely is not, else `not told`."""
        if self.ratio.high < 1.0:
            return "violated"
        return "kept" if self.ratio.low >= 1.0 else "not told"

    @property
    def factor(self) -> float:
        """The operation's time over the other call's."""
        return 1.0 / self.ratio.value

    @property
    def factor_low(self) -> float:
        """Lower end of its interval; 0 where nothing bounds it."""
        return 1.0 / self.ratio.high

    @property
    def factor_high(self) -> float:
        """Upper end of its interval; infinite where nothing bounds it."""
        return 1.0 / self.ratio.low if self.ratio.low > 0.0 else math.inf


@dataclass(frozen=True)
class GuidelineJudgement:
    """All guidelines of which both calls could be measured, and why others could not."""

    findings: Sequence[GuidelineFinding]
    launches: int
    """That could decide."""
    refused: Mapping[TimedCall, str] = field(default_factory=dict)
    source: str = ""
    """Which MPI on how many ranks, or which files."""

    @property
    def violations(self) -> list[GuidelineFinding]:
        """Those that are surely violated, the greatest factor first."""
        violated = (finding for finding in self.findings if finding.verdict == "violated")
        return sorted(violated, key=lambda finding: -finding.factor)

    @property
    def suspects(self) -> list[GuidelineFinding]:
        """Those that seemed to be violated in the first launch, and of which the others don't tell."""
        return [f for f in self.findings if f.ratio.launches > 1 and f.verdict == "not told"]


def judge(
    launcher: Launcher,
    guidelines: Sequence[Guideline],
    options: JudgeOptions,
    *,
    tell: Tell | None = None,
    log: Log | None = None,
) -> GuidelineJudgement:
    """Measures the guidelines; RunFailed where a launch fails."""
    runner = _Runner(launcher, options, tell, log)
    first = runner.launch("screen", guidelines)
    logs = {guideline: _log(guideline, first) for guideline in guidelines}
    suspects = [guideline for guideline, value in logs.items() if value is not None and value < 0.0]
    fresh = [runner.launch("confirm", suspects) for _ in range(options.launches) if suspects]
    findings = [
        finding_of(guideline, fresh, len(suspects))
        if guideline in suspects
        else finding_of(guideline, [first], 1)
        for guideline, value in logs.items()
        if value is not None
    ]
    return GuidelineJudgement(findings, options.launches, runner.refused)


def finding_of(
    guideline: Guideline, launches: Sequence[Launched], statements: int
) -> GuidelineFinding:
    """What these launches say of a guideline, with an interval that holds for so many `statements` together."""
    logs = [_log(guideline, launched) for launched in launches]
    kept = [value for value in logs if value is not None]
    return GuidelineFinding(
        guideline,
        ratio_over_launches(kept, statements),
        _typical(guideline.call, launches),
        _typical(guideline.other, launches),
    )


def _log(guideline: Guideline, launched: Launched) -> float | None:
    """Logarithm of the other call's time over the operation's; None where one of them was not measured."""
    call, other = launched.get(guideline.call), launched.get(guideline.other)
    return None if call is None or other is None else log_ratio(other, call)


def _typical(call: TimedCall, launches: Sequence[Launched]) -> float:
    medians = [launched[call].typical for launched in launches if call in launched]
    return float(np.median(medians)) if medians else math.nan


class _Runner:
    """Starts launches one after the other; `refused` says which calls take no part, and why."""

    def __init__(
        self, launcher: Launcher, options: JudgeOptions, tell: Tell | None, log: Log | None
    ) -> None:
        self._launcher, self._options, self._tell, self._log = launcher, options, tell, log
        self._random = np.random.default_rng(options.seed)
        self._launches = 0
        self.refused: dict[TimedCall, str] = {}

    def launch(self, stage: str, guidelines: Sequence[Guideline]) -> Launched:
        """All calls of these guidelines, cell by cell in an order drawn at random."""
        every = entries_of(guidelines)
        entries = [every[place] for place in self._random.permutation(len(every))]
        self._launches += 1
        if self._tell is not None:
            most = self._options.launches + 1
            self._tell(f"launch {self._launches} of {most}: {counted(len(entries), 'cell')}")
        effort = Effort(
            cell_seconds=self._options.budget_seconds / len(entries),
            samples=self._options.samples,
            checks=stage == "screen",
            commutative=True,
        )
        seed = int(self._random.integers(1, 1 << 30))
        result = self._launcher.launch(entries, effort, seed, math.inf)
        if result.failure is not None:
            where = entries[result.failure.place].cell
            raise RunFailed(
                f"a launch failed at {where.operation} of {where.message_bytes} B: {result.failure.reason}."
            )
        if self._log is not None:
            self._log(stage, entries, result)
        for (place, name), reason in result.refused.items():
            self.refused[TimedCall(entries[place].cell, name)] = reason
        return {
            TimedCall(entries[place].cell, name): samples
            for (place, name), samples in result.samples.items()
            if samples.size
        }

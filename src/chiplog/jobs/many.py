"""The part of `chiplog run` with many processes: one to many, and k pairs, each a run of its own on the same target."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.counts import MOST_RANKS, within
from chiplog.dataset.operations import ATOMIC_BYTES, NORMAL, SEND
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import ChiplogError
from chiplog.jobs.measure import SIMULATED, measure
from chiplog.measurement.inquiry import CAPABILITIES, POSTING_CAPABILITIES
from chiplog.measurement.launchers import usable_cores
from chiplog.measurement.start import Start, transport_of
from chiplog.measurement.time_budget import Limits, OutOfTime
from chiplog.plan import PlanOptions, make_plan
from chiplog.plan.assessment import ONE_TO_MANY, PAIRS

if TYPE_CHECKING:
    from chiplog.fitting.request import LeftOut
    from chiplog.report.input import TargetReport

CLASSIC_SIZES = (1, 8192)
"""Given: of one to many: a message that is all overhead, and one that is not."""
LARGEST_PAIRS_BYTES = 1 << 20
PATTERNS = {ONE_TO_MANY: (ONE_TO_MANY, "receive_overhead"), PAIRS: (PAIRS,)}
"""What each part measures: L of one process to many is what o_s and o_r leave."""
SHARES = {ONE_TO_MANY: 0.4, PAIRS: 0.6}
"""Given: of the time for many processes."""
BYTES = 400_000_000
"""Given: for each of the two; the largest sizes of pairs are left out where more would be sent."""
LEAST_LARGEST_BYTES = 64 * 1024
"""Given: sizes of pairs up to this are never left out."""
VISITS = 2
"""Derived: two tell whether the machine was the same."""
LEAST_SECONDS = 0.5
"""Given: what measuring gets in any case."""
MARGIN = 1.5
"""Given: by how much longer work may take than the same took before."""
LEAST_FIRST_SECONDS = 20.0
"""Given: for the first visits of many ranks, which take turns where there are more of them than cores."""


@dataclass(frozen=True)
class ManyOptions:
    """What the part with many processes depends on, beside its target.

    `ranks` None takes one rank for each core, or as many as launcher or target start. `seconds` are for both patterns.
    A pattern is left out where `until`, a time of `time.monotonic`, would pass before it is done.
    """

    ranks: int | None
    seconds: float
    sizes: Sequence[int]
    seed: int
    until: float = math.inf


def all_within(
    visits_seconds: float, seconds: float, target: str, least_seconds: float = 0.0
) -> Limits:
    """Limits that hold under any load: after `seconds` from now, sizes that were not reached are missing.

    First visits have `least_seconds` in any case, and LEAST_SECONDS are left once the ranks have begun. On `sim`, whose
    times are not the machine's, each size is visited once however long that takes.
    """
    now = time.monotonic()
    last = math.inf if transport_of(target) == SIMULATED else now + max(seconds, least_seconds)
    return Limits(now + visits_seconds, now + seconds, last, least_seconds=LEAST_SECONDS)


def with_many(
    report: TargetReport,
    options: ManyOptions,
    directory: Path,
    stem: str,
    start: Start,
    took_seconds: float,
) -> TargetReport:
    """`report`, of a target's two-rank run, with its runs of one to many and of pairs; a failure of theirs is told.

    `took_seconds` is how long starting and analysing took, without measuring: a pattern takes as long, and MARGIN
    of that is kept for it. What there is no time for is among `left_out`.

    The run files are `stem`-one_to_many.jsonl and `stem`-pairs.jsonl in `directory`.
    """
    ranks = ranks_of(report.dataset.header, options.ranks, launched=start.launcher is not None)
    runs = _ManyRuns(report, options, directory / stem, start, took_seconds, ranks)
    one_to_many = pairs = None
    with suppress(OutOfTime):
        one_to_many = runs.measured(ONE_TO_MANY)
        pairs = runs.measured(PAIRS)
    left_out = list(report.left_out)
    if one_to_many is None:
        left_out.append(_no_time("logfp", "one process to many"))
    if pairs is None:
        left_out.append(_no_time("max-rate", "many pairs of processes"))
    return replace(report, one_to_many=one_to_many, pairs=pairs, left_out=tuple(left_out))


def _no_time(model: str, what: str) -> LeftOut:
    from chiplog.fitting.request import LeftOut

    reason = f"the budget was over before {what} could be measured; more of --budget shows it"
    return LeftOut(model, None, reason)


@dataclass(frozen=True)
class _ManyRuns:
    """The runs of many processes beside the two-rank run of `report`; `stem` is what their files' names begin with."""

    report: TargetReport
    options: ManyOptions
    stem: Path
    start: Start
    took_seconds: float
    ranks: int

    def measured(self, pattern: str) -> TargetReport | None:
        """The run of one pattern, or how it failed; None where there is no time for it."""
        from chiplog.jobs.analysis import analyse
        from chiplog.report.input import TargetReport

        if time.monotonic() + MARGIN * (self.took_seconds + LEAST_SECONDS) > self.options.until:
            return None
        target = self.report.name
        path = self.stem.with_name(f"{self.stem.name}-{pattern}.jsonl")
        name = f"{target} with {self.ranks} ranks, {pattern}"
        plan = self._plan(pattern)
        try:
            measure(
                target,
                path,
                plan,
                refine=False,
                limits=self._limits(pattern),
                start=self.start,
            )
            return analyse(name, read_run(path), raw_file=str(path))
        except ChiplogError as error:
            nothing = Dataset({"target": target}, (), False, str(path))
            return TargetReport(name, nothing, failure=str(error))

    def _plan(self, pattern: str) -> PlanOptions:
        plan = plan_of(self.report.dataset.transport, pattern, self.ranks, self.options)
        return in_all_ways(plan, self.report.dataset.header) if pattern == ONE_TO_MANY else plan

    def _limits(self, pattern: str) -> Limits:
        seconds_left = max(0.0, self.options.until - time.monotonic() - self.took_seconds)
        return all_within(
            SHARES[pattern] * self.options.seconds,
            self.options.seconds,
            self.report.name,
            min(LEAST_FIRST_SECONDS, seconds_left),
        )


def in_all_ways(plan: PlanOptions, header: Mapping[str, object]) -> PlanOptions:
    """The plan over every operation and posting that the transport of a run's `header` has."""
    listed = header.get("capabilities")
    capabilities = listed if isinstance(listed, Mapping) else {}
    has = {name for name, value in capabilities.items() if value}
    sizes = plan.sizes
    if "atomics" in has:
        sizes = tuple(sorted({*sizes, ATOMIC_BYTES}))
    return replace(
        plan,
        sizes=sizes,
        operations=(SEND, *(n for n, flag in CAPABILITIES.items() if n != SEND and flag in has)),
        postings=(NORMAL, *(name for name, flag in POSTING_CAPABILITIES.items() if flag in has)),
    )


def ranks_of(header: Mapping[str, object], asked: int | None, *, launched: bool) -> int:
    """How many ranks: as asked; else one a core, or more where the two-rank run's `header` has them.

    A launcher's own number is the most there can be.
    """
    counted = header.get("ranks")
    running = counted if isinstance(counted, int) else 2
    if launched:
        return running if asked is None else min(asked, running)
    return max(2, usable_cores(), running) if asked is None else asked


def check_ranks(ranks: int | None) -> None:
    """Raises UsageError for too few or too many ranks: to ask before measuring begins."""
    if ranks is not None:
        within("--ranks", ranks, 2, MOST_RANKS)


def plan_of(transport: str, pattern: str, ranks: int, options: ManyOptions) -> PlanOptions:
    """The plan of one pattern, within its share of the time and its bytes as far as the fewest samples allow."""
    sizes = _sizes(pattern, options.sizes)

    def plan(sizes: tuple[int, ...]) -> PlanOptions:
        return PlanOptions(
            transport=transport,
            patterns=PATTERNS[pattern],
            sizes=sizes,
            visits=VISITS,
            seed=options.seed,
            budget_seconds=max(LEAST_SECONDS, SHARES[pattern] * options.seconds),
            budget_bytes=BYTES,
            ranks=ranks,
        )

    while sizes[-1] > LEAST_LARGEST_BYTES and make_plan(plan(sizes)).predicted.bytes > BYTES:
        sizes = sizes[:-1]
    return plan(sizes)


def _sizes(pattern: str, asked: Sequence[int]) -> tuple[int, ...]:
    """The classic two sizes, or the powers of two, as far as they lie within the sizes that were asked for."""
    first, last = min(asked), max(asked)
    if pattern == ONE_TO_MANY:
        return tuple(sorted({min(max(size, first), last) for size in CLASSIC_SIZES}))
    powers = [1 << power for power in range(LARGEST_PAIRS_BYTES.bit_length())]
    return tuple(size for size in powers if first <= size <= last) or (last,)

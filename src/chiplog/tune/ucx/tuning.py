"""`chiplog ucx` as a function: measure each protocol, find the thresholds, race them, write the file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chiplog.counts import seed_within, within
from chiplog.errors import UsageError
from chiplog.measurement.start import Start, transport_of
from chiplog.output_file import write_text
from chiplog.plan import parse_sizes
from chiplog.tune.measured.statistics import RISK, mean_interval
from chiplog.tune.ucx.launches import MODES, Measure, Settings, UcxLaunch, measure_with
from chiplog.tune.ucx.protocols import kind_of
from chiplog.tune.ucx.race import Pairs, held_out_sizes
from chiplog.tune.ucx.result import Speed, UcxTuning, settings_text
from chiplog.tune.ucx.thresholds import ARMS, AUTO, Blocks

TRANSPORT = "ucx"
SIZES = "8:4MiB:1"
BLOCKS = 6
"""Given: launches of each protocol, by default."""
FEWEST_BLOCKS = 3
"""Given: with fewer, an interval over launches says nothing."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class UcxOptions:
    """What is measured, and between which ranks."""

    sizes: str = SIZES
    blocks: int = BLOCKS
    """Launches of each protocol."""
    seed: int = 1
    """Given: any will do."""
    start: Start = field(default_factory=Start)


def tune_ucx(
    target: str = TRANSPORT,
    out: str | os.PathLike[str] | None = None,
    options: UcxOptions = UcxOptions(),
    *,
    tell: Tell = lambda _: None,
    measure: Measure | None = None,
) -> UcxTuning:
    """The thresholds of UCX over `target`, and whether setting them is better than what is in force; `out` gets them.

    UsageError where the target is not UCX or there are too few sizes or blocks; RunFailed where ranks fail, or where
    UCX doesn't say which protocols it uses.
    """
    if transport_of(target) != TRANSPORT:
        raise UsageError(f"TARGET: '{target}' is not UCX; it accepts ucx, ucx:tls=tcp and so on.")
    sizes = tuple(sorted(set(parse_sizes(options.sizes))))
    if len(sizes) < 2 or sizes[0] < 1:
        raise UsageError(
            "--sizes: a threshold is looked for between two sizes or more, from 1 B on."
        )
    within("--launches", options.blocks, FEWEST_BLOCKS)
    seed_within("--seed", options.seed)
    job = _Job(target, sizes, options, tell, measure or measure_with(target, options.start))
    tuning = job.run()
    if out is not None:
        write_text(Path(out), tuning.text())
    return tuning


class _Job:
    """One tuning while it is measured."""

    def __init__(
        self,
        target: str,
        sizes: tuple[int, ...],
        options: UcxOptions,
        tell: Tell,
        measure: Measure,
    ) -> None:
        self._target, self._sizes, self._options = target, sizes, options
        self._tell, self._measure = tell, measure
        self._random = np.random.default_rng(options.seed)
        self._number = 0

    def run(self) -> UcxTuning:
        """All of it."""
        now, auto = self._launch({}, self._sizes[:1]), self._launch(AUTO, self._sizes[:1])
        blocks = self._blocks()
        tuning = UcxTuning(
            target=self._target,
            version=now.version,
            is_one_host=now.is_one_host,
            sizes=self._sizes,
            thresholds=blocks.thresholds(),
            speeds=tuple(speeds(blocks)),
            now=str(now.protocols),
            reason="what is in force is within the intervals of the best thresholds",
        )
        candidates = _candidates(blocks, now, auto)
        for settings in candidates:
            tuning = self._raced(tuning, settings, now, len(candidates))
            if tuning.settings:
                break
        return tuning

    def _raced(
        self, tuning: UcxTuning, settings: Settings, now: UcxLaunch, races: int
    ) -> UcxTuning:
        """The tuning with what came of racing `settings`."""
        then = self._launch(settings, self._sizes[:1])
        held_out = held_out_sizes(self._sizes, now.protocols, then.protocols, self._random)
        self._tell(f"racing {settings_text(settings)} at {len(held_out)} sizes that were held out")
        pairs = Pairs(self._measure, settings, held_out, self._random, self._number, races)
        race = pairs.run(now.protocols, then.protocols)
        self._number = pairs.first_number
        return replace(
            tuning,
            tried=dict(settings),
            then=str(then.protocols),
            race=race.sizes,
            settings={} if race.failure else dict(settings),
            reason=race.failure or "surely faster, and at no held-out size slower by more than 3 %",
        )

    def _launch(self, settings: Settings, sizes: Sequence[int]) -> UcxLaunch:
        self._number += 1
        return self._measure(settings, sizes, self._number)

    def _blocks(self) -> Blocks:
        launches = []
        for number in range(self._options.blocks):
            self._tell(
                f"measuring every protocol at every size, {number + 1} of {self._options.blocks}"
            )
            order = [int(size) for size in self._random.permutation(self._sizes)]
            arms = [list(ARMS)[int(which)] for which in self._random.permutation(len(ARMS))]
            launches.append({arm: self._launch(ARMS[arm], order) for arm in arms})
        return Blocks(self._sizes, tuple(launches))


def _candidates(blocks: Blocks, now: UcxLaunch, auto: UcxLaunch) -> list[Settings]:
    """What is worth a race, the best first; nothing where what is in force may be as good as the best thresholds.

    UCX's own choice comes first: in other networks it is another one, which a number would not be.
    """
    if blocks.is_as_good(blocks.kinds_of(now.protocols)):
        return []
    candidates: list[Settings] = []
    if blocks.is_as_good(blocks.kinds_of(auto.protocols)):
        candidates.append(AUTO)
    settings = blocks.settings(blocks.nearest(now.protocols), now.protocols)
    return [*candidates, settings] if settings else candidates


def speeds(blocks: Blocks) -> list[Speed]:
    """What each kind of protocol reaches at the smallest and at the largest size, where it serves both."""
    smallest, largest = blocks.sizes[0], blocks.sizes[-1]
    result = []
    for arm in ARMS:
        protocols = blocks.launches[0][arm].protocols
        if {kind_of(protocols.at(smallest)), kind_of(protocols.at(largest))} != {arm}:
            continue
        first = _one_way(blocks, arm, smallest)
        value, low, high = _one_way(blocks, arm, largest)
        result.append(Speed(arm, first, (largest / value, largest / high, largest / low)))
    return result


def _one_way(blocks: Blocks, arm: str, size: int) -> tuple[float, float, float]:
    """Half a ping-pong in seconds: the geometric mean over launches, with its t interval."""
    samples = [block[arm].samples[size].by_mode[MODES[1]] for block in blocks.launches]
    logs = np.log([np.median(seconds) / 2 for seconds in samples])
    value, low, high = map(math.exp, mean_interval(logs, RISK / 2))
    return value, low, high

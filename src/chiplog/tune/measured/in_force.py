"""Confirmation by the tuning file itself: a launch without it, and one where it is in force.

To force an algorithm is not what a file does. MPICH asks no tree of rules for an algorithm that a variable names, which
makes a broadcast of 64 B to two ranks a third faster than the same algorithm by a file. In each of the two launches the
default and the forced algorithm take turns; with the file the default is what the file chooses. So the file's time over
the default's is a product of two ratios, of each of which the forced algorithm is a part, and in each of which what the
launch shares cancels.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.launch import BESIDE_FILE, BY_FILE, Effort, Key, RaceEntry, Result
from chiplog.tune.measured.mpi_launcher import MpiLauncher
from chiplog.tune.measured.raced import SizeToConfirm
from chiplog.tune.writer import TuningFiles


@dataclass(frozen=True)
class LaunchesWithAndWithout:
    """A launcher of the race that starts the ranks twice, in random order; only the file's settings differ."""

    launcher: MpiLauncher
    settings: Mapping[str, str]

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """Both; after a failure there is no second one."""
        began = time.monotonic()
        in_force = {**(self.launcher.environment or {}), **self.settings}
        tuned = replace(self.launcher, environment=in_force)
        merged = Result()
        for is_tuned in np.random.default_rng(seed).permutation([True, False]):
            left = limit_seconds - (time.monotonic() - began)
            result = (tuned if is_tuned else self.launcher).launch(entries, effort, seed, left)
            merged = _merged(merged, _by_file(result, entries) if is_tuned else result)
            if merged.is_cut or merged.failure is not None:
                break
        return replace(merged, wall_seconds=time.monotonic() - began)


def _by_file(result: Result, entries: Sequence[RaceEntry]) -> Result:
    """What the program takes for the default is what the file chooses; a failure of it is the candidate's."""

    def renamed(key: Key) -> Key:
        return key[0], BY_FILE if key[1] == DEFAULT_NAME else BESIDE_FILE

    def named(key: Key) -> Key:
        return key[0], entries[key[0]].candidates[-1].name

    failure = result.failure
    if failure is not None and failure.candidate is not None:
        failure = replace(failure, candidate=entries[failure.place].candidates[-1].name)
    return replace(
        result,
        samples={renamed(key): samples for key, samples in result.samples.items()},
        slow={named(key): seconds for key, seconds in result.slow.items()},
        refused={named(key): reason for key, reason in result.refused.items()},
        failure=failure,
    )


def _merged(first: Result, second: Result) -> Result:
    return replace(
        first,
        samples={**first.samples, **second.samples},
        slow={**first.slow, **second.slow},
        refused={**first.refused, **second.refused},
        failure=first.failure or second.failure,
        is_cut=first.is_cut or second.is_cut,
    )


Written = Callable[[Sequence[SizeToConfirm]], TuningFiles]
"""The tuning files that choose what is to be confirmed."""


@contextmanager
def files_in_force(
    launcher: MpiLauncher, out: Path, written: Written
) -> Iterator[Callable[[Sequence[SizeToConfirm]], LaunchesWithAndWithout]]:
    """What confirms points by their files, which are beside `out`, where all hosts see them, until the end."""
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:

        def confirming(points: Sequence[SizeToConfirm]) -> LaunchesWithAndWithout:
            files, path = written(points), Path(folder) / out.name
            for file, text in files.texts(path).items():
                file.write_text(text, encoding="utf-8")
            return LaunchesWithAndWithout(launcher, files.settings(path))

        yield confirming

"""Noise as it was measured: from the ping-pongs of a run, or from the lost times of one or several ranks.

Single samples must not be drawn for each message: what lengthens one of them is at a place in time, which one rank
meets while the others wait, or which passes while a rank waits itself. So consecutive samples make a trace of lost
times, of which each simulated rank takes a piece from a place of its own on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.file_kind import LOST_TIMES, RUN, expecting, kind_of
from chiplog.simulation.conditions import Noise
from chiplog.simulation.noise_text import parse_noise, read_detours

PS_PER_SECOND = 1e12
PING_PONGS = ("ping_pong", "prtt")
RANKS = 2
"""Given: of a ping-pong: each of them meets half of what lengthens a round trip."""
MOST_FILES = 1024
"""Given: of a folder of lost times."""
Detours = tuple[tuple[int, int], ...]
"""Start and length of lost times in picoseconds, ascending and apart."""


def noise_from(text: str, message_bytes: Iterable[int] = (1,), *, seed: int = 0) -> Noise:
    """A run file, a file of lost times or a folder of these; else `KIND:MEAN[@PROBABILITY]`, see `parse_noise`.

    Of a run, `message_bytes` are the sizes of the messages that the noise is for, see `detours_of`. A run of a quiet
    machine gives noise without any lost time. UsageError where a run holds no ping-pongs, or was
    imported, so that nothing says how far apart its samples are; CorruptFile where a file is damaged.
    """
    path = Path(text)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file())
        if not 1 <= len(files) <= MOST_FILES:
            raise UsageError(
                f"--noise: {text} holds {len(files)} files; give a folder of 1 to {MOST_FILES} with lost times."
            )
        return Noise(detours_ps=joined(read_detours(file) for file in files), seed=seed)
    if not path.exists():
        return parse_noise(text, seed=seed)
    if (kind_of(path) or ("",))[0] != RUN:
        with expecting(LOST_TIMES, path):
            return Noise(detours_ps=read_detours(path), seed=seed)
    dataset = read_run(path)
    if "provenance" in dataset.header:
        raise UsageError(
            f"--noise: {text} was imported, so its samples may lie apart; a run of chiplog measure has them one right "
            "after the other."
        )
    return Noise(detours_ps=detours_of(blocks_of(dataset), message_bytes, seed=seed), seed=seed)


def blocks_of(dataset: Dataset) -> dict[int, list[NDArray[np.float64]]]:
    """The consecutive ping-pongs of each record of a run in seconds, shape (samples,), by size in bytes.

    UsageError where the run holds none.
    """
    blocks: dict[int, list[NDArray[np.float64]]] = defaultdict(list)
    for series in dataset.series:
        is_single = series.train == 1 and series.delay_seconds == 0.0 and series.pairs == 1
        if series.pattern in PING_PONGS and series.direction == "round-trip" and is_single:
            blocks[series.message_bytes].append(series.seconds * series.batch)
    if not blocks:
        raise UsageError(
            f"--noise: {dataset.source} holds no ping-pongs; chiplog measure --pattern ping_pong measures them."
        )
    return blocks


def detours_of(
    blocks: Mapping[int, Sequence[NDArray[np.float64]]],
    message_bytes: Iterable[int],
    *,
    seed: int = 0,
) -> Detours:
    """The lost times of one rank, as blocks of consecutive ping-pongs tell them.

    Those of the sizes nearest to `message_bytes` count: what lengthens large messages may be the network's, and takes
    longer. A sample lost what it is longer than the median of its block, if that is more than any sample of its size is
    shorter than that: what scatters as far to both sides is in the model's times. Which rank of a pair lost it is drawn
    with `seed`.
    """
    sizes = {min(blocks, key=partial(_distance, size)) for size in message_bytes}
    pairs = [pair for size in sorted(sizes) for pair in _bases_and_losses(blocks[size])]
    durations, lost = (np.concatenate(column) for column in zip(*pairs, strict=True))
    of_rank = np.random.default_rng(seed).integers(RANKS, size=lost.size)
    ranks = [np.where(of_rank == rank, lost, 0) for rank in range(RANKS)]
    return _trace(np.tile(durations, RANKS), np.concatenate(ranks))


def joined(traces: Iterable[Detours]) -> Detours:
    """Traces one after the other, so that a rank begins in one of them."""
    detours: list[tuple[int, int]] = []
    begin = 0
    for trace in traces:
        detours += [(begin + start, length) for start, length in trace]
        begin = sum(detours[-1]) if detours else begin
    return tuple(detours)


def _distance(message_bytes: int, other_bytes: int) -> float:
    """How many times as large one of two sizes is, as a logarithm; 0 bytes count as 1."""
    return abs(math.log(max(message_bytes, 1) / max(other_bytes, 1)))


def _bases_and_losses(
    blocks: Sequence[NDArray[np.float64]],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Of each block of one size: picoseconds that samples take without what they lost, at least 1; what they lost."""
    medians = [float(np.median(block)) for block in blocks]
    scatter = max(
        median - float(block.min()) for block, median in zip(blocks, medians, strict=True)
    )
    for block, median in zip(blocks, medians, strict=True):
        beyond = block - median
        lost = _picoseconds(np.where(beyond > scatter, beyond, 0.0))
        yield np.maximum(_picoseconds(block) - lost, 1), lost


def _picoseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(seconds * PS_PER_SECOND).astype(np.int64)


def _trace(durations: NDArray[np.int64], lost: NDArray[np.int64]) -> Detours:
    """What is lost at the end of each duration. The last lost time ends a trace, so what follows it comes first."""
    places = np.flatnonzero(lost)
    if not places.size:
        return ()
    durations, lost = (np.roll(values, -1 - places[-1]) for values in (durations, lost))
    ends = np.cumsum(durations + lost)
    places = np.flatnonzero(lost)
    return tuple(zip((ends - lost)[places].tolist(), lost[places].tolist(), strict=True))

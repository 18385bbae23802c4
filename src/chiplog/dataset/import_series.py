"""The series that most importers make: halves of round trips, whole operations, floods, and matrices of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from chiplog.dataset.importer import ImportedPair, ImportedRecord, ImportedSeries

Seconds = float | Sequence[float]
"""The duration of one operation, or of several that are samples of one series."""


def half_round_trips(
    message_bytes: int,
    seconds: Seconds,
    *,
    pattern: str = "ping_pong",
    operation: str = "send",
    pairs: int = 1,
) -> ImportedSeries:
    """The halves of ping-pongs, or whole exchanges, of `pairs` pairs at once: two messages of each pair."""
    return ImportedSeries(
        pattern,
        "one-way",
        message_bytes,
        np.atleast_1d(np.asarray(seconds, dtype=np.float64)),
        messages_per_sample=2 * pairs,
        operation=operation,
        pairs=pairs,
    )


def whole_operations(message_bytes: int, seconds: Seconds, operation: str) -> ImportedSeries:
    """Operations that end when the origin knows it, such as reads and atomics: one message each."""
    return ImportedSeries(
        "ping_pong",
        "round-trip",
        message_bytes,
        np.atleast_1d(np.asarray(seconds, dtype=np.float64)),
        messages_per_sample=1,
        operation=operation,
    )


def flood(
    message_bytes: int, seconds: float, messages: int, operation: str, *, is_answered: bool = False
) -> ImportedSeries:
    """Messages back to back until the last one has arrived, or until an answer of 0 bytes is back (`is_answered`)."""
    return ImportedSeries(
        "flood",
        "round-trip",
        message_bytes,
        np.array([seconds]),
        messages_per_sample=messages + is_answered,
        bytes_per_sample=messages * message_bytes,
        operation=operation,
        train=messages,
    )


def pair_records(
    seconds: Mapping[tuple[int, int], float],
    *,
    ranks: int,
    message_bytes: int,
    tag: Mapping[str, object],
    visit: int = 0,
) -> Iterator[ImportedRecord]:
    """A record for each distance in the ring of ranks, of one-way times of `message_bytes` by (sender, receiver).

    `visit` counts the runs in a file. Such tools go through the distances one after the other, and all ranks send at
    once. A pair that is not in `seconds` has no samples.
    """
    for distance in range(1, ranks):
        pairs = [(rank, (rank + distance) % ranks) for rank in range(ranks)]
        known = [pair for pair in pairs if pair in seconds]
        if not known:
            continue
        by_pair = tuple(
            ImportedPair(*pair, np.array([seconds[pair]] if pair in seconds else []))
            for pair in pairs
        )
        series = ImportedSeries(
            pattern="all_pairs",
            direction="one-way",
            message_bytes=message_bytes,
            seconds=np.array([max(seconds[pair] for pair in known)]),
            messages_per_sample=len(known),
            round=distance - 1,
            by_pair=by_pair,
        )
        yield ImportedRecord((series,), visit=visit, tag={"purpose": "bandwidth", **tag})

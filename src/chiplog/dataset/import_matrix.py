"""A matrix of bandwidths or times between every two ranks as records of the pattern all_pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from chiplog.dataset.importer import ImportedPair, ImportedRecord, ImportedSeries


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

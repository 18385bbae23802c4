"""From a dataset to its protocol changes."""

from __future__ import annotations

from chiplog.dataset.series import Dataset
from chiplog.protocol_changes.decide.stored import refined, stored_changes
from chiplog.protocol_changes.detect.breaks import find_breaks
from chiplog.protocol_changes.detect.consensus import Witness, agree, change_of
from chiplog.protocol_changes.detect.doubt import unexplained_end, would_tell
from chiplog.protocol_changes.detect.observed import observe
from chiplog.protocol_changes.detect.segments import Lines
from chiplog.protocol_changes.result import ChangesResult, SeriesChanges


def find_changes(dataset: Dataset) -> ChangesResult:
    """The protocol changes of every series of times over sizes in the dataset, and their consensus.

    Assumes that within one protocol a time is a + b·s with a, b >= 0. Series of fewer than six sizes, and sizes of 0
    bytes, are not searched; of a difference of series, only the longest range of sizes that are above 0.
    Nothing is drawn at random. A decision that was stored with the run is returned as it is; without one, the consensus
    is as narrow as the run's bisections make it.
    """
    if (stored := stored_changes(dataset)) is not None:
        return stored
    series: list[SeriesChanges] = []
    witnesses: list[Witness] = []
    for observed in observe(dataset):
        lines = Lines.of(observed)
        breaks = find_breaks(lines)
        end = None if lines is None else unexplained_end(lines)
        series_witnesses = [Witness(observed, break_) for break_ in breaks]
        witnesses += series_witnesses
        series.append(
            SeriesChanges(
                quantity=observed.quantity,
                pattern=observed.pattern,
                operation=observed.operation,
                transport=observed.transport,
                changes=tuple(change_of(witness) for witness in series_witnesses),
                would_tell=would_tell(lines, breaks),
                end=end,
                pairs=observed.pairs,
                peers=observed.peers,
            )
        )
    verdict = agree(witnesses, len(series))
    consensus = refined(dataset, verdict)
    return ChangesResult(tuple(series), consensus, verdict.suspects)

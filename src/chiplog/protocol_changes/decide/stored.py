"""The decision that a run file holds, and what the bisections of a file without one say.

The decision is reached while measuring and stored in the run's footer, so that every later version reads the same one,
whatever it would ask itself. A file without a footer, or of an earlier version, has its bisections only. They are read
in whatever order they were asked: a change is where the records at two neighbouring sizes show that the time jumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.plan.bell import BELL
from chiplog.protocol_changes.change import BISECT, Change, change_from_json, change_to_json
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark, Evidence, Jump, KnownPlace
from chiplog.protocol_changes.decide.surroundings import Surroundings
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS
from chiplog.protocol_changes.detect.consensus import AgreedChanges
from chiplog.protocol_changes.result import SCHEMA, ChangesResult, SeriesChanges, series_to_json

FOLLOW_UPS = (BISECT, BELL)
QUANTITIES = (
    "half_round_trip",
    "o_r",
    "gap",
    "o_s",
    "flood",
    "send_overhead",
    "late_receiver",
)
"""Those that a bisection may have measured."""


def before_follow_ups(dataset: Dataset) -> Dataset:
    """The dataset as it was when the first question was asked."""
    kept = tuple(series for series in dataset.series if series.tag.get("purpose") not in FOLLOW_UPS)
    return replace(dataset, series=kept, changes=None)


def to_stored(of_grid: ChangesResult, consensus: Sequence[Change]) -> dict[str, Any]:
    """The decision as a run's footer has it: chiplog.changes/1 of one operation and posting."""
    return {
        "schema": SCHEMA,
        "series": [series_to_json(series) for series in of_grid.series],
        "consensus": [change_to_json(change) for change in consensus],
        "suspects": [change_to_json(change) for change in of_grid.suspects],
    }


def stored_changes(dataset: Dataset) -> ChangesResult | None:
    """The decision that was stored with the run; None without one, or where the dataset is of another operation.

    Of a part of the run, such as one state of the machine, those series are left out that the part lacks.
    """
    stored: Mapping[str, Any] | None = dataset.changes
    if stored is None or stored["schema"] != SCHEMA or not dataset.series:
        return None
    way = stored["operation"], stored["posting"]
    if any((series.operation, series.posting) != way for series in dataset.series):
        return None
    patterns = {series.pattern for series in dataset.series}
    return ChangesResult(
        series=tuple(
            SeriesChanges(
                entry["quantity"],
                entry["pattern"],
                entry["operation"],
                entry["transport"],
                _changes_of(entry["changes"]),
                tuple(entry.get("would_tell", ())),
                pairs=entry.get("pairs"),
                peers=entry.get("peers"),
            )
            for entry in stored["series"]
            if entry["pattern"] in patterns
        ),
        consensus=_changes_of(stored["consensus"]),
        suspects=_changes_of(stored["suspects"]),
    )


def _changes_of(members: Iterable[Mapping[str, Any]]) -> tuple[Change, ...]:
    return tuple(change_from_json(member) for member in members)


def refined(dataset: Dataset, verdict: AgreedChanges) -> tuple[Change, ...]:
    """The verdict's changes as the bisections in the dataset narrow, refute or add to them; as they are without any."""
    records: dict[int, list[Series]] = {}
    for series in dataset.select(purpose=BISECT).series:
        records.setdefault(series.record_id, []).append(series)
    if not records:
        return verdict.changes
    jumps = _last_words(records)
    changes = [_of_grid(verdict, last_before, jump) for last_before, jump in jumps.items()]
    slopes = [
        change
        for change in verdict.changes
        if change.kind == "slope" and not any(_holds(change, bisected) for bisected in changes)
    ]
    return tuple(sorted([*changes, *slopes], key=lambda change: change.first_after_bytes))


def _last_words(records: Mapping[int, Sequence[Series]]) -> dict[int, Jump]:
    """The jumps by the last size before each, as the latest records about each place show them, ascending."""
    places: dict[int, tuple[Surroundings, Evidence]] = {}
    asked: dict[int, object] = {}
    for record_id in sorted(records):
        record = records[record_id]
        around = _surroundings_of(sorted({series.message_bytes for series in record}))
        if around is None:
            continue
        low = around.low
        if low not in places or asked[low] != record[0].tag.get("change"):
            marks = [ChangeMark(name, FLAT, FLAT, 0.0) for name in QUANTITIES]
            places[low] = around, Evidence(marks, around.sizes, np.random.default_rng(0))
            asked[low] = record[0].tag.get("change")
        places[low][1].add(record)
    jumps = {
        low: evidence.jump_at(around, KnownPlace.LIMIT, least=THRESHOLDS.min_jump)
        for low, (around, evidence) in sorted(places.items())
        if evidence
    }
    return {low: jump for low, jump in jumps.items() if jump.is_change}


def _surroundings_of(sizes: Sequence[int]) -> Surroundings | None:
    """What a record's sizes surround, if it was asked for the last word on a pair of neighbours."""
    for low in sizes:
        for far in (True, False):
            around = Surroundings.of(low, far=far)
            if around.sizes == list(sizes):
                return around
    return None


def _of_grid(verdict: AgreedChanges, last_before: int, jump: Jump) -> Change:
    """The change at a place, with what the grid says of it."""
    bisected = Change(last_before, last_before + 1, "jump", jump.relative, jump.quantities)
    same = [
        change for change in verdict.changes if change.kind != "slope" and _holds(change, bisected)
    ]
    if not same:
        return replace(bisected, kind="both")
    return replace(same[0], last_before_bytes=last_before, first_after_bytes=last_before + 1)


def _holds(wide: Change, narrow: Change) -> bool:
    return (
        wide.last_before_bytes <= narrow.last_before_bytes
        and narrow.first_after_bytes <= wide.first_after_bytes
    )

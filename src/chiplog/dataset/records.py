"""What the lines of a run file must hold: header, record and footer, checked by hand.

Members that are not known here are kept in the file and passed over; missing ones that are needed are named.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiplog.dataset.fields import Fields
from chiplog.dataset.lines import Where
from chiplog.dataset.series import PairSamples, Reference, Series
from chiplog.outside import LARGEST_INTEGER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA = "chiplog.run/1"

DIRECTIONS = ("round-trip", "one-way", "call")
STOPPED = ("precision", "samples", "budget", "interrupted")
PAYLOADS = ("ok", "unchecked")

_PARTS_PER_SECOND = {"samples_ns": 1e9, "samples_ps": 1e12}
"""Given: the units of samples."""


@dataclass(frozen=True)
class Footer:
    """The last line of a run file."""

    records: int
    complete: bool
    reason: str
    elapsed_ns: int
    changes: Mapping[str, object] | None = None
    """The protocol changes that were decided while measuring (chiplog.changes/1); None where none were asked for."""


def line_type(members: Mapping[str, object], where: Where) -> str:
    """`header`, `record` or `footer`."""
    return Fields(members, where).text("type", among=("header", "record", "footer"))


def check_header(members: Mapping[str, object], where: Where) -> None:
    """Raises CorruptFile unless `members` are the header of a run file that this release reads."""
    fields = Fields(members, where)
    if fields.required("type") != "header":
        raise fields.wrong("type", "the first line must be a header")
    schema = fields.text("schema")
    if schema != SCHEMA:
        raise fields.wrong("schema", f"is {schema[:40]!r}; this chiplog reads {SCHEMA!r}")
    for name in ("chiplog", "run_id", "created", "target", "transport"):
        fields.text(name)
    if fields.required("ranks") is not None:
        fields.integer("ranks", minimum=1)
    for name in ("options", "capabilities", "mpi", "plan", "machine", "provenance"):
        fields.mapping(name)
    clock = Fields(fields.mapping("clock"), where, "clock.")
    clock.number_or_none("resolution_ns")
    clock.number_or_none("overhead_ns")


def check_footer(members: Mapping[str, object], where: Where) -> Footer:
    """The checked footer."""
    fields = Fields(members, where)
    if members.get("changes") is not None:
        _check_changes(fields.child("changes"))
    return Footer(
        records=fields.integer("records"),
        complete=fields.truth("complete"),
        reason=fields.text("reason"),
        elapsed_ns=fields.integer("elapsed_ns"),
        changes=fields.mapping("changes") or None,
    )


def _check_changes(fields: Fields) -> None:
    """What `chiplog.changes` needs of a stored decision."""
    for name in ("schema", "operation", "posting"):
        fields.text(name)
    for series in fields.objects("series"):
        for name in ("quantity", "pattern", "operation", "transport"):
            series.text(name)
        for change in series.objects("changes"):
            _check_change(change)
    for name in ("consensus", "suspects"):
        for change in fields.objects(name):
            _check_change(change)


def _check_change(fields: Fields) -> None:
    fields.integer("last_before_bytes")
    fields.integer("first_after_bytes", minimum=1)
    fields.text("kind")
    fields.real_or_none("relative_jump")
    fields.texts("seen_in")
    fields.real_or_none("crossing_bytes")


@dataclass(frozen=True)
class _RecordFacts:
    """What the series of one record have in common."""

    record_id: int
    visit: int
    launch: int
    elapsed_seconds: float
    placement_seconds: float | None
    reference: Reference | None
    placement: str | None
    tag: Mapping[str, object]
    counters: Mapping[str, int]


def record_series(members: Mapping[str, object], where: Where) -> tuple[Series, ...]:
    """The series of one record line.

    The record's duration is shared out to its series in proportion to their samples, warm-up included. A series
    without a sample beyond its warm-up, as an interrupted one may be, has empty `seconds`.
    """
    fields = Fields(members, where)
    record = _record_facts(fields)
    parts = fields.objects("series")
    batches = [part.integer("batch", minimum=1, default=1) for part in parts]
    operations = list(map(_operation_seconds, parts, batches))
    shares = _shares(operations, batches)
    return tuple(
        _series(record, part, seconds, batch, record.elapsed_seconds * share)
        for part, seconds, batch, share in zip(parts, operations, batches, shares, strict=True)
    )


def _record_facts(fields: Fields) -> _RecordFacts:
    record_id, elapsed_ns = fields.integers("id", "elapsed_ns")
    visit, launch = fields.integer("visit", default=0), fields.integer("launch", default=0)
    fields.integer("started_ns", default=0)
    placement_ns = fields.number_or_none("placement_ns")
    reference = _reference(fields) if fields.members.get("reference") is not None else None
    placement = fields.text_or_none("placement")
    for name, words in (("payload", PAYLOADS), ("stopped", STOPPED)):
        if name in fields.members:
            fields.text(name, among=words)
    fields.number_or_none("relative_half_width")
    return _RecordFacts(
        record_id=record_id,
        visit=visit,
        launch=launch,
        elapsed_seconds=elapsed_ns * 1e-9,
        placement_seconds=None if placement_ns is None else placement_ns * 1e-9,
        reference=reference,
        placement=placement,
        tag=fields.mapping("tag"),
        counters=_counters(fields) if "counters" in fields.members else {},
    )


def _reference(fields: Fields) -> Reference:
    members = fields.child("reference")
    return Reference(
        half_round_trip_seconds=members.number("half_round_trip_ns") * 1e-9,
        gap_seconds=members.number("gap_ns") * 1e-9,
        overhead_seconds=members.number("overhead_ns") * 1e-9,
    )


def _counters(fields: Fields) -> dict[str, int]:
    counted = fields.child("counters")
    return {name: counted.integer(name) for name in counted.members}


def _operation_seconds(part: Fields, batch: int) -> NDArray[np.float64]:
    """Durations of one operation in seconds, warm-up first, shape (samples,)."""
    name = "samples_ps" if "samples_ps" in part.members else "samples_ns"
    seconds = part.counts(name) / (_PARTS_PER_SECOND[name] * batch)
    seconds.flags.writeable = False
    return seconds


def _by_pair(part: Fields, batch: int, warmup: int) -> tuple[PairSamples, ...]:
    """The samples of each pair of ranks of one series; none where it is of one pair."""
    if "by_pair" not in part.members:
        return ()
    quick = _by_many_pairs(part.members["by_pair"], batch, warmup)
    if quick is not None:
        return quick
    pairs = []
    for pair in part.objects("by_pair"):
        client, server = pair.integers("client", "server")
        seconds = _operation_seconds(pair, batch)
        pairs.append(PairSamples(client, server, seconds[:warmup], seconds[warmup:]))
    return tuple(pairs)


def _by_many_pairs(pairs: object, batch: int, warmup: int) -> tuple[PairSamples, ...] | None:
    """As `_by_pair`, all pairs at once, of lists in nanoseconds; None where anything is unusual."""
    import numpy as np

    if type(pairs) is not list or not all(type(pair) is dict for pair in pairs):
        return None
    ends = [pair.get(name) for name in ("client", "server") for pair in pairs]
    lists = [pair.get("samples_ns") for pair in pairs]
    if not {*map(type, lists)} <= {list} or any("samples_ps" in pair for pair in pairs):
        return None
    counts = list(itertools.chain.from_iterable(lists))
    if not {*map(type, ends), *map(type, counts)} <= {int}:
        return None
    if not all(
        0 <= min(numbers, default=0) <= max(numbers, default=0) <= LARGEST_INTEGER
        for numbers in (ends, counts)
    ):
        return None
    seconds = np.array(counts, dtype=np.int64) / (_PARTS_PER_SECOND["samples_ns"] * batch)
    seconds.flags.writeable = False
    pair_samples = []
    begin = 0
    for client, server, samples in zip(ends[: len(pairs)], ends[len(pairs) :], lists, strict=True):
        first, end = begin + min(warmup, len(samples)), begin + len(samples)
        pair_samples.append(PairSamples(client, server, seconds[begin:first], seconds[first:end]))
        begin = end
    return tuple(pair_samples)


def _shares(operations: list[NDArray[np.float64]], batches: list[int]) -> list[float]:
    """Each series' share of its record's duration; equal ones where all samples are zero."""
    totals = [
        float(seconds.sum()) * batch for seconds, batch in zip(operations, batches, strict=True)
    ]
    whole = sum(totals)
    return [total / whole if whole > 0 else 1.0 / len(totals) for total in totals]


def _series(
    record: _RecordFacts,
    part: Fields,
    seconds: NDArray[np.float64],
    batch: int,
    elapsed_seconds: float,
) -> Series:
    message_bytes, messages, bytes_sent = part.integers("message_bytes", "messages", "bytes")
    warmup = part.integer("warmup", default=0)
    if warmup > seconds.size:
        raise part.wrong("warmup", f"is {warmup}, but there are {seconds.size} samples")
    return Series(
        pattern=part.text("pattern"),
        operation=part.text("operation"),
        posting=part.text("posting"),
        direction=part.text("direction", among=DIRECTIONS),
        message_bytes=message_bytes,
        train=part.integer("train", minimum=1),
        delay_seconds=part.number("delay_ns") / 1e9,
        batch=batch,
        launch=record.launch,
        visit=record.visit,
        record_id=record.record_id,
        placement_seconds=record.placement_seconds,
        reference=record.reference,
        messages=messages,
        bytes_sent=bytes_sent,
        elapsed_seconds=elapsed_seconds,
        warmup_seconds=seconds[:warmup],
        seconds=seconds[warmup:],
        tag=record.tag,
        pairs=part.integer("pairs", minimum=1, default=1),
        peers=part.integer("peers", minimum=1, default=1),
        placement=record.placement,
        between=part.two_texts_or_none("between"),
        counters=record.counters,
        round=part.integer("round") if "round" in part.members else None,
        at_once=part.integer("at_once", default=1) != 0,
        by_pair=_by_pair(part, batch, warmup),
    )

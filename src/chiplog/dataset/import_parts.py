"""Parts of a file: tables of paths that differ, such as host and device buffers, or one node and two.

A part's name becomes the `placement` of its records, so that nothing pools it with another one, and every command can
be asked for it (`--target NAME`). Tables of one test become launches of one part. Where their times differ so much that
they can't be of one path, though nothing in the file says so, they are parts, named by the line of their title.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chiplog.dataset.import_text import noted
from chiplog.dataset.importer import ImportedRecord
from chiplog.dataset.lines import Where

UNLIKE = 2.0
"""Given: tables of one test whose times differ by more than this factor were not measured over one path."""
HOST = "host-buffers"
MOST_SHOWN = 4
"""Given: parts that a warning names."""


@dataclass
class PartTable:
    """The records of one table, and what they are of."""

    key: tuple[object, ...]
    """Test, number of pairs or ranks: tables with the same one are launches, if they are of one part."""
    where: Where
    part: str | None
    """What the file says of its path; None where that is nothing out of the ordinary."""
    full_part: str
    """The same in full, for where it stands beside other parts."""
    records: list[ImportedRecord] = field(default_factory=list)


def part_name(*kinds: str | None) -> str | None:
    """The name of a part by what is known of it; None where that is nothing.

    >>> part_name("inter-node", None, "device buffers"), part_name(None)
    ('inter-node+device-buffers', None)
    """
    return "+".join("-".join(kind.lower().split()) for kind in kinds if kind) or None


def buffers(send: str, receive: str) -> str:
    """The name of a part by the memory at both ends.

    >>> buffers("host", "host"), buffers("cuda", "cuda"), buffers("host", "cuda")
    ('host-buffers', 'cuda-buffers', 'host-to-cuda-buffers')
    """
    return f"{send}-buffers" if send == receive else f"{send}-to-{receive}-buffers"


def unless_host(name: str) -> str | None:
    """None of the host's buffers, which go without saying."""
    return None if name == HOST else name


def named_in_full(tables: Sequence[PartTable]) -> Sequence[PartTable]:
    """The tables that have records, with their parts' full names where the file has several parts."""
    used = [table for table in tables if table.records]
    if len({table.full_part for table in used}) > 1:
        for table in used:
            table.part = table.full_part
    return used


def launches_in_parts(
    tables: Sequence[PartTable],
) -> tuple[list[ImportedRecord], tuple[Mapping[str, object], ...]]:
    """All records with their launches and parts, in the order of the file, and a warning where there are several."""
    used = named_in_full(tables)
    groups: dict[tuple[object, ...], list[PartTable]] = {}
    for table in used:
        groups.setdefault((*table.key, table.part), []).append(table)
    for group in groups.values():
        _split(group)
    launches: Counter[tuple[object, ...]] = Counter()
    records: list[ImportedRecord] = []
    for table in used:
        key = (*table.key, table.part)
        records += [
            replace(record, launch=launches[key], placement=table.part) for record in table.records
        ]
        launches[key] += 1
    return records, parts_warning(records)


def launches_by_size(tables: Sequence[PartTable]) -> list[ImportedRecord]:
    """The record of each table of one size; the same size of the same test and part again is another launch."""
    launches: Counter[tuple[object, ...]] = Counter()
    records = []
    for table in tables:
        series = table.records[0].series[0]
        key = (series.pattern, series.operation, series.message_bytes, table.part)
        records.append(replace(table.records[0], launch=launches[key], placement=table.part))
        launches[key] += 1
    return records


def parts_warning(records: Sequence[ImportedRecord]) -> tuple[Mapping[str, object], ...]:
    """The warning that names the parts of a file with several."""
    names = list(dict.fromkeys(record.placement for record in records if record.placement))
    if len(names) < 2:
        return ()
    shown = ", ".join([*names[:MOST_SHOWN], *(["..."] if len(names) > MOST_SHOWN else [])])
    fact = f"the file has parts of different paths, which are kept apart: {shown}"
    return noted(len(names), "parts", fact, "name the one you mean with --target")


def _split(tables: Sequence[PartTable]) -> None:
    """Gives tables whose times are unlike those of the first one alike a part of their own."""
    alike: list[list[PartTable]] = []
    for table in tables:
        group_alike = next(
            (candidate for candidate in alike if _factor(candidate[0], table) <= UNLIKE), None
        )
        if group_alike is None:
            alike.append([table])
        else:
            group_alike.append(table)
    if len(alike) > 1:
        for group in alike:
            for table in group:
                table.part = part_name(table.part, f"line-{group[0].where.line}")


def _factor(first: PartTable, other: PartTable) -> float:
    """By what factor the times of two tables differ at the sizes that both have, in the middle of these sizes."""
    times = [
        {
            record.series[0].message_bytes: float(record.series[0].seconds[0])
            for record in table.records
        }
        for table in (first, other)
    ]
    common = [size for size in times[0] if times[0][size] > 0.0 and times[1].get(size, 0.0) > 0.0]
    if not common:
        return 1.0
    ratios = sorted(times[1][size] / times[0][size] for size in common)
    ratio = ratios[len(ratios) // 2]
    return max(ratio, 1.0 / ratio)

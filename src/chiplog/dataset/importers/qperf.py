"""qperf: the latencies of tcp_lat, udp_lat, rc_lat, … with the message size that `-vu`, `-v` or `-vv` prints.

    tcp_lat:
        latency   =  13.9 us
        msg_size  =     4 KiB (4,096)
        time      =     1 sec

A latency is the time of one way: the run's time over all messages both ways. It is a mean over the whole test. A test
that is printed again with the same size is another launch; tests over other protocols are parts. A bandwidth is that of
a stream, whose messages end nowhere.

Source: qperf 0.4.9 to 0.4.11, its output, and its manual on what each test does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chiplog.dataset.import_parts import PartTable, launches_by_size, named_in_full, parts_warning
from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_text import Skipped, clean_lines, lacks_value
from chiplog.dataset.import_values import MICROSECOND, MILLISECOND, NANOSECOND, time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where

OPERATIONS: Mapping[str, str] = {
    **{f"{name}_lat": "send" for name in ("tcp", "udp", "sctp", "sdp", "rds", "rc", "uc", "ud")},
    "xrc_lat": "send",
    "rc_rdma_write_poll_lat": "rdma-write",
    "uc_rdma_write_poll_lat": "rdma-write",
}
"""The tests that are ping-pongs, and what each message is."""
SECONDS = {"ns": NANOSECOND, "us": MICROSECOND, "ms": MILLISECOND, "sec": 1.0}
MULTIPLES = {
    "bytes": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "KB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
}
"""Given: bytes."""
CONVENTION = "half a ping-pong: a test's time over all messages of both sides"
_TITLE = re.compile(r"([a-z][a-z0-9_]*):")
_VALUE = re.compile(r"([a-z][a-z_]*)\s+=\s+(\S.*)")
_SIZE = re.compile(r"([\d.,]+) (\w+)(?: \(([\d,]+)\))?")
_LATENCY = re.compile(r"([\d.,]+) (\w+)")


@dataclass
class _QperfTest:
    """One test's name, and its values with their places."""

    name: str
    where: Where
    values: dict[str, tuple[Where, str]] = field(default_factory=dict)


def read(source: Source, options: Options) -> Imported:
    """The latencies; CorruptFile names line and value of what is wrong."""
    options.check_pattern(("ping_pong",), "qperf's latencies are ping_pong")
    options.check_direction(("one-way",), "qperf's latencies are one-way")
    skipped = Skipped()
    tables: list[PartTable] = []
    for test in _tests(source, skipped):
        series = _series(test, skipped)
        if series is not None:
            record = ImportedRecord((series,), tag={"qperf": test.name})
            tables.append(PartTable((), test.where, None, _path(test.name), [record]))
    records = launches_by_size(named_in_full(tables))
    skipped.refuse_if_empty(records)
    warnings = (*parts_warning(records), *skipped.warnings())
    return Imported(records, CONVENTION, warnings=warnings, statistic="mean")


def _path(test: str) -> str:
    """What a test sends over: a file with several has a part for each.

    >>> _path("tcp_lat"), _path("rc_rdma_write_poll_lat")
    ('tcp', 'rc')
    """
    return test.partition("_")[0]


def _tests(source: Source, skipped: Skipped) -> list[_QperfTest]:
    tests: list[_QperfTest] = []
    for where, line in clean_lines(source):
        if match := _TITLE.fullmatch(line):
            tests.append(_QperfTest(match[1], where))
        elif tests and (match := _VALUE.fullmatch(line)):
            if match[1] in tests[-1].values:
                raise where.corrupt(match[1], "the test has it twice")
            tests[-1].values[match[1]] = where, match[2].strip()
        elif line:
            skipped.foreign_line(where, line)
    return tests


def _series(test: _QperfTest, skipped: Skipped) -> ImportedSeries | None:
    """The series of one test; None, with the reason in `skipped`, of one that is no ping-pong or has no number."""
    if test.name not in OPERATIONS:
        what = f"{test.name[:40]} is none of the ping-pongs that are known: {', '.join(OPERATIONS)}"
        skipped.table(test.where, test.name, what)
        return None
    if "latency" not in test.values:
        skipped.table(test.where, test.name, "it has no latency")
        return None
    where, text = test.values["latency"]
    match = _LATENCY.fullmatch(text)
    if match is None or match[2] not in SECONDS:
        raise where.corrupt("latency", f"{text[:40]!r} is no time in {', '.join(SECONDS)}")
    number = match[1].replace(",", "")
    if lacks_value(number):
        skipped.without_time(where, text, "latency", text)
        return None
    size, seconds = _size(test), time(number, "latency", where, factor=SECONDS[match[2]])
    return half_round_trips(size, seconds, operation=OPERATIONS[test.name])


def _size(test: _QperfTest) -> int:
    """The message size in bytes: the exact one where a rounded one is printed before it."""
    if "msg_size" not in test.values:
        what = "no line says the message size: run qperf with -vu, or -oo msg_size:1:64K:*2 -vu"
        raise test.where.corrupt("msg_size", what)
    where, text = test.values["msg_size"]
    match = _SIZE.fullmatch(text)
    if match is None or match[2] not in MULTIPLES:
        raise where.corrupt("msg_size", f"{text[:40]!r} is no size in {', '.join(MULTIPLES)}")
    if match[3]:
        return whole(match[3].replace(",", ""), "msg_size", where)
    return whole(match[1].replace(",", ""), "msg_size", where) * MULTIPLES[match[2]]


QPERF = Importer(
    name="qperf",
    summary="qperf's latencies: tcp_lat, udp_lat, rc_lat, ...",
    sign=r"^(?:tcp|udp|sctp|sdp|rds|rc|uc|ud|xrc|ver)_\w+:[ \t]*\r?\n[ \t]+\w+ +=",
    is_log=True,
    read=read,
)

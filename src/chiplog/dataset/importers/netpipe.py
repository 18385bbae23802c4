"""NetPIPE: np.out, and what NPtcp, NPmpi and the others print, versions 2 to 5.

    0.0000034   2.231234   8   1   0.000001                     version 2: seconds, Mbps, bits, bytes, variance
    1   2.231234   0.00000342                                   version 3: bytes, Mbps, seconds
    1   0.004   0.004   0.005   1.90                            version 5: bytes, Gbps mean, least, most, us
      0:       1 bytes  24577 times -->      2.23 Mbps in       3.42 usec
      1:       1  B     81920 times -->    4.210 Mbps  in    1.900 usecs

A time is half a ping-pong, the mean over the trials (of version 3, of the best one). The rate must be that of the time:
a test of both directions at once, of several pairs or of a stream has another one, and is refused. Mbps of versions 2
and 3 are of 2^20 bits.

Source: NetPIPE 2.4, 3.7 and 5.1.
"""

from __future__ import annotations

import re
from collections import Counter

from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_text import Skipped, clean_lines, is_number, is_row, lacks_value
from chiplog.dataset.import_values import (
    BYTE_BITS,
    MEBIBYTE,
    MEGABYTE,
    MICROSECOND,
    MICROSECOND_STEP,
    MILLISECOND,
    NANOSECOND,
    number,
    printed_step,
    time,
    whole,
)
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)
from chiplog.dataset.lines import Where

CONVENTION = "half a ping-pong in seconds, one-way, a mean over many"
BITS = (MEGABYTE, MEBIBYTE)
"""What a megabit is in the versions of NetPIPE."""
AGREEMENT = 0.05
"""Given: share by which a rate and a time may contradict each other; that of two pairs is twice that of one."""
_UNITS = {"nsec": NANOSECOND, "usec": MICROSECOND, "msec": MILLISECOND, "sec": 1.0}
_BITS = {"bps": 1.0, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}
"""Given: bits a second."""
_SIZES = {"bytes": 1, "B": 1, "KB": 1000}
"""Given: units in which a size is printed whole."""
_LINE = re.compile(
    r"(?:\d+:\s*)?([\d.]+)\s*(bytes|[KMGT]?B)\s+(\d+) times\s*-->\s*(\S+)\s*([KMGT]?bps)\s+in\s+(\S+)\s*"
    r"([num]?sec)s?\b.*"
)
_COLUMNS = {3: (1, 1e6, 2, 1.0), 5: (1, 1e9, 4, MICROSECOND)}
"""Given: by the number of columns of np.out: where the rate is, its unit in bit/s, where the time is, its unit in s."""


def read(source: Source, options: Options) -> Imported:
    """The rows of np.out or of the printed table; CorruptFile names line and column of what is wrong."""
    options.check_pattern(("ping_pong",), "NetPIPE measures ping_pong")
    options.check_direction(("one-way",), "NetPIPE is one-way")
    skipped, records = Skipped(), list[ImportedRecord]()
    seen: Counter[int] = Counter()
    step = MICROSECOND_STEP
    for where, line in clean_lines(source):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if match := _LINE.fullmatch(line):
            record = _printed(match, line, skipped, where)
        elif is_row(words) and len(words) in _COLUMNS and all(map(is_number, words)):
            step = MICROSECOND if _is_of_version_2(words) else step
            record = _columns(words, line, skipped, where)
        elif is_row(words):
            what = f"the row has {len(words)} columns, not 3 as of version 3 or 5 as of version 5"
            skipped.row(where, line, None, what)
            continue
        else:
            skipped.foreign_line(where, line)
            continue
        if record is not None:
            size = record.message_bytes
            records.append(ImportedRecord((record,), launch=seen[size], tag={"netpipe": "np.out"}))
            seen[size] += 1
    skipped.refuse_if_empty(records)
    return Imported(
        records,
        CONVENTION,
        warnings=skipped.warnings(),
        statistic="mean",
        resolution_seconds=step,
    )


def _printed(
    match: re.Match[str], line: str, skipped: Skipped, where: Where
) -> ImportedSeries | None:
    unit = match[2]
    if unit not in _SIZES:
        skipped.row(where, line, "bytes", f"a size in {unit} is rounded: import np.out instead")
        return None
    size = number(match[1], "bytes", where) * _SIZES[unit]
    if lacks(match[4], match[6]):
        skipped.row(where, line, "time", "there is no time")
        return None
    bits = number(match[4], "rate", where) * _BITS[match[5]]
    seconds = time(match[6], "time", where, factor=_UNITS[match[7]])
    step = _UNITS[match[7]] * printed_step(match[6])
    rate_step = _BITS[match[5]] * printed_step(match[4])
    return _series(round(size), bits, rate_step, seconds, step, where)


def _is_of_version_2(words: list[str]) -> bool:
    """Are the five columns those of version 2, seconds first, and bits before bytes?"""
    if len(words) != max(_COLUMNS):
        return False
    bits, size = words[2:4]
    return bits.isdigit() and size.isdigit() and int(bits) == BYTE_BITS * int(size)


def _columns(words: list[str], line: str, skipped: Skipped, where: Where) -> ImportedSeries | None:
    if _is_of_version_2(words):
        words = [words[3], words[1], words[0]]
    rate_at, bit_unit, time_at, time_unit = _COLUMNS[len(words)]
    size = whole(words[0], "bytes", where)
    if lacks(words[rate_at], words[time_at]):
        skipped.row(where, line, "time", "there is no time")
        return None
    bits = number(words[rate_at], "rate", where) * bit_unit
    seconds = time(words[time_at], "time", where, factor=time_unit)
    rate_step = bit_unit * printed_step(words[rate_at])
    step = time_unit * printed_step(words[time_at])
    return _series(size, bits, rate_step, seconds, step, where)


def lacks(*words: str) -> bool:
    """Is one of the numbers no number, or is the last one, a time, zero?"""
    return not all(map(is_number, words)) or lacks_value(words[-1])


def _series(
    size: int, bits: float, rate_step: float, seconds: float, step: float, where: Where
) -> ImportedSeries:
    said = BYTE_BITS * size / seconds
    slack = AGREEMENT + step / seconds
    rates = [bits * unit / BITS[0] for unit in BITS]
    off = min(abs(rate - said) - rate_step for rate in rates)
    if off > slack * said:
        what = (
            f"{bits / MEGABYTE:g} Mbit/s are not those of {size} bytes in {seconds:g} s: half a ping-pong of one "
            "pair is needed, no stream, and no test of both directions"
        )
        raise where.corrupt("rate", what)
    return half_round_trips(size, seconds)


NETPIPE = Importer(
    name="netpipe",
    summary="NetPIPE: np.out, and what NPtcp or NPmpi print",
    sign=r"\btimes\s*-->\s*\S+\s*[KMGT]?bps\b",
    is_log=True,
    read=read,
)

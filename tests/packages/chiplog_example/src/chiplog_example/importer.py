"""fi_pingpong: a table of bytes, what was sent and acknowledged, rates, and the microseconds of one way.

Source: libfabric's fi_pingpong(1), which prints half of each round trip, a mean.
"""

from __future__ import annotations

from chiplog.dataset.import_series import half_round_trips
from chiplog.dataset.import_values import time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    Importer,
    Options,
    Source,
)

COLUMNS = ("bytes", "#sent", "#ack", "total", "time", "MB/sec", "usec/xfer", "Mxfers/sec")
UNITS = {"k": 1 << 10, "m": 1 << 20}


def read(source: Source, options: Options) -> Imported:
    """One record a row; CorruptFile names line and column of what is wrong."""
    records = []
    for number, line in enumerate(source.lines(), start=1):
        words, where = line.split(), source.where(number)
        if not words or words[0] == COLUMNS[0]:
            continue
        if len(words) != len(COLUMNS):
            raise where.corrupt(None, f"the row has {len(words)} columns, not {len(COLUMNS)}")
        unit = UNITS.get(words[0][-1], 1)
        size = whole(words[0][:-1] if unit > 1 else words[0], "bytes", where) * unit
        series = half_round_trips(size, time(words[6], "usec/xfer", where, factor=1e-6))
        records.append(ImportedRecord((series,)))
    return Imported(
        records, "half a ping-pong in microseconds, one-way, a mean over many", statistic="mean"
    )


IMPORTER = Importer(name="fi-pingpong", summary="fi_pingpong's table", read=read)

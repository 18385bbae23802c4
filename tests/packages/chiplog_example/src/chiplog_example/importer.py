"""NetPIPE's np.out: rows of a size in bytes, megabits a second, and the seconds of one way.

Source: NetPIPE 3, which prints half of each round trip.
"""

from __future__ import annotations

import numpy as np

from chiplog.dataset.import_values import time, whole
from chiplog.dataset.importer import (
    Imported,
    ImportedRecord,
    ImportedSeries,
    Importer,
    Options,
    Source,
)

COLUMNS = 3


def read(source: Source, options: Options) -> Imported:
    """One record a row; CorruptFile names line and column of what is wrong."""
    records = []
    for number, line in enumerate(source.lines(), start=1):
        words, where = line.split(), source.where(number)
        if len(words) != COLUMNS:
            raise where.corrupt(None, f"the row has {len(words)} columns, not {COLUMNS}")
        size = whole(words[0], "bytes", where)
        series = ImportedSeries(
            pattern="ping_pong",
            direction="one-way",
            message_bytes=size,
            seconds=np.array([time(words[2], "seconds", where)]),
            messages_per_sample=2,
            bytes_per_sample=2 * size,
        )
        records.append(ImportedRecord((series,)))
    return Imported(records, "half a ping-pong in seconds, one-way, the least of several trials")


IMPORTER = Importer(name="netpipe", summary="NetPIPE's np.out: ping-pongs", read=read)

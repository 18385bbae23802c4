"""LinkTest: the list of all links that its analysis writes for gnuplot.

    0   1   0.00001234   10130.47          from, to, seconds, MiB/s of 2^20 B/s

A time is half a ping-pong, the mean over the iterations. The length of the messages is not in the list: it is the
product of time and rate. All links become rounds of all_pairs, one-way, by their distance in the ring of ranks.
A link of a rank to itself, and one with a time of 0, was not measured.

Source: LinkTest 1.x of the Jülich Supercomputing Centre, pingponganalysis -g; its MB/s are of 1024 * 1024 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.dataset.import_series import pair_records
from chiplog.dataset.import_text import Skipped, clean_lines, is_row
from chiplog.dataset.import_values import MEBIBYTE, MICROSECOND_STEP, number, time, whole
from chiplog.dataset.importer import Imported, Importer, Options, Source

MOST_RANKS = 1 << 14
KIBIBYTE = 1024
"""Given: bytes."""
COLUMNS = ("from", "to", "seconds", "MB/s")
Link = tuple[float, float]
"""The product of a link's time and rate, in bytes, and its time in seconds."""
CONVENTION = "one-way: half a ping-pong, the mean over the iterations; a message is as long as time and rate say"


def read(source: Source, options: Options) -> Imported:
    """The links of LinkTest's list; CorruptFile names line and column of what is wrong."""
    options.check_pattern(("all_pairs",), "LinkTest measures all_pairs")
    options.check_direction(("one-way",), "LinkTest's are one-way")
    skipped = Skipped()
    links, ranks = _links(source, skipped)
    skipped.refuse_if_empty(links)
    if not links:
        raise source.where(1).corrupt(None, "the file has no list of links")
    message_bytes = _message_bytes(list(links.values()))
    if message_bytes is None:
        what = "times and rates of the links do not belong to messages of one length"
        raise source.where(1).corrupt("MB/s", what)
    seconds = {pair: taken for pair, (_, taken) in links.items()}
    tag = {"linktest": "pingpong"}
    records = pair_records(seconds, ranks=ranks, message_bytes=message_bytes, tag=tag)
    return Imported(
        list(records),
        CONVENTION,
        ranks=ranks,
        warnings=skipped.warnings(),
        statistic="mean",
        resolution_seconds=MICROSECOND_STEP,
    )


def _links(source: Source, skipped: Skipped) -> tuple[dict[tuple[int, int], Link], int]:
    """The links that were measured, by their ranks, and how many ranks there are."""
    links: dict[tuple[int, int], Link] = {}
    most = 0
    for where, line in clean_lines(source):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not is_row(words) or len(words) != len(COLUMNS):
            skipped.foreign_line(where, line)
            continue
        pair = (
            whole(words[0], "from", where, maximum=MOST_RANKS),
            whole(words[1], "to", where, maximum=MOST_RANKS),
        )
        most = max(most, *pair)
        if pair[0] == pair[1]:
            continue
        if pair in links:
            raise where.corrupt("to", f"the link {pair[0]} to {pair[1]} stands twice")
        taken = time(words[2], "seconds", where)
        rate = number(words[3], "MB/s", where) * MEBIBYTE
        if taken == 0.0 or rate == 0.0:
            skipped.row(where, line, "seconds", "the link was not measured")
            continue
        links[pair] = (taken * rate, taken)
    return links, most + 1


def _message_bytes(links: Sequence[Link]) -> int | None:
    """The one length in bytes that all products of time and rate are, but for rounding; None where there is none.

    A whole number of KiB is taken where rounding leaves one, since such are what LinkTest is run with.
    """
    lengths = np.array([length for length, _ in links])
    slack = np.array([MICROSECOND_STEP / taken for _, taken in links])
    low, high = np.max(lengths * (1 - slack)) - 1, np.min(lengths * (1 + slack)) + 1
    if low > high:
        return None
    middle = float(np.clip(np.median(lengths), low, high))
    kib = KIBIBYTE * round(middle / KIBIBYTE)
    chosen = kib if kib > 0 and low <= kib <= high else round(middle)
    return max(int(chosen), 1)


LINKTEST = Importer(
    name="linktest",
    summary="LinkTest: the list of links of pingponganalysis -g",
    is_log=True,
    read=read,
)

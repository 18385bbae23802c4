"""Times over the message size of one pair: half round trips, and what a message of a train takes."""

from __future__ import annotations

from chiplog.fitting.quantities.measured import is_round_trip
from chiplog.fitting.quantities.over_sizes import (
    delayed_ping_pong_overhead,
    delayed_send_overhead,
    half_round_trip,
    receive_overhead,
    train_gap,
)
from chiplog.report.document import Inline, Table
from chiplog.report.patterns.run import PatternRun, by_size, difference_cell, rate_cell, values

MEANINGS = {
    "gap": "gap: what one more message of a train takes",
    "o_s": "o_s, o_r: send and receive overhead of a message",
    "o_r": "o_r: receive overhead of a message",
    "o_s + o_r": "o_s + o_r: both overheads of a message",
}


def tables(run: PatternRun) -> tuple[Table, ...]:
    """Half round trips with their interval and bandwidth; beside them gap and overheads, where these were measured."""
    bare = [series for series in run.series if is_round_trip(series)]
    if not bare:
        return ()
    measured = run.measured
    half = values(half_round_trip(measured))
    others = {
        "gap": values(train_gap(measured)),
        "o_s": values(delayed_send_overhead(measured)),
        "o_r": values(receive_overhead(measured)),
        "o_s + o_r": values(delayed_ping_pong_overhead(measured)),
    }
    others = {name: other for name, other in others.items() if other}

    def beside(size: int) -> tuple[Inline, ...]:
        differences = (difference_cell(other.get(size)) for other in others.values())
        return rate_cell(size, half.get(size)), *differences

    one_way = all(series.direction == "one-way" for series in bare)
    title, head = ("One-way time", "one way") if one_way else ("Half round trip", "half RTT")
    said = [f"{run.intervals}; bandwidth of one message at a time"]
    said += [MEANINGS[name] for name in others if not (name == "o_r" and "o_s" in others)]
    heads = (head, "95 % interval", "bandwidth", *others)
    caption = run.caption(f"{title} by size", "; ".join(said))
    return (by_size(run, caption, heads, [half], beside),)

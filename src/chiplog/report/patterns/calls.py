"""What single calls take: sends, receives, floods, and sends to a late receiver."""

from __future__ import annotations

import numpy as np

from chiplog.dataset.series import Series
from chiplog.fitting.quantities.measured import MeasuredSeries, is_round_trip
from chiplog.fitting.quantities.over_sizes import flood_gap, receive_overhead, series_quantity
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.report import format
from chiplog.report.document import Inline, Table, line
from chiplog.report.patterns.run import PatternRun, ShownValue, by_size, rate_cell, values


def sends(run: PatternRun) -> tuple[Table, ...]:
    """The time of posting sends, alone and several in a row; left out where trains with a delay tell o_s."""
    calls = [
        series for series in run.series if series.pattern == "send_overhead" and series.peers == 1
    ]
    trains = sorted({call.train for call in calls})
    delayed = any(series.pattern == "prtt" and series.delay_seconds > 0 for series in run.series)
    if not calls or run.has("one_to_many") or (delayed and trains == [1]):
        return ()
    by_train = {train: values(_per_message(run.measured, train)) for train in trains}
    heads = [
        name
        for train in trains
        for name in ("one send" if train == 1 else f"one of {train}", "95 % interval")
    ]
    caption = run.caption("Send overhead by size", f"time of the call per message; {run.intervals}")
    return (by_size(run, caption, heads, list(by_train.values())),)


def _per_message(measured: MeasuredSeries, train: int) -> Quantity:
    def is_of_train(series: Series) -> bool:
        return (series.pattern, series.train, series.peers) == ("send_overhead", train, 1)

    return series_quantity(measured, f"o_s({train})", is_of_train, 1.0 / train)


def receives(run: PatternRun) -> tuple[Table, ...]:
    """The time of receiving what is there; where half round trips were measured, it stands beside these."""
    if not run.has("receive_overhead") or any(map(is_round_trip, run.series)):
        return ()
    shown = values(receive_overhead(run.measured))
    caption = run.caption(
        "Receive overhead by size", f"per message that has arrived; {run.intervals}"
    )
    return (by_size(run, caption, ["o_r", "95 % interval"], [shown]),)


def floods(run: PatternRun) -> tuple[Table, ...]:
    """The gap of floods, messages a second and the rate of bytes."""
    if not run.has("flood"):
        return ()
    gaps = values(flood_gap(run.measured))
    lengths = sorted({series.train for series in run.series if series.pattern == "flood"})
    length = str(lengths[0]) if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
    way = (
        "less the way of the first and of the answer"
        if any(map(is_round_trip, run.series))
        else "the answer's way included"
    )

    def rates(size: int) -> tuple[Inline, ...]:
        return _messages_a_second(gaps[size]), rate_cell(size, gaps[size])

    caption = run.caption(
        "Flood by size", f"time per message of {length} back to back, {way}; {run.intervals}"
    )
    heads = ("per message", "95 % interval", "messages/s", "bandwidth")
    return (by_size(run, caption, heads, [gaps], rates),)


def late_receivers(run: PatternRun) -> tuple[Table, ...]:
    """Whether a send waits for its receiver; left out beside trains, whose records hold it to find changes."""
    late = [series for series in run.series if series.pattern == "late_receiver"]
    trains = any(series.pattern == "prtt" and series.train > 1 for series in run.series)
    if not late or trains:
        return ()
    send_times = values(
        series_quantity(
            run.measured, "late_receiver", lambda series: series.pattern == "late_receiver"
        )
    )
    delays = {
        size: float(
            np.median([series.delay_seconds for series in late if series.message_bytes == size])
        )
        for size in send_times
    }

    def waits(size: int) -> tuple[Inline, ...]:
        verdict = "waits" if send_times[size].seconds >= delays[size] else "returns"
        return line(format.brief(delays[size], "s")), line(verdict)

    caption = run.caption(
        "Send to a late receiver by size",
        "time of the send call; it returns before the receiver comes (eager) or waits for it (rendezvous); "
        f"{run.intervals}",
    )
    heads = ("send", "95 % interval", "late by", "the send")
    return (by_size(run, caption, heads, [send_times], waits),)


def _messages_a_second(value: ShownValue) -> Inline:
    if not value.seconds > 0:
        return line(format.NOTHING)
    return line(format.brief(1.0 / value.seconds, "B/s").removesuffix("B/s").strip())

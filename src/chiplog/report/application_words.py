"""What an application's communication costs in sentences, as the screen and the page say it."""

from __future__ import annotations

from chiplog.application.result import Alternative, AppResult, Replay, Saving
from chiplog.counts import counted
from chiplog.report import format
from chiplog.simulation.sensitivity import LEAST_SHARE, GainRow, ToleranceRow

LEAST_START = 0.01
"""Given: share of the traced time from which MPI_Init and MPI_Finalize are named."""
PARTS_OF_PATH = ("computing", "sending and receiving", "messages under way")

BETTER = {
    "latency": "latency 10 % lower",
    "overhead": "overhead 10 % lower",
    "gap": "gap 10 % lower",
    "bandwidth": "bandwidth 10 % higher",
    "computing": "computing 10 % faster",
}
"""What is asked of each parameter."""


def communication_sentence(result: AppResult) -> str:
    """Which share of the time is communication, and how much of that is waiting."""
    ranks = counted(result.ranks, "rank")
    if not result.has_times:
        return f"{ranks}, by {result.source}: the trace has no times."
    return (
        f"Communication takes {format.percent(result.communication_share)} of the time between MPI_Init and "
        f"MPI_Finalize; {format.percent(result.waiting_share)} of that is waiting for other ranks "
        f"({ranks}, {format.value(result.seconds, 's')}, by {result.source})."
    )


def replay_sentence(replay: Replay) -> str:
    """How long it takes by the model, and what that is made of."""
    seconds, interval = format.value_and_interval(replay.seconds, replay.low, replay.high, "s")
    sentence = f"By the model it takes {seconds}"
    if replay.low < replay.high:
        sentence += f" {interval} (95 %, with the model's error, computing as traced)"
    if replay.traced_seconds:
        change = replay.seconds / replay.traced_seconds - 1.0
        traced = format.value(replay.traced_seconds, "s")
        sentence += f": {_by_share(change)} than the {traced} that were traced"
        if replay.start_and_end_seconds > LEAST_START * replay.traced_seconds:
            start = format.brief(replay.start_and_end_seconds, "s")
            sentence += f", {start} of both in MPI_Init and MPI_Finalize"
    path = replay.critical_path
    if path is not None:
        shares = [
            f"{format.percent(share)} {part}"
            for share, part in zip(path, PARTS_OF_PATH, strict=True)
        ]
        sentence += f". On the critical path, {shares[0]}, {shares[1]} and {shares[2]}"
    return f"{sentence}."


def alternative_sentence(row: Alternative) -> str:
    """How long it takes under other circumstances."""
    seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
    ends = f" {interval}" if row.low < row.high else ""
    circumstance = "by" if row.what.endswith(".json") else "with"
    return f"It takes {seconds}{ends} {circumstance} {row.what}, {saved_share(row)}."


def saved_share(row: Alternative) -> str:
    """How much less it takes, or more, with the interval of that."""
    is_less = row.saves > 0
    low, high = (row.saves_low, row.saves_high) if is_less else (-row.saves_high, -row.saves_low)
    interval = f" [{format.percent(low)}, {format.percent(high)}]" if low < high else ""
    return _by_share(-row.saves) + interval


def saving_words(row: Saving, seconds: float) -> str:
    """How much of so many seconds a change saves, and how; the change itself is the subject, and stands before."""
    saved, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
    ends = f" {interval}" if row.low < row.high else ""
    return f"saves {saved}{ends}, {format.percent(row.seconds / seconds)}: {row.how}"


def gain_words(row: GainRow) -> tuple[str, str]:
    """Which share of the time a better parameter saves, and the interval of that, if any."""
    if max(abs(row.low), abs(row.high)) < LEAST_SHARE:
        return f"under {format.percent(LEAST_SHARE)}", ""
    ends = f"[{format.percent(row.low)}, {format.percent(row.high)}]" if row.low < row.high else ""
    return format.percent(row.share), ends


def tolerance_sentence(row: ToleranceRow) -> str:
    """From which value of a parameter on it is 1 % slower."""
    unit = "s" if row.parameter == "L" else "s/B"
    now = format.value(row.now, unit)
    if row.value is None:
        return f"No {row.parameter} makes it 1 % slower (now {now})."
    low = row.value if row.low is None else row.low
    high = row.value if row.high is None else row.high
    value, interval = format.value_and_interval(row.value, low, high, unit)
    ends = f" {interval}" if low < high else ""
    return f"It is 1 % slower from {row.parameter} = {value}{ends} on (now {now})."


def _by_share(change: float) -> str:
    return f"{format.percent(abs(change))} {'less' if change < 0 else 'more'}"

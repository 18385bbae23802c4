"""How `chiplog app --sensitivity` says what each parameter matters."""

from __future__ import annotations

from chiplog.cli.output import aligned, wrapped
from chiplog.report import format
from chiplog.simulation.sensitivity import LEAST_SHARE, GainRow, Sensitivity, ToleranceRow

PARAMETERS = {
    "latency": "latency 10 % lower",
    "overhead": "overhead 10 % lower",
    "gap": "gap 10 % lower",
    "bandwidth": "bandwidth 10 % higher",
    "computing": "computing 10 % faster",
}


def sensitivity_text(sensitivity: Sensitivity) -> str:
    """What each better parameter saves, and from where on worse ones cost 1 %."""
    table = [("if better", "saves", "95 %"), *map(_gain, sensitivity.gains)]
    return "\n".join(
        [aligned(table), *(wrapped(_tolerance(row)) for row in sensitivity.tolerances)]
    )


def _gain(row: GainRow) -> tuple[str, str, str]:
    title = PARAMETERS[row.parameter]
    if max(abs(row.low), abs(row.high)) < LEAST_SHARE:
        return title, "under 0.05 %", ""
    ends = f"[{format.percent(row.low)}, {format.percent(row.high)}]" if row.low < row.high else ""
    return title, format.percent(row.share), ends


def _tolerance(row: ToleranceRow) -> str:
    unit = "s" if row.parameter == "L" else "s/B"
    now = format.value(row.now, unit)
    if row.value is None:
        return f"No {row.parameter} makes it 1 % slower (now {now})."
    low = row.value if row.low is None else row.low
    high = row.value if row.high is None else row.high
    value, interval = format.value_and_interval(row.value, low, high, unit)
    ends = f" {interval}" if low < high else ""
    return f"It is 1 % slower from {row.parameter} = {value}{ends} on (now {now})."

"""How `chiplog app --sensitivity` says what each parameter matters."""

from __future__ import annotations

from chiplog.cli.output import aligned, wrapped
from chiplog.report import format
from chiplog.report.application_words import tolerance_sentence
from chiplog.simulation.sensitivity import LEAST_SHARE, GainRow, Sensitivity

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
        [aligned(table), *(wrapped(tolerance_sentence(row)) for row in sensitivity.tolerances)]
    )


def _gain(row: GainRow) -> tuple[str, str, str]:
    title = PARAMETERS[row.parameter]
    if max(abs(row.low), abs(row.high)) < LEAST_SHARE:
        return title, "under 0.05 %", ""
    ends = f"[{format.percent(row.low)}, {format.percent(row.high)}]" if row.low < row.high else ""
    return title, format.percent(row.share), ends

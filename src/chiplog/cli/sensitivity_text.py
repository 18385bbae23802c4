"""How `chiplog app --sensitivity` says what each parameter matters."""

from __future__ import annotations

from chiplog.cli.output import aligned, wrapped
from chiplog.report.application_words import BETTER, gain_words, tolerance_sentence
from chiplog.simulation.sensitivity import GainRow, Sensitivity


def sensitivity_text(sensitivity: Sensitivity) -> str:
    """What each better parameter saves, and from where on worse ones cost 1 %."""
    gains = [_gain(row) for row in sensitivity.gains]
    title = ("if better", "saves", "95 %" if any(interval for *_, interval in gains) else "")
    return "\n".join(
        [
            aligned([title, *gains]),
            *(wrapped(tolerance_sentence(row)) for row in sensitivity.tolerances),
        ]
    )


def _gain(row: GainRow) -> tuple[str, str, str]:
    return BETTER[row.parameter], *gain_words(row)

"""What to do next with a run file: commands that work for what it holds."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset


def next_commands(run: Path, dataset: Dataset | None) -> tuple[str, ...]:
    """The commands, the best one first; without the `dataset` only what works for every run."""
    from chiplog.fitting.choice import first_model

    quoted = shlex.quote(str(run))
    report = f"chiplog report {quoted} -o report.html"
    if dataset is None or first_model(dataset) is None:
        return (report,)
    return f"chiplog fit {quoted}", report

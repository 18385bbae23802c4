"""`chiplog import`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.list_names import TABLES
from chiplog.cli.options import RANKS, names_help, option
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset

FITTED = {"prtt", "ping_pong", "one_to_many"}
"""Patterns that models are fitted to without being named."""


@dataclass(frozen=True)
class UnsaidOptions:
    """What the file may leave unsaid."""

    pattern: str | None = option(help="The pattern, where the file does not name it.")
    direction: str | None = option(help="one-way or round-trip, where the file does not say.")
    transport: str | None = option(help="What was measured, e.g. tcp.")
    ranks: int | None = option(
        metavar=RANKS, help="Of collective operations: how many, where the file does not say."
    )


def import_file(
    kind: Annotated[str, Argument(metavar="KIND", help="Whose file it is: see below.")],
    file: Annotated[Path, Argument(help="The file to import; gzip is unpacked.")],
    out: Annotated[
        Path, Option("-o", "--output", metavar="RUN.jsonl", help="The run file to write.")
    ],
    *,
    unsaid: UnsaidOptions,
) -> None:
    """Import another tool's measurements as a run file."""
    from chiplog.dataset.importers import import_file as import_measurements
    from chiplog.dataset.run_file import read_run

    written = import_measurements(kind, file, out, **asdict(unsaid), note=note)
    run = read_run(written)
    note(f"imported {run.extent} into {written}.")
    if (model := _model(run)) is not None:
        note(f"next: chiplog fit {written}{model}")


def _model(run: Dataset) -> str | None:
    """The option that names the model to fit first, empty for the default; None where no model is fitted to it."""
    if {series.pattern for series in run.series} & FITTED:
        return ""
    pairs = {series.pairs for series in run.series if series.pattern == "pairs"}
    if not pairs:
        return None
    return " --model max-rate" if len(pairs) > 1 else " --model postal"


def epilog() -> str:
    """The importers."""
    return names_help("KIND", TABLES["importers"]())

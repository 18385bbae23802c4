"""What writes runs or models in another program's format; and which exporters there are.

A new one is a module in `chiplog.export.formats` and its name in `EXPORTERS`, or an entry point of another package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiplog.output_file import write_text
from chiplog.plugins import Registry

if TYPE_CHECKING:
    from pathlib import Path

    from chiplog.dataset.series import Dataset
    from chiplog.fitting.result import Fit

SizeRange = tuple[int, int]
"""The first and the last size in bytes that a file is to hold."""


@dataclass(frozen=True, kw_only=True)
class Exporter:
    """One format; its name is that of `chiplog export --to NAME`. It writes runs, or models, or both."""

    name: str
    summary: str
    """What the files are, in a few words, for help and lists."""
    write_run: Callable[[Dataset, Path], None] | None = None
    """Writes a run; UsageError where the run lacks something, RunFailed where the file can't be written."""
    fit_of_run: Callable[[Dataset], Fit | None] | None = None
    """The fit whose parameters `write_run` writes; None where it writes what was measured alone."""
    write_fits: Callable[[tuple[Fit, ...], Path, SizeRange | None], None] | None = None
    """Writes the fits of one target, for a range of sizes or for all; raises as `write_run` does."""

    def __post_init__(self) -> None:
        """Raises ValueError for an exporter of nothing."""
        if self.write_run is None and self.write_fits is None:
            raise ValueError("it must have write_run or write_fits")


def runs_as_text(make: Callable[[Dataset], str]) -> Callable[[Dataset, Path], None]:
    """What writes the text that `make` makes of a run."""
    return lambda dataset, out: write_text(out, make(dataset))


def fits_as_text(
    make: Callable[[tuple[Fit, ...], SizeRange | None], str],
) -> Callable[[tuple[Fit, ...], Path, SizeRange | None], None]:
    """What writes the text that `make` makes of the fits of one target."""
    return lambda fits, out, sizes: write_text(out, make(fits, sizes))


EXPORTERS: Registry[Exporter] = Registry(
    "exporter",
    "chiplog.export.exporter:Exporter",
    folder="chiplog.export.formats",
    built_in=("csv", "parquet", "codes", "simgrid", "loggopsim"),
    unknown="--to '{name}' is unknown; it accepts {known}.",
)

"""What chiplog knows, in the formats of others: `chiplog export` as a function.

A new format is one module here and one line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from chiplog.dataset.exporters.csv_table import csv_text
from chiplog.dataset.input_file import open_input
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import RunFailed, UsageError
from chiplog.export.codes import codes_text
from chiplog.export.loggopsim import loggopsim_text
from chiplog.export.simgrid import simgrid_text
from chiplog.fit.model_file import read_model
from chiplog.fit.result import Fit


@dataclass(frozen=True)
class Format:
    """An export format: either a writer of runs or one of model files."""

    write_run: Callable[[Dataset, Path], None] | None = None
    write_fits: Callable[[tuple[Fit, ...], Path], None] | None = None


def _write_parquet(dataset: Dataset, out: Path) -> None:
    from chiplog.dataset.exporters.parquet import write_parquet  # loads pyarrow

    write_parquet(dataset, out)


def _text_of_run(make: Callable[[Dataset], str]) -> Format:
    return Format(write_run=lambda dataset, out: _write_text(out, make(dataset)))


def _text_of_fits(make: Callable[[tuple[Fit, ...]], str]) -> Format:
    return Format(write_fits=lambda fits, out: _write_text(out, make(fits)))


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": _text_of_run(csv_text),
        "parquet": Format(write_run=_write_parquet),
        "codes": _text_of_run(codes_text),
        "simgrid": _text_of_fits(simgrid_text),
        "loggopsim": _text_of_fits(loggopsim_text),
    }
)


def export_file(source: str | Path, to: str, out: str | Path) -> Path:
    """Writes a run file (csv, parquet, codes) or a model file (simgrid, loggopsim) in the format `to`.

    Raises UsageError for an unknown format and for a file of the other kind, CorruptFile for a damaged file, RunFailed
    where `out` can't be written.
    """
    if to not in FORMATS:
        raise UsageError(f"--to {to!r} is unknown; it accepts {', '.join(FORMATS)}.")
    chosen, target, is_run = FORMATS[to], Path(out), _is_run(source)
    if target.exists() and target.samefile(source):
        raise UsageError(f"-o {target} is the file to export; name another one.")
    if chosen.write_run is not None and is_run:
        chosen.write_run(read_run(source), target)
    elif chosen.write_fits is not None and not is_run:
        chosen.write_fits(read_model(source), target)
    elif is_run:
        raise UsageError(
            f"{to} is written from a model file: run `chiplog fit {source} -o MODEL.json` first."
        )
    else:
        raise UsageError(f"{to} is written from a run file; {source} is not one.")
    return target


def _is_run(source: str | Path) -> bool:
    """Does the file begin as a run file does? A damaged model file is told apart by its own reader."""
    with open_input(source) as stream:
        return b'"type":"header"' in stream.readline(4096)


def _write_text(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunFailed(f"{out} can't be written: {error.strerror}.") from error

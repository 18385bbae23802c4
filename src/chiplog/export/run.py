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
from chiplog.fit.origin import of_target
from chiplog.fit.result import Fit
from chiplog.plan.sizes import parse_sizes

SizeRange = tuple[int, int]


@dataclass(frozen=True)
class Format:
    """An export format: either a writer of runs or one of model files."""

    write_run: Callable[[Dataset, Path], None] | None = None
    write_fits: Callable[[tuple[Fit, ...], Path, SizeRange | None], None] | None = None


def _write_parquet(dataset: Dataset, out: Path) -> None:
    from chiplog.dataset.exporters.parquet import write_parquet  # loads pyarrow

    write_parquet(dataset, out)


def _text_of_run(make: Callable[[Dataset], str]) -> Format:
    return Format(write_run=lambda dataset, out: _write_text(out, make(dataset)))


def _write_simgrid(fits: tuple[Fit, ...], out: Path, sizes: SizeRange | None) -> None:
    _write_text(out, simgrid_text(fits, sizes))


def _write_loggopsim(fits: tuple[Fit, ...], out: Path, sizes: SizeRange | None) -> None:
    _write_text(out, loggopsim_text(fits, sizes))


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "csv": _text_of_run(csv_text),
        "parquet": Format(write_run=_write_parquet),
        "codes": _text_of_run(codes_text),
        "simgrid": Format(write_fits=_write_simgrid),
        "loggopsim": Format(write_fits=_write_loggopsim),
    }
)


def export_file(
    source: str | Path,
    to: str,
    out: str | Path,
    *,
    target: str | None = None,
    sizes: str | None = None,
) -> Path:
    """Writes a run file (csv, parquet, codes) or a model file (simgrid, loggopsim) in the format `to`.

    `target` is which target of a model file that holds several, `sizes` such as "1:4096" what a format without
    regimes is to hold.

    Raises UsageError for an unknown format, for a file of the other kind, for several targets and none named, and where
    the file would be off by more than 5 % from what was measured; CorruptFile for a damaged file, RunFailed
    where `out` can't be written.
    """
    if to not in FORMATS:
        raise UsageError(f"--to {to!r} is unknown; it accepts {', '.join(FORMATS)}.")
    chosen, written, is_run = FORMATS[to], Path(out), _is_run(source)
    if written.exists() and written.samefile(source):
        raise UsageError(f"-o {written} is the file to export; name another one.")
    if is_run and (target is not None or sizes is not None):
        raise UsageError("--target and --sizes: are for model files; a run file holds one target.")
    if chosen.write_run is not None and is_run:
        chosen.write_run(read_run(source), written)
    elif chosen.write_fits is not None and not is_run:
        fits = of_target(read_model(source), target, str(source))
        chosen.write_fits(fits, written, None if sizes is None else _range(sizes))
    elif is_run:
        raise UsageError(
            f"{to} is written from a model file: run `chiplog fit {source} -o MODEL.json` first."
        )
    else:
        raise UsageError(f"{to} is written from a run file; {source} is not one.")
    return written


def _range(text: str) -> SizeRange:
    first, _, last = text.partition(":")
    try:
        found = (parse_sizes(first)[0], parse_sizes(last)[0])
    except UsageError:
        found = (1, 0)
    if not 0 <= found[0] <= found[1]:
        raise UsageError(f"--sizes: '{text}' is not understood; it accepts 1:4096 or 1:64KiB.")
    return found


def _is_run(source: str | Path) -> bool:
    """Does the file begin as a run file does? A damaged model file is told apart by its own reader."""
    with open_input(source) as stream:
        return b'"type":"header"' in stream.readline(4096)


def _write_text(out: Path, text: str) -> None:
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RunFailed(f"{out} can't be written: {error.strerror}.") from error

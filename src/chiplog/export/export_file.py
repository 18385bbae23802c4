"""What chiplog knows, in the formats of others: `chiplog export` as a function."""

from __future__ import annotations

from pathlib import Path

from chiplog.dataset.run_file import read_run
from chiplog.errors import UsageError
from chiplog.export.exporter import EXPORTERS, Exporter, SizeRange
from chiplog.export.fits import usable_fits
from chiplog.file_kind import MODEL, RUN, file_in
from chiplog.fitting.model_file import read_model
from chiplog.fitting.origin import of_target
from chiplog.fitting.verdict import require_usable
from chiplog.input_file import open_input
from chiplog.plan.sizes import parse_sizes


def export_file(
    source: str | Path,
    to: str,
    out: str | Path,
    *,
    target: str | None = None,
    sizes: str | None = None,
    anyway: bool = False,
) -> Path:
    """Writes a run file or a model file in the format `to`, of EXPORTERS, and returns the path of what was written.

    `target` is which target of a model file that holds several, `sizes` such as "1:4096" what a format without
    regimes is to hold. Parameters of a fit that its own check rejects are written `anyway` only.

    Raises UsageError for an unknown format, for a file of the other kind, for several targets and none named, for a
    rejected fit, and where the file would be off by more than 5 % from what was measured; CorruptFile for a damaged
    file, RunFailed where `out` can't be written.
    """
    chosen, written = EXPORTERS.load(to), Path(out)
    source = file_in(source, *_kinds(chosen))
    is_run = _is_run(source)
    if written.exists() and written.samefile(source):
        raise UsageError(f"-o {written} is the file to export; name another one.")
    if is_run and (target is not None or sizes is not None):
        raise UsageError("--target and --sizes: are for model files; a run file holds one target.")
    if chosen.write_run is not None and is_run:
        dataset = read_run(source)
        fit = None if chosen.fit_of_run is None or anyway else chosen.fit_of_run(dataset)
        if fit is not None:
            require_usable(fit, anyway=False)
        chosen.write_run(dataset, written)
    elif chosen.write_fits is not None and not is_run:
        fits = usable_fits(of_target(read_model(source), target, str(source)), to, anyway=anyway)
        chosen.write_fits(fits, written, None if sizes is None else _range(sizes))
    else:
        raise UsageError(
            f"{to} is written from a model file: run `chiplog fit {source} -o MODEL.json` first."
            if is_run
            else f"{to} is written from a run file; {source} is not one."
        )
    return written


def _kinds(exporter: Exporter) -> list[str]:
    """The kinds of files that are written in a format."""
    kinds = ((RUN, exporter.write_run), (MODEL, exporter.write_fits))
    return [kind for kind, write in kinds if write is not None]


def _range(text: str) -> SizeRange:
    first, _, last = text.partition(":")
    try:
        sizes = (parse_sizes(first)[0], parse_sizes(last)[0])
    except UsageError:
        sizes = (1, 0)
    if not 0 <= sizes[0] <= sizes[1]:
        raise UsageError(f"--sizes: '{text}' is not understood; it accepts 1:4096 or 1:64KiB.")
    return sizes


def _is_run(source: str | Path) -> bool:
    """Does the file begin as a run file does? A damaged model file is told apart by its own reader."""
    with open_input(source) as stream:
        return b'"type":"header"' in stream.readline(4096)

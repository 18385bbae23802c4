"""Adding runs to a history: a file gets its name when all of it is on the disk, so nobody sees a part of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.machine_survey.job import run_file_of
from chiplog.optional import needed
from chiplog.output_file import replacing, synchronise_folder
from chiplog.outside import parse_time
from chiplog.run_history.fingerprint import fingerprint_of
from chiplog.run_history.layout import (
    CHECKSUM_KEY,
    FINGERPRINT_KEY,
    RUN_KEY,
    VERSION,
    VERSION_KEY,
    RunFacts,
    checksum_of,
    path_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

_RUN_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
LATEST_AHEAD = timedelta(hours=1)
"""Given: by how much the clock of the measuring host may be ahead of this one's."""
COMPRESSION_LEVEL = 9
"""Given: of zstd; higher ones take longer for the same size."""


def add_survey(survey: str | Path, history: str | Path, *, time: str | None = None) -> Path:
    """Adds a finished survey, a folder or its run file, to a history, and returns the path of the new file.

    `time` replaces the time that the run file has, where the clock of the host that measured was wrong.

    Raises UsageError where the survey is unfinished, dated in the future, in the history already or none; CorruptFile
    for a damaged run file; RunFailed where the history can't be written. In all cases the history is as it was.
    """
    needed("pyarrow", "a history")  # for the table of the next line, too
    from chiplog.machine_survey.machine_verdict import verdict_of_run
    from chiplog.run_history.table import tables_of

    source = run_file_of(survey)
    dataset = _read_survey(source)
    header = dataset.header
    when = parse_time(time or str(header.get("created")), "--time" if time else str(source))
    if when > datetime.now(UTC) + LATEST_AHEAD:
        raise UsageError(
            f"{source} is dated {when:%Y-%m-%d %H:%M} UTC, in the future: the clock of a host is wrong; give the "
            "right time by --time."
        )
    run_id = str(header.get("run_id"))
    if not _RUN_ID.fullmatch(run_id):
        raise CorruptFile(
            f"{source}: the header's run_id '{run_id}' is not a name of letters and digits."
        )
    facts = RunFacts(run_id, when, str(header.get("target")), fingerprint_of(header))
    target = path_of(Path(history), facts)
    known = _of_run(Path(history), facts.run_id)
    if known is not None:
        raise UsageError(f"{source} is in the history already, as {known}; nothing was changed.")
    verdict = verdict_of_run(dataset)
    if not verdict.fits:
        raise UsageError(f"{source} has no figures of any pair.")
    write_run(target, tables_of(dataset, verdict, facts), facts)
    return target


def _read_survey(source: Path) -> Dataset:
    """A finished survey; UsageError where it is none."""
    dataset = read_run(source)
    plan = dataset.header.get("plan")
    if not isinstance(plan, Mapping) or plan.get("kind") != "survey":
        raise UsageError(f"{source} is not a survey: name what `chiplog survey -o` wrote.")
    if not dataset.complete:
        raise UsageError(f"{source} is not finished: do so by `chiplog survey --resume` first.")
    return dataset


def _of_run(history: Path, run_id: str) -> Path | None:
    return next(history.glob(f"[0-9]*/[0-9]*/[0-9]*/[0-9]*-{run_id}.parquet"), None)


def write_run(path: Path, tables: Sequence[pa.Table], facts: RunFacts) -> None:
    """Writes the file of a run, a row group for each of the `tables`; RunFailed where that is not possible."""
    import pyarrow as pa

    as_it_was = "The history is as it was; add the survey again when that is mended."
    try:
        _make_folder(path.parent)
        with replacing(path) as stream:
            _write(stream, tables, facts)
    except RunFailed as error:
        raise RunFailed(f"{error} {as_it_was}") from error
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunFailed(f"{path} can't be written: {reason}. {as_it_was}") from error


def _write(stream: Any, tables: Sequence[pa.Table], facts: RunFacts) -> None:
    import pyarrow.parquet as pq

    run = {
        "run_id": facts.run_id,
        "time_utc": facts.time.isoformat(),
        "target": facts.target,
    }
    metadata = {
        VERSION_KEY: VERSION.encode(),
        RUN_KEY: json.dumps(run).encode(),
        FINGERPRINT_KEY: json.dumps(dict(facts.fingerprint)).encode(),
    }
    schema = tables[0].schema.with_metadata({**metadata, CHECKSUM_KEY: checksum_of(metadata)})
    floats = [field.name for field in schema if str(field.type) == "float"]
    with pq.ParquetWriter(
        stream,
        schema,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=[field.name for field in schema if field.name not in floats],
        use_byte_stream_split=floats,
        write_page_checksum=True,
    ) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(1, table.num_rows))


def _make_folder(folder: Path) -> None:
    """A folder with all above it, each entry on the disk."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    synchronise_folder(folder.parent)

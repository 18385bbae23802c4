"""The page of a survey's run file."""

from __future__ import annotations

import os
from pathlib import Path

from chiplog.dataset.run_file import read_run
from chiplog.files import open_input
from chiplog.survey.job import run_file_of
from chiplog.survey.page.input import SurveyPage
from chiplog.survey.pair_values import PATTERN
from chiplog.survey.result import survey_result
from chiplog.survey.topology import read_topology

_HEAD_BYTES = 1 << 24
_MARK = f'"pattern":"{PATTERN}"'.encode()


def is_survey(path: str | os.PathLike[str]) -> bool:
    """Whether it is what `chiplog survey -o` wrote: a folder with a run file, or a run file that names all pairs."""
    file = run_file_of(path) if Path(path).is_dir() else Path(path)
    if not file.is_file():
        return False
    with open_input(file) as stream:
        header = stream.readline(_HEAD_BYTES)
        first = stream.readline(_HEAD_BYTES)
        return b'"type":"header"' in header and _MARK in first and b'"by_pair":' in first


def page_of_file(
    path: str | os.PathLike[str],
    *,
    topology: str | os.PathLike[str] | None = None,
    command: tuple[str, ...] = (),
) -> SurveyPage:
    """Judges a survey, as `chiplog survey` does at its end; `topology` is Slurm's file.

    Raises UsageError for a topology that declares none of the nodes, CorruptFile for a damaged run.
    """
    dataset = read_run(run_file_of(path) if Path(path).is_dir() else Path(path))
    declared = None if topology is None else read_topology(topology)
    return SurveyPage(
        survey_result(dataset, declared), str(dataset.header.get("created", "")), command=command
    )

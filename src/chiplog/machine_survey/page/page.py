"""The page of a survey's run file: its sections in the order in which they are read."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from chiplog.counts import counted
from chiplog.dataset.run_file import read_run
from chiplog.input_file import open_input
from chiplog.machine_survey.job import run_file_of
from chiplog.machine_survey.page.classes import classes_section
from chiplog.machine_survey.page.input import Months, NodeLines, ShiftRow, SurveyPage
from chiplog.machine_survey.page.matrix import matrix_section
from chiplog.machine_survey.page.months import months_section
from chiplog.machine_survey.page.suspects import suspects_section
from chiplog.machine_survey.pair_values import PATTERN
from chiplog.machine_survey.result import survey_result
from chiplog.machine_survey.topology import read_topology
from chiplog.report import format
from chiplog.report.document import Document, Fact, Facts, Inline, Section, code, line, muted
from chiplog.report.names import moment

__all__ = ["Months", "NodeLines", "ShiftRow", "SurveyPage", "survey_page"]

SECTIONS = (suspects_section, matrix_section, classes_section, months_section)
MOST_DIFFERENCES = 20
"""Given: rows that are listed."""
_HEAD_BYTES = 1 << 24
_MARK = f'"pattern":"{PATTERN}"'.encode()


def is_survey(path: str | os.PathLike[str]) -> bool:
    """Returns whether `chiplog survey -o` wrote it: a folder with a run file, or a run file that names all pairs."""
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


def survey_page(page: SurveyPage) -> Document:
    """Returns the survey as a document, which renderers turn into HTML or Markdown."""
    made = (section_of(page) for section_of in SECTIONS)
    sections = tuple(section for section in made if section is not None)
    rest = replace(_measured(page), folded=True)
    return Document(f"chiplog survey: {page.result.target}", _subtitle(page), (*sections, rest))


def _subtitle(page: SurveyPage) -> Inline:
    result = page.result
    pairs = f"{format.count(result.pairs)} of {format.count(result.pairs_in_all)} pairs"
    return line(muted(f"{counted(len(result.nodes), 'node')}, {pairs}, {moment(page.created)}"))


def _measured(page: SurveyPage) -> Section:
    result, verdict = page.result, page.result.verdict
    facts = [
        Fact(line("Target"), line(code(result.target))),
        Fact(
            line("Rounds"),
            line(f"{result.rounds}, each pair {counted(verdict.visits, 'time')} at most"),
        ),
    ]
    if result.at_once is not None:
        pairs = counted(result.at_once.pairs, "pair")
        share = f"{100 * result.at_once.ratio:.0f} % of the bandwidth alone, median of {pairs}"
        limit = "; CPUs or shared links were the limit, so a slow link may not show"
        facts.append(Fact(line("At once"), line(share + (limit if result.at_once.limits else ""))))
    if result.uplinks is not None:
        filled = f"each full, each way, in {result.uplinks.least} of {result.uplinks.rounds} rounds or more"
        facts.append(Fact(line("Uplinks"), line(filled)))
    if verdict.leaves is not None:
        agrees = {True: ", as declared", False: "", None: ""}[verdict.agrees]
        facts.append(Fact(line("Leaves"), line(f"{verdict.leaves}{agrees}")))
    facts += [
        Fact(line("Topology"), line(difference.text))
        for difference in verdict.differences[:MOST_DIFFERENCES]
    ]
    facts += [Fact(line("Lost"), line(f"{node.node}: {node.reason}")) for node in result.lost]
    facts.append(Fact(line("Raw samples"), line(code(str(result.path)))))
    if page.command:
        facts.append(Fact(line("Made by"), line(code(shlex.join(page.command)))))
    return Section("survey-measured", line("What was measured"), (Facts(tuple(facts)),))

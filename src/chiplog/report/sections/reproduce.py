"""How the report was made and how to make it again."""

from __future__ import annotations

import shlex

from chiplog.report.document import Block, Fact, Facts, Paragraph, Section, code, joined, line
from chiplog.report.header import text
from chiplog.report.input import ReportInput
from chiplog.report.names import moment


def section(report: ReportInput) -> Section | None:
    """Command line, versions, files and seeds."""
    facts: list[Fact] = []
    if report.command:
        facts.append(Fact(line("Command"), line(code(shlex.join(report.command)))))
    facts.append(Fact(line("Made"), line(moment(report.created))))
    if report.versions:
        facts.append(
            Fact(line("Versions"), line(", ".join(f"{name} {v}" for name, v in report.versions)))
        )
    files = tuple(
        name for target in report.targets for run in target.runs for name in run.raw_files
    )
    if files:
        facts.append(Fact(line("Raw samples"), joined((line(code(name)) for name in files), ", ")))
    seeds = [
        f"{target.name}: {seed}"
        for target in report.targets
        if (seed := text(target.dataset.header, "seed")) is not None
    ]
    if seeds:
        facts.append(Fact(line("Seeds"), line("; ".join(seeds))))
    blocks: list[Block] = [Facts(tuple(facts))]
    if files:
        blocks.append(
            Paragraph(line("The same report from the same samples, without measuring again:"))
        )
        blocks.append(
            Paragraph(line(code(shlex.join(["chiplog", "report", *files, "-o", "report.html"]))))
        )
    return Section("reproduce", line("How to reproduce"), tuple(blocks), in_terminal=False)

"""`chiplog survey verdict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import JsonOption, SurveyArgument
from chiplog.cli.output import LABEL, say, wrapped, write_json
from chiplog.cli.parameters import Option, OutputFile
from chiplog.errors import UsageError
from chiplog.output_file import is_standard_output, write_text

if TYPE_CHECKING:
    from chiplog.machine_survey.operators.by_node import SurveyVerdict
    from chiplog.machine_survey.result import SurveyResult

FORMATS = ("prometheus", "nhc")


def survey_verdict(
    run: SurveyArgument,
    to: Annotated[
        str | None,
        Option(
            metavar="FORMAT",
            help="prometheus: for node_exporter; nhc: for a health check on each node.",
        ),
    ] = None,
    out: Annotated[
        str,
        OutputFile("-o", "--output", metavar="FILE", help="Of --to; - is standard output."),
    ] = "-",
    json_file: JsonOption = None,
) -> None:
    """Say which nodes of a survey are slow, for operators.

    Prints whether to rely on it, and the lines that drain slow nodes.
    """
    from chiplog.dataset.run_file import read_run
    from chiplog.machine_survey.job import run_file_of
    from chiplog.machine_survey.operators.by_node import require_survey, verdict_by_node
    from chiplog.machine_survey.result import survey_result

    if to is not None and to not in FORMATS:
        raise UsageError(f"--to: '{to}' is not known; it accepts {' or '.join(FORMATS)}.")
    dataset = read_run(run_file_of(run))
    require_survey(dataset)
    result = survey_result(dataset)
    verdict = verdict_by_node(dataset, result.verdict)
    write_json(json_file, verdict.to_json())
    if to is not None:
        write_text(out, _text(to, verdict))
    if json_file != "-" and (to is None or not is_standard_output(out)):
        _show(result, verdict)


def _show(result: SurveyResult, verdict: SurveyVerdict) -> None:
    """Prints whether to rely on it, the nodes, the slow uplinks and pairs, which drain nobody, and what drains."""
    from chiplog.cli.survey_text import slow_lines
    from chiplog.machine_survey.operators.by_node import drain_lines
    from chiplog.machine_survey.trust import trust_sentence

    lines = [_sentence(verdict), *slow_lines(verdict.others)]
    say(wrapped(trust_sentence(result)))
    say("\n".join([*(wrapped(line, LABEL) for line in lines), *drain_lines(verdict)]))


def _text(to: str, verdict: SurveyVerdict) -> str:
    from chiplog.machine_survey.operators.node_check import node_check_text
    from chiplog.machine_survey.operators.prometheus import prometheus_text

    return prometheus_text(verdict) if to == "prometheus" else node_check_text(verdict)


def _sentence(verdict: SurveyVerdict) -> str:
    words = [node.verdict for node in verdict.nodes]
    counts = [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    return f"nodes      {', '.join(counts) or 'none was measured'}"

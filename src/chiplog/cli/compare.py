"""`chiplog compare`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import JsonOption, RunArgument, TargetOption, names, option
from chiplog.cli.output import note, write_json
from chiplog.cli.parameters import Argument, Option
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.comparison.result import ModelRow, ModelRows, RunRow
    from chiplog.dataset.series import Dataset


@dataclass(frozen=True)
class ComparedRuns:
    """One run, whose models are compared, or two."""

    run: RunArgument
    other: Annotated[
        Path | None,
        Argument(metavar="[RUN_B]", help="A second run, compared with the first."),
    ] = None


@dataclass(frozen=True)
class JudgingOptions:
    """How models are judged."""

    models: str | None = option(
        None,
        "--models",
        "--model",
        metavar="NAME[,NAME ...]",
        help="Models to judge on held-out points.",
    )
    hold_out: str | None = option(
        help='The points to hold out, e.g. "message_bytes>65536" or "peers>8".'
    )
    folds: int | None = option(help="Hold out each of so many parts in turn.")
    method: str | None = option(help="How models are fitted.")

    def by_name(self) -> dict[str, object]:
        """The options as they are typed, with what was given."""
        return {
            "--models": self.models,
            "--hold-out": self.hold_out,
            "--folds": self.folds,
            "--method": self.method,
        }


def compare(
    runs: ComparedRuns,
    *,
    judging: JudgingOptions,
    fail_on: Annotated[
        str | None,
        Option(help="End with 3 where RUN_B is e.g. slower:5%, with 4 where that can't be told."),
    ] = None,
    target: TargetOption = None,
    details: Annotated[
        bool, Option("--details", help="Of two runs, show the rows that don't differ, too.")
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Compare two runs, or models on points not fitted to.

    Two runs are of the same measurement.
    """
    from chiplog.comparison.best import best_rows
    from chiplog.comparison.result import comparison_to_json
    from chiplog.fitting.request import left_out_lines

    judged, rows = _compared(runs, judging, fail_on, target)
    write_json(json_file, comparison_to_json(rows, judged.left_out, best_rows(judged.rows)))
    if rows and json_file != "-":
        from chiplog.cli.tables import print_comparison

        print_comparison(rows, details=details)
    for line in left_out_lines(judged.left_out):
        note(line)
    if fail_on is not None:
        from chiplog.comparison.result import RunRow
        from chiplog.comparison.threshold import check_threshold

        check_threshold([row for row in rows if isinstance(row, RunRow)], fail_on)


def _compared(
    runs: ComparedRuns, judging: JudgingOptions, fail_on: str | None, target: str | None
) -> tuple[ModelRows, Sequence[ModelRow | RunRow]]:
    """Returns the judged models and the rows that are shown.

    UsageError where an option belongs to the other form of the command.
    """
    from chiplog.comparison.result import ModelRows
    from chiplog.dataset.run_file import read_run
    from chiplog.dataset.series import one_part

    if runs.other is not None:
        _only_for("RUN", judging.by_name())
        return ModelRows(()), _runs(runs.run, runs.other, fail_on, target)
    _only_for("RUN_A RUN_B", {"--fail-on": fail_on})
    judged = _models(one_part(read_run(runs.run), target), judging)
    return judged, judged.rows


def _models(dataset: Dataset, judging: JudgingOptions) -> ModelRows:
    from chiplog.comparison.models import judge_models, nothing_to_compare

    if judging.hold_out is not None and judging.folds is not None:
        raise UsageError("--hold-out and --folds exclude each other; give one of them.")
    chosen = None if judging.models is None else names(judging.models, "--models")
    held_out = judging.folds if judging.hold_out is None else judging.hold_out
    judged = judge_models(dataset, chosen, hold_out=held_out, method=judging.method)
    if not judged.rows and chosen is not None:
        raise nothing_to_compare(dataset, judged)
    if not judged.rows and not judged.left_out:
        note(str(nothing_to_compare(dataset, judged)))
    return judged


def _runs(run: Path, other: Path, fail_on: str | None, target: str | None) -> Sequence[RunRow]:
    from chiplog.comparison.runs import compare_runs
    from chiplog.comparison.threshold import parse_threshold
    from chiplog.dataset.run_file import read_run

    if fail_on is not None:
        parse_threshold(fail_on)  # wrong usage is told before the work
    return compare_runs(*(_without_part(read_run(path), target) for path in (run, other)))


def _without_part(run: Dataset, target: str | None) -> Dataset:
    """The series that --target means, without a part's name, so that they meet those of a file that has no parts."""
    from chiplog.dataset.series import part_or_target

    chosen = part_or_target(run, target)
    if target is None:
        return chosen
    return replace(
        chosen, series=tuple(replace(series, placement=None) for series in chosen.series)
    )


def _only_for(form: str, options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} belongs to `chiplog compare {form}`.")

"""`chiplog predict`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import (
    DEFAULT_DIMENSIONS,
    DEFAULT_SEGMENT,
    RANKS,
    BytesOption,
    DimensionsOption,
    ModelNameOption,
    ModelResults,
    SegmentOption,
    option,
)
from chiplog.cli.output import CROSSING_UNKNOWN, INCAST_FOLLOWED, note, tell_states, write_json
from chiplog.cli.parameters import Argument
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.collectives.algorithm import Task
    from chiplog.prediction.anchors import Anchor
    from chiplog.prediction.error_table import ErrorTable
    from chiplog.prediction.result import Prediction


@dataclass(frozen=True)
class TaskOptions:
    """The call that is predicted, by which of its algorithms and by which model."""

    ranks: str | None = option(
        metavar=RANKS,
        help="Number of ranks: 64, or 4,8, or 2:1024; of one-to-many, peers + 1 by default.",
    )
    algorithm: str | None = option(help="See: chiplog list operations; all by default.")
    message_bytes: BytesOption = 1  # Given: the shortest message.
    peers: int | None = option(
        help="n of n-way algorithms (the best by default), trees (2) and one-to-many (all others)."
    )
    segment: SegmentOption = DEFAULT_SEGMENT
    dimensions: DimensionsOption = DEFAULT_DIMENSIONS
    # Given: each rank has a node of its own.
    per_node: int = option(1, "--per-node", help="Ranks that share a node, for max-rate.")
    model: ModelNameOption = None
    paper_literal: bool = option(
        False, "--paper-literal", help="Of one-to-many: LoP's formulas as printed."
    )
    anchors: list[Path] | None = option(
        None,
        "--anchor",
        metavar="FILE",
        help="Correct by measured operations, e.g. of fewer ranks: chiplog bench, a run file or CSV; repeatable.",
    )
    errors: str | None = option(
        metavar="FILE|clusters",
        help="Widen intervals by errors of predictions: a table of chiplog calibrate, or three clusters'.",
    )
    convention: str = option(
        "common-start",
        "--as",
        metavar="osu|common-start",
        help="Which time: the mean of own clocks after a barrier, or from a common start to the last rank's end.",
    )


def predict(
    model_file: Annotated[
        Path,
        Argument(
            metavar="MODEL.json", help="A model file of chiplog fit -o, or a folder of chiplog run."
        ),
    ],
    operation: Annotated[str, Argument(help="See: chiplog list operations.")],
    *,
    task: TaskOptions,
    results: ModelResults,
) -> None:
    """Say how long a collective operation takes.

    By each algorithm, fastest first, with intervals and a lower bound.
    """
    from chiplog.fitting.model_file import read_model
    from chiplog.fitting.origin import of_target
    from chiplog.prediction.convention import convention_of
    from chiplog.prediction.crossing import follows_incasts, is_crossing_unknown
    from chiplog.prediction.predict import predict as predict_rows
    from chiplog.prediction.result import predictions_to_json
    from chiplog.prediction.to_many import OPERATION

    _refuse_swapped(model_file, operation)
    convention = convention_of(task.convention, "--as")
    questions = [_task(ranks, task) for ranks in _ranks(task.ranks, operation, task.peers)]
    anchors = _anchors(task.anchors or ())
    errors = _errors(task.errors)
    fits = of_target(read_model(model_file), results.target, str(model_file))

    def ask(question: Task) -> tuple[Prediction, ...]:
        return predict_rows(
            fits,
            operation,
            question,
            algorithm=task.algorithm,
            peers=task.peers,
            per_node=task.per_node,
            model=task.model,
            paper_literal=task.paper_literal,
            anyway=results.anyway,
            convention=convention,
            anchors=anchors,
            errors=errors,
        )

    rows = tuple(row for question in questions for row in ask(question))
    if results.report is not None:
        _write_report(ask, questions[-1], results.report)
    write_json(results.json_file, predictions_to_json(rows))
    if results.json_file == "-":
        return
    from chiplog.cli.prediction_table import print_predictions

    print_predictions(rows)
    _tell_unnamed(anchors, operation, task.algorithm)
    if is_crossing_unknown(fits, rows):
        note(CROSSING_UNKNOWN)
    if not anchors and operation != OPERATION:
        tell_states(next(fit for fit in fits if fit.model == rows[0].model))
    if follows_incasts(fits, rows):
        note(INCAST_FOLLOWED)


def _refuse_swapped(model_file: Path, operation: str) -> None:
    """UsageError where the model is typed where the operation belongs."""
    if not model_file.exists() and Path(operation).exists():
        raise UsageError(
            f"{model_file} is no file: the model comes first, as in chiplog predict {operation} {model_file}."
        )


def _task(ranks: int, options: TaskOptions) -> Task:
    from chiplog.collectives.algorithm import Task

    return Task(
        ranks,
        options.message_bytes,
        peers=2 if options.peers is None else options.peers,
        segment_bytes=options.segment,
        dimensions=options.dimensions,
    )


def _anchors(paths: Sequence[Path]) -> tuple[Anchor, ...]:
    if not paths:
        return ()
    from chiplog.jobs.anchor_files import read_anchors

    return read_anchors(paths)


def _errors(name: str | None) -> ErrorTable | None:
    if name is None:
        return None
    from chiplog.prediction.error_table import read_error_table

    return read_error_table(name)


def _tell_unnamed(anchors: Sequence[Anchor], operation: str, algorithm: str | None) -> None:
    """Say which files are taken to be of the asked algorithm, since they name none."""
    sources = [
        anchor.source
        for anchor in anchors
        if anchor.algorithm is None and anchor.operation == operation
    ]
    for source in dict.fromkeys(sources):
        note(f"{source} does not name its algorithm: taken as {algorithm}.")


def _write_report(ask: Callable[[Task], tuple[Prediction, ...]], asked: Task, path: Path) -> None:
    from chiplog.jobs.prediction_page import prediction_page
    from chiplog.prediction.over_ranks import predict_over_ranks
    from chiplog.report.write import write_document

    write_document(prediction_page(predict_over_ranks(ask, asked)), path)
    note(f"the report is {path}.")


def _ranks(ranks: str | None, operation: str, peers: int | None) -> tuple[int, ...]:
    """The numbers of ranks that are meant; UsageError where nothing says them."""
    from chiplog.collectives.algorithm import MOST_RANKS
    from chiplog.plan.sizes import parse_ranks
    from chiplog.prediction.to_many import OPERATION

    if ranks is not None:
        return parse_ranks(ranks, every=False, least=1, most=MOST_RANKS)
    if operation == OPERATION and peers is not None:
        return (peers + 1,)
    or_peers = " or --peers" if operation == OPERATION else ""
    raise UsageError(f"--ranks{or_peers}: say how many there are.")

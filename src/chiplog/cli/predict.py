"""`chiplog predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import (
    AnywayOption,
    BytesOption,
    JsonOption,
    ReportOption,
    TargetOption,
    note,
    write_json,
)


def predict(
    model_file: Annotated[
        Path, typer.Argument(metavar="MODEL.json", help="A model file, from `chiplog fit -o`.")
    ],
    operation: Annotated[str, typer.Argument(help="See: chiplog list operations")],
    ranks: Annotated[
        int | None, typer.Option(help="Number of ranks; of one-to-many, peers + 1 by default.")
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="See: chiplog list operations; all by default.")
    ] = None,
    message_bytes: BytesOption = 1,
    peers: Annotated[
        int | None,
        typer.Option(
            help="n of n-way algorithms (the best by default), trees (2) and one-to-many (all others)."
        ),
    ] = None,
    segment: Annotated[int, typer.Option(help="Bytes of a segment of a chain.")] = 8192,
    dimensions: Annotated[int, typer.Option(help="Of a halo's grid: 1, 2 or 3.")] = 2,
    per_node: Annotated[
        int, typer.Option("--per-node", help="Ranks that share a node, for max-rate.")
    ] = 1,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of the file's models to use.")
    ] = None,
    paper_literal: Annotated[
        bool,
        typer.Option("--paper-literal", help="Of one-to-many: LoP's formulas as printed."),
    ] = False,
    target: TargetOption = None,
    anyway: AnywayOption = False,
    report: ReportOption = None,
    json_file: JsonOption = None,
) -> None:
    """Say how long a collective operation takes, by each algorithm, fastest first, with intervals and a lower bound."""
    from chiplog.collectives.algorithm import Task
    from chiplog.fit.model_file import read_model
    from chiplog.fit.origin import of_target
    from chiplog.predict.prediction import predict as predict_rows
    from chiplog.predict.result import Prediction, predictions_to_json

    task = Task(
        _ranks(ranks, operation, peers),
        message_bytes,
        peers=2 if peers is None else peers,
        segment_bytes=segment,
        dimensions=dimensions,
    )
    fits = of_target(read_model(model_file), target, str(model_file))

    def ask(asked: Task) -> tuple[Prediction, ...]:
        return predict_rows(
            fits,
            operation,
            asked,
            algorithm=algorithm,
            peers=peers,
            per_node=per_node,
            model=model,
            paper_literal=paper_literal,
            anyway=anyway,
        )

    rows = ask(task)
    if report is not None:
        from chiplog.jobs.prediction_page import prediction_page
        from chiplog.predict.over_ranks import predict_over_ranks
        from chiplog.report.write import write_document

        page = prediction_page(predict_over_ranks(ask, task))
        write_document(page, report)
        note(f"the report is {report}.")
    if json_file:
        write_json(json_file, predictions_to_json(rows))
        return
    from chiplog.cli.prediction_table import print_predictions

    print_predictions(rows)


def _ranks(ranks: int | None, operation: str, peers: int | None) -> int:
    """The number of ranks that is meant; UsageError where nothing says it."""
    from chiplog.errors import UsageError
    from chiplog.predict.to_many import OPERATION

    if ranks is not None:
        return ranks
    if operation == OPERATION and peers is not None:
        return peers + 1
    or_peers = " or --peers" if operation == OPERATION else ""
    raise UsageError(f"--ranks{or_peers}: say how many there are.")

"""The anchor: collective operations of all ranks, beside what the model says of them, and what to do with them."""

from __future__ import annotations

from pathlib import PurePath

from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Inline,
    Paragraph,
    Section,
    Table,
    code,
    line,
    number_columns,
    text_columns,
)
from chiplog.report.input import AnchoredOperation, RunAnchor, TargetReport
from chiplog.statistics import NO_DIFFERENCE

VOWELS = "aeiou"
WITHOUT_SIZE = ("barrier",)
"""Operations that carry no message."""


def section(target: TargetReport, key: str) -> Section | None:
    """The sentence and the table; None where no anchor was to be measured."""
    anchor = target.anchor
    if anchor is None:
        return None
    sentence = anchor_sentence(anchor)
    blocks: list[Block] = [Paragraph(line(f"{sentence[0].upper()}{sentence[1:]}."))]
    if anchor.operations:
        blocks.append(_table(anchor.operations))
    if anchor.operations and anchor.failure:
        blocks.append(Paragraph(line(f"Not everything was measured: {anchor.failure}.")))
    if anchor.file is not None:
        use = line("Use it by ", code(f"--anchor {_place(anchor.file)}"), " of chiplog predict.")
        blocks.append(Paragraph(use))
    return Section(f"{key}-anchor", line("Anchor"), tuple(blocks))


def anchor_sentence(anchor: RunAnchor) -> str:
    """What the first operation shows, and what follows for predictions; or why there is no anchor. Without a stop."""
    if not anchor.operations:
        return f"there is no anchor: {anchor.failure}"
    first = anchor.operations[0]
    takes = f"{operation_text(first)} takes {format.brief(first.measured.value, 's')}"
    if first.predicted is None or first.factor is None:
        return f"{takes}, which the model does not predict (see --details)"
    says = format.brief(first.predicted.value, "s")
    factor = f"factor {_with_interval(first.factor, '')}"
    if first.factor.low <= 1.0 + NO_DIFFERENCE and first.factor.high >= 1.0 - NO_DIFFERENCE:
        return f"{takes}, which agrees with the model: {says} ({factor})"
    return f"{takes} where the model says {says}: predictions of it need --anchor ({factor})"


def operation_text(operation: AnchoredOperation) -> str:
    """What was measured: "a barrier of 4 ranks", "an allgather of 4 ranks and 8 B"."""
    article = "an" if operation.operation[0] in VOWELS else "a"
    size = "" if operation.operation in WITHOUT_SIZE else f" and {_size(operation)}"
    return f"{article} {operation.operation} of {operation.ranks} ranks{size}"


def _table(operations: tuple[AnchoredOperation, ...]) -> Table:
    caption = line(
        "Times of all ranks from a common start, beside predictions from two ranks, with 95 % intervals. By the factor "
        "--anchor corrects the time of messages alone, without what exchanges add."
    )
    columns = (
        *text_columns("Operation", "Algorithm"),
        *number_columns("Ranks", "Bytes", "Measured", "Predicted", "Factor"),
    )
    notes = dict.fromkeys(_note(operation) for operation in operations if operation.reason)
    rows = tuple(_row(operation) for operation in operations)
    return Table(caption, columns, rows, tuple(line(note) for note in notes))


def _note(operation: AnchoredOperation) -> str:
    """Why there is no prediction, or what that marked with a star is beyond."""
    if operation.predicted is None:
        return f"Not predicted: {operation.reason}"
    return f"* Extrapolated: {operation.reason}."


def _row(operation: AnchoredOperation) -> tuple[Inline, ...]:
    return (
        line(operation.operation),
        line(operation.algorithm),
        line(str(operation.ranks)),
        line(format.NOTHING if operation.operation in WITHOUT_SIZE else _size(operation)),
        line(_with_interval(operation.measured, "s")),
        line(_with_interval(operation.predicted, "s"), " *" if _is_beyond(operation) else ""),
        line(_with_interval(operation.factor, "")),
    )


def _is_beyond(operation: AnchoredOperation) -> bool:
    """Whether the prediction is beyond what was measured."""
    return operation.predicted is not None and operation.reason is not None


def _with_interval(span: AnswerSpan | None, unit: str) -> str:
    if span is None:
        return format.NOTHING
    return format.with_interval(span.value, span.low, span.high, unit)


def _size(operation: AnchoredOperation) -> str:
    return format.message_size(operation.message_bytes)


def _place(file: str) -> str:
    """The file below the folder of the report."""
    return "/".join(PurePath(file).parts[-2:])

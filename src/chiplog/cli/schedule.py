"""`chiplog schedule`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import (
    DEFAULT_DIMENSIONS,
    DEFAULT_SEGMENT,
    RANKS,
    BytesOption,
    DimensionsOption,
    SegmentOption,
    option,
    time,
)
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, Option, OutputFile
from chiplog.counts import counted

if TYPE_CHECKING:
    from chiplog.collectives.algorithm import TreeCosts


@dataclass(frozen=True)
class ShapeOptions:
    """The sizes that shape the schedule of an algorithm."""

    message_bytes: BytesOption = 1  # Given: the shortest message.
    # Given: the fewest that make more than a chain.
    peers: int = option(2, help="n of n-way algorithms and trees.")
    segment: SegmentOption = DEFAULT_SEGMENT
    dimensions: DimensionsOption = DEFAULT_DIMENSIONS


@dataclass(frozen=True)
class CostOptions:
    """The parameters of LogGP that shape a tree."""

    L: str = option(
        "1",
        "--L",
        metavar="TIME",
        parser=time,
        help="Shapes a LogP-optimal tree: 1us, or 1000, in ns.",
    )
    o: str = option("0", "--o", metavar="TIME", parser=time, help="Shapes a LogP-optimal tree.")
    g: str = option("1", "--g", metavar="TIME", parser=time, help="Shapes a LogP-optimal tree.")
    G: str = option(
        "0", "--G", metavar="TIME", parser=time, help="Shapes a LogP-optimal tree; a byte's."
    )


def schedule(
    operation: Annotated[str, Argument(help="See: chiplog list operations.")],
    algorithm: Annotated[str, Option(help="See: chiplog list operations.")],
    ranks: Annotated[int, Option(metavar=RANKS, help="Number of ranks.")],
    out: Annotated[
        str,
        OutputFile(
            "-o", "--output", metavar="FILE.goal", help="The file to write; - is standard output."
        ),
    ],
    shape: ShapeOptions,
    costs: CostOptions,
) -> None:
    """Write a collective operation's schedule as GOAL text."""
    from chiplog.collectives.algorithm import Task
    from chiplog.collectives.registry import load
    from chiplog.output_file import is_standard_output
    from chiplog.schedule.goal import write_goal

    task = Task(
        ranks,
        shape.message_bytes,
        shape.peers,
        shape.segment,
        shape.dimensions,
        _tree_costs(costs, shape.message_bytes),
    )
    made = load(operation, algorithm).schedule(task)
    write_goal(made, out)
    if not is_standard_output(out):
        note(
            f"{counted(made.operations.size, 'operation')} of {counted(ranks, 'rank')} written to {out}."
        )


def _tree_costs(costs: CostOptions, message_bytes: int) -> TreeCosts:
    from chiplog.collectives.algorithm import TreeCosts

    L, o, g, G = map(float, (costs.L, costs.o, costs.g, costs.G))
    wire = max(0, message_bytes - 1) * G
    return TreeCosts(between_sends=max(o, g + wire), until_received=L + 2 * o + wire)

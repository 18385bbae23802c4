"""`chiplog schedule`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from chiplog.cli.options import BytesOption, DimensionsOption, SegmentOption, option
from chiplog.cli.output import note
from chiplog.counts import counted
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.collectives.algorithm import TreeCosts


@dataclass(frozen=True)
class ShapeOptions:
    """The sizes that shape the schedule of an algorithm."""

    message_bytes: BytesOption = 1
    peers: int = option(2, help="n of n-way algorithms and trees.")
    segment: SegmentOption = 8192
    dimensions: DimensionsOption = 2


@dataclass(frozen=True)
class CostOptions:
    """The parameters of LogGP in nanoseconds that shape a tree."""

    L: float = option(1.0, "--L", help="Shapes a LogP-optimal tree; ns.")
    o: float = option(0.0, "--o", help="Shapes a LogP-optimal tree; ns.")
    g: float = option(1.0, "--g", help="Shapes a LogP-optimal tree; ns.")
    G: float = option(0.0, "--G", help="Shapes a LogP-optimal tree; ns/B.")


def schedule(
    operation: Annotated[str, typer.Argument(help="See: chiplog list operations")],
    algorithm: Annotated[str, typer.Option(help="See: chiplog list operations")],
    ranks: Annotated[int, typer.Option(help="Number of ranks.")],
    out: Annotated[
        str,
        typer.Option(
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

    if min(costs.L, costs.o, costs.g, costs.G) < 0:
        raise UsageError("--L, --o, --g and --G: accept numbers that are not negative.")
    wire = max(0, message_bytes - 1) * costs.G
    return TreeCosts(
        between_sends=max(costs.o, costs.g + wire), until_received=costs.L + 2 * costs.o + wire
    )

"""`chiplog schedule`."""

from __future__ import annotations

from typing import Annotated

import typer

from chiplog.cli.output import BytesOption, note
from chiplog.errors import UsageError


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
    message_bytes: BytesOption = 1,
    peers: Annotated[int, typer.Option(help="n of n-way algorithms and trees.")] = 2,
    segment: Annotated[int, typer.Option(help="Bytes of a segment of a chain.")] = 8192,
    dimensions: Annotated[int, typer.Option(help="Of a halo's grid: 1, 2 or 3.")] = 2,
    L: Annotated[float, typer.Option("--L", help="Shapes a LogP-optimal tree; ns.")] = 1.0,
    o: Annotated[float, typer.Option("--o", help="Shapes a LogP-optimal tree; ns.")] = 0.0,
    g: Annotated[float, typer.Option("--g", help="Shapes a LogP-optimal tree; ns.")] = 1.0,
    G: Annotated[float, typer.Option("--G", help="Shapes a LogP-optimal tree; ns/B.")] = 0.0,
) -> None:
    """Write the schedule of a collective operation as GOAL text."""
    from chiplog.collectives.algorithm import Task, TreeCosts
    from chiplog.collectives.registry import load
    from chiplog.output_file import is_standard_output
    from chiplog.schedule.goal import write_goal

    if min(L, o, g, G) < 0:
        raise UsageError("--L, --o, --g and --G: accept numbers that are not negative.")
    wire = max(0, message_bytes - 1) * G
    costs = TreeCosts(between_sends=max(o, g + wire), until_received=L + 2 * o + wire)
    task = Task(ranks, message_bytes, peers, segment, dimensions, costs)
    made = load(operation, algorithm).schedule(task)
    write_goal(made, out)
    if not is_standard_output(out):
        note(f"{made.operations.size} operations of {ranks} ranks are in {out}.")

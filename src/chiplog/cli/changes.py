"""`chiplog changes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import JsonOption, RunArgument, TargetOption
from chiplog.cli.output import say, write_json
from chiplog.cli.parameters import Option

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.protocol_changes.result import ChangesResult


def changes(
    run: RunArgument,
    target: TargetOption = None,
    json_file: JsonOption = None,
    details: Annotated[
        bool, Option("--details", help="Show the changes of every series, too.")
    ] = False,
) -> None:
    """Find the protocol changes of a run.

    Printed is the consensus of all its series.
    """
    from chiplog.dataset.run_file import read_run
    from chiplog.dataset.series import by_part, part_or_target
    from chiplog.protocol_changes.result import changes_to_json

    dataset = part_or_target(read_run(run), target)
    if json_file:
        write_json(json_file, changes_to_json(_by_way(dataset)))
    if json_file == "-":
        return
    from chiplog.cli.tables import print_changes

    for name, part in by_part(dataset).items():
        if name is not None:
            say(f"{name}:")
        print_changes(_by_way(part), details=details)


def _by_way(dataset: Dataset) -> dict[tuple[str, str], ChangesResult]:
    """The changes of each operation and posting."""
    from chiplog.protocol_changes.find import find_changes

    return {way: find_changes(part) for way, part in dataset.by_way().items()}

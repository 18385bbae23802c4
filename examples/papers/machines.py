"""Tables of the machines that two documents name, beside what chiplog records of a machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from chiplog.measurement.doctor import examine

COMMAND = "chiplog doctor"
ROWS = (
    ("processor", "cpu"),
    ("cores", "cores"),
    ("bus of the network adapter", ""),
    ("network", "rdma device"),
    ("operating system", "kernel"),
    ("virtual machine", "hypervisor"),
    ("frequency governor", "governor"),
    ("clock", "clock"),
    ("MPI", "mpi"),
)
"""What a table has a line for, and the name of chiplog's line; "" where it has none."""


@cache
def recorded() -> dict[str, str]:
    """What `chiplog doctor` prints of this machine; of long lines only what stays the same from run to run."""
    found: dict[str, list[str]] = {}
    for fact in examine():
        found.setdefault(fact.name, []).append(_stable(fact.name, fact.value))
    return {name: ", ".join(dict.fromkeys(values)) for name, values in found.items()}


def _stable(name: str, value: str) -> str:
    if name == "mpi":
        return value.partition(" at ")[0]
    if name == "clock":
        return value.partition(",")[0]
    if name == "kernel":
        return value.partition("-")[0]
    return value


def table(named: dict[str, dict[str, str]], _: Any) -> str:
    """The named machines' lines, a column each, and chiplog's."""
    lines = [
        f"| | {' | '.join(named)} | the line of `{COMMAND}` | the machine that drew this page |",
        f"|{'---|' * (len(named) + 3)}",
    ]
    for title, name in ROWS:
        said = " | ".join(machine.get(title, "not said") for machine in named.values())
        ours = recorded().get(name, "not recorded") if name else "not recorded"
        line = f"`{name}`" if name else "none"
        lines.append(f"| {title} | {said} | {line} | {ours} |")
    return "\n".join(lines)


def drawing(named: dict[str, dict[str, str]]) -> Callable[[Any], str]:
    """A section's `draw` for some named machines."""
    return partial(table, named)


DIFFERS = (
    "The last column is not one of the document's machines: it is the one on which this page was last built, to show "
    "what chiplog records. The header of each run file has the same facts (`machine`, `clock`, `mpi`), so that such a "
    "table makes itself from run files. Host names, paths and what changes from run to run are left out here. chiplog "
    "records neither the bus of a network adapter nor who owns a machine. "
)

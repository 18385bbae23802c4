"""The leaves of a machine as Slurm's topology.conf declares them: a file that is given, or what Slurm has at hand."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chiplog.errors import ChiplogError, CorruptFile, UsageError
from chiplog.input_file import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.machine_survey.pair_values import IntArray

MOST_NAMES = 1_000_000
"""Given: a file that names more nodes than this is refused."""
UNDECLARED = -1
"""Derived: no number of a switch."""
ASK = ("scontrol", "show", "topology")
MOST_SECONDS = 10.0
"""Given: a controller that doesn't answer sooner is not waited for."""
USUAL_FOLDERS = ("/etc/slurm", "/etc/slurm-llnl")
FILE = "topology.conf"
_KEYS = frozenset({"switchname", "nodes", "switches", "linkspeed"})
_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")
_LIST_COMMA = re.compile(r",(?![^\[\]]*\])")


@dataclass(frozen=True, slots=True)
class Topology:
    """The leaves by name, each with the names of its nodes, and the switch above each switch."""

    leaves: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, str]


def read_topology(path: str | os.PathLike[str]) -> Topology:
    """Reads a topology.conf; UsageError where it can't be opened, CorruptFile with the line where it is not one."""
    return parse_topology(read_text(path), str(path))


def parse_topology(text: str, name: str = "topology.conf") -> Topology:
    """Returns the topology in the text of a topology.conf, or of `scontrol show topology`.

    Keys may be in any case; # begins a comment; a backslash at its end goes on in the next line. A node under two
    leaves, a switch named twice, a switch that is nowhere defined and a circle of switches are refused: CorruptFile.
    """
    nodes: dict[str, tuple[str, ...]] = {}
    below: dict[str, tuple[str, ...]] = {}
    known: dict[str, str] = {}
    total = 0
    for number, line in _lines(text):
        where = f"{name}, line {number}"
        fields = _fields(line, where)
        (switch,) = _names(fields["switchname"], where, 1)
        if _key(switch) in known:
            raise CorruptFile(f"{where}: the switch {switch[:80]} is defined twice.")
        known[_key(switch)] = switch
        below[switch] = _names(fields.get("switches", ""), where, MOST_NAMES)
        # scontrol names all nodes below a switch of a higher level, too
        declared = "" if below[switch] else fields.get("nodes", "")
        nodes[switch] = _names(declared, where, MOST_NAMES)
        total += len(nodes[switch])
        if total > MOST_NAMES:
            raise CorruptFile(f"{where}: the file names more than {MOST_NAMES} nodes.")
    leaves = {switch: members for switch, members in nodes.items() if members}
    if not leaves:
        raise CorruptFile(
            f"{name} declares no switch with nodes: SwitchName=... Nodes=... is missing."
        )
    _refuse_two_leaves(leaves, name)
    return Topology(leaves, _parents(below, known, name))


def leaf_numbers(topology: Topology, nodes: tuple[str, ...]) -> tuple[IntArray, tuple[str, ...]]:
    """Returns (n,) each node's leaf as a place in the names that come with it; UNDECLARED where the file has none.

    Names are compared without upper and lower case, and without the domain where one of both has none. UsageError
    where none of the nodes is declared, so the file is another machine's.
    """
    names = tuple(topology.leaves)
    full: dict[str, int] = {}
    short: dict[str, set[int]] = {}
    has_domain: dict[str, set[bool]] = {}
    for number, members in enumerate(topology.leaves.values()):
        for member in members:
            full[_key(member)] = number
            short.setdefault(_short(member), set()).add(number)
            has_domain.setdefault(_short(member), set()).add("." in member)
    leaves = np.full(len(nodes), UNDECLARED, dtype=np.int64)
    for place, node in enumerate(nodes):
        plain = node.partition("#")[0]
        leaf = full.get(_key(plain))
        if leaf is None and ("." not in plain or False in has_domain.get(_short(plain), ())):
            candidates = short.get(_short(plain), set())
            leaf = next(iter(candidates)) if len(candidates) == 1 else None
        leaves[place] = UNDECLARED if leaf is None else leaf
    if len(nodes) and (leaves == UNDECLARED).all():
        raise UsageError(
            f"the topology declares none of the measured nodes ({nodes[0]}, ...), but "
            f"{next(iter(topology.leaves.values()))[0]}, ...: give the file of this machine."
        )
    return leaves, names


def expand_hosts(text: str) -> Iterator[str]:
    """Yields the names that a host list stands for.

    >>> list(expand_hosts("n[08-10,12],login"))
    ['n08', 'n09', 'n10', 'n12', 'login']
    """
    for part in _LIST_COMMA.split(text):
        pieces = re.split(r"\[([^\[\]]*)\]", part)
        if any(mark in piece for piece in pieces[::2] for mark in "[]") or not part:
            raise ValueError(f"{part[:40]!r} is not a host list")
        choices = [
            [piece] if place % 2 == 0 else _numbers(piece) for place, piece in enumerate(pieces)
        ]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > MOST_NAMES:
            raise ValueError(f"{part[:40]!r} stands for more than {MOST_NAMES} names")
        yield from ("".join(combination) for combination in itertools.product(*choices))


def _numbers(text: str) -> list[str]:
    numbers: list[str] = []
    for part in text.split(","):
        match = _RANGE.match(part.strip())
        # Derived: digits of any number that 64 bits hold.
        if match is None or max(map(len, part.split("-"))) > 18:
            raise ValueError(f"{part[:40]!r} is not a range of numbers")
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first) or int(last) - int(first) >= MOST_NAMES - len(numbers):
            raise ValueError(
                f"{part[:40]!r} is an empty range, or one of more than {MOST_NAMES} names"
            )
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers


def _key(name: str) -> str:
    return name.casefold().rstrip(".")


def _short(name: str) -> str:
    return _key(name).partition(".")[0]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields lines without comments, those that go on joined, with the number of the first."""
    begun, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].rstrip()
        first = first or number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        if (begun + line).strip():
            yield first, (begun + line).strip()
        begun, first = "", 0
    if begun.strip():
        yield first, begun.strip()


def _fields(line: str, where: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for word in line.split():
        key, is_there, value = word.partition("=")
        key = key.casefold()
        if not is_there:
            raise CorruptFile(
                f"{where}: {word[:80]!r} is not KEY=VALUE, as in SwitchName=leaf1 Nodes=n[01-32]."
            )
        if key in fields:
            raise CorruptFile(f"{where}: {key[:80]} is given twice.")
        if key not in _KEYS and key != "level":
            raise CorruptFile(
                f"{where}: {key[:80]!r} is no key of it; there are SwitchName, Nodes, Switches, LinkSpeed."
            )
        fields[key] = value
    if not fields.get("switchname"):
        raise CorruptFile(f"{where}: SwitchName= is missing.")
    if not fields.get("nodes") and not fields.get("switches"):
        raise CorruptFile(f"{where}: the switch has neither Nodes= nor Switches=.")
    return fields


def _names(text: str, where: str, most: int) -> tuple[str, ...]:
    if not text or text.casefold() == "(null)":
        return ()
    try:
        names = tuple(itertools.islice(expand_hosts(text), most + 1))
    except ValueError as error:
        raise CorruptFile(f"{where}: {error}.") from error
    if len(names) > most:
        raise CorruptFile(f"{where}: {text[:80]!r} stands for more than {most} names; write fewer.")
    return names


def _refuse_two_leaves(leaves: Mapping[str, tuple[str, ...]], name: str) -> None:
    home: dict[str, str] = {}
    for leaf, members in leaves.items():
        for member in members:
            other = home.setdefault(_key(member), leaf)
            if other != leaf:
                raise CorruptFile(
                    f"{name}: the node {member[:80]} is under two leaves, {other[:80]} and {leaf[:80]}; "
                    "list it under one."
                )


def _parents(
    below: Mapping[str, tuple[str, ...]], known: Mapping[str, str], name: str
) -> dict[str, str]:
    parents: dict[str, str] = {}
    for switch, children in below.items():
        for child in children:
            if _key(child) not in known:
                raise CorruptFile(
                    f"{name}: the switch {child[:80]}, below {switch[:80]}, is defined nowhere."
                )
            parents[known[_key(child)]] = switch
    for switch in below:
        seen, above = {switch[:80]}, parents.get(switch)
        while above is not None:
            if above in seen:
                raise CorruptFile(f"{name}: the switch {switch[:80]} is above itself.")
            seen.add(above)
            above = parents.get(above)
    return parents


def is_under_slurm(launcher: str | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Returns whether the ranks are those of a Slurm job: srun starts them, or this is one.

    >>> is_under_slurm("srun -N 4", {}), is_under_slurm("mpirun -n 4", {})
    (True, False)
    """
    try:
        words = shlex.split(launcher or "")
    except ValueError:
        words = []
    return "SLURM_JOB_ID" in environment or os.path.basename("".join(words[:1])) == "srun"


def topology_of_slurm(
    nodes: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[Topology | None, str | None]:
    """Returns what `scontrol show topology` declares, else topology.conf; None where neither declares any node.

    The sentence says why a file that is there was not used. Nothing is raised: nobody asked for a topology.
    """
    asked = _asked(environment)
    if asked is not None and _declares(asked, nodes):
        return asked, None
    path = _file(environment)
    if path is None:
        return None, None
    try:
        declared = read_topology(path)
        leaf_numbers(declared, tuple(nodes))
    except ChiplogError as error:
        return None, f"{path} was not used: {error}"
    return declared, None


def _asked(environment: Mapping[str, str]) -> Topology | None:
    """Returns what scontrol prints; None without it, without an answer, and where Slurm has no tree of switches."""
    try:
        done = subprocess.run(
            ASK,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MOST_SECONDS,
            env=dict(environment),
            check=True,
        )
        return parse_topology(done.stdout.decode(), " ".join(ASK))
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError, CorruptFile):
        return None


def _declares(topology: Topology, nodes: Sequence[str]) -> bool:
    try:
        leaf_numbers(topology, tuple(nodes))
    except UsageError:
        return False
    return True


def _file(environment: Mapping[str, str]) -> Path | None:
    """Returns topology.conf in the folder of Slurm's configuration; None where there is none."""
    named = environment.get("SLURM_CONF")
    folders = [os.path.dirname(named)] if named else USUAL_FOLDERS
    return next((path for folder in folders if (path := Path(folder, FILE)).is_file()), None)

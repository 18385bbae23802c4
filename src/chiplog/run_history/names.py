"""Names of nodes that mean the same node in several runs, although their case or domain differs."""

from __future__ import annotations

from collections.abc import Sequence


def short_name(name: str) -> str:
    """A host name in lower case and without its domain; an address stays as it is, and so does `#RANK`.

    >>> short_name("N05.cluster.example"), short_name("10.0.0.5"), short_name("N05.cluster#3")
    ('n05', '10.0.0.5', 'n05#3')
    """
    host, mark, rank = name.lower().partition("#")
    label = host.split(".", 1)[0]
    is_address = label.isdecimal() or ":" in host
    return (host if is_address else label) + mark + rank


def node_keys(names: Sequence[str]) -> list[str]:
    """The node that each name means: its short name, or the whole one where domains tell two nodes apart.

    >>> node_keys(["N1.east", "n1", "n2.east", "n2.west"])
    ['n1', 'n1', 'n2.east', 'n2.west']
    """
    domains: dict[str, set[str]] = {}
    for name in names:
        if "." in name:
            domains.setdefault(short_name(name), set()).add(name.lower())
    ambiguous = {short for short, full in domains.items() if len(full) > 1}
    return [name.lower() if short_name(name) in ambiguous else short_name(name) for name in names]

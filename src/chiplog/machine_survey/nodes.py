"""The names of a machine's nodes, as the header of a run file has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from chiplog.errors import UsageError


def node_names(header: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the name of each rank's node: its host, and `HOST#RANK` where several ranks share one.

    Hosts whose names differ only in upper and lower case are different ones here; `refuse_ambiguous` refuses them.
    A header without hosts, as of an imported file, gives `rank 0` and so on.
    """
    hosts = header.get("hosts")
    ranks = header.get("ranks")
    if not isinstance(hosts, Sequence) or isinstance(hosts, str) or len(hosts) != ranks:
        return tuple(f"rank {rank}" for rank in range(ranks if isinstance(ranks, int) else 0))
    names = [str(host) for host in hosts]
    count = Counter(names)
    return tuple(name if count[name] == 1 else f"{name}#{rank}" for rank, name in enumerate(names))


def are_same_hosts(ones: object, others: object) -> bool:
    """Returns whether two headers' hosts are the same in the same order, but for case, or a domain that one lacks.

    >>> are_same_hosts(["N1.cluster", "n2"], ["n1", "n2.cluster"]), are_same_hosts(["n1.east"], ["n1.west"])
    (True, False)
    """
    lists = [
        [str(host).casefold().rstrip(".") for host in hosts]
        if isinstance(hosts, Sequence) and not isinstance(hosts, str)
        else None
        for hosts in (ones, others)
    ]
    first, second = lists
    if first is None or second is None:
        return ones == others
    return len(first) == len(second) and all(map(_is_same_host, first, second))


def _is_same_host(name: str, other_name: str) -> bool:
    (host, _, domain), (other_host, _, other_domain) = (
        name.partition("."),
        other_name.partition("."),
    )
    if host.isdecimal():  # an address
        return name == other_name
    return host == other_host and (domain == other_domain or not domain or not other_domain)


def refuse_ambiguous(header: Mapping[str, object]) -> None:
    """Raises UsageError where two hosts' names differ in upper and lower case only: no node could be named."""
    hosts = header.get("hosts")
    seen: dict[str, str] = {}
    for host in map(str, hosts if isinstance(hosts, Sequence) else ()):
        other = seen.setdefault(host.lower(), host)
        if other != host:
            raise UsageError(
                f"the hosts {other} and {host} differ only in upper and lower case, so a slow one could not be "
                "named: give one of them another host name, or leave it out, e.g. by srun --exclude."
            )

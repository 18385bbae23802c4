"""Where a fit comes from: which target, over how many ranks and hosts; and which target of a file is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chiplog.counts import counted
from chiplog.errors import UsageError
from chiplog.fitting.result import Fit


def with_origin(header: Mapping[str, object], fits: Iterable[Fit]) -> tuple[Fit, ...]:
    """The fits with the target, the ranks and the hosts of the run that `header` describes."""
    target, ranks, hosts = (header.get(name) for name in ("target", "ranks", "hosts"))
    known_hosts = len(set(map(str, hosts))) if isinstance(hosts, list) and hosts else None
    return tuple(
        replace(
            fit,
            target=target if isinstance(target, str) else None,
            ranks=ranks if isinstance(ranks, int) else None,
            hosts=known_hosts,
        )
        for fit in fits
    )


def target_of(fit: Fit) -> str:
    """The target's name; the transport's in files that do not hold it."""
    return fit.target or fit.transport


def of_target(
    fits: Sequence[Fit], target: str | None, source: str = "the model file"
) -> tuple[Fit, ...]:
    """The fits of one target of `source`: of `target`, or of the only one there is.

    A name that is no target's may be that of a transport. Raises UsageError, listing the targets, where there are
    several and none is named, and where there is no such target. So are the parts of an imported file, such as host
    and device buffers, of which `target` names one, too.
    """
    names = list(dict.fromkeys(target_of(fit) for fit in fits))
    parts = _parts(fits)
    listed = ", ".join((*names, *parts))
    if target is None:
        if len(names) > 1:
            raise UsageError(
                f"{source} holds {len(names)} targets: {listed}; say which one with --target NAME."
            )
        if len(parts) > 1:
            raise UsageError(
                f"{source} holds {len(parts)} parts: {', '.join(parts)}; say which one with --target NAME."
            )
        return tuple(fits)
    chosen = [fit for fit in fits if target_of(fit) == target]
    chosen = chosen or [fit for fit in fits if fit.transport == target]
    chosen = chosen or [fit for fit in fits if fit.placement == target]
    if not chosen:
        raise UsageError(f"--target {target}: {source} holds {listed or 'no target'}.")
    if len({target_of(fit) for fit in chosen}) > 1:
        raise UsageError(
            f"--target {target}: {source} holds several of that transport; name one of {listed}."
        )
    return tuple(chosen)


def _parts(fits: Sequence[Fit]) -> list[str]:
    """The names of the parts that the fits of imported files are of, in the order of the fits."""
    imported = [fit for fit in fits if target_of(fit).startswith("import:")]
    return list(dict.fromkeys(fit.placement for fit in imported if fit.placement))


def beyond_measured(fit: Fit, ranks: int, nodes: int | None = None) -> str | None:
    """In words, how far `ranks` ranks (on `nodes` nodes, where that is known) lie beyond what was measured.

    None where they do not, and where the model file does not say what was measured.
    """
    if fit.ranks is None:
        return None
    more_nodes = nodes is not None and fit.hosts is not None and nodes > fit.hosts
    if ranks <= fit.ranks and not more_nodes:
        return None
    over = counted(fit.ranks, "rank")
    if fit.hosts is not None:
        over += f" on {counted(fit.hosts, 'host')}"
    asked = counted(ranks, "rank") + (
        f" on {counted(nodes, 'node')}" if nodes and more_nodes else ""
    )
    return f"measured over {over}; {asked} are beyond it"

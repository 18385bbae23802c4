"""Which protocol UCX sends tagged messages by from which size on, as UCX itself prints it of an endpoint."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chiplog.errors import RunFailed

COPY, ZERO_COPY, RENDEZVOUS = "copy", "zero copy", "rendezvous"
"""Kinds of protocols."""
_STEPS = re.compile(r"(\d+)\.\.<([^>]+)>")
_ROW = re.compile(r"(\d+)([KMGT]?)(?:\.\.\S+)? (.+)")
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("", "K", "M", "G", "T"))}


@dataclass(frozen=True)
class Protocols:
    """Ranges of sizes with a protocol each."""

    first_bytes: tuple[int, ...]
    """Ascending; the first is 0."""
    names: tuple[str, ...]

    def at(self, message_bytes: int) -> str:
        """The protocol of messages of a size."""
        return self.names[bisect_right(self.first_bytes, message_bytes) - 1]

    def __str__(self) -> str:
        steps = zip(self.first_bytes, self.names, strict=True)
        return ", ".join(f"from {first} B {name}" for first, name in steps)


def read_protocols(header: Mapping[str, object]) -> Protocols:
    """What the header of a run over `ucx` says about tagged messages.

    Older releases print a line of steps, the newer selection of protocols a table. RunFailed where the release prints
    neither, or where the peers differ, since nothing proves then which settings are in force.
    """
    options = header.get("options")
    messages = options.get("messages", ()) if isinstance(options, Mapping) else ()
    steps: list[tuple[int, str]] = []
    for text in messages if isinstance(messages, Sequence) else ():
        steps += _steps_in(str(text))
    firsts = [first for first, _ in steps]
    if not steps or firsts[0] != 0 or firsts != sorted(set(firsts)):
        raise RunFailed(
            "UCX does not say by which protocols it sends, so it can't be proved which thresholds are in force; with "
            "one network, such as ucx:tls=tcp, and UCX_PROTO_INFO=y it may."
        )
    return Protocols(tuple(firsts), tuple(name for _, name in steps))


def _steps_in(text: str) -> list[tuple[int, str]]:
    row = _ROW.fullmatch(text)
    if row is None:
        # A range that ends where it begins is empty: the next one counts.
        return list({int(first): name for first, name in _STEPS.findall(text)}.items())
    return [(int(row[1]) * _UNITS[row[2]], row[3].removeprefix("(?) "))]


def kind_of(protocol: str) -> str:
    """Whether the sender waits until the receiver has a buffer, else sends from the user's buffer, or from a copy."""
    if protocol.startswith(("rndv", "rendezvous")):
        return RENDEZVOUS
    return ZERO_COPY if "zcopy" in protocol or "zero-copy" in protocol else COPY

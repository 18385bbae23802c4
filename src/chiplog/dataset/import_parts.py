"""Parts of a file: tables of paths that differ, such as host and device buffers, or one node and two.

A part's name becomes the `placement` of its records, so that nothing pools it with another one, and every command can
be asked for it (`--target NAME`). What a file does not say has no name, unless it stands beside a part that has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from chiplog.dataset.importer import ImportedRecord

HOST = "host-buffers"
UNNAMED = "unnamed"
"""The part of tables of which the file says nothing, while it says where others were measured."""


def part_name(*kinds: str | None) -> str | None:
    """The name of a part by what is known of it; None where that is nothing.

    >>> part_name("inter-node", None, "device buffers"), part_name(None)
    ('inter-node+device-buffers', None)
    """
    return "+".join(kind.replace(" ", "-") for kind in kinds if kind) or None


def buffers(send: str, receive: str) -> str | None:
    """The name of a part by the memory at both ends; None of the host's.

    >>> buffers("host", "host"), buffers("cuda", "cuda"), buffers("host", "cuda")
    (None, 'cuda-buffers', 'host-to-cuda-buffers')
    """
    if send == receive:
        return None if send == "host" else f"{send}-buffers"
    return f"{send}-to-{receive}-buffers"


def name_all_parts(records: Iterable[ImportedRecord]) -> Sequence[ImportedRecord]:
    """The records, each with a part's name where several parts are in the file."""
    found = list(records)
    names = {one.placement for one in found}
    if None not in names or len(names) == 1:
        return found
    beside = any(name is not None and name.endswith("-buffers") for name in names)
    unnamed = HOST if beside and HOST not in names else UNNAMED
    return [one if one.placement else replace(one, placement=unnamed) for one in found]

"""SimGrid's time-independent traces: lines `RANK action arguments`, computation in flops, a file a rank or one for all.

They have no times. Counts are numbers of a datatype, or of the default that the action `init` names.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chiplog.errors import CorruptFile
from chiplog.input_file import MOST_DATA_BYTES, open_input
from chiplog.outside import as_float, as_integer
from chiplog.tracing.builder import LARGEST_BYTES, ImportedCall, RankBuilder
from chiplog.tracing.importer import TraceImporter, TraceOptions
from chiplog.tracing.text_files import head_of, numbered_lines
from chiplog.tracing.trace import ANYBODY, NOBODY, Trace

SIGN = re.compile(r"(?:#.*\n|\s*\n)*\d{1,7} (?:init|comm_size|compute)\b", re.IGNORECASE)
TYPE_BYTES = {"0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1}
"""Given: bytes of MPI_DOUBLE, INT, CHAR, SHORT, LONG, FLOAT and BYTE."""
FORMS = {
    "send": ("Send", "peer tag sent"),
    "isend": ("Isend", "peer tag sent"),
    "recv": ("Recv", "peer tag received"),
    "irecv": ("Irecv", "peer tag received"),
    "barrier": ("Barrier", ""),
    "bcast": ("Bcast", "both root?"),
    "reduce": ("Reduce", "both flops root?"),
    "allreduce": ("Allreduce", "both flops"),
    "scan": ("Scan", "both flops"),
    "exscan": ("Exscan", "both flops"),
    "reducescatter": ("Reduce_scatter", "both* flops"),
    "gather": ("Gather", "sent received root?"),
    "gatherv": ("Gatherv", "sent received* root?"),
    "scatter": ("Scatter", "sent received root?"),
    "scatterv": ("Scatterv", "sent* received root?"),
    "allgather": ("Allgather", "sent received"),
    "allgatherv": ("Allgatherv", "sent received*"),
    "alltoall": ("Alltoall", "sent received"),
    "alltoallv": ("Alltoallv", "_ sent* _ received*"),
    "comm_size": ("Comm_size", "_"),
    "comm_split": ("Comm_split", "_"),
    "comm_dup": ("Comm_dup", "_"),
    "init": ("Init", ""),
    "finalize": ("Finalize", ""),
}
"""Actions with their MPI function and arguments; those that end with * stand there once a rank, with ? perhaps."""
PER_RANK: dict[str, tuple[str, ...]] = {
    "Gather": ("received",),
    "Scatter": ("sent",),
    "Allgather": ("received",),
    "Alltoall": ("sent", "received"),
}
"""What is counted for one rank, where a call moves it for each."""
ROOT_GIVES, ROOT_GETS = ("Scatter", "Scatterv"), ("Gather", "Gatherv", "Reduce")
MOST_RANKS, MOST_TAG = 1 << 20, 1 << 31
MOST_TYPES = 2
"""Given: datatypes at the end of an action, of what is sent and of what is received."""


@dataclass
class ActionRank:
    """A rank's calls so far."""

    builder: RankBuilder
    default_bytes: int = 1
    flops: float = 0.0
    has_begun: bool = False
    is_complete: bool = False


Line = tuple[str, str]
"""Its place, in words, and its text."""


def _recognises(place: Path) -> bool:
    paths = [place]
    if place.is_dir():
        paths = sorted(path for path in place.iterdir() if path.is_file())[:3]
    return any(SIGN.match(head_of(path)) or _is_archive(path) for path in paths)


def _is_archive(path: Path) -> bool:
    """Is it a packed archive whose first file is such a trace?"""
    if not path.name.endswith((".tgz", ".tar.gz")) or not path.is_file():
        return False
    try:
        return next(_lines_of_archive(path), ("", ""))[1] != ""
    except CorruptFile:
        return True


def _read(place: Path, _: TraceOptions) -> Trace:
    """The trace in a file, in all files of a folder, or in an archive of them."""
    lines: list[Line] = []
    paths = (
        sorted(path for path in place.iterdir() if path.is_file()) if place.is_dir() else [place]
    )
    for path in paths:
        if _is_archive(path):
            lines += _lines_of_archive(path)
        elif SIGN.match(head_of(path)):
            lines += [(f"{path}, line {number}", text) for number, text in numbered_lines(path)]
    actions = [(where, text.split()) for where, text in lines if text.strip() and text[0] != "#"]
    numbers = [as_integer(words[0], 0, MOST_RANKS) for _, words in actions]
    ranks = len({number for number in numbers if number is not None})
    states = [ActionRank(RankBuilder(rank)) for rank in range(ranks)]
    for (where, words), rank in zip(actions, numbers, strict=True):
        if rank is None or rank >= ranks:
            raise CorruptFile(f"{where}: '{words[0][:40]}' is no rank of {ranks}; is one missing?")
        _act(states[rank], words, ranks, where)
    return Trace(
        tuple(
            state.builder.build(is_complete=state.is_complete, has_times=False) for state in states
        ),
        (tuple(range(ranks)),),
        source="SimGrid (time-independent)",
        has_times=False,
    )


def _lines_of_archive(path: Path) -> Iterator[Line]:
    """The lines of the files of an archive that are such traces."""
    try:
        with open_input(path, MOST_DATA_BYTES) as stream:
            with tarfile.open(fileobj=stream, mode="r:*") as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.isfile() else None
                    if file is None:
                        continue
                    if member.size > MOST_DATA_BYTES:
                        raise CorruptFile(f"{path}: {member.name} is longer than 1 GiB.")
                    text = file.read().decode("ascii", "replace")
                    if SIGN.match(text):
                        for number, line in enumerate(text.split("\n"), start=1):
                            yield f"{path}, {member.name}, line {number}", line
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise CorruptFile(f"{path}: the archive is damaged or cut.") from error


def _act(state: ActionRank, words: Sequence[str], ranks: int, where: str) -> None:
    """Adds what a line says."""
    if len(words) < 2:
        raise CorruptFile(f"{where}: has no action.")
    action, texts = words[1].lower(), words[2:]
    if action in ("compute", "sleep", "location"):
        if action == "compute":
            state.flops += _amount(texts[0] if texts else "", where)
        return
    if state.is_complete or (action == "init" and state.has_begun):
        raise CorruptFile(
            f"{where}: rank {words[0]} {'begins again' if action == 'init' else 'goes on after its end'}: is one of "
            "the files a copy?"
        )
    state.has_begun = True
    if action == "init" and texts:
        state.default_bytes = TYPE_BYTES["0"]
    if action == "comm_size" and texts and (as_integer(texts[0]) or 0) > ranks:
        raise CorruptFile(
            f"{where}: a communicator has {texts[0][:40]} ranks, and there are actions of {ranks}: are files missing?"
        )
    state.is_complete |= action == "finalize"
    call, flops = _call(state, action, texts, (int(words[0]), ranks), where)
    state.builder.add(call, computed_flops=state.flops)
    state.flops = flops


def _call(
    state: ActionRank, action: str, texts: Sequence[str], place: tuple[int, int], where: str
) -> tuple[ImportedCall, float]:
    """The call of an action, and the flops that are computed in it; `place` is the rank, and the number of ranks."""
    rank, ranks = place
    if action in ("wait", "test"):
        key = tuple(as_integer(text) for text in texts[:3])
        return ImportedCall(action.capitalize(), completes=(key,) if action == "wait" else ()), 0.0
    if action == "waitall":
        return ImportedCall("Waitall", completes=state.builder.open_requests()), 0.0
    if action not in FORMS:
        raise CorruptFile(f"{where}: '{action[:40]}' is no action that chiplog knows.")
    kind, form = FORMS[action]
    values, rest = _values(form.split(), texts, ranks, where)
    if re.search("sent|received|both", form) and len(rest) > MOST_TYPES:
        raise CorruptFile(
            f"{where}: has {len(rest) - MOST_TYPES} arguments too many for {action} of {ranks} ranks: are files "
            "missing?"
        )
    type_bytes = [TYPE_BYTES.get(text, state.default_bytes) for text in rest[:2]]
    unit = dict.fromkeys(
        ("sent", "received", "both"), type_bytes[0] if type_bytes else state.default_bytes
    )
    if len(type_bytes) == 2:
        unit["received"] = type_bytes[1]
    moved = {name: int(values[name] * unit[name]) for name in unit if name in values}
    moved = {
        name: size * (ranks if name in PER_RANK.get(kind, ()) else 1)
        for name, size in moved.items()
    }
    if any(size > LARGEST_BYTES for size in moved.values()):
        raise CorruptFile(f"{where}: {action} moves more than 2^50 B.")
    sent, received = (moved.get(name, moved.get("both", 0)) for name in ("sent", "received"))
    call = ImportedCall(kind, sent_bytes=sent, received_bytes=received)
    if "peer" in values:
        return _message(call, (rank, ranks), int(values["peer"]), int(values["tag"]), where), 0.0
    root = int(values.get("root", 0)) if "root?" in form else NOBODY
    if root >= ranks:
        raise CorruptFile(f"{where}: the root {root} is no rank of {ranks}.")
    if "root?" in form and rank != root:
        sent = 0 if kind in ROOT_GIVES else sent
        received = 0 if kind in ROOT_GETS else received
    return replace(call, peer=root, sent_bytes=sent, received_bytes=received), values.get(
        "flops", 0.0
    )


def _message(
    call: ImportedCall, place: tuple[int, int], peer: int, tag: int, where: str
) -> ImportedCall:
    """A send or a receive; a request is named by its source, its destination and its tag."""
    rank, ranks = place
    sends = call.kind in ("Send", "Isend")
    if not -2 <= peer < ranks or (sends and peer < 0) or abs(tag) >= MOST_TAG:
        raise CorruptFile(f"{where}: {call.kind} with peer {peer} and tag {tag} of {ranks} ranks.")
    call = replace(call, received_bytes=0) if sends else replace(call, sent_bytes=0)
    key = (rank, peer, tag) if sends else (peer, rank, tag)
    starts = key if call.kind in ("Isend", "Irecv") else None
    return replace(call, peer=peer if peer >= 0 else ANYBODY, tag=tag, starts=starts)


def _values(
    names: Sequence[str], texts: Sequence[str], ranks: int, where: str
) -> tuple[dict[str, float], Sequence[str]]:
    """The arguments by their names, of those of all ranks their sum; and what stands behind them."""
    values: dict[str, float] = {}
    at = 0
    for name in names:
        count = ranks if name.endswith("*") else 1
        given = texts[at : at + count]
        if len(given) < count:
            if name.endswith("?"):
                break
            raise CorruptFile(f"{where}: has {len(texts)} arguments, which are too few.")
        of_message = name in ("peer", "tag")
        values[name.rstrip("*?")] = sum(
            _whole(text, where) if of_message else _amount(text, where) for text in given
        )
        at += count
    return values, texts[at:]


def _amount(text: str, where: str) -> float:
    number = as_float(text)
    if number is None or not 0 <= number <= 1e18:
        raise CorruptFile(f"{where}: '{text[:40]}' is no number in range.")
    return number


def _whole(text: str, where: str) -> int:
    number = as_integer(text, -MOST_TAG, MOST_TAG)
    if number is None:
        raise CorruptFile(f"{where}: '{text[:40]}' is no rank and no tag.")
    return number


SIMGRID_TI = TraceImporter(
    name="simgrid-ti",
    summary="SimGrid's time-independent traces",
    recognises=_recognises,
    read=_read,
)

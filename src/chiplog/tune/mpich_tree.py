"""The tree by which an MPICH chooses algorithms, as its library carries it: a file replaces it as a whole.

The tree is JSON of nested tests, `collective=...` outermost, with `algorithm=NAME` as leaves. A partial tree, or a
name that the release does not know, ends in an abort, so a file begins with the tree of the very library that reads it.
"""

from __future__ import annotations

import json
import mmap
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.errors import UsageError
from chiplog.input_file import open_input
from chiplog.measurement.mpis import Mpi
from chiplog.outside import as_json
from chiplog.tune.version import Version, installed, of_version, version_text

Tree = dict[str, Any]
LIBRARY_NAMES = ("libmpich.so*", "libmpi.so*")
MOST_TREE_BYTES = 1 << 22
WORD_STARTS = (
    *(rb"algorithm=", rb"composition=", rb"comm_", rb"avg_msg_size", rb"total_msg_size", rb"count"),
    *(rb"is_", rb"(?<!\w)=any"),
)
"""How the keys of trees begin; a release that knows any key with "=any" compares with that end alone."""


def mpich_here(version: Version | None, mpi: str | None = None) -> Mpi:
    """The MPICH of the compiler wrapper `mpi`, or the first one found that has the version.

    Raises UsageError where there is none.
    """
    mpis = installed("mpich", mpi)
    if mpis and mpis[0].kind != "mpich":
        raise UsageError(f"--mpi {mpi}: is {mpis[0]}, not MPICH.")
    chosen = of_version(mpis, version)
    if chosen is not None:
        return chosen
    wanted = "" if version is None else f" {version_text(version)}"
    here = ", ".join(known_mpi.version for known_mpi in mpis) or "none"
    raise UsageError(
        f"--version: a JSON file replaces MPICH's own tree, so it is made from that of the library itself, and "
        f"MPICH{wanted} is not here (found: {here}); run this where it is, or name its mpicxx with --mpi."
    )


def own_tree(mpi: Mpi) -> Tree:
    """The generic tree that the library of `mpi` carries; UsageError where it carries none that can be read."""
    for tree in carried(mpi).trees:
        if "algorithm=MPIR_Barrier" in json.dumps(tree):  # those of device layers have others
            return tree
    raise UsageError(f"--mpi: the library of {mpi} at {mpi.mpicxx} carries no tree of algorithms.")


def device_tree(mpi: Mpi) -> Tree:
    """The tree by which its device ch4 goes node by node, or leaves an operation to the generic tree; may be empty."""
    return next((tree for tree in carried(mpi).trees if "composition=" in json.dumps(tree)), {})


@dataclass(frozen=True)
class Carried:
    """What a library compares the keys of a tree with, and the trees that it carries."""

    words: frozenset[str]
    trees: tuple[Tree, ...]


def carried(mpi: Mpi) -> Carried:
    """Of the library of `mpi`; empty where it carries no tree."""
    for library in dict.fromkeys(_libraries(mpi)):
        with _mapped(library) as content:
            trees = tuple(_trees(content))
            if trees:
                return Carried(frozenset(words_of(content)), trees)
    return Carried(frozenset(), ())


def words_of(content: mmap.mmap | bytes) -> Iterator[str]:
    """Strings that are compared with keys: whole, or up to the sign behind which a number or word stands."""
    for start in WORD_STARTS:
        for match in re.finditer(start + rb"[\w<=]*\x00", content):
            yield match[0][:-1].decode()
    for match in re.finditer(rb"=\x00", content):
        word = re.search(
            rb"(?:k|[a-z][a-z_]+)$", content[max(0, match.start() - 64) : match.start()]
        )
        if word:
            yield word[0].decode() + "="


def _libraries(mpi: Mpi) -> list[Path]:
    words = shlex.split(mpi.command)
    folders = [Path(word[2:]) for word in words if word.startswith("-L")]
    folders += [mpi.mpicxx.parent.parent / "lib"]
    return [
        path.resolve()
        for folder in folders
        for name in LIBRARY_NAMES
        for path in sorted(folder.glob(name))
    ]


@contextmanager
def _mapped(library: Path) -> Iterator[mmap.mmap | bytes]:
    with open_input(library) as stream:
        if stream.seek(0, 2) == 0:
            yield b""
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield content


def _trees(content: mmap.mmap | bytes) -> Iterator[Tree]:
    for match in re.finditer(rb'\{"collective=', content):
        end = content.find(b"\0", match.start(), match.start() + MOST_TREE_BYTES)
        tree = as_json(content[match.start() : end])
        if isinstance(tree, dict):
            yield tree

"""One file adds one thing: a name has to be listed in one place. Here these places are counted.

A place where names must be listed holds all of them, so a list is any literal (or text, such as an option's help) that
holds at least nine tenths of a seam's names. A second one is what a newcomer would overlook.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from chiplog import _native
from chiplog.cli.app import COMMANDS
from chiplog.collectives.registry import MODULES
from chiplog.dataset.importer import IMPORTERS
from chiplog.dataset.patterns import PATTERNS
from chiplog.export.exporter import EXPORTERS
from chiplog.measurement.inquiry import transports
from chiplog.models.registry import MODELS
from chiplog.report.sections import TARGET_SECTIONS
from chiplog.tune.writer import WRITERS

ROOT = Path(__file__).parent.parent.parent
SHARE = 0.9
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Seam:
    """What is added, what its names are, and where they are listed."""

    names: tuple[str, ...]
    listed: str
    page: str


SEAMS: Mapping[str, Seam] = {
    "model": Seam(MODELS.built_in, "src/chiplog/models/registry.py", "add-a-model.md"),
    "importer": Seam(IMPORTERS.built_in, "src/chiplog/dataset/importer.py", "add-an-importer.md"),
    "exporter": Seam(EXPORTERS.built_in, "src/chiplog/export/exporter.py", "add-an-exporter.md"),
    "tuning writer": Seam(WRITERS.built_in, "src/chiplog/tune/writer.py", "add-a-tuning-writer.md"),
    "algorithm": Seam(
        MODULES["barrier"], "src/chiplog/collectives/registry.py", "add-a-collective-algorithm.md"
    ),
    "report section": Seam(
        TARGET_SECTIONS, "src/chiplog/report/sections/__init__.py", "add-a-report-section.md"
    ),
    "command": Seam(tuple(COMMANDS), "src/chiplog/cli/app.py", "add-a-command.md"),
    "pattern": Seam(tuple(PATTERNS), "src/chiplog/dataset/patterns.py", "add-a-pattern.md"),
}


@dataclass(frozen=True)
class NativeSeam:
    """The same natively: names as the compiler reads them."""

    names: tuple[str, ...]
    listed: str
    page: str


def transport_entries() -> tuple[str, ...]:
    return tuple(f"{one.name}_transport" for one in transports())


def pattern_types() -> tuple[str, ...]:
    text = (ROOT / "native/src/patterns/list.hpp").read_text()
    return tuple(re.findall(r"patterns::(\w+)", text))


def library_barriers() -> tuple[str, ...]:
    return tuple(f'"{name}"' for name in _native.barrier_algorithms())


def words_of(node: ast.AST) -> set[str]:
    """The names that a literal, or the arguments of a call, hold directly."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items: list[ast.expr | None] = list(node.elts)
    elif isinstance(node, ast.Dict):
        items = list(node.keys)
    else:
        items = []
    found = {one.value for one in items if isinstance(one, ast.Constant)}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found = set(WORD.findall(node.value))
    if isinstance(node, ast.ImportFrom):
        found = {one.name for one in node.names}
    if isinstance(node, ast.JoinedStr):
        parts = [one.value for one in node.values if isinstance(one, ast.Constant)]
        found = set(WORD.findall(" ".join(map(str, parts))))
    if isinstance(node, ast.BoolOp | ast.Compare):
        found = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return {str(one).replace("_", "-") for one in found}


def documentation(tree: ast.AST) -> set[ast.AST]:
    """Texts that stand as statements: docstrings, of modules or of what stands before them."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


@functools.cache
def literals(path: Path) -> tuple[tuple[frozenset[str], int], ...]:
    """What the literals of a file name, but its documentation, and their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    passed = documentation(tree)
    named = ((words_of(node), node) for node in ast.walk(tree) if node not in passed)
    return tuple((frozenset(words), getattr(node, "lineno", 0)) for words, node in named if words)


def python_lists(names: tuple[str, ...], source: Path) -> Iterator[str]:
    """Where in the Python files below `source` the names are listed, as "file:line"."""
    wanted = {name.replace("_", "-") for name in names}
    for path in sorted(source.rglob("*.py")):
        for words, line in literals(path):
            if len(wanted & words) >= SHARE * len(wanted):
                yield f"{path.relative_to(source)}:{line}"


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def native_lists(names: tuple[str, ...], source: Path) -> list[str]:
    """The native files below `source` that name at least nine tenths of them."""
    found = []
    for path in sorted(source.rglob("*")):
        if path.suffix in {".cpp", ".hpp", ".inc", ".txt", ".cmake"}:
            text = without_comments(path.read_text(encoding="utf-8"))
            held = [one for one in names if re.search(rf"(?<![\w]){re.escape(one)}(?![\w])", text)]
            if len(held) >= SHARE * len(names):
                found.append(str(path.relative_to(source)))
    return found


@pytest.mark.parametrize("what", SEAMS)
def test_a_name_is_listed_in_one_place(what: str) -> None:
    seam = SEAMS[what]
    found = list(python_lists(seam.names, ROOT / "src/chiplog"))
    assert [one.partition(":")[0] for one in found] == [seam.listed.removeprefix("src/chiplog/")], (
        found
    )


def test_a_transport_a_pattern_and_a_barrier_are_listed_natively_in_one_place() -> None:
    native = ROOT / "native"
    assert native_lists(pattern_types(), native) == ["src/patterns/list.hpp"]
    assert native_lists(library_barriers(), native / "src") == ["core/barrier_algorithms.hpp"]


def test_transports_are_listed_natively_in_one_place_and_nowhere_in_python() -> None:
    native = ROOT / "native"
    assert native_lists(transport_entries(), native) == ["src/transports/list.inc"]
    names = tuple(one.name for one in transports())
    assert list(python_lists(names, ROOT / "src/chiplog")) == []


@pytest.mark.parametrize(
    "second",
    [
        "NAMES = {names!r}\n",
        "LABELS = {{name: 1 for name in ()}} | dict.fromkeys({names!r})\n",
        "HELP = 'One of ' {text!r}\n",
        "from chiplog.somewhere import {imported}\n",
        "def chosen(name):\n    return {chain}\n",
    ],
)
@pytest.mark.parametrize("what", SEAMS)
def test_a_second_list_is_found(what: str, second: str, tmp_path: Path) -> None:
    names = SEAMS[what].names
    values = {
        "names": list(names),
        "text": ", ".join(names),
        "imported": ", ".join(name.replace("-", "_") for name in names if name != "import"),
        "chain": " or ".join(f"name == {name!r}" for name in names),
    }
    (tmp_path / "registry.py").write_text(f"NAMES = {tuple(names)!r}\n")
    (tmp_path / "help.py").write_text(second.format(**values))
    found = {one.partition(":")[0] for one in python_lists(names, tmp_path)}
    assert found == {"registry.py", "help.py"}


def test_a_second_list_of_transports_is_found(tmp_path: Path) -> None:
    listed = "".join(f"CHIPLOG_TRANSPORT({one})\n" for one in transport_entries())
    (tmp_path / "list.inc").write_text(listed)
    (tmp_path / "worlds.hpp").write_text(listed.replace("CHIPLOG", "WORLD"))
    (tmp_path / "remark.hpp").write_text("// " + listed.replace("\n", "\n// "))
    assert native_lists(transport_entries(), tmp_path) == ["list.inc", "worlds.hpp"]


@pytest.mark.parametrize("what", [*SEAMS, "transport"])
def test_every_seam_has_a_page_that_contributing_links_to(what: str) -> None:
    page = SEAMS[what].page if what in SEAMS else "add-a-transport.md"
    text = (ROOT / "docs/how-to" / page).read_text()
    assert f"docs/how-to/{page}" in (ROOT / "CONTRIBUTING.md").read_text()
    assert "| where | what |" in text
    assert len(text.splitlines()) < 100
    for path in re.findall(r"`((?:src|native)/[\w/.-]+\.(?:py|hpp|inc))`", text):
        assert "NAME" in path or (ROOT / path).is_file(), path
    if what in SEAMS:
        assert SEAMS[what].listed in text

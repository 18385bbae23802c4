"""How many tuned numbers and lines of code each room has: what decides, and how much of it is explained.

    python tools/count_tuned_numbers.py [--at REVISION] [--list] [ROOM ...]

A room is a file or folder below src/chiplog, or several joined by `+`; without any, the rooms of `ROOMS` are counted.
A number counts where it is written down:

- a constant of a module or class (`MIN_SIZES = 5`, `LEVEL = math.log(1.2)`; a name that repeats another one does not),
- a default of a dataclass's field or of a function's parameter,
- any other literal of a function's body, since it decides where it stands.

0, 1, 2, -1 and 0.5, powers of ten and powers of two from 1024 on (units) don't count in a function's body, 0, 1, 2, -1
and 0.5 not in a field of a class that holds data (one with a field that has no default). 0 and 1, units (a name with
`_PER_`), numbers of an enumeration (`SEND, RECEIVE = range(2)`), powers of 2 and 10 (`2**63`), shifts (`1 << 20`),
positions (`part[4]`, slices, axis=..., places in an order), shapes of arrays and digits of printed texts never count.

A number is explained where its own docstring or the comment beside it begins with "Given", "Derived" or "Study". Tuned
are those that a study chose, and those that nothing explains.
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
SOURCE = PurePosixPath("src/chiplog")
NOISE_OF_OLD = "+".join(
    f"dataset/{name}.py" for name in ("states", "witnesses", "spells", "repeatability")
)
ROOMS = (
    "protocol_changes",
    "changes",
    "fit/changes",
    f"{NOISE_OF_OLD}+fit/states",
    "machine_state",
    "comparison",
    "compare",
)
MARKS = ("Given", "Derived", "Study")
PLAIN = frozenset({0.0, 1.0, 2.0, -1.0, 0.5})
SHAPED = frozenset({"zeros", "ones", "empty", "full"})
POSITIONS = frozenset(
    {"axis", "ndmin", "ndigits", "width", "stacklevel", "ddof", "precedence", "headline"}
)
_MARK = re.compile(rf"\W*({'|'.join(MARKS)})\b")


@dataclass(frozen=True)
class Number:
    """One number that was written down, where, and how it is explained."""

    path: str
    line: int
    name: str
    text: str
    mark: str | None


@dataclass(frozen=True)
class Room:
    """What was counted of one room."""

    name: str
    numbers: tuple[Number, ...]
    lines: int
    code_lines: int
    """Lines without blank ones, comments and docstrings."""


def main() -> None:
    """Prints the table, and with --list each number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM")
    parser.add_argument("--at", metavar="REVISION", help="count this revision, not the files")
    parser.add_argument("--list", action="store_true", help="print each number")
    options = parser.parse_args()
    rooms = [count_room(room, options.at) for room in options.rooms or ROOMS]
    if options.list:
        for number in (number for room in rooms for number in room.numbers):
            mark = number.mark or "-"
            print(f"{number.path}:{number.line}: {number.name} = {number.text}  [{mark}]")
    print_table(rooms)


def print_table(rooms: list[Room]) -> None:
    """One row a room and their sum."""
    print(f"{'room':44} {'numbers':>7} {'tuned':>6} {'unmarked':>8} {'lines':>6} {'code':>6}")
    total = Room(
        "all of these",
        tuple(number for room in rooms for number in room.numbers),
        sum(room.lines for room in rooms),
        sum(room.code_lines for room in rooms),
    )
    for room in (*rooms, total):
        unmarked = sum(number.mark is None for number in room.numbers)
        name = room.name if len(room.name) <= 44 else f"{room.name[:41]}..."
        tuned = unmarked + sum(number.mark == "Study" for number in room.numbers)
        counts = f"{len(room.numbers):7} {tuned:6} {unmarked:8}"
        print(f"{name:44} {counts} {room.lines:6} {room.code_lines:6}")
    marks = Counter(number.mark or "unmarked" for number in total.numbers)
    print(", ".join(f"{marks[mark]} {mark}" for mark in (*MARKS, "unmarked")))


def count_room(room: str, revision: str | None) -> Room:
    """The numbers and lines of one room, as it is now or was at `revision`."""
    files = [file for part in room.split("+") for file in _files(part, revision)]
    numbers: list[Number] = []
    lines = code_lines = 0
    for path, text in files:
        numbers += _numbers(path, text)
        lines += len(text.splitlines())
        code_lines += _code_lines(text)
    return Room(room, tuple(numbers), lines, code_lines)


def _files(part: str, revision: str | None) -> Iterator[tuple[str, str]]:
    place = str(SOURCE / part)
    if revision is None:
        found = ROOT / place
        paths = sorted(found.rglob("*.py")) if found.is_dir() else [found] * found.is_file()
        for path in paths:
            yield str(path.relative_to(ROOT)), path.read_text()
        return
    listed = _git("ls-tree", "-r", "--name-only", revision, place)
    for name in listed.splitlines():
        if name.endswith(".py"):
            yield name, _git("show", f"{revision}:{name}")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return done.stdout


def _code_lines(text: str) -> int:
    """Lines with a token that is neither comment nor docstring."""
    strings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    used = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (*empty, tokenize.ENDMARKER)
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(used - strings)


def _numbers(path: str, text: str) -> list[Number]:
    tree, lines = ast.parse(text), text.splitlines()
    found = list(_of_block(tree.body, path, lines))
    named = {(number.line, number.text) for number in found}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for literal in _deciding(function):
                number = Number(
                    path, literal.lineno, function.name, _value(literal), _comment(lines, literal)
                )
                if (number.line, number.text) not in named and number not in found:
                    found.append(number)
    return sorted(found, key=lambda number: number.line)


def _of_block(body: list[ast.stmt], path: str, lines: list[str]) -> Iterator[Number]:
    """The constants of a module, and the numeric defaults of its classes' fields."""
    holds_data = any(isinstance(field, ast.AnnAssign) and field.value is None for field in body)
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.ClassDef):
            yield from _of_block(statement.body, path, lines)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            name = ", ".join(ast.unparse(target) for target in targets)
            mark = _docstring_mark(following) or _comment(lines, statement)
            if "_PER_" in name or all(isinstance(target, ast.Tuple) for target in targets):
                continue
            for literal in _literals(statement.value):
                if not (holds_data and float(literal.value) in PLAIN):  # type: ignore[arg-type]
                    explained = mark or _comment(lines, literal)
                    yield Number(path, literal.lineno, name, _value(literal), explained)


def _deciding(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Constant]:
    for default in [*function.args.defaults, *function.args.kw_defaults]:
        if default is not None:
            yield from filter(_is_tuned, _literals(default))
    for statement in function.body:
        yield from filter(_is_tuned, _literals(statement))


def _literals(node: ast.AST) -> Iterator[ast.Constant]:
    """The numbers below `node` that stand neither in a position nor in a printed text nor in a nested function."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float) and node.value not in (0, 1):
            yield node
        return
    if isinstance(node, ast.JoinedStr | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    if isinstance(node, ast.BinOp) and (isinstance(node.op, ast.LShift) or _is_power(node)):
        return
    if isinstance(node, ast.Call) and _name(node.func) in SHAPED:
        for argument in node.args[1:]:
            yield from _literals(argument)
        return
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from _literals(value)
        return
    for child in ast.iter_child_nodes(node):
        is_position = isinstance(node, ast.Subscript) and child is node.slice
        if isinstance(node, ast.keyword) and node.arg in POSITIONS:
            continue
        if not is_position:
            yield from _literals(child)


def _name(function: ast.expr) -> str:
    """The last word of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)


def _is_power(node: ast.BinOp) -> bool:
    """Whether it is a power of 2 or 10, as limits of types and units are."""
    is_base = isinstance(node.left, ast.Constant) and node.left.value in (2, 10)
    return isinstance(node.op, ast.Pow) and is_base


def _is_tuned(literal: ast.Constant) -> bool:
    value = abs(float(literal.value))  # type: ignore[arg-type]
    if value in PLAIN or value == 0.0:
        return False
    of_ten, of_two = math.log10(value), math.log2(value)
    return of_ten != round(of_ten) and not (of_two == round(of_two) and value >= 1024)


def _value(literal: ast.Constant) -> str:
    return repr(literal.value)


def _docstring_mark(following: ast.stmt | None) -> str | None:
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        match = _MARK.match(str(following.value.value))
        return match[1] if match else None
    return None


def _comment(lines: list[str], node: ast.stmt | ast.expr) -> str | None:
    """The mark in the comment at the end of the node's line, or alone on the line before."""
    here, before = lines[node.lineno - 1], lines[node.lineno - 2].strip() if node.lineno > 1 else ""
    for comment in (here.partition("#")[2], before[1:] if before.startswith("#") else ""):
        if match := _MARK.match(comment):
            return match[1]
    return None


if __name__ == "__main__":
    main()

"""How far a reader goes who follows one argument through the code: files opened, and returns to a file already left.

    python tools/follow_argument.py [--any-type] [MODULE:FUNCTION:PARAMETER ...]

The argument is followed as a reader would: from the function's body, line by line, into each function or class of the
package that it is handed to, at the first call of it, and on from there; so is what is made of it, as long as it is
taken by a parameter of the same type (a part of a Dataset is a Dataset), or with --any-type of any type. It goes by
the code's own imports; methods of an object, and functions that are handed over as values, are not followed. Coming
back to the caller is no return; being sent by a call into a file that was opened and left before is.
"""

from __future__ import annotations

import argparse
import ast
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
STARTS = (
    "chiplog.fitting.fit:fit_all:dataset",
    "chiplog.machine_survey.machine_verdict:verdict_of_run:dataset",
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A file of the package: its functions and classes, and what its names stand for."""

    name: str
    path: Path
    definitions: dict[str, Function | ast.ClassDef] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Module and name there of each name that is imported from the package."""


@dataclass
class Walk:
    """What a reader has opened so far."""

    any_type: bool
    files: list[str] = field(default_factory=list)
    """Names of modules in the order of their first opening."""
    returns: int = 0
    names: set[str] = field(default_factory=set)
    """Names that parameters give the argument."""
    _read: set[tuple[str, str, str]] = field(default_factory=set)

    def follow(self, module: Module, function: Function, parameter: ast.arg) -> None:
        """Reads a function that the argument is handed to, and all that it hands the argument on to."""
        key = (module.name, function.name, parameter.arg)
        if key in self._read:
            return
        self._read.add(key)
        if module.name not in self.files:
            self.files.append(module.name)
        names = _names_of(function, parameter.arg)
        self.names |= names
        kind = None if self.any_type else _type_of(parameter)
        for call in _calls(function):
            callee = _function_of(call, module)
            taken = _parameter_of(call, callee[1], names, kind) if callee else None
            if callee is None or taken is None:
                continue
            place, definition = callee
            if (place.name, definition.name, taken.arg) in self._read:
                continue
            if place.name != module.name and place.name in self.files:
                self.returns += 1
            self.follow(place, definition, taken)


def main() -> None:
    """Prints a line for each start, and the files in the order of reading."""
    parser = argparse.ArgumentParser(description="How far a reader goes who follows one argument.")
    parser.add_argument("starts", nargs="*", metavar="MODULE:FUNCTION:PARAMETER", default=STARTS)
    parser.add_argument("--any-type", action="store_true", help="follow values of other types, too")
    words = parser.parse_args()
    for start in words.starts:
        walk = walked(start, any_type=words.any_type)
        print(f"{start}: {len(walk.files)} files, {walk.returns} returns, {len(walk.names)} names")
        for file in walk.files:
            print(f"  {file}")


def walked(start: str, *, any_type: bool = False) -> Walk:
    """What a reader opens who follows `start`, MODULE:FUNCTION:PARAMETER."""
    name, function_name, parameter = start.split(":")
    module = load(name)
    function = module.definitions[function_name]
    if not isinstance(function, Function):
        raise SystemExit(f"{start}: is no function")
    walk = Walk(any_type)
    walk.follow(module, function, _argument(function, parameter))
    return walk


_modules: dict[str, Module] = {}


def load(name: str) -> Module:
    """Returns a module of the package by its dotted name."""
    if name not in _modules:
        base = SOURCE / name.replace(".", "/")
        path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
        module = Module(name, path)
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                module.definitions[node.name] = node
        for statement in ast.walk(tree):
            if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(
                "chiplog"
            ):
                for alias in statement.names:
                    module.imported[alias.asname or alias.name] = (
                        str(statement.module),
                        alias.name,
                    )
        _modules[name] = module
    return _modules[name]


def _calls(function: Function) -> list[ast.Call]:
    """Returns the calls of a function's body in the order of their lines."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _names_of(function: Function, parameter: str) -> set[str]:
    """Returns the parameter's name and those of all that the body makes of it."""
    names: set[str] = {parameter}
    known = 0
    while known != len(names):
        known = len(names)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                value, targets = node.value, node.targets
            elif isinstance(node, (ast.For, ast.comprehension)):
                value, targets = node.iter, [node.target]
            elif isinstance(node, ast.NamedExpr):
                value, targets = node.value, [node.target]
            else:
                continue
            if names & _mentioned(value):
                names |= {name for target in targets for name in _mentioned(target)}
    return names


def _mentioned(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def _function_of(call: ast.Call, module: Module) -> tuple[Module, Function] | None:
    """Returns the package's function that is called, by its name; None where that can't be told."""
    if not isinstance(call.func, ast.Name):
        return None
    name = call.func.id
    while name not in module.definitions:
        if name not in module.imported:
            return None
        origin, name = module.imported[name]
        if (
            not (SOURCE / origin.replace(".", "/")).exists()
            and not (SOURCE / (origin.replace(".", "/") + ".py")).exists()
        ):
            return None
        module = load(origin)
    definition = module.definitions[name]
    return (module, definition) if isinstance(definition, Function) else None


def _parameter_of(
    call: ast.Call, function: Function, names: set[str], kind: str | None
) -> ast.arg | None:
    """Returns the parameter, of type `kind` unless that is None, by which the function takes what has a name."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    by_name = {parameter.arg: parameter for parameter in [*positional, *arguments.kwonlyargs]}
    given = list(zip(call.args, positional, strict=False))
    given += [
        (word.value, by_name[word.arg])
        for word in call.keywords
        if word.arg and word.arg in by_name
    ]
    for value, parameter in given:
        if kind in (None, _type_of(parameter)) and names & _mentioned(value):
            return parameter
    return None


def _type_of(parameter: ast.arg) -> str:
    return ast.unparse(parameter.annotation) if parameter.annotation else ""


def _argument(function: Function, name: str) -> ast.arg:
    arguments = function.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name:
            return parameter
    raise SystemExit(f"{function.name} has no parameter {name}")


if __name__ == "__main__":
    main()

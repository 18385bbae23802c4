"""Pages that are generated: commands, JSON schemas, Python functions."""

from __future__ import annotations

import inspect
from pathlib import Path

from commands import all_commands, command_page
from machine_pages import FOLDER, side_by_side
from schemas import schema_page
from stage import with_site_links

import chiplog

RESULTS = (
    "chiplog.api.fitted",
    "chiplog.api.predicted",
    "chiplog.api.tables",
    "chiplog.fitting.result",
)
"""Modules of what the functions return."""


def generated_pages(root: Path) -> dict[str, str]:
    """Texts of the generated pages by their paths on the site."""
    found = {"reference/functions.md": _python_page()}
    for name, command in all_commands():
        found[f"reference/commands/{name.replace(' ', '-')}.md"] = command_page(name, command)
    for file in sorted((root / "schemas").glob("*.schema.json")):
        found[f"reference/schemas/{file.name.removesuffix('.schema.json')}.md"] = schema_page(file)
    machines = root / FOLDER / "README.md"
    if machines.exists():
        text = with_site_links(machines.read_text(), machines, root)
        found["machines/index.md"] = text + side_by_side(root)
    return found


def public_names() -> list[str]:
    """What `import chiplog` offers, less the version."""
    return [name for name in chiplog.__all__ if not name.startswith("__")]


def _python_page() -> str:
    parts = [
        "# Python functions",
        "",
        "What `import chiplog` offers; [Python](python.md) is an overview.",
        "",
    ]
    for name in public_names():
        parts += [f"## chiplog.{name}", "", *_described("autofunction", _definition(name))]
    for module in RESULTS:
        parts += [f"## {module}", "", *_described("automodule", module)]
    return "\n".join(parts)


def _described(directive: str, name: str) -> list[str]:
    """The docstrings of a function or module; Sphinx reads them."""
    return ["```{eval-rst}", f".. {directive}:: {name}", "```", ""]


def _definition(name: str) -> str:
    """Where a public name is defined: the dotted path of its module and itself."""
    target = inspect.unwrap(getattr(chiplog, name))  # a package can be called as a function
    return f"{target.__module__}.{target.__qualname__}"

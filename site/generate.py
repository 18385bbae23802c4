"""Pages that are generated: commands, JSON schemas, Python functions."""

from __future__ import annotations

from pathlib import Path

from commands import all_commands, command_page
from schemas import schema_page

import chiplog


def generated_pages(root: Path) -> dict[str, str]:
    """Texts of the generated pages by their paths on the site."""
    found = {"reference/python.md": _python_page()}
    for name, command in all_commands():
        found[f"reference/commands/{name.replace(' ', '-')}.md"] = command_page(name, command)
    for file in sorted((root / "schemas").glob("*.schema.json")):
        found[f"reference/schemas/{file.name.removesuffix('.schema.json')}.md"] = schema_page(file)
    return found


def public_names() -> list[str]:
    """What `import chiplog` offers, less the version."""
    return [name for name in chiplog.__all__ if not name.startswith("__")]


def _python_page() -> str:
    parts = ["# Python", "", "What `import chiplog` offers.", ""]
    for name in public_names():
        parts += [f"## chiplog.{name}", "", f"::: {_definition(name)}", ""]
    return "\n".join(parts)


def _definition(name: str) -> str:
    """Where a public name is defined: the dotted path of its module and itself."""
    target = getattr(chiplog, name)
    module = getattr(target, "__module__", None)
    return f"{module}.{target.__qualname__}" if module else f"chiplog.{name}"

"""Pages of the JSON schemas: every key with its type and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

UNSPECIFIED = "any"


def schema_page(file: Path) -> str:
    """The page of one schema."""
    schema = json.loads(file.read_text())
    title, _, meaning = schema.get("title", file.stem).partition(": ")
    parts = [f"# {title}", "", meaning[:1].upper() + meaning[1:] + ("." if meaning else ""), ""]
    parts += _table(schema)
    for name, below in schema.get("$defs", {}).items():
        described = [below["description"], ""] if "description" in below else []
        parts += [f"## {name}", "", *described]
        parts += _table(below) or [_type(below) + ".", ""]
    parts += [f"The schema itself is `schemas/{file.name}`.", ""]
    return "\n".join(parts)


def _table(schema: Mapping[str, Any]) -> list[str]:
    rows = list(_rows(schema, ""))
    return ["| key | type | always | meaning |", "|---|---|---|---|", *rows, ""] if rows else []


def _rows(schema: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, below in schema.get("properties", {}).items():
        if below is True:
            below = {}
        required = "yes" if name in schema.get("required", ()) else ""
        described = str(below.get("description", "")).replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{prefix}{name}` | {_type(below)} | {required} | {described} |"
        yield from _rows(below, f"{prefix}{name}.")
        items = below.get("items")
        if isinstance(items, dict):
            yield from _rows(items, f"{prefix}{name}[].")


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})" if "$defs" in schema["$ref"] else f"`{name}`"
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[choice]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    named = schema.get("type", UNSPECIFIED)
    names = [named] if isinstance(named, str) else named
    if "array" in names and isinstance(schema.get("items"), dict):
        return f"array of {_type(schema['items'])}"
    return " or ".join(names)


def _anchor(name: str) -> str:
    return name.lower()

"""The JSON Schemas of chiplog's files and outputs, for tests of whatever writes them. They stand in the source tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

DIRECTORY = Path(__file__).resolve().parents[2] / "schemas"


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of `run`, `fit`, `changes`, …, whose schema itself is checked."""
    schema = json.loads((DIRECTORY / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def validate(document: Mapping[str, Any]) -> None:
    """Raises jsonschema's ValidationError unless `document` is what its member `schema` says, e.g. chiplog.fit/1."""
    name = str(document["schema"]).removeprefix("chiplog.").rpartition("/")[0]
    validator(name).validate(document)


def validate_run_file(path: Path) -> None:
    """Raises jsonschema's ValidationError unless every line of the run file is a header, record or footer."""
    for line in path.read_text(encoding="utf-8").splitlines():
        validator("run").validate(json.loads(line))

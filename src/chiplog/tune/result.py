"""A tuning as JSON of the schema chiplog.choices/1: all rows, what was held against what, whatever file was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from chiplog.tune.choice import Choice, Tuning

SCHEMA = "chiplog.choices/1"


def tuning_to_json(tuning: Tuning, settings: Mapping[str, str]) -> dict[str, Any]:
    """The object of the schema."""
    return {
        "schema": SCHEMA,
        "operation": tuning.operation,
        "model": tuning.model,
        "rejected": tuning.rejected,
        "settings": dict(settings),
        "choices": [_choice(choice) for choice in tuning.choices],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {**asdict(choice), "ranking": [asdict(ranked) for ranked in choice.ranking]}

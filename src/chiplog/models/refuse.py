"""The one sentence with which a model declines a pattern."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.errors import UsageError


def unknown_pattern(model: str, pattern: str, accepted: Sequence[str]) -> UsageError:
    """The error for a `pattern` that `model` says nothing about; names what it accepts."""
    return UsageError(
        f"Model {model} says nothing about pattern '{pattern}'; it speaks about "
        + ", ".join(accepted)
        + "."
    )

"""Which models there are: the built-in ones, and those that other packages add."""

from __future__ import annotations

from collections.abc import Callable

from chiplog.models.protocol import Model
from chiplog.plugins import Registry

MODELS: Registry[Model] = Registry(
    "model",
    "chiplog.models.protocol:Model",
    folder="chiplog.models",
    built_in=(
        "hockney",
        "logp",
        "loggp",
        "loggps",
        "loggops",
        "plogp",
        "lop",
        "lop-overhead",
        "logfp",
        "postal",
        "max-rate",
        "max-rate-4",
        "max-rate-modified",
    ),
)

load_model = MODELS.load
find_model = MODELS.find
"""None for an unknown name: files may hold fits of models that are not installed."""


def models_by_precedence(serves: Callable[[Model], bool]) -> tuple[Model, ...]:
    """The models that `serves` accepts, those to be taken first at the front."""
    return tuple(sorted(filter(serves, MODELS.all()), key=lambda model: -model.precedence))

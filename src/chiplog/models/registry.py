"""Which models there are: the built-in ones, and those that other packages add."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from chiplog.errors import UsageError
from chiplog.models.protocol import Model

GROUP = "chiplog.models"
"""The entry point group of models that other packages add."""
BUILT_IN = (
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
)
"""In the order of lists and tables. Each is a constant in the module of its name: `LOP_OVERHEAD` of `lop_overhead`."""


@cache
def _from_outside() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=GROUP) if one.name not in BUILT_IN}


def model_names() -> tuple[str, ...]:
    """The names of all models, the built-in ones first."""
    return (*BUILT_IN, *_from_outside())


@cache
def load_model(name: str) -> Model:
    """The model of that name.

    Raises UsageError, with the known names, for an unknown one, and for one from another package that lacks something.
    """
    if name in BUILT_IN:
        module = name.replace("-", "_")
        built_in: Model = getattr(import_module(f"chiplog.models.{module}"), module.upper())
        return built_in
    if name not in _from_outside():
        raise UsageError(f"Model '{name}' is unknown; known are " + ", ".join(model_names()) + ".")
    point = _from_outside()[name]
    try:
        found = point.load()
    except Exception as error:  # another package's code may raise anything
        raise UsageError(f"Model '{name}' can't be loaded from {point.value}: {error}.") from error
    if not isinstance(found, Model):
        raise UsageError(f"Model '{name}': {point.value} is no chiplog.models.protocol.Model.")
    if found.name != name:
        raise UsageError(f"Model '{name}': {point.value} calls itself '{found.name}'.")
    return found


def find_model(name: str) -> Model | None:
    """As `load_model`, but None for an unknown name: files may hold fits of models that are not installed."""
    return load_model(name) if name in model_names() else None


def models_by_precedence(serves: Callable[[Model], bool]) -> tuple[Model, ...]:
    """The models that `serves` accepts, those to be taken first at the front."""
    chosen = filter(serves, map(load_model, model_names()))
    return tuple(sorted(chosen, key=lambda one: -one.precedence))


def load_reference(reference: str) -> Any:
    """What a model refers to by "package.module:attribute"; UsageError where that can't be imported."""
    module, _, attribute = reference.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"'{reference}', which a model refers to, can't be loaded: {error}."
        ) from error

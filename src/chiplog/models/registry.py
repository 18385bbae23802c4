"""Which models there are: the built-in ones, and those that other packages add."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points

from chiplog.errors import UsageError
from chiplog.models.protocol import Model

GROUP = "chiplog.models"
BUILT_IN = {
    "hockney": "chiplog.models.hockney:HOCKNEY",
    "logp": "chiplog.models.logp:LOGP",
    "loggp": "chiplog.models.loggp:LOGGP",
    "loggps": "chiplog.models.loggps:LOGGPS",
    "loggops": "chiplog.models.loggops:LOGGOPS",
    "plogp": "chiplog.models.plogp:PLOGP",
    "lop": "chiplog.models.lop:LOP",
    "lop-overhead": "chiplog.models.lop_overhead:LOP_OVERHEAD",
    "logfp": "chiplog.models.logfp:LOGFP",
    "postal": "chiplog.models.postal:POSTAL",
    "max-rate": "chiplog.models.max_rate:MAX_RATE",
    "max-rate-4": "chiplog.models.max_rate_4:MAX_RATE_4",
    "max-rate-modified": "chiplog.models.max_rate_modified:MAX_RATE_MODIFIED",
}
"""The same as in pyproject.toml, so that a source tree works without its metadata installed."""


def _built_in(target: str) -> Model:
    module, _, attribute = target.partition(":")
    model: Model = getattr(import_module(module), attribute)
    return model


@cache
def _loaders() -> dict[str, Callable[[], Model]]:
    loaders: dict[str, Callable[[], Model]] = {
        name: partial(_built_in, target) for name, target in BUILT_IN.items()
    }
    for point in entry_points(group=GROUP):
        loaders.setdefault(point.name, point.load)
    return loaders


def model_names() -> tuple[str, ...]:
    """The names of all models that can be loaded, built-in ones first."""
    return tuple(_loaders())


def load_model(name: str) -> Model:
    """The model of that name.

    Raises UsageError, with the known names, for an unknown one or for a plug-in that isn't a Model.
    """
    loaders = _loaders()
    if name not in loaders:
        raise UsageError(f"Model '{name}' is unknown; known are " + ", ".join(loaders) + ".")
    found = loaders[name]()
    if not isinstance(found, Model):
        raise UsageError(f"Entry point '{name}' of {GROUP} doesn't provide a Model.")
    return found

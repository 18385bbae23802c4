"""chiplog: how fast messages really move on a machine, and which model says so.

    >>> import chiplog
    >>> run = chiplog.measure("sim:L=5us,o=1us,g=2us,G=0.5ns", sizes="1:64KiB")
    >>> fit = chiplog.fit(run)
    >>> f"{fit['L'].value * 1e6:.2f} us"
    '5.00 us'

`measure`, `read`, `fit`, `changes`, `compare`, `predict`, `simulate`, `bench`, `survey` and `run` are the commands as
functions (`chiplog.api`). Some of them bear the name of the package that they come from: `chiplog.fit(...)` fits, and
`chiplog.fitting.fit` is a module, as ever (docs/decisions/0033-functions-and-packages-of-one-name.md).
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from chiplog._version import __version__

__all__ = [
    "__version__",
    "bench",
    "changes",
    "compare",
    "fit",
    "history",
    "measure",
    "predict",
    "read",
    "run",
    "simulate",
    "survey",
]
_FUNCTIONS = frozenset(__all__) - {"__version__"}


class _PackageWithFunction(ModuleType):
    """A package that is called as the function of its name."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        return _function(self.__name__.rpartition(".")[2])(*args, **kwargs)  # type: ignore[operator]

    @property
    def __wrapped__(self) -> object:
        """The function, for `inspect.signature`."""
        return _function(self.__name__.rpartition(".")[2])


class _Chiplog(ModuleType):
    """Lets the packages below that have a function's name be called."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FUNCTIONS and isinstance(value, ModuleType):
            value.__class__ = _PackageWithFunction
        super().__setattr__(name, value)


def _function(name: str) -> object:
    return getattr(import_module("chiplog.api"), name)


def __getattr__(name: str) -> object:
    """A function, imported when it is first asked for: the rest of the package stays light."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module 'chiplog' has no attribute {name!r}")
    try:
        return import_module(f"chiplog.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"chiplog.{name}":
            raise
        return _function(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.modules[__name__].__class__ = _Chiplog

"""chiplog: how fast messages really move on a machine, and which model says so.

    >>> import chiplog
    >>> run = chiplog.measure("sim:L=5us,o=1us,g=2us,G=0.5ns", sizes="1:64KiB")
    >>> fit = chiplog.fit(run)
    >>> f"{fit['L'].value * 1e6:.2f} us"
    '5.00 us'

`measure`, `read`, `fit`, `changes`, `compare`, `predict`, `simulate`, `app`, `bench`, `guidelines`, `survey`, `ucx` and
`run` are the commands as functions (`chiplog.api`), and `overlap` is what a pattern tells. Functions are verbs; the
packages that do the work are nouns, such as `chiplog.fitting`.
"""

from __future__ import annotations

from importlib import import_module

from chiplog._version import __version__

__all__ = [
    "__version__",
    "app",
    "bench",
    "changes",
    "compare",
    "fit",
    "guidelines",
    "history",
    "measure",
    "overlap",
    "predict",
    "read",
    "run",
    "simulate",
    "survey",
    "ucx",
]


def __getattr__(name: str) -> object:
    """A function, imported when it is first asked for: the rest of the package stays light."""
    if name not in __all__:
        raise AttributeError(f"module 'chiplog' has no attribute {name!r}")
    return getattr(import_module("chiplog.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Errors in the words of Python: an option `--time-limit` is the argument `time_limit` here."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from chiplog.errors import ChiplogError

P = ParamSpec("P")
R = TypeVar("R")

_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])\b(?!=)")
"""Options of chiplog; what other programs are told, such as `srun --mpi=pmix`, stays."""
ARGUMENTS = {"class": "link_class", "as": "convention", "anchor": "anchors"}
"""Options whose arguments have other names."""
_OUT = re.compile(r"(?<![\w-])-o\b")


def in_python(words: str) -> str:
    """A sentence with options as arguments.

    >>> in_python("--time-limit: 0 is out of range; see --budget.")
    'time_limit: 0 is out of range; see budget.'
    """
    return _OUT.sub("out", _OPTION.sub(lambda match: _argument(match[1]), words))


def _argument(option: str) -> str:
    """The name of an option's argument: `class` and `as` are words of Python itself."""
    return ARGUMENTS.get(option, option.replace("-", "_"))


def for_python(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, whose ChiplogErrors speak of arguments; their kind stays."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ChiplogError as error:
            error.args = (in_python(str(error)), *error.args[1:])
            raise

    return called

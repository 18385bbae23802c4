"""What `import chiplog` offers: each command as a function, with results that are read in Python.

A result is what the command prints: `fit["L"]` is a value with its interval, `fit.predict(sizes)` has its band. What
is wrong is said in the words of Python's arguments, not of the command line's options (`chiplog.api.words`).
"""

from chiplog.api.application import app
from chiplog.api.functions import (
    bench,
    changes,
    compare,
    fit,
    guidelines,
    history,
    measure,
    overlap,
    predict,
    read,
    run,
    simulate,
    survey,
    ucx,
)

__all__ = [
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

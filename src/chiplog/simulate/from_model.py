"""The simulator's parameters from a model file."""

from __future__ import annotations

import os

from chiplog.export.loggops_values import loggops_values
from chiplog.export.protocol_lines import LOGGP_MODELS, fit_to_use
from chiplog.fit.model_file import read_model
from chiplog.simulate.parameters import NO_LIMIT_BYTES, LogGOPS


def parameters_from_model(path: str | os.PathLike[str]) -> LogGOPS:
    """From the fit of loggps or loggp in a model file; UsageError where there is none, CorruptFile as in reading it."""
    seconds = loggops_values(fit_to_use(read_model(path), LOGGP_MODELS, "simulate --model"))
    return LogGOPS.from_ns(
        L=seconds.L * 1e9,
        o=seconds.o * 1e9,
        g=seconds.g * 1e9,
        G=seconds.G * 1e9,
        S_bytes=NO_LIMIT_BYTES if seconds.S_bytes is None else seconds.S_bytes,
    )

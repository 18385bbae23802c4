"""The simulator's parameters from a model file."""

from __future__ import annotations

import os

from chiplog.export.loggops_values import LogGOPSValues, largest_eager_bytes, loggops_values
from chiplog.export.protocol_lines import LOGGP_MODELS, fit_to_use
from chiplog.fit.model_file import read_model
from chiplog.simulate.parameters import NO_LIMIT_BYTES, LogGOPS, Protocol

NS_PER_SECOND = 1e9


def parameters_from_model(path: str | os.PathLike[str]) -> LogGOPS:
    """From the fit of loggps or loggp in a model file, each protocol's for its sizes; the first one's below them, too.

    UsageError where there is no such fit, CorruptFile as in reading a model file.
    """
    fit = fit_to_use(read_model(path), LOGGP_MODELS, "simulate --model")
    values = [loggops_values(segment) for segment in fit.segments]
    protocols = tuple(
        _protocol(one, 0 if index == 0 else one.first_bytes) for index, one in enumerate(values)
    )
    limit = largest_eager_bytes(fit)
    return LogGOPS(protocols, NO_LIMIT_BYTES if limit is None else limit)


def _protocol(seconds: LogGOPSValues, first_bytes: int) -> Protocol:
    return Protocol.from_ns(
        first_bytes=first_bytes,
        L=seconds.L * NS_PER_SECOND,
        o=seconds.o * NS_PER_SECOND,
        g=seconds.g * NS_PER_SECOND,
        G=seconds.G * NS_PER_SECOND,
    )

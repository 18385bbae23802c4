"""The simulator's parameters from a model file."""

from __future__ import annotations

import os

from chiplog.errors import UsageError
from chiplog.export.loggops_values import largest_eager_bytes, loggops_values
from chiplog.export.protocol_lines import LOGGP_MODELS, fit_to_use, value
from chiplog.fit.model_file import read_model
from chiplog.fit.result import Segment
from chiplog.simulate.parameters import NO_LIMIT_BYTES, LogGOPS, Protocol

NS_PER_SECOND = 1e9

REQUIRED = ("L", "L_half")
"""One of them must be known in each protocol."""
ZERO_WHERE_UNKNOWN = {"o": ("o_s", "o_r"), "g": ("g",), "G": ("G",)}


def parameters_from_model(path: str | os.PathLike[str]) -> tuple[LogGOPS, list[str]]:
    """From the fit of loggps or loggp, each protocol's for its sizes, the first one's below them, too.

    The second result holds a sentence for each parameter that was not identified and is taken as 0. UsageError where
    there is no such fit or one of its protocols has no latency, CorruptFile as in reading a model file.
    """
    fit = fit_to_use(read_model(path), LOGGP_MODELS, "simulate --model")
    protocols = tuple(
        _protocol(segment, is_first=index == 0) for index, segment in enumerate(fit.segments)
    )
    assumed = [
        f"{symbol} from {segment.first_bytes} B on is not identified and taken as 0."
        for segment in fit.segments
        for symbol, names in ZERO_WHERE_UNKNOWN.items()
        if not any(_is_known(segment, name) for name in names)
    ]
    limit = largest_eager_bytes(fit)
    return LogGOPS(protocols, NO_LIMIT_BYTES if limit is None else limit), assumed


def _is_known(segment: Segment, symbol: str) -> bool:
    parameter = segment.parameters.get(symbol)
    return parameter is not None and parameter.value is not None


def _protocol(segment: Segment, *, is_first: bool) -> Protocol:
    if not any(value(segment, symbol) > 0 for symbol in REQUIRED):
        raise UsageError(
            f"--model: the fit has no latency from {segment.first_bytes} B on; give --L, --o, --g and --G instead."
        )
    seconds = loggops_values(segment)
    return Protocol.from_ns(
        first_bytes=0 if is_first else seconds.first_bytes,
        L=seconds.L * NS_PER_SECOND,
        o=seconds.o * NS_PER_SECOND,
        g=seconds.g * NS_PER_SECOND,
        G=seconds.G * NS_PER_SECOND,
    )

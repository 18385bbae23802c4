"""The slides on LogfP: their figures from printed parameters, and a simulated network that has them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from chiplog.api.fitted import FittedModel
from chiplog.fit.result import Curve
from chiplog.models.logfp import LOGFP, overhead
from chiplog.models.logp import LOGP
from chiplog.models.protocol import points
from gallery import one_to_many
from gallery.one_to_many import PEERS, draw
from gallery.section import COLOURS, Section, curve, fit_of, measured

PRINTED = {"f": 7.0, "o_min": 0.18, "o_max": 1.6}
CHOSEN = {"L": 5.0, "g": 5.0, "o_r": 0.0}
"""In us: the slides print neither L nor g."""
COMMAND = measured(
    "sim:L=5us,o_min=0.18us,o_max=1.6us,o_r=0,g=5us,f=7,noise=0.01", "one_to_many", "1", 17, 7
)
EIGHT_KB = measured(
    "sim:L=5us,o_min=0.18us,o_max=1.6us,o_r=0,g=5us,f=7,G=0.73ns,noise=0.01",
    "one_to_many",
    "8192",
    17,
    7,
)
PER_MESSAGE = "round trip per message RTT(p)/p in µs"


def _logp(axes: Any) -> str:
    o = overhead(1, PRINTED).item()
    theta = {**CHOSEN, "o_s": o}
    found = LOGP.formulas["one_to_many"](points("one_to_many", 1, peers=PEERS), theta) / PEERS
    draw(axes, {"LogP, o_r = 0": found}, PER_MESSAGE)
    return f"{found[0]:.2f} µs at 1 peer, {found[-1]:.2f} µs at 64, least at {int(PEERS[np.argmin(found)])} peers."


def _measured(axes: Any, found: Curve, us: Any) -> None:
    """Measured medians over the number of peers with their intervals; `us` takes seconds to what is drawn."""
    axes.errorbar(
        found.peers,
        found.measured_seconds * us,
        yerr=[
            ((found.measured_seconds - found.low_seconds) * us).clip(0),
            ((found.high_seconds - found.measured_seconds) * us).clip(0),
        ],
        fmt="o", ms=3, lw=1, color=COLOURS[1], label="measured (95 % interval)",
    )  # fmt: skip


def _post_times(axes: Any) -> str:
    fit = fit_of(COMMAND, "logfp")
    found = curve(fit, "o_s_over_peers")
    _measured(axes, found, 1e6)
    draw(
        axes,
        {"LogfP, fitted": found.predicted_seconds * 1e6},
        "overhead in µs",
        found.peers,
        marked=False,
    )
    return _fitted(fit, ("o_min", "o_max"))


def _round_trips(command: str, axes: Any) -> str:
    fit = fit_of(command, "logfp")
    found = curve(fit, "round_trip_over_peers")
    _measured(axes, found, 1e6 / found.peers)
    us = 1e6 / found.peers
    draw(
        axes,
        {"LogfP, fitted": found.predicted_seconds * us},
        PER_MESSAGE,
        found.peers,
        marked=False,
    )
    return _fitted(fit, ("f", "L", "g", "o_min", "o_max"))


def _fitted(fit: FittedModel, symbols: tuple[str, ...]) -> str:
    """Fitted parameters with their intervals, in words."""
    told = []
    for symbol in symbols:
        one, scale = fit[symbol], 1.0 if symbol == "f" else 1e6
        unit = "" if symbol == "f" else " µs"
        told.append(
            f"{symbol} = {one.value * scale:.3g}{unit} [{one.low * scale:.3g}, {one.high * scale:.3g}]"
            if one.identified else f"{symbol} not identified"
        )  # fmt: skip
    return f"Fitted, with 95 % intervals: {', '.join(told)}."


def _round_trip(axes: Any) -> str:
    many = points("one_to_many", 1, peers=PEERS)
    found = LOGFP.formulas["one_to_many"](many, {**CHOSEN, **PRINTED}) / PEERS
    draw(axes, {"LogfP, f = 7": found}, PER_MESSAGE)
    axes.axvline(PRINTED["f"], color="grey", lw=1, label="f")
    return f"Least at {int(PEERS[np.argmin(found)])} peers: {found.min():.3f} µs; {found[0]:.2f} µs at 1."


def _overhead(axes: Any) -> str:
    found = overhead(PEERS, PRINTED)
    draw(axes, {"o(p) by LogfP": found}, "overhead in µs")
    return f"o(1) = {found[0]:.2f} µs, o(2) = {found[1]:.2f} µs, o(64) = {found[-1]:.3f} µs."


def _overhead_logp(axes: Any) -> str:
    fitted = overhead(PEERS, PRINTED)
    draw(axes, {"LogP": np.full(PEERS.shape, fitted[0]), "LogfP": fitted}, "overhead in µs")
    return f"LogP's constant is {fitted[0]:.2f} µs, {fitted[0] / fitted[-1]:.1f} times LogfP's at 64 peers."


CHOICE = "The slides print neither L nor g: both are 5 µs here. "
SECTIONS = (
    Section(
        "principle",
        "One to n and back: the five steps",
        one_to_many.PRINCIPLE,
        (one_to_many.FOUR_PEERS,),
        one_to_many.principle,
        one_to_many.PRINCIPLE_DIFFERS
        + "It is a network of LogP, whose prediction the next slide has.",
    ),
    Section(
        "logp",
        "LogP's round trip per message",
        "With o_r = 0 the time per message falls towards the gap and never rises again.",
        (),
        _logp,
        CHOICE + "Computed by chiplog's model of LogP.",
    ),
    Section(
        "one-byte",
        "Round trips of 1 byte",
        "Three machines show a fall, a least value, and a rise or a plateau.",
        (COMMAND, "chiplog fit run.jsonl --model logfp"),
        partial(_round_trips, COMMAND),
        CHOICE
        + "One simulated network with the printed f and overheads stands for three machines, of which the slides "
        "print no number; it shows whether the fit finds what was put in.",
    ),
    Section(
        "eight-kb",
        "Round trips of 8 kB",
        "The same three machines with messages of 8 kB.",
        (EIGHT_KB, "chiplog fit run.jsonl --model logfp"),
        partial(_round_trips, EIGHT_KB),
        CHOICE
        + "No number of these curves is printed, and the machines are gone: the network above stands for them, with "
        "the G of InfiniBand from the slides on PRTT, 0.73 ns/B. A fit of one size has G in L and g, which are longer "
        "by 8191 G = 5.98 µs each.",
    ),
    Section(
        "overhead-logp",
        "LogP's constant overhead",
        "LogP has one overhead for any number of messages.",
        (),
        _overhead_logp,
        "LogfP's overhead is drawn beside it, with the numbers of the last slide but one.",
    ),
    Section(
        "post-times",
        "Overheads of 1 byte",
        "The overhead of a message over the number of peers, on three machines.",
        (COMMAND, "chiplog fit run.jsonl --model logfp"),
        _post_times,
        "One simulated network with the printed o_min and o_max stands for the three machines, which are gone and of "
        "whose curves the slides print no number. The times are those of posting the sends of the run above.",
    ),
    Section(
        "round-trip",
        "LogfP's round trip with f = 7",
        "The model follows the measured curve, whose least value is at f = 7.",
        (),
        _round_trip,
        CHOICE
        + "The measured points are not printed. That f is where RTT(p)/p is least is true of these numbers, not in "
        "general: with L = 2 and g = 1 µs it is at 10.",
    ),
    Section(
        "overhead",
        "LogfP's overhead",
        "o_min = 0.18 µs and o_max = 1.6 µs.",
        (),
        _overhead,
        "o_max is what the first message costs beyond o_min, so o(1) is 1.78 µs; the slide calls it o at 1 peer.",
    ),
)

"""The slides on LogfP: their figures from printed parameters, and a simulated network that has them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from chiplog.api.fitted import FittedModel
from chiplog.fitting.result import Curve
from chiplog.models.logfp import LOGFP, overhead
from chiplog.models.logp import LOGP
from chiplog.models.protocol import points
from papers import machines, one_to_many
from papers.one_to_many import PEERS, RDMA_WRITE, draw, overhead_us, printed_parts, published
from papers.section import COLOURS, Section, curve, fit_of, measured
from papers.space_time import diagram, simulated, trace_of

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
LOGP_MESSAGES = simulated(
    "examples/papers/schedules/two-messages.goal", {"L": 5000, "o": 1000, "g": 2000, "G": 0}
)
PER_MESSAGE = "round trip per message RTT(p)/p in µs"
TEST_SYSTEMS = {
    "Opteron PCI-X": {"processor": "Opteron", "bus of the network adapter": "PCI-X"},
    "Xeon PCI-X": {"processor": "Xeon", "bus of the network adapter": "PCI-X"},
    "Xeon PCI-e": {"processor": "Xeon", "bus of the network adapter": "PCI-e"},
}
for machine in TEST_SYSTEMS.values():
    machine |= {"network": "InfiniBand", "clock": "RDTSC"}


def _logp_model(axes: Any) -> str:
    trace = trace_of((LOGP_MESSAGES,))
    diagram(axes, trace, ("sender", "receiver"))
    first, second = trace.messages
    return (
        f"A message is received after {first.received_us:g} µs, 2o + L; the second begins "
        f"{second.sent_us - first.sent_us:g} µs after the first, g."
    )


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
    round_trips = curve(fit, "round_trip_over_peers")
    assert round_trips.peers is not None, "this curve is over the peers"
    us = 1e6 / round_trips.peers
    _measured(axes, round_trips, us)
    fitted = {"LogfP, fitted": round_trips.predicted_seconds * us}
    draw(axes, fitted, PER_MESSAGE, round_trips.peers, marked=False)
    return _fitted(fit, ("f", "L", "g", "o_min", "o_max"))


def _fitted(fit: FittedModel, symbols: tuple[str, ...]) -> str:
    """Fitted parameters with their intervals, in words."""
    texts = []
    for symbol in symbols:
        parameter, scale = fit[symbol], 1.0 if symbol == "f" else 1e6
        unit = "" if symbol == "f" else " µs"
        if parameter.value is None or parameter.low is None or parameter.high is None:
            texts.append(f"{symbol} not identified")
            continue
        low, high = parameter.low * scale, parameter.high * scale
        texts.append(f"{symbol} = {parameter.value * scale:.4g}{unit} [{low:.4g}, {high:.4g}]")
    return f"Fitted, with 95 % intervals: {', '.join(texts)}."


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


def _lop_round_trip(axes: Any) -> str:
    total, parts = published()["RDMA write"], printed_parts(RDMA_WRITE)
    draw(axes, {"sum": total, **parts}, PER_MESSAGE)
    axes.set_ylim(bottom=-6)
    start, processing, saturation = (values[-1] for values in parts.values())
    return (
        f"At 64 peers the sum of {total[-1]:.2f} µs is {start:.2f} of pipeline, {processing:.2f} of processing and "
        f"{saturation:.2f} of saturation; it is least, {total.min():.2f} µs, at {int(PEERS[np.argmin(total)])} peers."
    )


def _lop_overhead(axes: Any) -> str:
    found, ours = overhead_us(PEERS), overhead(PEERS, PRINTED)
    draw(axes, {"o(p) by LoP": found, "o(p) by LogfP": ours}, "overhead in µs")
    return f"LoP: o(1) = {found[0]:.2f} µs and o(64) = {found[-1]:.2f} µs, LogfP: {ours[0]:.2f} and {ours[-1]:.2f} µs."


CHOICE = "The slides print neither L nor g: both are 5 µs here. "
SECTIONS = (
    Section(
        "logp-model",
        "LogP's parameters, over time",
        "L is the latency, g the gap between messages, o the overhead on either CPU, P the number of processors.",
        (LOGP_MESSAGES,),
        _logp_model,
        "The slide has no numbers: L = 5, o = 1 and g = 2 µs are ours. Drawn from the trace of chiplog's simulator, "
        "which has the CPUs, not the network: an arrow takes L. P is 2.",
    ),
    Section(
        "principle",
        "One to n and back: the five steps",
        one_to_many.PRINCIPLE,
        (one_to_many.FOUR_PEERS,),
        one_to_many.principle,
        one_to_many.PRINCIPLE_DIFFERS
        + "It is a network of LogP with o_r = o; in the special case o_r = 0 of the next slide, RTT(4) would be 2o "
        "less.",
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
        "test-systems",
        "Three InfiniBand machines",
        "Three machines by name: their processor and the bus of their InfiniBand adapter, and whom they are from.",
        (machines.COMMAND,),
        machines.drawing(TEST_SYSTEMS),
        machines.DIFFERS
        + "The clock is that of the slides' benchmark, which is said of it in general.",
        picture=False,
    ),
    Section(
        "one-byte",
        "Round trips of 1 byte",
        "RTT(P) of 1 byte on the three machines. The slides say later that RTT(P)/P is least at P = f.",
        (COMMAND, "chiplog fit run.jsonl --model logfp"),
        partial(_round_trips, COMMAND),
        CHOICE
        + "One simulated network with the printed f and overheads stands for three machines, of which the slides "
        "print no number; it shows whether the fit finds what was put in.",
    ),
    Section(
        "eight-kb",
        "Round trips of 8 kB",
        "RTT(P) of 8 kB on the three machines.",
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
        "lop-round-trip",
        "LoP's round trip and its three parts",
        "The sum of pipeline, processing and saturation has six nonlinear parameters: very accurate, too unwieldy to "
        "use.",
        (),
        _lop_round_trip,
        "The slide prints no numbers: ours are those that the LoP paper prints of RDMA write. Computed by chiplog's "
        "formulas; nothing was measured. Data tell five of the six parameters (see the page on the LoP paper).",
    ),
    Section(
        "lop-overhead",
        "LoP's overhead",
        "A pipeline's start alone, with three nonlinear parameters: very accurate, too unwieldy to use.",
        (),
        _lop_overhead,
        "The slide prints no numbers: ours are those of the LoP paper's section 4.7, of another machine than LogfP's, "
        "which is drawn beside it. Computed by chiplog's formulas; nothing was measured.",
    ),
    Section(
        "round-trip",
        "LogfP's round trip with f = 7",
        "The model with f = 7, where f is said to be where RTT(P)/P is least.",
        (),
        _round_trip,
        CHOICE
        + "What the slide may show of measurements is not printed. That f is where RTT(p)/p is least is true of these "
        "numbers, not in general: with L = 2 and g = 1 µs it is at 10.",
    ),
    Section(
        "overhead",
        "LogfP's overhead",
        "o(P) = o_min + o_max/P with 0.18 and 1.6, without a unit.",
        (),
        _overhead,
        "We read 0.18 and 1.6 as µs. o_max is what the first message costs beyond o_min, so o(1) is 1.78 µs; the "
        "slides call o_max the overhead at 1 peer.",
    ),
)

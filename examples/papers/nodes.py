"""Pictures of nodes, their processes and their paths, with the rates that chiplog fits and times that it simulates."""

from __future__ import annotations

from typing import Any

import numpy as np

from chiplog.report.header import items, number
from papers.pairs import half_round_trips
from papers.section import COLOURS, Section, fit_of, measured, run_of
from papers.space_time import Trace, simulated, trace_of

PAIRS = measured("sim:L=3us,o=1us,R_C=2GB/s,R_N=7GB/s,noise=0.03", "pairs", "1:1MiB:1", 12, 1)
FIT = "chiplog fit run.jsonl --model max-rate"
OURS_NS = {"L": 5000, "o": 1000, "g": 2000, "G": 0.5}
PATH_GB, NIC_GB = 2.0, 5.0
"""A path's rate, 1/G, and that of the path which two nodes share."""
NODES, PER_NODE = 2, 4
FILE = "examples/papers/schedules/eight-processes.goal"
OWN_PATHS = simulated(FILE, OURS_NS)
SHARED_PATH = OWN_PATHS.replace(
    " --trace", f" --per-node {NODES * PER_NODE} --node-rate {NIC_GB * 1e9:g} --trace"
)


def _box(axes: Any, x: float, y: float, width: float, height: float, text: str = "") -> None:
    """A box with its lower left corner at x and y; a text stands in its middle."""
    axes.add_patch(_rectangle((x, y), width, height))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=8)


def _rectangle(corner: tuple[float, float], width: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor="0.95", edgecolor="0.3", lw=1.0, zorder=1)


def _process(axes: Any, x: float, y: float, rank: int, colour: str) -> None:
    axes.plot([x], [y], "o", ms=14, color=colour, zorder=3)
    axes.text(x, y, str(rank), ha="center", va="center", fontsize=7, color="white", zorder=4)


def _value(fit: Any, symbol: str) -> float:
    return float(fit[symbol].value)


def _interval(fit: Any, symbol: str, scale: float, unit: str) -> str:
    parameter = fit[symbol]
    return f"{parameter.value * scale:.2f} {unit} [{parameter.low * scale:.2f}, {parameter.high * scale:.2f}]"


def _canvas(axes: Any, height: float) -> None:
    axes.set_axis_off()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, height)


def _one_model(axes: Any) -> str:
    run, fit = run_of(PAIRS), fit_of(PAIRS, "max-rate")
    pairs = int(number({"one": items(run.header, "pair_groups")[0]}, "one", "pairs") or 0)
    ranks = int(number(run.header, "ranks") or 0)
    _canvas(axes, pairs + 1.4)
    middle = (pairs + 1) / 2
    for x, nic, first, name in ((1.0, 2.7, 0, "node A"), (9.0, 7.3, ranks - pairs, "node B")):
        left = min(x, nic) - 0.55
        _box(axes, left, 0.3, abs(nic - x) + 1.1, pairs + 0.4)
        axes.text((x + nic) / 2, pairs + 0.85, name, ha="center", va="bottom")
        _box(axes, nic - 0.35, middle - 0.6, 0.7, 1.2, "NIC")
        for place in range(pairs):
            y = pairs - place
            edge = nic - 0.35 if x < nic else nic + 0.35
            axes.plot([x, edge], [y, middle], color=COLOURS[0], lw=1.4, zorder=2)
            _process(axes, x, y, first + place, COLOURS[0])
    axes.plot([3.05, 6.95], [middle, middle], color=COLOURS[1], lw=5, zorder=2)
    rate_c, rate_n = (_interval(fit, symbol, 1e-9, "GB/s") for symbol in ("R_C", "R_N"))
    up, down = middle + 0.35, middle - 0.35
    axes.text(5, up, f"$R_N$ = {rate_n}", ha="center", va="bottom", color=COLOURS[1], fontsize=8)
    axes.text(5, down, "one link for all processes", ha="center", va="top", fontsize=8)
    axes.text(5, 0.5, f"$R_C$ = {rate_c}\neach process to its NIC", ha="center", va="bottom",
              color=COLOURS[0], fontsize=8)  # fmt: skip
    times = half_round_trips(run)
    each = {k: times.sizes[-1] / times.median(k)[-1] / 1e9 for k in (1, pairs)}
    enough = _value(fit, "R_N") / _value(fit, "R_C")
    return (
        f"Fitted, with 95 % intervals: R_C = {rate_c} of a process, R_N = {rate_n} of a node, and a start-up of "
        f"{_interval(fit, 's0', 1e6, 'µs')}. Measured at {times.sizes[-1] // 1024:,} KiB: one process sends "
        f"{each[1]:.2f} GB/s; {pairs} at once send {each[pairs]:.2f} GB/s each, {pairs * each[pairs]:.2f} GB/s in all. "
        f"R_N/R_C = {enough:.2f} processes fill the link. Numbers in the circles are the ranks of the run."
    )


def arrivals_us(trace: Trace) -> list[float]:
    """When the messages of ranks 0, 1 and so on were received, in us."""
    return [
        message.received_us
        for message in sorted(trace.messages, key=lambda message: message.source)
    ]


def _two_examples(axes: Any) -> str:
    """Left each process has a path of its own, right all share one; beside a path is the time of its message."""
    processes = NODES * PER_NODE
    _canvas(axes, processes + 2.6)
    own, shared = (arrivals_us(trace_of((command,))) for command in (OWN_PATHS, SHARED_PATH))
    for x, times, title in (
        (0.0, own, "several paths into the network"),
        (5.2, shared, "one path, shared by two nodes"),
    ):
        axes.text(x + 2.3, processes + 2.4, title, ha="center", va="top", fontsize=9)
        for node in range(NODES):
            low = (NODES - 1 - node) * (PER_NODE + 0.6) + 0.1
            _box(axes, x + 0.05, low, 0.9, PER_NODE + 0.3)
            axes.text(x + 0.5, low + PER_NODE + 0.05, f"node {node + 1}", ha="center", va="center",
                      fontsize=7)  # fmt: skip
            for place in range(PER_NODE):
                rank = node * PER_NODE + place
                y = low + PER_NODE - place - 0.6
                _process(axes, x + 0.5, y, rank, COLOURS[node])
                edge = x + 2.0 if times is shared else x + 2.9
                target = (processes + 0.6) / 2 + (3.5 - rank) * 0.2 if times is shared else y
                axes.plot([x + 0.5, edge], [y, target], color=COLOURS[node], lw=1.2, zorder=2)
                axes.text(x + 3.95, y, f"{times[rank]:.1f} µs", ha="center", va="center", fontsize=7)  # fmt: skip
        if times is shared:
            _box(axes, x + 2.0, 3.2, 0.5, 2.2, "NIC")
            axes.plot([x + 2.5, x + 2.9], [4.3, 4.3], color="0.2", lw=5, zorder=2)
        _box(axes, x + 2.9, 0.1, 0.5, processes + 0.9)
        axes.text(x + 3.15, 4.5, "network", ha="center", va="center", rotation=90, fontsize=8)
        axes.text(
            x + 3.95, processes + 1.3, "received\nafter", ha="center", va="center", fontsize=7
        )
    ends = np.array(own), np.array(shared)
    return (
        f"All eight processes send 64 KiB at time 0. Over paths of their own, of 1/G = {PATH_GB:g} GB/s each, all "
        f"messages are received after {ends[0].max():.1f} µs. Over one path of {NIC_GB:g} GB/s for both nodes they go "
        f"one after the other: the first is received after {ends[1].min():.1f} µs and the last after "
        f"{ends[1].max():.1f} µs, {ends[1].max() / ends[0].max():.1f} times as late; none is faster than its process's "
        f"{PATH_GB:g} GB/s. The times in the picture are those of the two traces."
    )


ONE_MODEL = Section(
    "one-model",
    "SMP nodes and their links",
    "A picture with a title and without numbers. The text says later what limits the rate: the link of each process to "
    "the network adapter (NIC), or the link that all share.",
    (PAIRS, FIT),
    _one_model,
    "What the slide's picture shows beyond its title is not known to us. Ours has what chiplog knows of two nodes: "
    "the ranks of a run of pairs, and the two rates that are fitted to it. The network is simulated, with R_C = 2 and "
    "R_N = 7 GB/s of our choice: the picture shows what the model's parameters belong to, and that the fit finds "
    "them. Whether a node's limit lies in its NIC or in the link beyond can't be told from outside; R_N is both. The "
    "slides show the picture twice.",
)
TWO_EXAMPLES = Section(
    "two-examples",
    "Paths out of a node",
    "Two simplified machines: Blue Gene/Q has several paths into the network, the Cray XE6 has a single path to an "
    "adapter that two nodes share, so several sending processes can exceed it.",
    (OWN_PATHS, SHARED_PATH),
    _two_examples,
    "The slide has no numbers, and neither machine is measured here: both are nodes in chiplog's simulator, with L = "
    "5, o = 1, g = 2 µs, G = 0.5 ns/B and 5 GB/s of our choice. `--per-node 8` makes one node of eight ranks for the "
    "simulator: here those are the four processes on each of the two nodes that share an adapter. Each process has a "
    "path of its own in our left half; the slide does not say how many Blue Gene/Q has. chiplog does not find out by "
    "itself which paths a machine has: `chiplog measure --pattern pairs` shows what they carry.",
)

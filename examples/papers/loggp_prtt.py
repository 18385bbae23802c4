"""The slides on LogGP parameters by PRTT: figures on simulated networks that have the published parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from papers.section import COLOURS, Section, curve, fit_of, measured, points
from papers.space_time import Trace, beside, diagram, inside, length, simulated, trace_of

SIZES = ",".join(map(str, (1, 64, 256, 1024, *range(2500, 60_001, 2500))))
"""In bytes, evenly spaced as on the slides."""


@dataclass(frozen=True)
class Published:
    """A network of the slides' table: half a round trip and overhead in us, then g in us and G in ns/B by protocol."""

    name: str
    half_us: float
    overhead_us: float
    lines: tuple[tuple[float, float], ...]
    last_bytes: int = 0

    @property
    def target(self) -> str:
        """A simulated network with these: o_r = 0, so L is the published half round trip less o, and at least 0."""
        latency = max(0.0, self.half_us - self.overhead_us)
        gap, per_byte = self.lines[0]
        text = f"sim:L={latency:.4g}us,o_s={self.overhead_us}us,o_r=0us,g={gap}us,G={per_byte}ns"
        if self.last_bytes:
            gap, per_byte = self.lines[1]
            text += f",change={self.last_bytes}:g={gap}us:G={per_byte}ns"
        return text + ",noise=0.01"

    @property
    def command(self) -> str:
        """The command that measures it."""
        return measured(self.target, "prtt", SIZES, 2, 7)


NETWORKS = {
    "tcp": Published("TCP over Gigabit Ethernet", 45.74, 3.46, ((0.915, 8.49),)),
    "sci": Published("SCI", 5.48, 6.10, ((7.78, 4.5), (13.34, 3.7)), 12288),
    "ofed": Published("InfiniBand (OFED)", 5.96, 4.72, ((5.14, 0.73), (21.39, 1.03)), 12288),
    "gm": Published("Myrinet/GM", 10.53, 1.27, ((9.44, 9.2), (52.01, 4.2)), 32768),
}
EXAMPLE = measured("sim:L=1us,o=1us,g=4.408us,G=0.99ns,noise=0.01", "prtt", "1:10000", 2, 7)

OURS_NS = {"L": 5000, "o": 1000, "g": 2000, "G": 1}
MESSAGES = simulated("examples/papers/schedules/two-messages.goal", OURS_NS)
TOOLS = simulated("examples/papers/schedules/round-trip-and-train.goal", OURS_NS)
DELAYS = simulated("examples/papers/schedules/train-with-delays.goal", OURS_NS)


def _timed(trace: Trace, rank: int) -> float:
    """When a rank's CPU was done, in us."""
    return max(span.end_us for span in trace.spans if span.rank == rank)


def _messages(axes: Any) -> str:
    trace = trace_of((MESSAGES,))
    diagram(axes, trace, ("sender", "receiver"))
    first, second = trace.messages
    for message in (first, second):
        inside(axes, (message.sent_us + message.send_ended_us) / 2, 0, "o")
        inside(axes, (message.receive_began_us + message.received_us) / 2, 1, "(s-1)G and o")
        beside(axes, (message.send_ended_us + message.receive_began_us) / 2 + 0.4, 0.45, "L")
    length(axes, first.sent_us, second.sent_us, -0.3, "g + (s-1)G")
    return (
        f"The first message of 4001 B is received after {first.received_us:g} µs, 2o + L + (s-1)G; the second begins "
        f"{second.sent_us - first.sent_us:g} µs after the first, g + (s-1)G, and ends after {second.received_us:g} µs."
    )


def _tools(axes: Any) -> str:
    trace = trace_of((TOOLS,))
    diagram(axes, trace, ("client", "server") * 2)
    round_trip, train = _timed(trace, 0), _timed(trace, 2)
    axes.set_ylim(top=-0.7)
    length(axes, 0, round_trip, -0.29, "PRTT(1, 0, s)")
    length(axes, 0, train, 1.71, "PRTT(4, 0, s)")
    return (
        f"The upper client times a round trip, PRTT(1, 0, s) = {round_trip:g} µs; the lower one times four messages "
        f"with one answer, PRTT(4, 0, s) = {train:g} µs. A third of the difference is "
        f"{(train - round_trip) / 3:g} µs, g + (s-1)G."
    )


def _delays(axes: Any) -> str:
    trace = trace_of((DELAYS,))
    diagram(axes, trace, ("client", "server"))
    round_trip, train = _timed(trace_of((TOOLS,)), 0), _timed(trace, 0)
    for wait in (span for span in trace.spans if span.kind == "calc"):
        inside(axes, (wait.start_us + wait.end_us) / 2, 0, "d")
    length(axes, 0, train, -0.3, "PRTT(3, d, s)")
    return (
        f"PRTT(3, d, s) = {train:g} µs with d = PRTT(1, 0, s) = {round_trip:g} µs. Half of the difference is "
        f"{(train - round_trip) / 2:g} µs, o + d; less d that is o = {(train - round_trip) / 2 - round_trip:g} µs."
    )


def _axes(axes: Any) -> None:
    axes.set_xlabel("message size in bytes")
    axes.set_ylabel("time in µs")
    axes.set_ylim(bottom=0)


def _example(axes: Any) -> str:
    fit = fit_of(EXAMPLE, "loggp")
    gap = curve(fit, "gap")
    points(axes, gap.message_bytes, gap, 1e6, "gap", COLOURS[0], [10_000])
    _axes(axes)
    g, G = fit["g"].value, fit["G"].value
    assert g is not None and G is not None, "the simulated network has a gap that shows"
    return f"chiplog finds g = {g * 1e6:.3f} µs and G = {G * 1e9:.3f} ns/B."


def _network(network: Published) -> Callable[[Any], str]:
    def draw(axes: Any) -> str:
        fit = fit_of(network.command, "loggp")
        for quantity, label, colour in (("gap", "gap", COLOURS[0]), ("o_s", "o_s", COLOURS[1])):
            measured_curve = curve(fit, quantity)
            ends = [segment.last_bytes for segment in fit.details.segments]
            points(axes, measured_curve.message_bytes, measured_curve, 1e6, label, colour, ends)
        _axes(axes)
        changes = [segment.last_bytes for segment in fit.details.segments[:-1]]
        text = f"last size before a change: {', '.join(map(str, changes))} B" if changes else "none"
        return f"Protocol changes found: {text}. The parameters are in the table below."

    return draw


def _value(fit: Any, symbol: str, size: int, scale: float) -> str:
    parameter = fit[symbol, size]
    if not parameter.identified:
        return "not identified"
    return (
        f"{parameter.value * scale:.4g} [{parameter.low * scale:.4g}, {parameter.high * scale:.4g}]"
    )


def _table(_: Any) -> str:
    rows = [
        "| network | from size | L_half, µs | o_s, µs | g, µs | G, ns/B |",
        "|---|---|---|---|---|---|",
    ]
    for network in NETWORKS.values():
        fit = fit_of(network.command, "loggp")
        for (gap, per_byte), first in zip(network.lines, (1, network.last_bytes + 1), strict=False):
            rows.append(
                f"| {network.name}, slide | {first} B | {network.half_us} | {network.overhead_us} "
                f"| {gap} | {per_byte} |"
            )
            size = 30 if first == 1 else 59_000
            cells = [
                _value(fit, "L_half", size, 1e6),
                _value(fit, "o_s", size, 1e6),
                _value(fit, "g", size, 1e6),
                _value(fit, "G", size, 1e9),
            ]
            rows.append(f"| {network.name}, chiplog | {first} B | {' | '.join(cells)} |")
    return "\n".join(rows)


LIBRARY = (
    "The slide draws MPI and the layer below it. Only the parameters of one of the two are published, so one network "
    "is drawn. "
)
MPI_ONLY = "The slide draws MPI only. "
STAND_IN = (
    "It is simulated: chiplog gets back what was put in, which tests the method and says nothing "
    "new of that hardware. The slide's points scatter as real ones do; ours have 1 % of noise."
)
GOAL = (
    "The slide has no numbers: L = 5, o = 1, g = 2 µs, G = 1 ns/B and 4001 B are ours, so (s-1)G is 4 µs. Drawn from "
    "the trace of chiplog's simulator, which has the CPUs, not the network: an arrow takes L, and the bytes of a "
    "message are drawn on the receiver's CPU, where the slide has them on the network. "
)
SECTIONS = (
    Section(
        "messages",
        "A message in LogGP, over time",
        "A message costs o on either CPU and L on the network; the next one may begin after g and G.",
        (MESSAGES,),
        _messages,
        GOAL + "Two messages are drawn, as one alone does not show g.",
    ),
    Section(
        "tools",
        "What can be timed on one host",
        "Without a common clock, only a client can time: a round trip, or several messages and their answer.",
        (TOOLS,),
        _tools,
        GOAL,
    ),
    Section(
        "delays",
        "A train with delays",
        "With a delay d above the gap between messages, PRTT(n, d, s) less PRTT(1, 0, s) is (n-1)(o + d).",
        (DELAYS,),
        _delays,
        GOAL,
    ),
    Section(
        "example-fit",
        "Gap over size, and its line",
        "The gap grows from about 4.4 µs at 1 byte to about 14 µs at 10,000 bytes, on one line: g = 4.408 µs and "
        "G = 0.99 ns/B.",
        (EXAMPLE, "chiplog fit run.jsonl --model loggp"),
        _example,
        "The network is simulated with the slide's g and G; its L and o are not printed there, and ours are 1 µs each.",
    ),
    *(
        Section(
            key,
            f"{network.name}: gap and overhead over size",
            f"Gap and overhead up to 60,000 bytes, with {('one protocol', 'two protocols')[len(network.lines) - 1]}; "
            "parameters in the table below.",
            (network.command, "chiplog fit run.jsonl --model loggp"),
            _network(network),
            (MPI_ONLY if key == "sci" else LIBRARY) + STAND_IN,
        )
        for key, network in NETWORKS.items()
    ),
    Section(
        "table",
        "Table of parameters",
        "Four networks, three of which change the protocol: at 12,289 bytes (SCI, InfiniBand) and 32,769 bytes "
        "(Myrinet).",
        (
            *(network.command for network in NETWORKS.values()),
            "chiplog fit run.jsonl --model loggp",
        ),
        _table,
        "We read the slides' L as half a round trip with the overheads in it, chiplog's L_half; they do not say it. "
        "So read, SCI's 5.48 µs is less than its overhead of 6.10 µs, which no LogGP network can have: ours has L = "
        "0, so its L_half is 6.10 µs. On TCP the overhead is longer than the gap below 301 bytes, so that trains of "
        "those sizes don't show g. Above a change, g and half a round trip are lines carried back to 1 byte from far "
        "away: their intervals are wide, and Myrinet's o there is not identified at 1 % of noise. The slides give no "
        "intervals.",
        picture=False,
    ),
)

"""Space-time diagrams: ranks below each other, time to the right, drawn from the trace that a simulation writes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from papers.section import COLOURS

EXAMPLES = Path(__file__).parent.parent
WORK = {"to": ("send", COLOURS[0]), "from": ("receive", COLOURS[1]), "calc": ("wait", COLOURS[4])}
"""What the first word of a span's name means, and its colour."""
HALF_HEIGHT = 0.22


@dataclass(frozen=True)
class Span:
    """CPU time of a rank, in us."""

    rank: int
    kind: str
    start_us: float
    end_us: float


@dataclass(frozen=True)
class Message:
    """From the begin of a send to the end of its receive, in us."""

    source: int
    target: int
    sent_us: float
    send_ended_us: float
    receive_began_us: float
    received_us: float


@dataclass(frozen=True)
class Trace:
    """What a simulation did; `ranks` is their number."""

    ranks: int
    spans: tuple[Span, ...]
    messages: tuple[Message, ...]

    @property
    def end_us(self) -> float:
        """When the last CPU was done."""
        return max(span.end_us for span in self.spans)


def simulated(file: str, ns: Mapping[str, float]) -> str:
    """The command that simulates a GOAL file with parameters in ns, and writes what `trace_of` reads."""
    parameters = " ".join(f"--{name} {value:g}" for name, value in ns.items())
    return f"chiplog simulate {file} {parameters} --trace trace.json"


@cache
def trace_of(commands: tuple[str, ...]) -> Trace:
    """What the last of some commands writes to trace.json; they may read files in examples."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(EXAMPLES)
        for command in commands:
            words = [sys.executable, "-m", *shlex.split(command)]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
        return _read(json.loads((Path(folder) / "trace.json").read_text())["traceEvents"])


def _read(events: list[dict[str, Any]]) -> Trace:
    """A span is followed by the begin or end of its message's arrow."""
    spans: list[Span] = []
    ends: dict[int, dict[str, Span]] = {}
    for event in events:
        if event["ph"] == "X":
            kind = event["name"].split()[0]
            spans.append(Span(event["pid"], kind, event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = spans[-1]
    messages = tuple(
        Message(
            end["s"].rank,
            end["f"].rank,
            end["s"].start_us,
            end["s"].end_us,
            end["f"].start_us,
            end["f"].end_us,
        )
        for end in ends.values()
    )
    ranks = sum(event["ph"] == "M" for event in events)
    return Trace(ranks, tuple(spans), messages)


def diagram(
    axes: Any, trace: Trace, names: Sequence[str] = (), marked_rank: int | None = None
) -> None:
    """Draw CPU times as bars and messages as arrows, rank 0 on top.

    `names` stand for the ranks; the arrows from `marked_rank` are darker than the others.
    """
    bars = {}
    for span in trace.spans:
        name, colour = WORK[span.kind]
        bars[name] = axes.broken_barh(
            [(span.start_us, span.end_us - span.start_us)],
            (span.rank - HALF_HEIGHT, 2 * HALF_HEIGHT),
            facecolors=colour, edgecolor="white", lw=0.4, zorder=3,
        )  # fmt: skip
    for message in trace.messages:
        down = 1 if message.target > message.source else -1
        dark = marked_rank is None or message.source == marked_rank
        arrow = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
        arrow |= {"lw": 1.1, "color": "0.1"} if dark else {"lw": 0.7, "color": "0.6"}
        axes.annotate(
            "",
            (message.receive_began_us, message.target - down * HALF_HEIGHT),
            (message.send_ended_us, message.source + down * HALF_HEIGHT),
            arrowprops=arrow,
        )
    axes.set_yticks(range(trace.ranks), names or [f"rank {rank}" for rank in range(trace.ranks)])
    axes.set_ylim(trace.ranks - 0.5, -0.5)
    axes.set_xlim(-0.01 * trace.end_us, 1.02 * trace.end_us)
    axes.set_xlabel("time in µs")
    axes.set_axisbelow(True)
    axes.legend(
        bars.values(), bars, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3, fontsize=8,
        frameon=False,
    )  # fmt: skip


def length(axes: Any, start_us: float, end_us: float, y: float, text: str) -> None:
    """A double arrow from one time to another at a height, with its text above."""
    arrow = {"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0, "lw": 0.8, "color": "0.3"}
    axes.annotate("", (end_us, y), (start_us, y), arrowprops=arrow)
    axes.text((start_us + end_us) / 2, y - 0.02, text, ha="center", va="bottom", fontsize=8)


def inside(axes: Any, time_us: float, y: float, text: str) -> None:
    """A text in a bar."""
    axes.text(time_us, y, text, ha="center", va="center", fontsize=8, color="white", zorder=5)


def beside(axes: Any, time_us: float, y: float, text: str) -> None:
    """A text in the free space between bars."""
    axes.text(time_us, y, text, ha="center", va="center", fontsize=8, zorder=5)


def received_from(trace: Trace, rank: int) -> list[int]:
    """Whose messages a rank received, in the order of their arrival."""
    received = [message for message in trace.messages if message.target == rank]
    return [message.source for message in sorted(received, key=lambda message: message.received_us)]


def sent_to(trace: Trace, rank: int) -> list[int]:
    """To whom a rank sent, in order."""
    sent = [message for message in trace.messages if message.source == rank]
    return [message.target for message in sorted(sent, key=lambda message: message.sent_us)]

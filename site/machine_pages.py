"""Machines side by side: what `chiplog share` wrote, as a table and a picture."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = "docs/machines"
COLOURS = ("#1f77b4", "#d95f02", "#2a9d5c", "#8e44ad", "#c0392b", "#7f6000", "#008b8b", "#555555")
WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT, TOP = 760, 420, 70, 40, 10, 10
FAINT = 'stroke="currentColor" opacity="0.15"'
SMALL_BYTES, LARGE_BYTES = 8, 1 << 20
Network = Mapping[str, Any]


def shared_machines(root: Path) -> list[tuple[str, Network]]:
    """Each network of each file, with its name."""
    found = []
    for file in sorted((root / FOLDER).glob("*.json")):
        machine = json.loads(file.read_text())
        kind = " (simulated)" if machine["simulated"] else ""
        several = len(machine["networks"]) > 1
        for network in machine["networks"]:
            of = f", {network['transport']}" if several else ""
            found.append((f"{machine['name']}{of}{kind}", network))
    return found


def side_by_side(root: Path) -> str:
    """The table and the picture as Markdown; empty where there are no machines."""
    machines = shared_machines(root)
    if not machines:
        return ""
    return "\n".join(["", "## Side by side", "", *_table(machines), "", _picture(machines), ""])


def _table(machines: Sequence[tuple[str, Network]]) -> Iterator[str]:
    yield (
        "| machine | ranks, hosts | half round trip of 8 B | L, us | g, us | 1/G, GB/s | protocol changes above "
        "| exchange of 1 MiB, times alone | median error |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, network in machines:
        first, last = network["segments"][0]["parameters"], network["segments"][-1]["parameters"]
        changes = ", ".join(f"{each['last_before_bytes']:,} B" for each in network["changes"])
        cells = (
            html.escape(name).replace("|", "&#124;"),
            f"{network['ranks'] or '-'}, {network['hosts'] or '-'}",
            _scaled(_near(network["half_round_trips"], "seconds", SMALL_BYTES), 1e6, " us"),
            _parameter(first, "L", 1e6),
            _parameter(first, "g", 1e6),
            _rate(last),
            changes or "none found",
            _scaled(_near(network["exchange_factors"], "factor", LARGE_BYTES), 1.0, ""),
            _error(network["error"]),
        )
        yield f"| {' | '.join(cells)} |"


def _error(error: Mapping[str, Any]) -> str:
    where = "held out" if error["held_out"] else "where fitted"
    return f"{100 * error['median_relative']:.2g} % {where}"


def _near(points: Mapping[str, Sequence[float]], key: str, size: int) -> float | None:
    """The value at the size that is nearest, by ratio; None where nothing is within a factor of two."""
    distances = [
        (abs(math.log2(max(each, 1) / size)), value)
        for each, value in zip(points["message_bytes"], points[key], strict=True)
    ]
    nearest = min(distances, default=(math.inf, 0.0))
    return nearest[1] if nearest[0] <= 1.0 else None


def _scaled(value: float | None, factor: float, unit: str) -> str:
    return "-" if value is None else f"{value * factor:.3g}{unit}"


def _parameter(parameters: Mapping[str, Any], symbol: str, factor: float) -> str:
    """The value, or its bound where it is not identified."""
    parameter = parameters.get(symbol)
    if parameter is None:
        return "-"
    if parameter["identified"] and parameter["value"] is not None:
        return f"{parameter['value'] * factor:.3g}"
    return f"&lt; {parameter['high'] * factor:.3g}" if parameter["high"] else "?"


def _rate(parameters: Mapping[str, Any]) -> str:
    gap = parameters.get("G") or {"identified": False, "value": None}
    return f"{1e-9 / gap['value']:.3g}" if gap["identified"] and gap["value"] else "?"


def _picture(machines: Sequence[tuple[str, Network]]) -> str:
    """Half round trips over size, both logarithmic, as SVG without blank lines, which Markdown would end it at."""
    curves = []
    for name, network in machines:
        curve = network["half_round_trips"]
        sized = [max(size, 1) for size in curve["message_bytes"]]
        curves.append((name, list(zip(sized, curve["seconds"], strict=True))))
    sizes = [math.log2(size) for _, points in curves for size, _ in points]
    times = [math.log10(seconds) for _, points in curves for _, seconds in points]
    if not sizes:
        return ""
    spans = (min(sizes), max(max(sizes), min(sizes) + 1)), (
        math.floor(min(times)), math.ceil(max(times) + 1e-9),
    )  # fmt: skip
    lines = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 22 * len(curves)}" role="img" '
        'aria-label="Half round trips over the message size" font-size="13" fill="currentColor">'
    ]
    lines += _axes(spans)
    for number, (name, points) in enumerate(curves):
        lines += _curve(name, points, spans, number)
    return "\n".join([*lines, "</svg>"])


Spans = tuple[tuple[float, float], tuple[float, float]]


def _place(size: float, seconds: float, spans: Spans) -> tuple[float, float]:
    (left, right), (low, high) = spans
    across = (math.log2(size) - left) / (right - left)
    up = (math.log10(seconds) - low) / (high - low)
    return (
        LEFT + across * (WIDTH - LEFT - RIGHT),
        HEIGHT - BOTTOM - up * (HEIGHT - BOTTOM - TOP),
    )


def _axes(spans: Spans) -> Iterator[str]:
    (left, right), (low, high) = spans
    for power in range(math.ceil(left), math.floor(right) + 1, 4):
        x, y = _place(2.0**power, 10.0**low, spans)
        unit, rest = next(
            (u, power - s) for u, s in (("MiB", 20), ("KiB", 10), ("B", 0)) if power >= s
        )
        yield f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{2**rest} {unit}</text>'
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y:.1f}" {FAINT}/>'
    for power in range(int(low), int(high) + 1):
        x, y = _place(2.0**left, 10.0**power, spans)
        text = _time(power)
        yield f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        yield f'<line x1="{x:.1f}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" {FAINT}/>'


def _time(power: int) -> str:
    unit, least = next(
        (u, s) for u, s in (("s", 0), ("ms", -3), ("us", -6), ("ns", -30)) if power >= s
    )
    return f"{10.0 ** (power - (-9 if unit == 'ns' else least)):g} {unit}"


def _curve(
    name: str, points: Sequence[tuple[int, float]], spans: Spans, number: int
) -> Iterator[str]:
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(
        f"{x:.1f},{y:.1f}" for x, y in (_place(*point, spans) for point in sorted(points))
    )
    y = HEIGHT + 16 + 22 * number
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield f'<line x1="{LEFT}" x2="{LEFT + 30}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>'
    yield f'<text x="{LEFT + 38}" y="{y}">{html.escape(name)}</text>'

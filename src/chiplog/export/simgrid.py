"""A SimGrid platform with SMPI's piecewise parameters, from a fit of LogGP(S) or Hockney.

Made for and checked with SimGrid 3.32 (platform version 4.1). What its code does, and what follows:
- SMPI gives a size to the last boundary *below* it, so a boundary is the last size of the protocol before.
- A message of n bytes travels with an envelope of 16 B, which counts for the factors' boundaries and for the bandwidth,
  but not for os, or and the thresholds.
- os and or are spent only below send-is-detached-thresh; above it, all of a round trip is latency and bandwidth.
- A message between two hosts of a cluster crosses two of its links: each has half of the path's latency.

Base values come from the synchronous segment: bw = 2/slope and a path's latency = intercept/2 of the ping-pong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, quoteattr

from chiplog.export.protocol_lines import (
    LOGGP_MODELS,
    Line,
    ProtocolLines,
    eager_limit_bytes,
    fit_to_use,
    protocol_lines,
)
from chiplog.fit.result import Fit

ENVELOPE_BYTES = 16
LEAST_SECONDS = 1e-12
LEAST_SECONDS_PER_BYTE = 1e-16
"""A latency or a time per byte below these is written as these: SimGrid takes no link without either."""


def simgrid_text(fits: Sequence[Fit]) -> str:
    """A platform file with two hosts or more, whose ping-pong takes the times of the fit."""
    fit = fit_to_use(fits, (*LOGGP_MODELS, "hockney"), "simgrid")
    lines = protocol_lines(fit)
    threshold = (eager_limit_bytes(fit, lines) or lines[-1].last_bytes) + 1
    ways = [_way(one, detached=one.first_bytes < threshold) for one in lines]
    base = ways[-1]
    settings = {
        "smpi/os": _overheads(lines, lambda one: one.o_s),
        "smpi/ois": _overheads(lines, lambda one: one.o_s),
        "smpi/or": _overheads(lines, lambda one: one.o_r),
        "smpi/lat-factor": _factors(lines, [way.seconds / base.seconds for way in ways]),
        "smpi/bw-factor": _factors(
            lines, [base.seconds_per_byte / way.seconds_per_byte for way in ways]
        ),
        "smpi/async-small-thresh": str(threshold),
        "smpi/send-is-detached-thresh": str(threshold),
        "network/crosstraffic": "0",
        "network/weight-S": "0",
    }
    return _platform(fit, base, settings)


def _way(lines: ProtocolLines, *, detached: bool) -> Line:
    """What the network has to take for a protocol, its envelope taken off, never zero."""
    way = lines.network if detached else lines.half_round_trip
    per_byte = max(LEAST_SECONDS_PER_BYTE, way.seconds_per_byte)
    return Line(max(LEAST_SECONDS, way.seconds - ENVELOPE_BYTES * per_byte), per_byte)


def _overheads(lines: Sequence[ProtocolLines], part: Callable[[ProtocolLines], Line]) -> str:
    boundaries = [0, *(one.last_bytes for one in lines[:-1])]
    return ";".join(
        f"{boundary}:{part(one).seconds:.6g}:{part(one).seconds_per_byte:.6g}"
        for boundary, one in zip(boundaries, lines, strict=True)
    )


def _factors(lines: Sequence[ProtocolLines], factors: Sequence[float]) -> str:
    boundaries = [0, *(one.last_bytes + ENVELOPE_BYTES for one in lines[:-1])]
    return ";".join(
        f"{boundary}:{factor:.6g}" for boundary, factor in zip(boundaries, factors, strict=True)
    )


def _platform(fit: Fit, base: Line, settings: dict[str, str]) -> str:
    props = "\n".join(
        f'    <prop id="{name}" value={quoteattr(text)}/>' for name, text in settings.items()
    )
    origin = escape(f"{fit.model} by {fit.method} over {fit.transport}").replace("--", "- -")
    bandwidth, latency = 1.0 / base.seconds_per_byte, base.seconds
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- {origin}, written by chiplog for SimGrid 3.32.
     Base of the factors: latency of a path {latency:.6g} s (two links, half of it each), {bandwidth:.6g} B/s.
     In force if: smpirun -platform THIS_FILE with your ping-pong gives the times of the fit. Adapt radical (hosts). -->
<platform version="4.1">
  <config>
{props}
  </config>
  <cluster id="cluster" prefix="node-" suffix="" radical="0-63" speed="1Gf"
           bw="{bandwidth:.9g}Bps" lat="{latency / 2:.9g}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""

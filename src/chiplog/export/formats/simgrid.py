"""A SimGrid platform with SMPI's piecewise parameters, from a fit of LogGOPS or LogGP(S).

Made for and checked with SimGrid 3.32 (platform version 4.1). What its code does, and what follows:
- SMPI gives a size to the last boundary *below* it, so a boundary is the last size of the piece before.
- A message of n bytes travels with an envelope of 16 B, which counts for the factors' boundaries and for the bandwidth,
  but not for os, or and the thresholds.
- os and or are spent only below send-is-detached-thresh; above it, all of a round trip is latency and bandwidth, and a
  send returns when its message has been received.
- A message between two hosts of a cluster crosses two of its links: each has half of the path's latency.
- SMPI knows no gap. What a message adds to a train is os, so that trains come out as measured.

So T(s) = os(s) + latency + (s + 16)/bandwidth + or(s), and a train's step is the longest of os(s), or(s) and
(s + 16)/bandwidth. Where sends wait for their receivers, and trains show it, the message is all latency and bandwidth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from chiplog.export.check import refuse_what_misses, to_hold_against, within, worst_miss
from chiplog.export.exporter import Exporter, fits_as_text
from chiplog.export.fits import bounded_regimes, fit_to_use, largest_eager_bytes, rejection_lines
from chiplog.export.pieces import HOLDS, ExportPiece, MeasuredSize, at_size, pieces_of
from chiplog.fitting.result import Fit
from chiplog.quoting import for_xml_comment

ENVELOPE_BYTES = 16
"""Given: what SMPI sends with each message."""
LEAST_SECONDS, LEAST_SECONDS_PER_BYTE = 1e-12, 1e-16
"""Given: a latency or a time per byte below these is written as these; SimGrid takes no link without either."""
LINK_SHARE = 0.9
"""Given: a message keeps its link for at most this share of a train's step; so those of a train do not meet there."""
LONGER = 1.03
"""Given: where a train's step is longer than a message alone, the message may take so many times what was measured."""
BENT = 0.02
"""Given: within a part, the lines may be off by this share of T."""
MOST_HALVINGS = 12
"""Given: it bounds the parts of a piece."""
WHY = "SMPI knows no gap after a message, so that none can add more to a train than it takes alone."


@dataclass(frozen=True)
class SimgridLine:
    """`seconds + seconds_per_byte * s`."""

    seconds: float
    seconds_per_byte: float

    def at(self, message_bytes: float) -> float:
        """Seconds at a size."""
        return self.seconds + self.seconds_per_byte * message_bytes


@dataclass(frozen=True)
class Part:
    """What SMPI takes of messages up to `last_bytes`: os, or, and what passes in the network, without the envelope."""

    last_bytes: int
    send: SimgridLine
    receive: SimgridLine
    network: SimgridLine

    def says(self, message_bytes: int, *, detached: bool) -> tuple[float, float]:
        """Half a round trip and a train's step, as SMPI makes them; one after the other where sends wait."""
        way = self.network.at(message_bytes)
        if not detached:
            return way, way
        send, receive = self.send.at(message_bytes), self.receive.at(message_bytes)
        link = self.network.seconds_per_byte * (message_bytes + ENVELOPE_BYTES)
        return send + way + receive, max(send, receive, link)


def simgrid_text(fits: Sequence[Fit], sizes: tuple[int, int] | None = None) -> str:
    """A platform file with two hosts or more, whose messages take the times that were measured.

    `sizes` is the range to hold, all by default. UsageError where they would not, within 5 % at every size.
    """
    fit = fit_to_use(fits, "simgrid")
    pieces = pieces_of(fit, bounded_regimes(fit))
    measured = to_hold_against(fit, pieces)
    if sizes is not None:
        pieces, measured = within(sizes, pieces, measured)
    limit = _shown_limit(largest_eager_bytes([fit, *fits]), pieces, measured)
    threshold = pieces[-1].last_bytes + 1 if limit is None else limit + 1
    parts = [part for piece in _cut(pieces, threshold) for part in _parts(piece, threshold)]

    def says(message_bytes: int) -> tuple[float, float]:
        part = at_size(parts, message_bytes)
        return part.says(message_bytes, detached=message_bytes < threshold)

    refuse_what_misses(says, measured, "SMPI", WHY)
    return _platform(fit, parts, threshold, is_measured=limit is not None)


def _shown_limit(
    limit: int | None, pieces: Sequence[ExportPiece], measured: Sequence[MeasuredSize]
) -> int | None:
    """S, where trains beyond it are messages one after the other, as SMPI makes them; else no send waits there."""
    if limit is None:
        return None
    beyond = [measured_size for measured_size in measured if measured_size.message_bytes > limit]

    def says(message_bytes: int) -> tuple[float, float]:
        way = at_size(pieces, message_bytes).one_way(message_bytes)
        return way, way

    miss = worst_miss(says, beyond)
    return limit if miss is None or miss.share <= HOLDS else None


def _cut(pieces: Sequence[ExportPiece], threshold: int) -> list[ExportPiece]:
    """The pieces, cut where the threshold is and where another line bounds trains."""
    cut_pieces = []
    for piece in pieces:
        cuts = {threshold, *_crossings(piece)}
        first = piece.first_bytes
        for cut in sorted(
            border for border in cuts if piece.first_bytes < border <= piece.last_bytes
        ):
            cut_pieces.append(ExportPiece(first, cut - 1, piece.values, piece.receiver_keeps_up))
            first = cut
        cut_pieces.append(
            ExportPiece(first, piece.last_bytes, piece.values, piece.receiver_keeps_up)
        )
    return cut_pieces


def _crossings(piece: ExportPiece) -> list[int]:
    """Sizes from which on another of the lines in a train's step is the longest."""
    lines = [(piece.values[a], piece.values[b]) for a, b in _step_lines(piece)]
    sizes = []
    for place, (start, slope) in enumerate(lines):
        for other_start, other_slope in lines[place + 1 :]:
            if slope != other_slope:
                further = (other_start - start) / (slope - other_slope)
                if 0 < further < piece.last_bytes:
                    sizes.append(int(further) + 2)
    return sizes


def _step_lines(piece: ExportPiece) -> list[tuple[str, str]]:
    lines = [("o_s", "O_s"), ("g", "G")]
    return lines if piece.receiver_keeps_up else [*lines, ("o_r", "O_r")]


def _parts(piece: ExportPiece, threshold: int) -> list[Part]:
    """One part, or several short ones where its lines can't follow a message alone."""
    if piece.first_bytes >= threshold:
        way = _line(piece.values["L_half"], piece.values["G_half"])
        return [Part(piece.last_bytes, SimgridLine(0.0, 0.0), SimgridLine(0.0, 0.0), way)]
    parts: list[Part] = []
    waiting = [(piece.first_bytes, piece.last_bytes, 0)]
    while waiting:
        first, last, halvings = waiting.pop()
        part, bend = _part(piece, first, last)
        if bend <= BENT or halvings == MOST_HALVINGS or last - first < 2:
            parts.append(part)
            continue
        middle = max(first, int((first * last) ** 0.5))
        waiting += [(middle + 1, last, halvings + 1), (first, middle, halvings + 1)]
    return parts


def _part(piece: ExportPiece, first: int, last: int) -> tuple[Part, float]:
    """The lines of a range of sizes, and by which share of T they are off at its ends."""
    at_first, at_last = (
        min(piece.step(size), LONGER * piece.one_way(size)) for size in (first, last)
    )
    step = _between(at_first, at_last, first, last)
    way = _between(piece.one_way(first), piece.one_way(last), first, last)
    rest = SimgridLine(way.seconds - step.seconds, way.seconds_per_byte - step.seconds_per_byte)
    per_byte = max(0.0, rest.seconds_per_byte)
    link = LINK_SHARE * min(step.at(size) / (size + ENVELOPE_BYTES) for size in (first, last))
    busy = min(step.at(size) / size for size in (max(first, 1), last))
    receive_slope = min(max(piece.values["O_r"], per_byte - link), per_byte, busy)
    network_slope = min(per_byte - receive_slope, link)
    # Where a byte costs more alone than send, link and receive can take, T is met in the middle, and the part is short.
    middle = (first + last) / 2
    start = max(0.0, rest.at(middle) - (receive_slope + network_slope) * middle)
    most = min(step.at(size) - receive_slope * size for size in (first, last))
    receive_start = min(max(0.0, min(piece.values["o_r"], most)), start)
    part = Part(
        last,
        step,
        SimgridLine(receive_start, receive_slope),
        SimgridLine(start - receive_start, network_slope),
    )
    bends = [
        abs(part.says(size, detached=True)[0] / piece.one_way(size) - 1.0) for size in (first, last)
    ]
    return part, max(bends)


def _between(at_first: float, at_last: float, first: int, last: int) -> SimgridLine:
    """The line through two ends; a single size has a level one."""
    slope = (at_last - at_first) / (last - first) if last > first else 0.0
    return SimgridLine(at_first - slope * first, slope)


def _line(start: float, slope: float) -> SimgridLine:
    """`start + (s - 1) slope` as a line over s."""
    return SimgridLine(start - slope, slope)


def _platform(fit: Fit, parts: Sequence[Part], threshold: int, *, is_measured: bool) -> str:
    base = _without_envelope(parts[-1].network)
    settings = _settings(parts, threshold, base)
    props = "\n".join(
        f'    <prop id="{name}" value={quoteattr(text)}/>' for name, text in settings.items()
    )
    origin = for_xml_comment(f"{fit.model} by {fit.method} over {fit.transport}")
    bandwidth, latency = 1.0 / base.seconds_per_byte, base.seconds
    waits = (
        "as measured"
        if is_measured
        else "none was measured in trains, so no send waits for its receive"
    )
    caution = "".join(f"\n     {for_xml_comment(words)}" for words in rejection_lines(fit))
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- {origin}, written by chiplog for SimGrid 3.32.{caution}
     Base of the factors: latency of a path {latency:.6g} s (two links, half of it each), {bandwidth:.6g} B/s.
     os is what a message adds to a train, since SMPI knows no gap. Sends that wait for their receive: {waits}.
     In force if: smpirun -platform THIS_FILE with your ping-pong gives the measured times. Adapt radical (hosts). -->
<platform version="4.1">
  <config>
{props}
  </config>
  <cluster id="cluster" prefix="node-" suffix="" radical="0-63" speed="1Gf"
           bw="{bandwidth:.9g}Bps" lat="{latency / 2:.9g}s" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def _settings(parts: Sequence[Part], threshold: int, base: SimgridLine) -> dict[str, str]:
    """What SimGrid and SMPI are told: factors are those of a message's way to `base`, the one of the largest."""
    networks = [_without_envelope(part.network) for part in parts]
    latencies = [network.seconds / base.seconds for network in networks]
    bandwidths = [base.seconds_per_byte / network.seconds_per_byte for network in networks]
    return {
        "smpi/os": _overheads(parts, lambda part: part.send),
        "smpi/ois": _overheads(parts, lambda part: part.send),
        "smpi/or": _overheads(parts, lambda part: part.receive),
        "smpi/lat-factor": _factors(parts, latencies),
        "smpi/bw-factor": _factors(parts, bandwidths),
        "smpi/async-small-thresh": str(threshold),
        "smpi/send-is-detached-thresh": str(threshold),
        "network/crosstraffic": "0",
        "network/weight-S": "0",
        "network/TCP-gamma": "0",
        "surf/precision": "1e-12",
        "maxmin/precision": "1e-12",
    }


def _without_envelope(way: SimgridLine) -> SimgridLine:
    """What the link has to take, its envelope taken off, never zero."""
    per_byte = max(LEAST_SECONDS_PER_BYTE, way.seconds_per_byte)
    return SimgridLine(max(LEAST_SECONDS, way.seconds - ENVELOPE_BYTES * per_byte), per_byte)


def _overheads(parts: Sequence[Part], of: Callable[[Part], SimgridLine]) -> str:
    boundaries = [0, *(part.last_bytes for part in parts[:-1])]
    return ";".join(
        f"{boundary}:{of(part).seconds:.9g}:{of(part).seconds_per_byte:.9g}"
        for boundary, part in zip(boundaries, parts, strict=True)
    )


def _factors(parts: Sequence[Part], factors: Sequence[float]) -> str:
    boundaries = [0, *(part.last_bytes + ENVELOPE_BYTES for part in parts[:-1])]
    return ";".join(
        f"{boundary}:{factor:.9g}" for boundary, factor in zip(boundaries, factors, strict=True)
    )


SIMGRID = Exporter(
    name="simgrid",
    summary="a model file: a SimGrid platform with SMPI's factors",
    write_fits=fits_as_text(simgrid_text),
)

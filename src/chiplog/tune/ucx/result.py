"""What `chiplog ucx` finds out, as JSON and as an environment file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chiplog.json_values import members, plain
from chiplog.quoting import for_line
from chiplog.tune.measured.statistics import ratio_to_json
from chiplog.tune.ucx.race import SizeRatio
from chiplog.tune.ucx.thresholds import UcxThreshold

SCHEMA = "chiplog.ucx/1"
RECOMMENDED, DEFAULT = "recommended", "default"


@dataclass(frozen=True)
class Speed:
    """What one kind of protocol reaches: one way, by half a ping-pong, with 95 % intervals over launches."""

    protocol: str
    smallest_seconds: tuple[float, float, float]
    """Value, low, high of the time of the smallest message."""
    bytes_per_second: tuple[float, float, float]
    """Value, low, high at the largest message."""


@dataclass(frozen=True)
class UcxTuning:
    """The thresholds of one target, and whether setting them is better than what is in force."""

    target: str
    version: str
    is_one_host: bool
    sizes: tuple[int, ...]
    thresholds: tuple[UcxThreshold, ...]
    speeds: tuple[Speed, ...]
    now: str
    """The protocols in force without the file."""
    reason: str
    """Why the file sets this, or nothing."""
    then: str | None = None
    """The protocols in force with the settings, as UCX itself said; None where none were tried."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the file sets; empty where the default stays."""
    tried: Mapping[str, str] = field(default_factory=dict)
    """What was raced last; empty where nothing was."""
    race: tuple[SizeRatio, ...] = ()

    @property
    def verdict(self) -> str:
        """`recommended` or `default`."""
        return RECOMMENDED if self.settings else DEFAULT

    def to_json(self) -> dict[str, Any]:
        """The object of the schema; what is unknown is null."""
        return {
            "schema": SCHEMA,
            **members(self, "target", "version", "is_one_host", "sizes", "verdict", "reason"),
            "settings": dict(self.settings),
            "tried": dict(self.tried),
            "in_force": {"now": self.now, "with_file": self.then},
            "thresholds": [
                {
                    **members(threshold, "variable", "value", "low", "high", "reason"),
                    "unit": "B",
                    "identified": threshold.value is not None,
                }
                for threshold in self.thresholds
            ],
            "speeds": [
                {
                    "protocol": speed.protocol,
                    "smallest_seconds": _interval(speed.smallest_seconds),
                    "bytes_per_second": _interval(speed.bytes_per_second),
                }
                for speed in self.speeds
            ],
            "race": [
                {
                    "bytes": row.message_bytes,
                    **members(row, "now", "then"),
                    **ratio_to_json(row.ratio),
                    "launches": row.ratio.launches,
                }
                for row in self.race
            ],
        }

    def text(self) -> str:
        """The environment file: its comments hold the evidence, for a shell's `.` or a job script."""
        lines = [
            f"UCX {self.version} over {self.target}, {self.where}",
            *map(threshold_text, self.thresholds),
            *map(speed_text, self.speeds),
            f"Without this file: {self.now}",
            *([f"With {settings_text(self.tried)}: {self.then}"] if self.then else []),
            *map(ratio_text, self.race),
            f"{'Recommended' if self.settings else 'The default stays'}: {self.reason}.",
        ]
        comments = [f"# {for_line(line)}" for line in lines]
        exports = [f"export {name}={value}" for name, value in self.settings.items()]
        return "\n".join([*comments, *exports]) + "\n"

    @property
    def where(self) -> str:
        """Between which ranks it was measured, which is where it holds."""
        if self.is_one_host:
            return "two ranks of one host: not for jobs that also send between hosts"
        return "two ranks on two hosts: not for jobs that also send within hosts"


def settings_text(settings: Mapping[str, str]) -> str:
    """Settings as a shell reads them, on one line."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


def _interval(values: tuple[float, float, float]) -> dict[str, Any]:
    return dict(zip(("value", "low", "high"), map(plain, values), strict=True))


def threshold_text(threshold: UcxThreshold) -> str:
    """One threshold as a sentence.

    >>> threshold_text(UcxThreshold("UCX_RNDV_THRESH", 8192, 4097, 16384))
    'UCX_RNDV_THRESH: 8192 B, between 4097 B and 16384 B'
    >>> threshold_text(UcxThreshold("UCX_ZCOPY_THRESH", None, None, None, "nothing has it"))
    'UCX_ZCOPY_THRESH: not identified, because nothing has it'
    """
    low = f"{threshold.low or 0} B"
    high = "any size" if threshold.high is None else f"{threshold.high} B"
    if threshold.value is not None:
        return f"{threshold.variable}: {threshold.value} B, between {low} and {high}"
    bound = "" if threshold.low is None else f"; at least {low}"
    return f"{threshold.variable}: not identified, because {threshold.reason}{bound}"


def speed_text(speed: Speed) -> str:
    """What one kind of protocol reaches, as a sentence."""
    seconds, rate = speed.smallest_seconds, speed.bytes_per_second
    return (
        f"{speed.protocol}: {seconds[0] * 1e6:.2f} [{seconds[1] * 1e6:.2f}, {seconds[2] * 1e6:.2f}] us for the "
        f"smallest message, {rate[0] / 1e9:.2f} [{rate[1] / 1e9:.2f}, {rate[2] / 1e9:.2f}] GB/s at the largest"
    )


def ratio_text(row: SizeRatio) -> str:
    """One size of the race as a sentence."""
    ratio = row.ratio
    return (
        f"{row.message_bytes} B: {row.then} takes {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] times as long "
        f"as {row.now}, {ratio.launches} pairs of launches"
    )

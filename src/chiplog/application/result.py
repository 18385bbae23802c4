"""What an application's communication costs, and its JSON, schema chiplog.app/1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chiplog.json_values import members, plain
from chiplog.simulation.critical_path import PathShares, Slopes
from chiplog.simulation.sensitivity import SLOWER, Sensitivity
from chiplog.tracing.trace import WITHOUT_COMMUNICATION


@dataclass(frozen=True, slots=True)
class RankCosts:
    """What communication costs one rank. Bytes are those of point-to-point calls."""

    rank: int
    seconds: float
    """From the begin of its first call to the end of its last."""
    mpi_seconds: float
    start_and_end_seconds: float
    """Of mpi_seconds, those in MPI_Init and MPI_Finalize, which are no communication."""
    late_sender_seconds: float
    late_receiver_seconds: float
    collective_seconds: float
    """Spent waiting for others in collective operations."""
    bytes_sent: int
    bytes_received: int
    calls: Mapping[str, int]
    call_seconds: Mapping[str, float]
    """Time in each MPI function, of those in `calls`."""
    is_complete: bool

    @property
    def communication_seconds(self) -> float:
        """In MPI, between MPI_Init and MPI_Finalize."""
        return self.mpi_seconds - self.start_and_end_seconds

    @property
    def communication_share(self) -> float:
        """The share of the time between MPI_Init and MPI_Finalize that is spent in MPI."""
        return _share(self.communication_seconds, self.seconds - self.start_and_end_seconds)

    @property
    def waiting_seconds(self) -> float:
        """Spent in MPI waiting for other ranks."""
        return self.late_sender_seconds + self.late_receiver_seconds + self.collective_seconds


@dataclass(frozen=True, slots=True)
class CallCosts:
    """What the calls of one MPI function cost, over all ranks."""

    call: str
    calls: int
    seconds: float
    waiting_seconds: float
    bytes: int
    """Sent by them, and received."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    """Messages of point-to-point calls from `first_bytes` to `last_bytes`."""

    first_bytes: int
    last_bytes: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PairRow:
    """Messages of point-to-point calls from one rank to another."""

    source: int
    destination: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """The application's time under other circumstances; `saves` is the share that it takes less. All with intervals."""

    what: str
    """A change, as it was asked for, or the name of another model."""
    seconds: float
    low: float
    high: float
    saves: float
    saves_low: float
    """Of the interval with the same draws of the fit for both times; of another model, with its own."""
    saves_high: float


@dataclass(frozen=True, slots=True)
class Saving:
    """Seconds that a change of how the application runs saves, and the 95 % interval of that."""

    what: str
    seconds: float
    low: float
    high: float
    how: str
    file: str | None = None
    """What to write into the file that `how` names; None where it names no file."""


@dataclass(frozen=True, slots=True)
class Savings:
    """What would save most, at most three things; and what could not be tried, with the reason."""

    rows: tuple[Saving, ...]
    untried: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """The application's time by a model, from the same computation and messages, and its interval."""

    seconds: float
    low: float
    high: float
    traced_seconds: float | None
    """As it was traced; None where the trace has no times."""
    algorithms: Mapping[str, str]
    """The algorithm that stands for each collective operation of the trace."""
    notes: tuple[str, ...] = ()
    start_and_end_seconds: float = 0.0
    """Of both times, those in MPI_Init and MPI_Finalize, which are kept as traced."""
    extrapolated: str | None = None
    """How far its ranks and messages lie beyond what was measured, and what no model knows of the trace."""
    rejected: str | None = None
    """Why the fit's own check rejects it."""
    critical_path: PathShares | None = None
    """What decides its time."""
    slopes: Slopes | None = None
    """How it changes with each parameter, as far as the order of events stays the same; None where pairs differ."""
    sensitivity: Sensitivity | None = None
    """How it changes with each parameter, if that was asked for."""
    alternatives: tuple[Alternative, ...] = ()
    savings: Savings | None = None
    """What would save most of its time, if that was asked for."""


@dataclass(frozen=True, slots=True, repr=False)
class AppResult:
    """What communication costs an application, by rank, call, size and pair."""

    source: str
    ranks: int
    seconds: float
    """From the begin of the first call of any rank to the end of the last."""
    has_times: bool
    rows: tuple[RankCosts, ...]
    calls: tuple[CallCosts, ...]
    """Those that take longest first."""
    sizes: tuple[SizeRow, ...]
    pairs: tuple[PairRow, ...]
    """Those that move most bytes first."""
    notes: tuple[str, ...] = ()
    replay: Replay | None = None

    @property
    def communication_share(self) -> float:
        """The share of all ranks' time between MPI_Init and MPI_Finalize that is spent in MPI."""
        started = sum(row.seconds - row.start_and_end_seconds for row in self.rows)
        return _share(self._communication_seconds, started)

    @property
    def waiting_share(self) -> float:
        """The share of that time in MPI that is waiting for other ranks."""
        waiting = sum(row.waiting_seconds for row in self.rows)
        return _share(waiting, self._communication_seconds)

    def share_of_communication(self, row: CallCosts) -> float | None:
        """What share of that time in MPI a function's calls take; None of those that start and end MPI."""
        if row.call.removeprefix("MPI_") in WITHOUT_COMMUNICATION or not self.has_times:
            return None
        return _share(row.seconds, self._communication_seconds)

    @property
    def _communication_seconds(self) -> float:
        return sum(row.communication_seconds for row in self.rows)

    def __repr__(self) -> str:
        return (
            f"AppResult of {self.ranks} ranks: {100 * self.communication_share:.2g} % of {self.seconds:.4g} s is "
            f"communication, {100 * self.waiting_share:.2g} % of that is waiting"
        )

    def to_json(self) -> dict[str, Any]:
        """The result for scripts (chiplog.app/1)."""
        result = {
            "schema": "chiplog.app/1",
            **members(self, "source", "ranks", "seconds", "has_times"),
            **members(self, "communication_share", "waiting_share"),
            "rows": [
                {**plain_row(row), "waiting_seconds": row.waiting_seconds} for row in self.rows
            ],
            **members(self, "calls", "sizes", "pairs", "notes"),
        }
        return result if self.replay is None else {**result, **_replay_to_json(self.replay)}


def _replay_to_json(replay: Replay) -> dict[str, Any]:
    """The replay, its slopes and, if they were asked for, tolerances and gains."""
    fields = plain(replay)
    sensitivity, alternatives = fields.pop("sensitivity"), fields.pop("alternatives")
    savings = fields.pop("savings")
    result = {"replay": fields}
    if savings is not None:
        result["savings"], result["savings_untried"] = savings["rows"], savings["untried"]
    if alternatives:
        result["alternatives"] = alternatives
    for name in ("critical_path", "slopes"):
        table = getattr(replay, name)
        fields[name] = None if table is None else table._asdict()
    result["slopes"] = fields.pop("slopes")
    if sensitivity is not None:
        rows = sensitivity["tolerances"]
        result["tolerance"] = [{"slowdown": SLOWER, **row} for row in rows]
        result["gains"] = sensitivity["gains"]
    return result


def plain_row(row: RankCosts) -> dict[str, Any]:
    """The fields of a rank's costs."""
    fields: dict[str, Any] = plain(row)
    return fields


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0

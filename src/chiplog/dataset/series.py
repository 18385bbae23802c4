"""The checked, immutable table of what was measured, and its parts that are not of one path.

NumPy is loaded where it is used: a run starts its ranks before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from chiplog.counts import counted
from chiplog.dataset.operations import OPERATIONS
from chiplog.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Reference:
    """Medians of a fixed exchange of 1-byte messages that was taken along with a record, in seconds.

    It tells in which state cores, caches and transport were; its samples are apart from those of the record.
    """

    half_round_trip_seconds: float
    gap_seconds: float
    overhead_seconds: float


@dataclass(frozen=True)
class States:
    """The machine's state at each record that tells it: 0 for the one that most points met, then 1, and so on.

    `chiplog.machine_state` finds them; a part of a run keeps those of the whole.
    """

    of_record: Mapping[int, int]
    """By the record's id."""
    met: tuple[float, ...]
    """The share of the run's points that met each state."""

    def records(self, state: int) -> frozenset[int]:
        """The ids of the records of one state."""
        return frozenset(
            record for record, its_state in self.of_record.items() if its_state == state
        )


@dataclass(frozen=True)
class PairSamples:
    """The raw samples of one pair of ranks, in seconds of one operation, as of `Series`.

    `warmup_seconds` and `seconds` have shape (samples,); both are empty where the pair was not measured.
    """

    client: int
    server: int
    warmup_seconds: NDArray[np.float64]
    seconds: NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """The raw samples of one series of one record.

    `seconds` has shape (samples,): the duration of one operation (a whole round trip, a whole train), batches already
    divided by their size, warm-up left out; `warmup_seconds` holds the marked first samples. `direction` is
    "round-trip", "one-way" or "call" (the duration of a call on one side).
    """

    pattern: str
    operation: str
    posting: str
    direction: str
    message_bytes: int
    train: int
    delay_seconds: float
    batch: int
    launch: int
    visit: int
    record_id: int
    placement_seconds: float | None
    messages: int
    bytes_sent: int
    elapsed_seconds: float
    warmup_seconds: NDArray[np.float64]
    seconds: NDArray[np.float64]
    tag: Mapping[str, object] = field(default_factory=dict)
    pairs: int = 1
    peers: int = 1
    reference: Reference | None = None
    """Of the record; None where it was not taken."""
    placement: str | None = None
    """How the ranks of its launch were bound: "filled", "round-robin", ...; None where the file does not say."""
    between: tuple[str, str] | None = None
    """The two groups of ranks (nodes, or parts of one) that k pairs ran between; None where the file does not say."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """What the transport counted while its record was taken, such as lost datagrams; empty where it counts nothing."""
    round: int | None = None
    """Of all_pairs: the number of the round; None where the file does not say."""
    at_once: bool = True
    """Of all_pairs: whether the pairs of the round were timed at the same time, not one after the other."""
    by_pair: tuple[PairSamples, ...] = ()
    """Of all_pairs: the samples of each pair of the round; `seconds` are those of the slowest pair."""

    @property
    def kind(self) -> tuple[str, str, str, str, int, int, int]:
        """What it measures, at any size: pattern, operation, posting, direction, train, pairs and peers."""
        way = (self.pattern, self.operation, self.posting, self.direction)
        return *way, self.train, self.pairs, self.peers

    @cached_property
    def median(self) -> float:
        """Median duration of one operation in seconds."""
        import numpy as np

        return float(np.median(self.seconds))


@dataclass(frozen=True)
class MediansBySize:
    """Medians in seconds over the message size in bytes, both of shape (sizes,), sizes ascending."""

    message_bytes: NDArray[np.int64]
    seconds: NDArray[np.float64]
    samples: tuple[NDArray[np.float64], ...]
    """The pooled samples of each size in seconds."""


@dataclass(frozen=True, repr=False)
class Dataset:
    """All series of one run with their provenance."""

    header: Mapping[str, object]
    series: tuple[Series, ...]
    complete: bool
    source: str
    warnings: tuple[str, ...] = ()
    """What reading or merging left out or could not tell, one sentence each."""
    changes: Mapping[str, object] | None = None
    """The protocol changes that were decided while the run was measured, as its footer has them; None without any."""
    states: States | None = None
    """The machine's states as a whole run tells them, of which these are some series; None: these are to tell them."""

    def __repr__(self) -> str:
        end = "" if self.complete else "; the run did not finish"
        return f"Run of {self.header.get('target') or self.source}: {self.extent}{end}"

    @property
    def extent(self) -> str:
        """How many samples of which sizes and patterns these are, in words."""
        sizes = sorted({series.message_bytes for series in self.series})
        several = f" of {len(sizes)} sizes, {sizes[0]} to {sizes[-1]} B" if len(sizes) > 1 else ""
        of = f" of {sizes[0]} B" if len(sizes) == 1 else several
        patterns = ", ".join(dict.fromkeys(series.pattern for series in self.series))
        samples = sum(series.seconds.size for series in self.series)
        return f"{counted(samples, 'sample')}{of} ({patterns})"

    @property
    def clock_step_seconds(self) -> float:
        """The step of the clock that took the samples in seconds; 0 where the header doesn't tell."""
        return self._clock_seconds("resolution_ns")

    @property
    def clock_overhead_seconds(self) -> float:
        """What one reading of that clock adds to a timed interval in seconds; 0 where the header doesn't tell."""
        return self._clock_seconds("overhead_ns")

    def _clock_seconds(self, fact: str) -> float:
        clock = self.header.get("clock")
        nanoseconds = clock.get(fact) if isinstance(clock, dict) else None
        return float(nanoseconds or 0.0) * 1e-9

    def select(
        self,
        *,
        message_bytes: int | None = None,
        delayed: bool | None = None,
        purpose: str | None = None,
        **attributes: object,
    ) -> Dataset:
        """The series that match all that is given: `pattern="prtt"`, or another attribute and its value.

        `purpose` compares with the tag of that name.
        """

        def matches(series: Series) -> bool:
            return (
                (message_bytes is None or series.message_bytes == message_bytes)
                and (delayed is None or (series.delay_seconds > 0) == delayed)
                and (purpose is None or series.tag.get("purpose") == purpose)
                and all(getattr(series, name) == value for name, value in attributes.items())
            )

        candidates = self.series
        if message_bytes is not None:
            candidates = self._by_size.get(message_bytes, ())
        return replace(self, series=tuple(series for series in candidates if matches(series)))

    def apart(self, *names: str) -> dict[tuple[object, ...], Dataset]:
        """The series by the values of these attributes: what must not be pooled. In the order of the first of each."""
        by_values: dict[tuple[object, ...], list[Series]] = defaultdict(list)
        for series in self.series:
            by_values[tuple(getattr(series, name) for name in names)].append(series)
        return {
            values: replace(self, series=tuple(members)) for values, members in by_values.items()
        }

    def by_way(self) -> dict[tuple[str, str], Dataset]:
        """The series by operation and posting; calls that were imported under their own names stay together."""
        by_way: dict[tuple[str, str], list[Series]] = defaultdict(list)
        for series in self.series:
            known = series.operation if series.operation in OPERATIONS else ""
            by_way[known, series.posting].append(series)
        return {way: replace(self, series=tuple(members)) for way, members in by_way.items()}

    @cached_property
    def _by_size(self) -> dict[int, tuple[Series, ...]]:
        by_size: dict[int, list[Series]] = defaultdict(list)
        for series in self.series:
            by_size[series.message_bytes].append(series)
        return {size: tuple(members) for size, members in by_size.items()}

    @property
    def transport(self) -> str:
        """The transport's name; `unknown` where an imported file does not say."""
        return str(self.header.get("transport", "unknown"))

    def medians_by_size(self) -> MediansBySize:
        """The medians over all samples of each size: of all series, so select one kind of them first."""
        import numpy as np

        sizes = self.sizes()
        pooled = tuple(
            np.concatenate([series.seconds for series in self._by_size[size]])
            for size in sizes.tolist()
        )
        medians = np.array([np.median(samples) for samples in pooled], dtype=np.float64)
        return MediansBySize(sizes, medians, pooled)

    def sizes(self) -> NDArray[np.int64]:
        """The distinct message sizes in bytes, ascending, shape (sizes,)."""
        import numpy as np

        return np.unique(np.array([s.message_bytes for s in self.series], dtype=np.int64))


def parts_of(dataset: Dataset) -> tuple[str, ...]:
    """The names of the parts, in the order of the file; none where the run is of one path that has no name."""
    return tuple(dict.fromkeys(series.placement for series in dataset.series if series.placement))


def is_import(dataset: Dataset) -> bool:
    """Was the run imported from another tool's file?"""
    return str(dataset.header.get("target", "")).startswith("import:")


def by_part(dataset: Dataset) -> dict[str | None, Dataset]:
    """The series of each part of an imported file with several parts; the whole run under None where it has one."""
    names = parts_of(dataset)
    if not is_import(dataset) or len(names) < 2:
        return {None: dataset}
    return {name: _only(dataset, name) for name in names}


def part_or_target(dataset: Dataset, name: str | None) -> Dataset:
    """The series that `name` means, a part's, the target's or the transport's; all of them where it is None.

    A run that has no names of parts is taken whole. Raises UsageError, listing the parts, where there is none such.
    """
    names = parts_of(dataset)
    if name is None or name in (dataset.header.get("target"), dataset.transport) or not names:
        return dataset
    if name not in names:
        raise UsageError(f"--target {name}: {dataset.source} holds {', '.join(names)}.")
    return _only(dataset, name)


def one_part(dataset: Dataset, name: str | None) -> Dataset:
    """As `part_or_target`, but UsageError where an imported file has several parts and none is named.

    Files of k pairs alone are taken whole: what differs between their parts can be held out.
    """
    several = by_part(dataset)
    if (
        name is None
        and len(several) > 1
        and {series.pattern for series in dataset.series} != {"pairs"}
    ):
        raise UsageError(
            f"{dataset.source} holds {len(several)} parts: {', '.join(map(str, several))}; say which one with --target "
            "NAME."
        )
    return part_or_target(dataset, name)


def _only(dataset: Dataset, name: str) -> Dataset:
    return replace(
        dataset, series=tuple(series for series in dataset.series if series.placement == name)
    )

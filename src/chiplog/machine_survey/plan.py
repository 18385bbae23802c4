"""The plan of a survey: every two nodes once, in rounds of disjoint pairs, or a few rounds of them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from chiplog.counts import MOST, MOST_RANKS, seed_within, within
from chiplog.errors import CorruptFile, UsageError
from chiplog.json_values import members
from chiplog.machine_survey.rounds import Pairs, rounds_by_leaf
from chiplog.machine_survey.settings import SETTINGS
from chiplog.plan.cost import Nominal, nominal_of
from chiplog.plan.patterns.all_pairs import rounds_of
from chiplog.plan.request import ONE_WAY, Request, SeriesRequest, StopRule
from chiplog.plan.sizes import MAX_MESSAGE_BYTES

LATENCY, BANDWIDTH, ALONE, WARM_UP = "latency", "bandwidth", "alone", "warm-up"
"""Purposes of records, as their tags say; ALONE is bandwidth again, one pair after the other."""
UPLINK: Final = "uplink"
"""Bandwidth again, of pairs that fill one uplink at once: the purpose of such a record, with AGAIN."""
HOST_CHECK: Final = "own"
"""What each node does alone: the purpose of a record of three patterns."""
WORK: Final = "fixed_work"
COPY: Final = "memory_copy"
OTHERS: Final = "other_programs"
"""The patterns of such a record: arithmetic, a copy in memory, and the share of its CPUs that other programs have."""
HOST_SAMPLE_SECONDS = 2e-3
"""Given: what one sample of each of them takes, about."""
AGAIN = "-again"
"""Ends the purpose of a record of the confirmation, and of the isolation."""
PAIRS_AGAIN = "-pairs-again"
"""Ends the purpose of such a record of suspected pairs, and others beside them."""
KIND = "survey"
LATENCY_BYTES = 1
"""Derived: the smallest message that has data."""
BANDWIDTH_BYTES = 1 << 20
"""Given: a size at which start-up is a small part of the time."""
MOST_VISITS = 100
"""Given: visits of each pair that may be asked for."""
STOPS = {
    LATENCY: StopRule(1e-3, 5, 20, 60_000_000),
    BANDWIDTH: StopRule(1e-3, 3, 10, 200_000_000),
    ALONE: StopRule(1e-3, 3, 3, 100_000_000),
    ALONE + AGAIN: StopRule(1e-3, 1, 1, 100_000_000),
    UPLINK + AGAIN: StopRule(1e-3, 1, 1, 100_000_000),
    WARM_UP: StopRule(1e-3, 3, 3, 10_000_000),
    HOST_CHECK: StopRule(1e-3, 8, 16, 50_000_000),
}
"""Given: latency is judged on minima, so that many samples in a short time do; a node takes part in hundreds of rounds.

Where one sample takes longer than the time, there is only one beside the warm-up.
"""


@dataclass(frozen=True)
class SurveyOptions:
    """All that a survey's plan depends on; stored in the run's header, from which `--resume` makes it again."""

    transport: str
    ranks: int
    latency_bytes: int = LATENCY_BYTES
    bandwidth_bytes: int = BANDWIDTH_BYTES
    sparse: int | None = None
    """Rounds taken of all there are, chosen by the seed; None for all of them."""
    visits: int = 1
    seed: int = 1
    again: bool = True
    """Whether what stands out in a single visit is measured again beside healthy nodes."""
    own: bool = True
    """Whether each visit begins with what every node does alone."""
    leaves: tuple[int, ...] | None = None
    """The declared leaf of each rank, so that rounds fill uplinks; None where nothing is declared."""
    leaf_names: tuple[str, ...] | None = None
    """The leaves' names, by number."""
    kind: str = KIND

    def __post_init__(self) -> None:
        for option, value, least, most in (
            ("--ranks", self.ranks, 2, MOST_RANKS),
            ("--latency-bytes", self.latency_bytes, 0, MAX_MESSAGE_BYTES),
            ("--bandwidth-bytes", self.bandwidth_bytes, 1, MAX_MESSAGE_BYTES),
            ("--sparse", 1 if self.sparse is None else self.sparse, 1, MOST),
            ("--visits", self.visits, 1, MOST_VISITS),
        ):
            within(option, value, least, most)
        seed_within("--seed", self.seed)

    @property
    def judges(self) -> bool:
        """Returns whether later figures tell who is slow: the confirmation's, or later visits'."""
        return (self.again or self.visits > 1) and self.ranks >= SETTINGS.least_ranks

    @property
    def has_confirmation(self) -> bool:
        """Returns whether rounds are measured again, chosen by what the sweep has found."""
        return self.judges and self.visits == 1

    @property
    def checks_hosts(self) -> bool:
        """Returns whether nodes do work alone: where a later visit judges them by it."""
        return self.own and (self.visits > 1 or self.has_confirmation)

    def to_json(self) -> dict[str, object]:
        """Returns the options as the run file's header keeps them, in JSON's own types."""
        return members(self, *self.__dataclass_fields__)

    @staticmethod
    def from_json(stored: Mapping[str, object], source: str) -> SurveyOptions:
        """Returns the options of a run file's header; CorruptFile, naming `source`, where they are of no survey."""
        if stored.get("kind") != KIND:
            raise UsageError(
                f"--resume: {source} was not begun by chiplog survey; chiplog measure --resume finishes it."
            )
        fields = SurveyOptions.__dataclass_fields__
        of_older_files = {"again": False, "own": False, "leaves": None, "leaf_names": None}
        stored = {**of_older_files, **stored}
        missing = sorted(set(fields) - set(stored))
        if missing:
            raise CorruptFile(
                f"{source}: line 1: plan.{missing[0]} is missing, so the survey can't be resumed."
            )
        known = {name: stored[name] for name in fields}
        known["leaves"], known["leaf_names"] = stored_leaves(stored, known["ranks"], source)
        return SurveyOptions(**known)  # type: ignore[arg-type]


def stored_leaves(
    plan: Mapping[str, object], ranks: object, source: str
) -> tuple[tuple[int, ...] | None, tuple[str, ...] | None]:
    """Returns the declared leaf of each rank and the leaves' names in a header's plan; None where nothing was declared.

    CorruptFile, naming `source`, where they are none.
    """
    leaves, names = plan.get("leaves"), plan.get("leaf_names")
    if leaves is None:
        return None, None
    numbers = [leaf for leaf in leaves if type(leaf) is int] if isinstance(leaves, list) else []
    if not isinstance(leaves, list) or len(numbers) != len(leaves) or len(numbers) != ranks:
        raise CorruptFile(f"{source}: line 1: plan.leaves has no whole number for each rank.")
    count = max(numbers, default=-1) + 1
    if names is None:
        return tuple(numbers), tuple(f"leaf {number}" for number in range(count))
    known = names if isinstance(names, list) else []
    words = [word for word in known if isinstance(word, str) and word.isprintable()]
    if not isinstance(names, list) or len(words) != len(names) or len(words) < count:
        raise CorruptFile(f"{source}: line 1: plan.leaf_names has no name for each leaf.")
    return tuple(numbers), tuple(words)


@dataclass(frozen=True)
class PlannedRound:
    """A round of disjoint pairs: what for, its number, and its pairs; None: those of the circle method."""

    purpose: str
    number: int
    links: Pairs | None = None
    again: str = ""
    """What its purpose ends with in a later stage."""


@dataclass(frozen=True)
class Sweep:
    """The requests of a survey in their order, and how long they will probably take."""

    options: SurveyOptions
    rounds: tuple[int, ...]
    """The numbers of the rounds, in the order in which they are first measured."""
    requests: tuple[Request, ...]
    seconds: float
    """Predicted from nominal figures of the transport within one host."""
    schedule: tuple[Pairs, ...] | None = None
    """The pairs of each round by its number; None: those of the circle method."""

    @property
    def pairs(self) -> int:
        """Returns how many pairs are measured: each in one round."""
        if self.schedule is not None:
            return sum(len(self.schedule[number]) for number in self.rounds)
        return self.options.ranks // 2 * len(self.rounds)

    def seconds_again(self, rounds: int) -> float:
        """Predicts the time of a confirmation of so many rounds, and of the longest isolation."""
        chosen = dict.fromkeys((LATENCY, BANDWIDTH), self.rounds[:rounds])
        wanted = SETTINGS.most_isolated_pairs + SETTINGS.isolated_controls
        wanted += SETTINGS.most_isolated_nodes * SETTINGS.partners
        most = min(self.options.ranks // 2, wanted)
        pairs = tuple((2 * pair, 2 * pair + 1) for pair in range(most))
        leaves = len(set(self.options.leaves or ()))
        most_uplinks = SETTINGS.most_isolated_uplinks + SETTINGS.control_leaves
        uplinks = [pairs] * (min(leaves, most_uplinks) if leaves > 2 else 0)
        confirmation = confirmation_requests(self, chosen, {})
        requests = (*confirmation, *isolation_requests(self, [pairs], uplinks, 0))
        return sum(predicted_seconds(request, self.options.transport) for request in requests)

    @property
    def all_pairs(self) -> int:
        """Returns how many pairs there are."""
        return self.options.ranks * (self.options.ranks - 1) // 2

    def to_json(self, target: str) -> dict[str, Any]:
        """Returns the plan of a survey of `target` for scripts."""
        return {
            "schema": "chiplog.survey-plan/1",
            "target": target,
            "options": self.options.to_json(),
            "ranks": self.options.ranks,
            "rounds": len(self.rounds),
            "pairs": self.pairs,
            "pairs_in_all": self.all_pairs,
            "records": len(self.requests),
            "predicted": {"seconds": self.seconds},
        }


def make_sweep(options: SurveyOptions) -> Sweep:
    """Plans latency and bandwidth of each round in turn, rounds in shuffled order, after one cold record.

    A round's pairs are timed one after the other for latency, and at once for bandwidth. Every other round of a visit
    is turned, so that each node sends in half of its pairs. Some rounds are measured one pair after the other, too.
    """
    shuffle = random.Random(options.seed)
    schedule = None if options.leaves is None else rounds_by_leaf(options.leaves)
    count = rounds_of(options.ranks) if schedule is None else len(schedule)
    rounds = shuffle.sample(range(count), min(count, options.sparse or count))
    pairs_of = dict(enumerate(schedule or ()))
    warm_up = PlannedRound(WARM_UP, rounds[0], pairs_of.get(rounds[0]))
    requests = [_request(options, 0, 0, warm_up, turned=0)]
    isolated = set(rounds[: 1 + (options.ranks <= SETTINGS.few_ranks)])
    for visit in range(options.visits):
        requests += _host_requests(len(requests), visit, options)
        for place, number in enumerate(rounds):
            purposes = [LATENCY, BANDWIDTH, *([ALONE] if visit == 0 and number in isolated else [])]
            for purpose in purposes:
                planned = PlannedRound(purpose, number, pairs_of.get(number))
                turned = (place + visit) % 2
                requests.append(_request(options, len(requests), visit, planned, turned=turned))
    seconds = sum(predicted_seconds(request, options.transport) for request in requests)
    start_up = nominal_of(options.transport).start_up_seconds
    return Sweep(options, tuple(rounds), tuple(requests), start_up + seconds, schedule)


def confirmation_requests(
    sweep: Sweep, rounds: Mapping[str, Sequence[int]], pairs: Mapping[str, Sequence[Pairs]]
) -> tuple[Request, ...]:
    """Returns the requests of the confirmation: of each purpose these rounds, 5 times in each direction.

    `rounds` are numbers of rounds of the sweep, `pairs` rounds of suspected pairs. All is shuffled anew in each visit,
    so that suspects and healthy nodes alternate.
    """
    shuffle = random.Random(sweep.options.seed + 1)
    requests: list[Request] = []
    pairs_of = dict(enumerate(sweep.schedule or ()))
    planned = [
        (sweep.rounds.index(number), PlannedRound(purpose, number, pairs_of.get(number), AGAIN))
        for purpose, numbers in rounds.items()
        for number in numbers
    ]
    planned += [
        (number, PlannedRound(purpose, number, links, PAIRS_AGAIN))
        for purpose, parts in pairs.items()
        for number, links in enumerate(parts)
    ]
    for visit in range(1, 1 + 2 * SETTINGS.repeats):
        of_visit = shuffle.sample(planned, len(planned))
        requests += _host_requests(len(sweep.requests) + len(requests), visit, sweep.options)
        for place, each in of_visit:
            number = len(sweep.requests) + len(requests)
            turned = (place + visit) % 2
            requests.append(_request(sweep.options, number, visit, each, turned=turned))
    return tuple(requests)


def isolation_requests(
    sweep: Sweep, parts: Sequence[Pairs], uplinks: Sequence[Pairs], first_number: int
) -> tuple[Request, ...]:
    """Returns the requests of the isolation, which follow on all others, numbered from `first_number` on.

    The pairs of each part, which are disjoint, are measured one after the other, those of each of `uplinks` at once;
    all 5 times in each direction.
    """
    shuffle = random.Random(sweep.options.seed + 2)
    requests: list[Request] = []
    planned = [
        PlannedRound(purpose, number, links, AGAIN)
        for purpose, rounds in ((ALONE, parts), (UPLINK, uplinks))
        for number, links in enumerate(rounds)
    ]
    for repeat in range(2 * SETTINGS.repeats):
        visit = max(sweep.options.visits, 1 + 2 * SETTINGS.repeats) + repeat
        for each in shuffle.sample(planned, len(planned)):
            number = first_number + len(requests)
            requests.append(_request(sweep.options, number, visit, each, turned=repeat % 2))
    return tuple(requests)


def predicted_seconds(request: Request, transport: str) -> float:
    """Returns how long a record will probably take: its samples until its time is over, and at least the fewest."""
    if request.tag.get("purpose") == HOST_CHECK:
        return request.rounds(request.stop.max_samples) * HOST_SAMPLE_SECONDS
    nominal = nominal_of(transport)
    sample_seconds = _sample_seconds(request.series[0], nominal)
    least = request.rounds(request.stop.min_samples) * sample_seconds
    most = request.rounds(request.stop.max_samples) * sample_seconds
    return min(most, max(least, request.stop.budget_ns * 1e-9))


def _host_requests(number: int, visit: int, options: SurveyOptions) -> list[Request]:
    """Returns what each node does alone, all at the same time; nothing where the options leave it out."""
    series = tuple(SeriesRequest(name, 0, ranks=options.ranks) for name in (WORK, COPY, OTHERS))
    tag = {"purpose": HOST_CHECK}
    request = Request(number, visit, series, STOPS[HOST_CHECK], tag, check_payload=False)
    return [request] if options.checks_hosts else []


def _request(
    options: SurveyOptions, number: int, visit: int, planned: PlannedRound, *, turned: int
) -> Request:
    """Returns the request of a round; where it is turned, who received sends."""
    purpose = planned.purpose
    is_latency = purpose in (LATENCY, WARM_UP)
    series = SeriesRequest(
        "all_pairs",
        options.latency_bytes if is_latency else options.bandwidth_bytes,
        ranks=options.ranks,
        round=planned.number,
        direction=None if is_latency else ONE_WAY,
        at_once=int(purpose in (BANDWIDTH, UPLINK)),
        turned=turned,
        links=planned.links,
    )
    tag = purpose + planned.again
    stop = STOPS[tag if tag in STOPS else purpose]
    is_checked = purpose == WARM_UP
    return Request(number, visit, (series,), stop, {"purpose": tag}, check_payload=is_checked)


def _sample_seconds(series: SeriesRequest, nominal: Nominal) -> float:
    """Predicts the duration of one sample of a round: of one pair, or of all its pairs one after the other."""
    ways = 1 if series.direction == ONE_WAY else 2
    one_pair = 2 * nominal.half_round_trip_seconds + ways * series.message_bytes * (
        nominal.seconds_per_byte
    )
    # Given: a few messages more than those of the pair; only durations of rounds are predicted by it.
    messages = (ways + 3) * nominal.seconds_per_message
    return (one_pair + messages) * (1 if series.at_once else series.pairs_of_round)

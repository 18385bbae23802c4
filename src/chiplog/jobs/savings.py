"""What would save most of an application's time, as far as the intervals bear it, and how to do it.

Each proposal is the same program that runs otherwise; it is replayed, and kept where it surely saves time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chiplog.application.placement import better_groups, blocks_of, is_alike, turns_of
from chiplog.application.replay import ReplayedTrace, schedule_of
from chiplog.application.result import Saving, Savings
from chiplog.collectives.mpis.choice import OPERATIONS, AlgorithmChoice, Chooser, CollectiveCall
from chiplog.collectives.mpis.known import chooser_of, release_in
from chiplog.collectives.registry import algorithms
from chiplog.counts import counted, number_ranges
from chiplog.jobs.anchored_replay import AnchoredChooser, refuse_unused
from chiplog.jobs.paired import PairedTimes, Variant
from chiplog.jobs.replay import ReplayBy
from chiplog.prediction.network_change import NetworkChange
from chiplog.schedule.arrays import SEND, Schedule
from chiplog.simulation.parameters import NO_LIMIT_BYTES
from chiplog.simulation.sensitivity import LEAST_SHARE
from chiplog.tracing.trace import KINDS, SENDRECVS, Trace, kinds

MOST_SAVINGS, MOST_NODES_NAMED = 3, 3
"""Given: what a reader will try, and what a sentence has room for."""
LONG_CALLS = 100_000
"""Given: calls from which a trace is not replayed by each algorithm of its collectives: each replay takes a second."""
WAITS = ("Wait", "Waitall", "Waitany", "Waitsome")


@dataclass(frozen=True)
class Proposal:
    """What could be done, how, and what is replayed to say what it saves."""

    what: str
    how: str
    variant: Variant
    file: str | None = None


@dataclass(frozen=True)
class TracedProgram:
    """A trace, and its schedule."""

    name: str
    trace: Trace
    flops_per_second: float | None = None
    choose: Chooser | None = None
    """The algorithms of its collective operations; None: those that the MPI of the trace takes."""

    @cached_property
    def replayed(self) -> ReplayedTrace:
        """How it is replayed; UsageError as of `schedule_of`, or where an anchor is of nothing that is called."""
        replayed = schedule_of(self.trace, self.flops_per_second, self.choose)
        if isinstance(self.choose, AnchoredChooser):
            refuse_unused(self.choose)
            replayed = replace(replayed, notes=(*replayed.notes, *self.choose.notes))
        return replayed

    @property
    def is_long(self) -> bool:
        """Would replaying it many times take minutes?"""
        return sum(rank.calls.size for rank in self.trace.ranks) > LONG_CALLS

    @property
    def schedule(self) -> Schedule:
        """The messages and the computation of its replay."""
        return self.replayed.schedule


def savings(program: TracedProgram, by: ReplayBy) -> Savings:
    """The proposals that save most: another placement, a larger eager limit, overlap, other algorithms of collectives.

    What saves less than a share LEAST_SHARE of the time, or may save nothing, is left out.
    """
    paired = PairedTimes(program.schedule, by)
    proposals = [
        *_placement(program.schedule, by),
        *_eager_limit(paired, program.schedule, by),
        *_overlap(program),
        *_algorithms(program, paired),
    ]
    least = LEAST_SHARE * paired.unchanged_seconds
    ranked = [
        (paired.unchanged_seconds - paired.seconds(proposal.variant), place)
        for place, proposal in enumerate(proposals)
    ]
    rows: list[Saving] = []
    for seconds, place in sorted(ranked, key=lambda row: (-row[0], row[1])):
        if seconds < least or len(rows) == MOST_SAVINGS:
            break
        proposal = proposals[place]
        saved = paired.saved_seconds(proposal.variant)
        if saved.low > 0.0:
            ends = saved.value, saved.low, saved.high
            rows.append(Saving(proposal.what, *ends, proposal.how, proposal.file))
    return Savings(tuple(rows), tuple(_untried(program, by)))


def _untried(program: TracedProgram, by: ReplayBy) -> Iterator[str]:
    """What the parameters say nothing about."""
    if by.conditions.pairs is None:
        yield "the placement of ranks: it needs --classes, parameters within a node and between nodes"
    if _largest_eager_bytes(by) is None:
        yield "the eager limit: the model has none: fit loggps, which needs the pattern late_receiver, or give --S"
    if program.is_long:
        yield f"other algorithms of collectives: the trace has more than {LONG_CALLS:,} calls"


def _largest_eager_bytes(by: ReplayBy) -> int | None:
    if by.fitted is not None:
        return by.fitted.largest_eager_bytes
    assert by.parameters is not None
    limit = by.parameters.S_bytes
    return None if limit == NO_LIMIT_BYTES else limit


def _placement(schedule: Schedule, by: ReplayBy) -> Iterator[Proposal]:
    """Ranks that talk most on one node."""
    pairs = by.conditions.pairs
    groups = None if pairs is None else better_groups(schedule, pairs)
    if groups is not None:
        variant = Variant(schedule, group_of_rank=groups)
        yield Proposal(
            "another placement of ranks", _how_to_place(groups), variant, _rankfile(groups)
        )


def _how_to_place(groups: Sequence[int]) -> str:
    """In words, with the launchers' options; `groups` are the node of each rank."""
    nodes = _ranks_of_nodes(groups)
    named = "; ".join(number_ranges(ranks) for ranks in nodes[:MOST_NODES_NAMED])
    rest = len(nodes) - MOST_NODES_NAMED
    more = f"; and {counted(rest, 'more node')}" if rest > 0 else ""
    way = _launcher_option(groups) or (
        "Open MPI: --map-by rankfile:file=FILE (--rankfile FILE before 5.0) with the rankfile below; srun: "
        "SLURM_HOSTFILE in this order and --distribution=arbitrary"
    )
    return f"together on a node: {named}{more}. {way}"


def _launcher_option(groups: Sequence[int]) -> str | None:
    """The launchers' options that place ranks so, if there are any."""
    if is_alike(groups, blocks_of(np.array(groups))):
        return "Open MPI: --map-by slot; srun --distribution=block; MPICH: -ppn with the ranks of a node"
    if is_alike(groups, turns_of(np.array(groups))):
        return "Open MPI: --map-by node; srun --distribution=cyclic; MPICH: -ppn 1"
    return None


def _rankfile(groups: Sequence[int]) -> str | None:
    """Open MPI's rankfile, in which +n0 is the first node of the allocation; None where an option does it."""
    if _launcher_option(groups) is not None:
        return None
    slots: dict[int, int] = defaultdict(int)
    lines = []
    for rank, node in enumerate(groups):
        lines.append(f"rank {rank}=+n{node} slot={slots[node]}\n")
        slots[node] += 1
    return "".join(lines)


def _ranks_of_nodes(groups: Sequence[int]) -> list[list[int]]:
    nodes: dict[int, list[int]] = defaultdict(list)
    for rank, node in enumerate(groups):
        nodes[node].append(rank)
    return list(nodes.values())


def _eager_limit(paired: PairedTimes, schedule: Schedule, by: ReplayBy) -> Iterator[Proposal]:
    """The smallest limit that saves what the largest does; one for all messages of up to the next power of two."""
    limit = _largest_eager_bytes(by)
    if limit is None:
        return
    operations = schedule.operations
    sizes = np.unique(operations["amount"][operations["kind"] == SEND])
    by_power = {size.bit_length(): size for size in sizes[sizes > limit].tolist()}
    proposals = [_eager(schedule, size) for size in by_power.values()]
    if not proposals:
        return
    seconds = [paired.seconds(proposal.variant) for proposal in proposals]
    enough = min(seconds) + LEAST_SHARE * paired.unchanged_seconds
    yield next(
        proposal for proposal, each in zip(proposals, seconds, strict=True) if each <= enough
    )


def _eager(schedule: Schedule, size: int) -> Proposal:
    """Messages of up to `size` bytes are sent without waiting for their receive."""
    setting = 2 ** size.bit_length()
    return Proposal(
        f"an eager limit above {size:,} B",
        "sends then don't wait for a receive that is late; that their bytes are copied once more is not counted. "
        f"Open MPI: --mca btl_sm_eager_limit {setting} within a node (btl_vader_eager_limit before 5.0), "
        f"--mca btl_tcp_eager_limit {setting} over TCP; UCX: UCX_RNDV_THRESH={setting}; MPICH over libfabric: "
        f"MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE={setting}",
        Variant(schedule, NetworkChange(largest_eager_bytes=size)),
    )


def _overlap(program: TracedProgram) -> Iterator[Proposal]:
    """Computing while the messages are under way that are waited for before it now."""
    calls = [rank.calls["kind"] for rank in program.trace.ranks]
    counts = np.bincount(np.concatenate(calls), minlength=len(KINDS))[kinds(*WAITS, *SENDRECVS)]
    if not counts.any():
        return
    name = (*WAITS, *SENDRECVS)[int(counts.argmax())]
    what, how = f"computing before MPI_{name}", f"compute what follows MPI_{name} before it"
    if name in SENDRECVS:
        what = f"computing while MPI_{name} is under way"
        how = (
            "call MPI_Irecv and MPI_Isend in its place, compute what follows, then call MPI_Waitall"
        )
    overlapped = schedule_of(program.trace, program.flops_per_second, program.choose, overlap=True)
    limits = "as far as that needs none of the messages; the saving is for all of it"
    yield Proposal(what, f"{how}, {limits}", Variant(overlapped.schedule))


@dataclass(frozen=True)
class ReplayedAlternative:
    """The replay with all calls of a function done by one algorithm, and all else as it is."""

    function: str
    """MPI's, in lower case and without prefix."""
    algorithm: str
    schedule: Schedule


def algorithm_alternatives(
    trace: Trace, choose: Chooser, flops_per_second: float | None
) -> Iterator[ReplayedAlternative]:
    """The application's schedule by each algorithm of each collective function that the trace calls.

    One after the other, as they are asked for. Errors are those of `schedule_of`.
    """
    called = {name for rank in trace.ranks for name in rank.call_counts}
    for function, operation in OPERATIONS.items():
        if not called & {f"MPI_{function.capitalize()}", f"MPI_I{function}"}:
            continue
        for algorithm in algorithms(operation):
            other = with_algorithm(choose, function, algorithm)
            schedule = schedule_of(trace, flops_per_second, other).schedule
            yield ReplayedAlternative(function, algorithm, schedule)


def with_algorithm(choose: Chooser, function: str, algorithm: str) -> Chooser:
    """The choices of `choose`, but `algorithm` for all calls of `function`."""

    def other(call: CollectiveCall) -> AlgorithmChoice:
        return AlgorithmChoice(algorithm) if call.function == function else choose(call)

    return other


def _algorithms(program: TracedProgram, paired: PairedTimes) -> Iterator[Proposal]:
    """For each collective function the algorithm by which the program is fastest."""
    if program.is_long:
        return
    choose = program.choose or chooser_of(release_in(program.trace.mpi))
    best: dict[str, tuple[float, str, Variant]] = {}
    for other in algorithm_alternatives(program.trace, choose, program.flops_per_second):
        variant = Variant(other.schedule)
        seconds = paired.seconds(variant)
        if other.function not in best or seconds < best[other.function][0]:
            best[other.function] = seconds, other.algorithm, variant
    for function, (_, algorithm, variant) in best.items():
        yield Proposal(
            f"MPI_{function.capitalize()} by {algorithm}",
            f"chiplog tune --measure --operation {OPERATIONS[function]} --for openmpi (or mpich) races it on this "
            "machine, and writes the tuning file where it is faster",
            variant,
        )

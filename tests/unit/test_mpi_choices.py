"""Which algorithm an MPI takes for a call: by its own rules, and with a tuning file in force."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from chiplog.application.collective_templates import template
from chiplog.collectives.algorithm import Task
from chiplog.collectives.mpis import mpich, openmpi
from chiplog.collectives.mpis.choice import (
    OPERATIONS,
    AlgorithmChoice,
    CollectiveCall,
    algorithm_of,
    by_default,
)
from chiplog.collectives.mpis.known import chooser_of, release_in, release_named
from chiplog.collectives.registry import algorithms
from chiplog.errors import CorruptFile, UsageError
from chiplog.tune.in_effect import chooser_from

RANKS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 64, 100, 128, 1000, 4096, 5000)
SIZES = (0, 1, 7, 8, 9, 100, 256, 257, 2048, 2049, 12288, 12289, 32769, 80_000, 524_288, 2**20 + 1)
CALLS = [
    CollectiveCall(function, ranks, size)
    for function, ranks, size in itertools.product(OPERATIONS, RANKS, SIZES)
]
RELEASES = ("openmpi-4.1.4", "openmpi-5.0.11", "openmpi-6.0", "mpich-4.0.2", "mpich-5.0")


@pytest.mark.parametrize("release", RELEASES)
def test_each_call_is_done_by_an_algorithm_of_its_operation(release: str) -> None:
    choose = release_named(release).choose
    for call in CALLS:
        choice = choose(call)
        assert choice.algorithm in algorithms(call.operation), call
        assert choice.native
        task = Task(call.ranks, call.message_bytes)
        assert algorithm_of(call.operation, choice, task).accepts(task)
        if not choice.is_nearest:
            assert algorithm_of(call.operation, choice, task).name == choice.algorithm, call


@pytest.mark.parametrize(
    ("function", "ranks", "size", "number"),
    [
        ("allreduce", 2, 7, 4),
        ("allreduce", 3, 8, 3),
        ("allreduce", 4, 8192, 6),
        ("allreduce", 5000, 20_000, 3),
        ("barrier", 4, 1, 1),
        ("barrier", 64, 1, 4),
        ("bcast", 8, 7, 7),
        ("bcast", 40, 2048, 7),
        ("alltoall", 2, 3, 5),
        ("allgather", 100, 600, 5),
        ("reduce_scatter_block", 4, 4 * 1_048_576, 1),
        ("reduce_scatter", 4, 262_143, 2),
        ("exscan", 64, 8, 1),
    ],
)
def test_open_mpi_decides_by_ranks_and_bytes(
    function: str, ranks: int, size: int, number: int
) -> None:
    assert openmpi.number_taken(CollectiveCall(function, ranks, size)) == number


def test_mpis_are_known_by_what_they_call_themselves() -> None:
    assert str(release_in("Open MPI v5.0.11rc1, package: x")) == "Open MPI 5.0.11"
    assert str(release_in("MPICH Version: 4.3.0b1 MPICH")) == "MPICH 4.3.0"
    for other in ("", "Intel(R) MPI Library 2021.13", "MVAPICH Version: 4.0", "SMPI 3.32"):
        assert release_in(other) is None
        assert chooser_of(release_in(other)) is by_default
    for wrong in ("openmpi", "mpich-", "openmpi-x", "intel-2021", "mpich-4.0;"):
        with pytest.raises(UsageError, match="--mpi"):
            release_named(wrong)
    assert "4.0.7" in (release_named("openmpi-4.0.7").caution or "")
    assert release_named("openmpi-4.1").caution is None


def test_where_ranks_share_nodes_what_is_done_node_by_node_is_the_nearest() -> None:
    shared = CollectiveCall("allreduce", 8, 1024, nodes=2)
    a_rank_a_node = CollectiveCall("allreduce", 8, 1024, nodes=8)
    assert release_named("openmpi-5.0").choose(shared).is_nearest
    assert not release_named("openmpi-4.1").choose(shared).is_nearest
    assert not release_named("openmpi-5.0").choose(a_rank_a_node).is_nearest
    assert release_named("mpich-4.0").choose(shared).is_nearest
    assert not release_named("mpich-4.0").choose(a_rank_a_node).is_nearest


CLASSIC = """2 # operations
2 # allreduce
2 # numbers of ranks
4 2
0 4 0 0
1024 6 0 0
16 1
0 0 0 0
7 # bcast
1
0 1
0 3 0 4096
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "rules"
    path.write_text(text)
    return path


def test_classic_rules_hold_from_their_ranks_and_sizes_on(tmp_path: Path) -> None:
    release = release_named("openmpi-4.1.4")
    choose = chooser_from(written(tmp_path, CLASSIC), release)

    def taken(function: str, ranks: int, size: int) -> str:
        return choose(CollectiveCall(function, ranks, size)).native

    assert taken("allreduce", 2, 8) == "ring"
    assert taken("allreduce", 15, 1023) == "ring"
    assert taken("allreduce", 15, 1024) == "rabenseifner"
    of_itself = release.choose(CollectiveCall("allreduce", 16, 1024)).native
    assert taken("allreduce", 16, 1024) == of_itself
    assert choose(CollectiveCall("bcast", 5, 10**6)).segment_bytes == 4096
    assert taken("barrier", 4, 1) == "linear"
    for text in (CLASSIC[:40], CLASSIC.replace("0 4 0 0", "1 4 0 0")):
        with pytest.raises(CorruptFile, match="line"):
            chooser_from(written(tmp_path, text), release)
    with pytest.raises(UsageError, match=r"for Open MPI, but the trace is of MPICH 4\.0\.2"):
        chooser_from(written(tmp_path, CLASSIC), release_named("mpich-4.0.2"))


def test_settings_and_json_rules_are_looked_up(tmp_path: Path) -> None:
    call = CollectiveCall("alltoall", 4, 100)
    settings = written(tmp_path, "coll_tuned_alltoall_algorithm = pairwise\n")
    assert chooser_from(settings, None)(call).native == "pairwise"
    settings = written(tmp_path, "export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=ring\n")
    assert chooser_from(settings, None)(CollectiveCall("allreduce", 4, 100)).algorithm == "ring"
    rules = written(
        tmp_path,
        '{"collectives": {"alltoall": [{"comm_size_max": 8, "rules": [{"msg_size_max": 399, "alg": 1}, '
        '{"alg": "modified_bruck"}]}]}}',
    )
    choose = chooser_from(rules, release_named("openmpi-6.0"))
    assert choose(call).native == "modified_bruck"
    assert choose(CollectiveCall("alltoall", 4, 99)).native == "linear"
    assert choose(CollectiveCall("alltoall", 9, 99)) == release_named("openmpi-6.0").choose(
        CollectiveCall("alltoall", 9, 99)
    )
    with pytest.raises(UsageError, match="no JSON"):
        chooser_from(rules, release_named("openmpi-5.0"))
    with pytest.raises(UsageError, match="neither"):
        chooser_from(written(tmp_path, "{}"), None)


def test_a_tree_of_mpich_is_gone_down_test_by_test(tmp_path: Path) -> None:
    tree = written(
        tmp_path,
        """{"collective=bcast": {"comm_type=intra": {
        "comm_size=pow2": {"avg_msg_size<=100": {"algorithm=MPIR_Bcast_intra_binomial": {}},
                           "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_pipelined_tree": {}}},
        "comm_size=any": {"avg_msg_size<=4": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}}}}}}""",
    )
    choose = chooser_from(tree, None)
    assert choose(CollectiveCall("bcast", 8, 100)).algorithm == "binomial"
    piped = choose(CollectiveCall("bcast", 8, 101))
    assert piped.is_nearest
    assert piped.native == "Bcast_intra_pipelined_tree"
    assert choose(CollectiveCall("bcast", 6, 4)).algorithm == "scatter-allgather"
    with pytest.raises(CorruptFile, match="aborts at such a call"):
        choose(CollectiveCall("bcast", 6, 5))
    assert choose(CollectiveCall("reduce", 6, 5)) == mpich.choose(CollectiveCall("reduce", 6, 5))


def test_mpichs_own_tree_says_what_is_taken_without_one() -> None:
    """Where ranks share no nodes, with elements of 8 B; of 0 B, it names an allreduce node by node."""
    from chiplog.measurement.mpis import find_mpis
    from chiplog.tune.mpich_in_effect import leaf_of
    from chiplog.tune.mpich_tree import own_tree

    here = next((mpi for mpi in find_mpis() if mpi.kind == "mpich"), None)
    if here is None:
        pytest.skip("there is no MPICH here")
    tree = own_tree(here)
    for call in CALLS:
        leaf = leaf_of(tree[f"collective={call.function}"], call, Path("own"))
        if call.ranks > 1 and call.message_bytes > 0:
            assert leaf.removeprefix("algorithm=MPIR_") == mpich.algorithm_taken(call), call


def test_an_applications_time_is_known_with_each_other_algorithm() -> None:
    from trace_files import trace_of

    from chiplog.jobs.savings import algorithm_alternatives
    from chiplog.simulation import LogGOPS, simulate
    from chiplog.tracing.builder import ImportedCall

    calls = [
        ImportedCall("Allreduce", 10, 20, sent_bytes=64_000, received_bytes=64_000),
        ImportedCall("Iscan", 30, 40, sent_bytes=8, received_bytes=8, starts="a"),
        ImportedCall("Wait", 40, 50, completes=("a",)),
    ]
    trace = trace_of(*4 * [calls])
    parameters = LogGOPS.from_ns(L=1000, o=100, g=100, G=1)
    times = {
        (other.function, other.algorithm): simulate(other.schedule, parameters).makespan_ps
        for other in algorithm_alternatives(trace, by_default, None)
    }
    assert {name for name, _ in times} == {"allreduce", "scan"}
    assert len(times) == len(algorithms("allreduce")) + len(algorithms("scan"))
    alone = {
        name: simulate(algorithm.schedule(Task(4, 64_000)), parameters).makespan_ps
        for name, algorithm in algorithms("allreduce").items()
    }
    difference = times["allreduce", "ring"] - times["allreduce", "recursive-doubling"]
    assert difference == alone["ring"] - alone["recursive-doubling"] < 0


@pytest.mark.parametrize("ranks", [3, 4])
@pytest.mark.parametrize("function", OPERATIONS)
def test_a_replay_ends_whatever_algorithm_its_collectives_take(function: str, ranks: int) -> None:
    """A rank of an algorithm is another one of the world; any rank, whom a central counter receives from, stays any."""
    from trace_files import trace_of

    from chiplog.application.replay import schedule_of
    from chiplog.jobs.savings import with_algorithm
    from chiplog.simulation import LogGOPS, simulate
    from chiplog.tracing.builder import ImportedCall

    size = 0 if function == "barrier" else 12_000
    call = ImportedCall(
        function.capitalize(), 0, 0, ranks - 1, sent_bytes=size, received_bytes=size
    )
    trace = trace_of(*ranks * [[call]])
    parameters = LogGOPS.from_ns(L=1000, o=100, g=150, G=1)
    for name, algorithm in algorithms(OPERATIONS[function]).items():
        chosen = with_algorithm(by_default, function, name)
        replayed = simulate(schedule_of(trace, choose=chosen).schedule, parameters)
        assert replayed.makespan_ps > 0
        if function == "barrier":
            alone = simulate(algorithm.schedule(Task(ranks, 1)), parameters)
            assert replayed.makespan_ps == alone.makespan_ps, name


@pytest.mark.parametrize("function", ["allreduce", "scan", "alltoall", "reduce_scatter", "barrier"])
def test_the_steps_of_a_rank_stand_behind_those_that_they_wait_for(function: str) -> None:
    for algorithm in algorithms(OPERATIONS[function]):
        for ranks in range(2, 10):
            call = CollectiveCall(function, ranks, 1 if function == "barrier" else 4096)
            for steps in template(call, AlgorithmChoice(algorithm)).steps:
                for place, step in enumerate(steps):
                    assert all(on < place for on in (*step.after_end, *step.after_start))

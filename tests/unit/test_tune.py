"""What is chosen, and what the files of each program look like."""

from __future__ import annotations

import json
import mmap
from dataclasses import replace
from pathlib import Path

import pytest
from json_schemas import validate
from prediction import fit_of

from chiplog.errors import UsageError
from chiplog.fitting.model_file import write_model
from chiplog.fitting.result import Fit
from chiplog.plan.sizes import parse_ranks
from chiplog.prediction.n_way import N_WAY
from chiplog.tune.choice import Choice, Tuning, tuning_to_json, without_far_choices
from chiplog.tune.choose import choose
from chiplog.tune.formats import (
    mpich_cvars,
    mpich_json,
    openmpi_classic,
    openmpi_han,
    openmpi_json,
)
from chiplog.tune.formats.openmpi_rules import settings_alone
from chiplog.tune.model_tuning import tune
from chiplog.tune.ranges import Key, RankRule, SizeRule, rules
from chiplog.tune.writer import WRITERS
from chiplog.tune.writers import chiplog, ucc

US = 1e-6
LOGFP = {"L": 5 * US, "g": 5 * US, "f": 7.0, "o_min": 0.18 * US, "o_max": 1.6 * US}
LOGGP = {"L": 2.5 * US, "o_s": 1.5 * US, "o_r": 1.5 * US, "g": 1 * US, "G": 6e-9}


def loggp(spread: float = 0.001) -> Fit:
    return fit_of("loggp", LOGGP, spread=spread, last_bytes=1 << 24)


def choice(
    ranks: int,
    peers: int | None,
    *,
    algorithm: str = N_WAY,
    size: int = 1,
    verdict: str = "changed",
) -> Choice:
    return Choice(
        ranks=ranks,
        message_bytes=size,
        algorithm=algorithm,
        peers=peers,
        rounds=None,
        seconds=1e-6,
        baseline=algorithm,
        baseline_seconds=2e-6,
        best=algorithm,
        best_peers=peers,
        best_seconds=1e-6,
        gain=0.5,
        gain_low=0.4,
        gain_high=0.6,
        verdict=verdict,
        extrapolated=None,
    )


def barrier(*peers: int) -> Tuning:
    """Of 2, 3, … ranks; 1 keeps the default."""
    found = (
        choice(2 + i, n, verdict="changed" if n > 1 else "default") for i, n in enumerate(peers)
    )
    return Tuning("barrier", "logp", tuple(found))


def test_a_barriers_n_star_is_held_against_n_of_1() -> None:
    tuning = choose([fit_of("logfp", LOGFP, spread=0.01)], "barrier", (2, 64), (N_WAY,))
    two, many = tuning.choices
    assert (two.verdict, two.peers) == ("default", 1)
    assert (many.verdict, many.peers, many.rounds, many.baseline) == ("changed", 7, 2, N_WAY)
    assert many.baseline_seconds == pytest.approx(6 * 13.56 / 2 * US)
    assert many.gain == pytest.approx(1 - many.seconds / many.baseline_seconds)


def test_a_gain_whose_interval_reaches_0_leaves_the_default_and_is_unclear() -> None:
    """The send's cost may be so high that more messages a round cost what fewer rounds save."""
    vague = fit_of("loggp", {**LOGGP, "g": 2 * US}, spread=0.9)
    sure = fit_of("loggp", {**LOGGP, "g": 2 * US}, spread=0.001)
    (unclear,), (clear,) = (
        choose([fit], "barrier", (64,), (N_WAY,)).choices for fit in (vague, sure)
    )
    assert (unclear.verdict, unclear.peers) == ("unclear", 1)
    assert unclear.seconds == unclear.baseline_seconds > unclear.best_seconds
    assert unclear.gain_low <= 0 < unclear.gain
    assert (clear.verdict, clear.peers) == ("changed", clear.best_peers)


def test_two_algorithms_of_the_same_time_leave_the_mpi_its_default() -> None:
    offered = openmpi_classic.FORMAT.offered("barrier", (5, 0))
    eight, nine = choose([loggp()], "barrier", (8, 9), offered).choices
    assert eight.verdict == "unclear" and eight.gain == pytest.approx(0, abs=1e-9)
    assert (nine.verdict, nine.algorithm) == ("changed", "dissemination")


def test_algorithms_change_with_the_size_of_the_message() -> None:
    offered = openmpi_classic.FORMAT.offered("allreduce", (5, 0))
    tuning = choose([loggp()], "allreduce", (16,), offered, sizes=(8, 1 << 20))
    assert [one.best for one in tuning.choices] == ["recursive-doubling", "rabenseifner"]
    validate(tuning_to_json(tuning, {}))


def test_a_model_that_speaks_about_one_algorithm_only_is_refused() -> None:
    with pytest.raises(UsageError, match="no model in the file predicts bcast"):
        choose([fit_of("logfp", LOGFP)], "bcast", (4,), ("binomial", "linear"))


def test_rules_hold_up_to_the_next_and_end_with_the_default() -> None:
    own = (SizeRule(0, None),)
    assert rules(barrier(1, 2, 2, 3)) == (
        RankRule(0, own),
        RankRule(3, (SizeRule(0, Key(N_WAY, 2)),)),
        RankRule(5, (SizeRule(0, Key(N_WAY, 3)),)),
        RankRule(6, own),
    )


def test_ranks_are_all_of_a_range_or_its_powers_of_two() -> None:
    assert parse_ranks("2:5", every=True) == (2, 3, 4, 5)
    assert parse_ranks("3:17", every=False) == (3, 4, 8, 16, 17)
    assert parse_ranks("64", every=True) == (64,)
    assert parse_ranks("8, 4,8", every=True) == (4, 8)


@pytest.mark.parametrize("text", ["1", "", "8,x", "64:2", "2:x", "2:4:8", "2:1000000"])
def test_numbers_of_ranks_that_are_neither_a_list_nor_a_range_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--ranks"):
        parse_ranks(text, every=False)
    for wrong in ("1:4", "8:2", "x", "2:" + "9" * 9):
        with pytest.raises(UsageError, match="--ranks"):
            parse_ranks(wrong, every=True)


def test_the_librarys_file_has_a_row_for_every_number_of_ranks() -> None:
    text = chiplog.FORMAT.text(barrier(1, 2, 3), (0, 0))
    content = json.loads(text)
    validate(content)
    assert [(one["ranks"], one["peers"]) for one in content["choices"]] == [(2, 1), (3, 2), (4, 3)]


def test_open_mpis_classic_rules_begin_at_0_ranks_and_0_bytes() -> None:
    tuning = Tuning("barrier", "logp", (choice(3, None, algorithm="dissemination"),))
    assert openmpi_classic.FORMAT.text(tuning, (4, 1, 4)) == (
        "1 # collectives\n6 # barrier\n3 # numbers of ranks\n"
        "0 1 # ranks, sizes\n0 0 0 0 # Open MPI's own\n"
        "3 1 # ranks, sizes\n0 4 0 0 # bruck\n"
        "4 1 # ranks, sizes\n0 0 0 0 # Open MPI's own\n"
    )


def test_open_mpi_looks_an_alltoall_up_by_all_of_a_ranks_blocks() -> None:
    sizes = (
        choice(4, None, algorithm="bruck", size=8),
        choice(4, None, algorithm="pairwise", size=1024),
    )
    lines = openmpi_classic.FORMAT.text(Tuning("alltoall", "loggp", sizes), (5, 0)).splitlines()
    assert lines[5:10] == [
        "4 4 # ranks, sizes",
        "0 0 0 0 # Open MPI's own",
        "32 3 0 0 # modified_bruck",
        "4096 2 0 0 # pairwise",
        "4100 0 0 0 # Open MPI's own",
    ]


def test_open_mpis_json_names_only_what_leaves_the_default() -> None:
    sizes = (
        choice(4, None, algorithm="binomial", size=8),
        choice(4, None, algorithm="chain", size=1024),
    )
    content = json.loads(openmpi_json.FORMAT.text(Tuning("bcast", "loggp", sizes), (6, 0)))
    assert (content["rule_file_version"], content["module"]) == (3, "tuned")
    assert content["collectives"]["bcast"] == [
        {
            "comm_size_min": 4,
            "comm_size_max": 4,
            "comm_rank_distribution": "any",
            "rules": [
                {"msg_size_min": 8, "alg": "binomial", "msg_size_max": 1023},
                {"msg_size_min": 1024, "alg": "pipeline", "msg_size_max": 1024, "seg_size": 8192},
            ],
        }
    ]


OWN_TREE = {
    "collective=barrier": {
        "comm_type=intra": {
            "comm_hierarchy=parent": {"algorithm=MPIR_Barrier_intra_smp": {}},
            "comm_hierarchy=any": {"algorithm=MPIR_Barrier_intra_k_dissemination": {"k=2": {}}},
        },
        "comm_type=inter": {"algorithm=MPIR_Barrier_inter_bcast": {}},
    },
    "collective=allreduce": {"comm_type=intra": {"algorithm=own": {}}},
}


def test_mpichs_tree_keeps_its_own_branches_beside_the_radices() -> None:
    content = json.loads(mpich_json.text_from(OWN_TREE, barrier(1, 2, 3)))
    assert content["collective=allreduce"] == OWN_TREE["collective=allreduce"]
    branches = content["collective=barrier"]["comm_type=intra"]
    own = OWN_TREE["collective=barrier"]["comm_type=intra"]
    assert branches["comm_hierarchy=parent"] == own["comm_hierarchy=parent"]
    radix = "algorithm=MPIR_Barrier_intra_k_dissemination"
    assert list(branches["comm_hierarchy=any"].items()) == [
        ("comm_size<=2", own["comm_hierarchy=any"]),
        ("comm_size<=3", {radix: {"k=3": {}}}),
        ("comm_size<=4", {radix: {"k=4": {}}}),
        ("comm_size=any", own["comm_hierarchy=any"]),
    ]


def test_rabenseifners_allreduce_is_asked_for_where_mpich_can_do_it() -> None:
    tuning = Tuning("allreduce", "loggp", (choice(4, None, algorithm="rabenseifner"),))
    branch = json.loads(mpich_json.text_from(OWN_TREE, tuning))["collective=allreduce"]
    chosen = branch["comm_type=intra"]["comm_size<=4"]
    assert list(chosen) == ["is_op_built_in=no", "is_op_built_in=yes"]
    assert list(chosen["is_op_built_in=yes"]) == ["count<pow2", "count=any"]


def test_a_tree_never_fills_a_page_since_mpich_reads_on_to_a_zero_byte() -> None:
    tree = dict(OWN_TREE)
    short = len(mpich_json.text_from(tree, barrier(2)))
    tree["collective=" + "x" * (mmap.PAGESIZE - short % mmap.PAGESIZE - 20)] = {}
    lengths = set()
    for more in range(40):
        tree["collective=allreduce"] = {"comm_type=intra": {"algorithm=" + "o" * more: {}}}
        lengths.add(len(mpich_json.text_from(tree, barrier(2))) % mmap.PAGESIZE)
    assert 0 not in lengths and {1, mmap.PAGESIZE - 1} <= lengths


def test_one_radix_is_written_where_all_choices_agree() -> None:
    same, other = barrier(3, 3), barrier(2, 3)
    text = mpich_cvars.FORMAT.text(same, (4, 2))
    assert text.splitlines()[1:] == [
        "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=k_dissemination",
        "MPIR_CVAR_BARRIER_DISSEM_KVAL=4",
    ]
    assert ucc.FORMAT.text(same, (0, 0)).splitlines()[1:] == ["UCC_TL_UCP_BARRIER_KN_RADIX=4"]
    for one in (mpich_cvars.FORMAT, ucc.FORMAT):
        with pytest.raises(UsageError, match="one number of ranks"):
            one.text(other, (4, 2))


@pytest.mark.parametrize(
    ("target", "version", "out", "operation", "reason"),
    [
        ("openmpi", "4.0.7", "rules.conf", "barrier", "4.1 and later"),
        ("openmpi", "5.0", "rules.conf", "halo", "Open MPI's rules are written for"),
        ("mpich", "4.0", "barrier.env", "barrier", "a radix since 4.1"),
        ("mpich", "4.2", "bcast.env", "bcast", "name the file \\*.json"),
        ("mpich", "3.4", "tree.json", "barrier", "reads trees since 4.0"),
        ("mpich", "99.9", "tree.json", "barrier", "MPICH 99.9 is not here"),
        ("chiplog", None, "tuning.json", "bcast", "a barrier only"),
        ("ucc", None, "ucc.env", "bcast", "for barrier, allgather, alltoall"),
        ("intelmpi", None, "i.env", "alltoall", "not documented"),
        ("intelmpi", None, "i.env", "bcast", "--measure"),
        ("mvapich", None, "x", "barrier", "--for: 'mvapich' is unknown"),
        ("openmpi", "five", "x", "barrier", "--version: 'five'"),
    ],
)
def test_a_file_that_a_release_cant_take_is_refused_with_the_reason(
    target: str, version: str | None, out: str, operation: str, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason) as refused:
        chosen, release = WRITERS.load(target).format_for(Path(out), version, None)
        chosen.offered(operation, release)
    assert refused.value.exit_code == 2


def test_classic_rules_are_refused_for_open_mpi_6() -> None:
    with pytest.raises(UsageError, match="shifts them by one entry"):
        openmpi_classic.FORMAT.text(barrier(1), (6, 0))
    assert WRITERS.load("openmpi").format_for(Path("x"), "6.0", None)[0] is openmpi_json.FORMAT


def test_since_5_0_han_hands_over_to_tuned_where_there_is_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "rules.conf"
    sizes = [choice(16, None, algorithm="binomial", size=size) for size in (1, 64)]
    more = [choice(16, None, algorithm="binomial", size=65, verdict="default")]
    tuning = Tuning("bcast", "loggp", (*sizes, *more))
    files = openmpi_classic.FORMAT.files(tuning, (5, 0))
    (rules, _), (han, text) = files.texts(path).items()
    assert (rules, han) == (path, tmp_path / "rules.conf.han")
    assert text == (
        "1 # collectives\n"
        "bcast 1 # level\n"
        "global_communicator 3 # numbers of ranks\n"
        "1 1 # ranks, sizes\n0 han\n"
        "16 2 # ranks, sizes\n0 tuned\n65 han\n"
        "17 1 # ranks, sizes\n0 han\n"
    )
    assert files.settings(path) == {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
        "OMPI_MCA_coll_han_use_dynamic_file_rules": "1",
        "OMPI_MCA_coll_han_dynamic_rules_filename": str(han),
    }


@pytest.mark.parametrize(
    ("version", "operation", "count"),
    [
        ((4, 1), "bcast", 0),
        ((5, 0), "bcast", 1),
        ((5, 0), "alltoall", 0),
        ((5, 0), "reduce_scatter", 0),
        ((6, 0), "alltoall", 1),
    ],
)
def test_han_has_no_part_in_some_operations(
    version: tuple[int, int], operation: str, count: int
) -> None:
    tuning = Tuning(operation, "loggp", (choice(4, None),))
    assert len(openmpi_han.companions(tuning, version)) == count
    assert "OMPI_MCA_coll_han_priority" not in openmpi_classic.FORMAT.settings(Path("x"), version)


def test_a_file_without_its_companion_is_proved_with_han_out_of_the_way() -> None:
    assert "OMPI_MCA_coll_han_priority" not in settings_alone(Path("x"), (4, 1))
    assert settings_alone(Path("x"), (5, 0))["OMPI_MCA_coll_han_priority"] == "0"


def test_a_model_writes_no_rule_beyond_twice_the_ranks_that_it_was_measured_over() -> None:
    tuning = replace(barrier(3, 3, 3, 3, 3, 3), measured_ranks=2)  # of 2 to 7 ranks
    kept = without_far_choices(tuning)
    assert [entry.is_changed for entry in kept.choices] == [True, True, True, False, False, False]
    assert {entry.verdict for entry in kept.choices[3:]} == {"unclear"}
    assert kept.too_far == 3
    unknown = replace(tuning, measured_ranks=None)
    assert without_far_choices(unknown) == unknown


@pytest.mark.parametrize(("extrapolate", "far"), [(False, True), (True, False)])
def test_rules_that_extrapolate_are_written_if_the_user_says_so(
    tmp_path: Path, extrapolate: bool, far: bool
) -> None:
    model = tmp_path / "model.json"
    write_model(model, [replace(loggp(), ranks=4)])
    written = tune(
        *(model, "bcast", "4:64", "openmpi", tmp_path / "rules.conf"),
        version="4.1.4",
        extrapolate=extrapolate,
    )
    assert (written.tuning.too_far > 0) == far
    assert any(entry.ranks == 64 and entry.is_changed for entry in written.tuning.choices) != far
    assert any(entry.ranks == 8 and entry.is_changed for entry in written.tuning.choices)

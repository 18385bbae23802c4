"""What lint finds in tuning files without a run, each planted mistake with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.cli.tune_lint import MOST_WRONG
from chiplog.errors import UsageError
from chiplog.tune.formats.openmpi_rules import OPERATIONS
from chiplog.tune.lint.classic_lint import lint_classic
from chiplog.tune.lint.han_lint import lint_han, looks_like_han
from chiplog.tune.lint.json_lines import parse_json
from chiplog.tune.lint.lint_file import lint
from chiplog.tune.lint.mpich_lint import read_tree
from chiplog.tune.lint.mpich_release import MpichRelease
from chiplog.tune.lint.openmpi_json_lint import lint_openmpi_json
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import FileIgnored, Rule
from chiplog.tune.lint.settings_lint import MpiSetting, looks_like_settings, read_settings
from chiplog.tune.lint.size_notes import size_notes
from chiplog.tune.mpich_tree import Carried, words_of
from chiplog.tune.version import Version

ALGORITHMS = {
    "allreduce": {0: "ignore", 1: "linear", 2: "nonoverlapping", 3: "recursive_doubling"},
    "barrier": {0: "ignore", 4: "bruck", 5: "two_proc"},
    "bcast": {0: "ignore", 1: "linear", 6: "binomial"},
}


def openmpi(version: Version = (4, 1, 4), *, is_here: bool = True) -> OpenMpiRelease:
    release = OpenMpiRelease(version, None)
    release.__dict__["algorithms"] = ALGORITHMS if is_here else None
    return release


def classic(text: str, version: Version = (4, 1, 4), *, is_here: bool = True) -> list[Rule]:
    rules, places = lint_classic(text, openmpi(version, is_here=is_here))
    return sorted([*rules, *(one.rule for one in places)], key=lambda one: one.line)


def wrong(rules: list[Rule]) -> list[tuple[int, str]]:
    return [(one.line, one.reason or "") for one in rules if one.is_wrong]


def only_wrong(rules: list[Rule]) -> tuple[int, str]:
    (found,) = wrong(rules)
    return found


GOOD = """\
2 # operations
2 # allreduce
2 # numbers of ranks
0 1
0 0 0 0
8 2
0 3 0 0
4096 2 0 0
6 # barrier
1
0 1
0 4 0 0
"""


def test_good_classic_rules_are_legal_and_wait_for_a_run() -> None:
    rules, places = lint_classic(GOOD, openmpi())
    assert rules == []
    assert [(one.rule.line, one.ranks, one.sizes) for one in places] == [
        (5, (2, 7), (0, None)),
        (7, (8, None), (0, 4095)),
        (8, (8, None), (4096, None)),
        (12, (2, None), (0, 0)),
    ]
    assert all(one.rule.legal is True and one.rule.taken is None for one in places)
    assert [GOOD[slice(*one.span)] for one in places] == ["0", "3", "2", "4"]


def test_an_algorithm_of_another_release_is_illegal() -> None:
    line, reason = only_wrong(classic(GOOD.replace("0 3 0 0", "0 9 0 0")))
    assert line == 7 and "has no algorithm 9 of allreduce: it has 0 to 3" in reason


def test_a_communicator_size_that_an_earlier_one_hides_is_not_taken() -> None:
    """Out of order, the reader stops at the first larger one, and takes the last one that it saw."""
    found = wrong(classic("1\n2\n3\n0 1\n0 1 0 0\n64 1\n0 2 0 0\n8 1\n0 3 0 0\n"))
    assert [line for line, _ in found] == [7, 9]
    assert "64 ranks does not get here: the entry of line 8" in found[0][1]
    assert "8 ranks does not get here: the entry of line 4" in found[1][1]
    assert "this entry holds for 64 and more ranks" in found[1][1]
    (first, *_) = wrong(classic("1\n2\n2\n8 1\n0 1 0 0\n8 1\n0 2 0 0\n"))
    assert first[0] == 5 and "the entry of line 6 is taken" in first[1]


def test_the_first_entry_of_5_holds_below_its_ranks_and_6_shifts_all() -> None:
    text = "1\n2\n2\n8 1\n0 1 0 0\n64 1\n0 2 0 0\n"
    _, places = lint_classic(text, openmpi((5, 0, 11)))
    assert [one.ranks for one in places] == [(2, 63), (64, None)]
    ((line, reason),) = wrong(classic(text, (6, 0)))
    assert line == 5 and "8 ranks does not get here: the entry of line 6" in reason
    assert "holds for 2 to 7 ranks" in reason


def test_a_message_size_that_never_matches_is_not_taken() -> None:
    found = wrong(classic("1\n2\n1\n0 3\n0 1 0 0\n4096 2 0 0\n64 3 0 0\n"))
    assert [line for line, _ in found] == [6, 7]
    assert "4096 bytes do not get here: line 7 is taken" in found[0][1]
    assert "64 bytes do not get here: line 5 is taken, and this rule holds for 4096" in found[1][1]
    line, reason = only_wrong(classic("1\n6\n1\n0 2\n0 4 0 0\n64 4 0 0\n"))
    assert line == 6 and "looks barrier up at 0 bytes" in reason


def test_a_wrong_operation_ends_the_file() -> None:
    found = wrong(classic("2\n2\n1\n0 1\n0 1 0 0\n99\n1\n0 1\n0 1 0 0\n"))
    assert [line for line, _ in found] == [5, 6]
    assert "ignores the whole file for line 6" in found[0][1]
    assert "the operation's number is '99'; it must be 0 to 21" in found[1][1]


def test_an_operation_without_tuned_algorithms_is_never_looked_up() -> None:
    line, reason = only_wrong(classic("1\n10\n1\n0 1\n0 1 0 0\n"))
    assert line == 5 and "has no gatherv" in reason


def test_an_operation_that_stands_there_twice_is_replaced() -> None:
    rule = "2\n1\n0 1\n0 1 0 0\n"
    line, reason = only_wrong(classic("2\n" + rule + rule))
    assert line == 5 and "line 6 begins allreduce anew" in reason


def test_two_ranks_algorithms_hold_for_2_ranks_only() -> None:
    line, reason = only_wrong(classic("1\n6\n1\n0 1\n0 5 0 0\n"))
    assert line == 5 and "fails on other than 2 ranks; this entry holds for 2 and more" in reason
    assert wrong(classic("1\n6\n2\n2 1\n0 5 0 0\n3 1\n0 0 0 0\n")) == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "truncated"),
        ("1\n2\n1\n0 2\n0 1 0 0\n4096 2\n", 4, "truncated"),
        ("1\n2\n1000000000\n0 1\n", 3, "truncated"),
        ("1000000000\n", 1, "must be 0 to 22"),
        ("-1\n", 1, "'-1'"),
        ("1\n2\n1\n0 1\n8 1 0 0\n", 5, "first message size of a communicator size must be 0, not 8"),
        ("1\n2\n1\n0 1\n0 99999999999999999999 0 0\n", 5, "must be 0 to 2147483647"),
        ("1\n2\n1\n0 1\n0 -3 0 0\n", 5, "'-3'"),
        ("9" * 100_000, 1, "number of operations"),
    ],
)  # fmt: skip
def test_hostile_classic_rules_are_ignored_as_a_whole(text: str, line: int, words: str) -> None:
    found = [one for one in wrong(classic(text)) if words in one[1]]
    assert [one[0] for one in found] == [line]


def test_what_is_no_number_is_skipped_by_open_mpi_and_told() -> None:
    found = wrong(classic("1\n2\n1\n0 1 @intra_node\n0 1 0 0\nmore 17\n"))
    assert [line for line, _ in found] == [4, 6, 6]
    assert "it is no number" in found[0][1] and "it is not read" in found[2][1]


def test_a_leading_zero_is_octal() -> None:
    (line, reason), *_ = wrong(classic("1\n2\n2\n0 1\n0 1 0 0\n010 1\n0 1 0 0\n"))
    assert line == 6 and "read as octal, 8" in reason


def test_the_header_is_known_to_late_releases_only() -> None:
    text = "rule-file-version-2\n" + GOOD.replace("0 3 0 0", "0 3 0 0 17")
    assert wrong(classic(text, (5, 0, 7))) == wrong(classic(text, (4, 1, 8))) == []
    assert any("'-2'" in reason for _, reason in wrong(classic(text, (4, 1, 4))))


RULES = {
    "rule_file_version": 3,
    "module": "tuned",
    "collectives": {
        "allreduce": [
            {
                "comm_size_min": 2,
                "comm_size_max": 64,
                "rules": [{"msg_size_max": 1023, "alg": "recursive_doubling"}, {"alg": 2}],
            }
        ]
    },
}


def changed(**entry: object) -> str:
    rules = json.loads(json.dumps(RULES))
    rules["collectives"]["allreduce"][0].update(entry)
    return json.dumps(rules, indent=1)


def test_good_json_rules_are_legal() -> None:
    assert wrong(lint_openmpi_json(changed(), openmpi((6, 0)))) == []


def test_json_rules_are_for_6_and_later() -> None:
    line, reason = only_wrong(lint_openmpi_json(changed(), openmpi((5, 0, 11))))
    assert line == 1 and "reads no JSON" in reason


def test_mistakes_in_json_rules_are_told_with_their_lines() -> None:
    first = {"rules": [{"alg": "ring"}, {"msg_size_min": 9, "msg_size_max": 5, "alg": 3}]}
    found = wrong(
        lint_openmpi_json(
            changed(**first, comm_rank_distribution="socket", colour=1), openmpi((6, 0))
        )
    )
    reasons = " | ".join(reason for _, reason in found)
    for words in ("no algorithm 'ring'", "range 9 to 5 is empty", "knows any,", "unknown key"):
        assert words in reasons
    hidden = changed(rules=[{"alg": 1}, {"msg_size_min": 8, "alg": 2}])
    assert "takes all these bytes" in only_wrong(lint_openmpi_json(hidden, openmpi((6, 0))))[1]


def test_an_unknown_operation_in_json_rules_ends_the_file() -> None:
    text = json.dumps({"collectives": {"allredce": []}}, indent=1)
    line, reason = only_wrong(lint_openmpi_json(text, openmpi((6, 0))))
    assert line == 3 and "unknown operation 'allredce'" in reason


def test_algorithms_of_a_release_that_is_not_here_are_not_guessed() -> None:
    rules = lint_openmpi_json(changed(), openmpi((6, 0), is_here=False))
    assert [one.legal for one in rules] == [None, None]
    assert all("is not here to ask" in (one.reason or "") for one in rules)


BRUCKS = {"algorithm=MPIR_Alltoall_intra_brucks": {}}
REPLACE = {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}}
BARRIER = {"algorithm=MPIR_Barrier_intra_dissemination": {}}
OWN = {
    "collective=alltoall": {
        "comm_type=intra": {"is_sendbuf_inplace=yes": REPLACE, "is_sendbuf_inplace=no": BRUCKS}
    },
    "collective=barrier": {"comm_type=intra": BARRIER},
}
GAMMA = "composition=MPIDI_Allreduce_intra_composition_gamma"
ALPHA = "composition=MPIDI_Allreduce_intra_composition_alpha"
DEVICE = {
    "collective=allreduce": {"comm_size=node_comm_size": {GAMMA: {}}, "comm_size=any": {ALPHA: {}}}
}
WORDS = frozenset(
    (
        *("comm_size<", "comm_size<=", "comm_size=pow2", "comm_size=any", "comm_type=intra"),
        *("comm_size=node_comm_size", "avg_msg_size<", "avg_msg_size<=", "avg_msg_size=any"),
        *("comm_avg_ppn<=",),
        *("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no", "comm_hierarchy=parent", "k="),
        *("comm_hierarchy=any", "algorithm=MPIR_Bcast_intra_binomial"),
    )
)


def mpich(version: Version = (4, 0, 2)) -> MpichRelease:
    release = MpichRelease(version, None)
    release.__dict__["_carried"] = Carried(WORDS, (OWN, DEVICE))
    return release


def tree(**branches: object) -> str:
    named = {f"collective={name}": below for name, below in branches.items()}
    return json.dumps({**OWN, **named}, indent=1)


def in_tree(text: str) -> list[Rule]:
    _, rules, leaves, _ = read_tree(text, mpich())
    return [*rules, *(leaf.rule for leaf in leaves)]


def test_the_own_tree_of_a_release_is_legal() -> None:
    assert wrong(in_tree(tree())) == []
    assert wrong(in_tree(json.dumps(DEVICE))) == []


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        ({"comm_type=intra": BRUCKS}, "not in place; here calls of the other kind"),
        ({"is_sendbuf_inplace=yes": BRUCKS, "is_sendbuf_inplace=no": BRUCKS}, "not in place"),
        ({"comm_type=intra": REPLACE}, "only in place"),
        ({"comm_colour=blue": BRUCKS}, "unknown key"),
        ({"comm_size<8": BRUCKS}, "'comm_size=any' takes the rest"),
        ({"comm_avg_ppn<=8": BRUCKS}, "knows no 'comm_avg_ppn=any': leave this test out"),
        ({"comm_size<99999999999": BRUCKS, "comm_size=any": BRUCKS}, "unknown key"),
        ({"comm_size<-1": BRUCKS, "comm_size=any": BRUCKS}, "unknown key"),
        ({"comm_size=any": BRUCKS, "comm_size<4": BRUCKS}, "must be the last"),
        ({"algorithm=MPIR_Alltoall_intra_of_tomorrow": {}}, "has no MPIR_Alltoall_intra_of_tom"),
        (BARRIER, "is an algorithm of barrier, not of alltoall"),
        ({}, "nothing stands below it"),
        ({"comm_type=intra": 3}, "its value is no object"),
    ],
)
def test_mistakes_in_a_tree_are_told(branch: dict[str, object], words: str) -> None:
    found = wrong(in_tree(tree(alltoall=branch)))
    assert any(words in reason for _, reason in found), found


@pytest.mark.parametrize(
    ("library", "known"),
    [
        (b"comm_size=any\0comm_size<=\0avg_msg_size=any\0comm_avg_ppn<=\0", False),
        (b"any\0=any\0comm_size<=\0comm_avg_ppn<=\0", True),
    ],
)
def test_a_rest_of_processes_a_node_is_for_releases_that_take_any_such_key(
    library: bytes, known: bool
) -> None:
    """MPICH 4.0 compares with each key that it knows, later ones with the end of all of them."""
    release = mpich()
    release.__dict__["_carried"] = Carried(frozenset(words_of(library)), (OWN,))
    assert release.knows_test("comm_avg_ppn<=4") and release.knows_test("comm_size=any")
    assert release.knows_test("comm_avg_ppn=any") is known


def test_a_question_that_an_operation_has_no_answer_to_is_illegal() -> None:
    """MPICH asks alltoalls only whether they are in place, and aborts for others."""
    below = {"is_sendbuf_inplace=yes": BARRIER, "is_sendbuf_inplace=no": BARRIER}
    found = wrong(in_tree(tree(barrier=below)))
    assert len(found) == 2 and all("can't ask this of barrier" in reason for _, reason in found)


def test_a_leaf_that_an_earlier_test_hides_is_not_taken() -> None:
    leaf = {"algorithm=MPIR_Barrier_intra_dissemination": {}}
    branch = {"comm_size<=8": leaf, "comm_size<4": leaf, "comm_size=any": leaf}
    found = in_tree(json.dumps({**OWN, "collective=barrier": branch}, indent=1))
    line, reason = only_wrong(found)
    assert "no call gets here" in reason and line == 17


def test_below_a_test_of_the_message_comm_size_less_takes_the_number_itself() -> None:
    leaf = {"algorithm=MPIR_Bcast_intra_binomial": {}}
    sizes = {"comm_size<8": leaf, "comm_size<=8": leaf, "comm_size=any": leaf}
    first = in_tree(tree(bcast=sizes))
    below = in_tree(tree(bcast={"avg_msg_size<9": sizes, "avg_msg_size=any": leaf}))
    assert wrong(first) == []
    assert "has taken all of these" in only_wrong(below)[1]


def test_an_algorithm_of_one_node_needs_its_test() -> None:
    branch = {"comm_size<=8": {GAMMA: {}}, "comm_size=any": {ALPHA: {}}}
    (_, reason) = only_wrong(in_tree(json.dumps({"collective=allreduce": branch})))
    assert "for communicators on one node" in reason


def test_a_partial_tree_and_an_unknown_operation_are_told() -> None:
    (_, reason) = only_wrong(
        in_tree(json.dumps({"collective=barrier": {"comm_type=intra": BARRIER}}))
    )
    assert "no branch for alltoall" in reason
    found = wrong(in_tree(tree(allredce={"comm_type=intra": BARRIER})))
    assert any("knows no such operation" in reason for _, reason in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"collective=barrier": {', "truncated"),
        ('{"a": ' * 100_000, "nested deeper than 32"),
        ("[" * 100_000, "nested deeper than 32"),
        ('{"a" 1}', "no colon"),
        ("{'a': {}}", "it is no JSON"),
        ('{"a": {}} x', "it is no JSON"),
        ('{"a', "has no end"),
    ],
)
def test_a_hostile_tree_ends_in_a_sentence(text: str, words: str) -> None:
    assert words in only_wrong(in_tree(text))[1]


def test_json_keeps_lines_order_and_repeated_keys() -> None:
    root = parse_json('{"a": 1,\n "b": [2,\n {}],\n "a": null}')
    assert [(one.key, one.line) for one in root.members] == [("a", 1), ("b", 2), ("a", 4)]
    assert [one.value.line for one in root.members[1].value.members] == [2, 3]
    with pytest.raises(FileIgnored):
        parse_json('{"a": [}')


def test_settings_are_name_and_value() -> None:
    settings, bad = read_settings("# c\n\n A_B = x y \nnothing\nC=\n")
    assert [(one.line, one.name, one.value) for one in settings] == [
        (3, "A_B", "x y"),
        (5, "C", ""),
    ]
    assert [one.line for one in bad] == [4]
    assert looks_like_settings("# c\nA=1") and not looks_like_settings("2 # 3=4\nA=1")


EXPORTING = """\
#!/bin/bash
module load openmpi
\texport OMPI_MCA_coll_tuned_bcast_algorithm=6; export OMPI_MCA_btl='tcp,self'  # two
if [ -n "$HOST" ]; then export OMPI_MCA_pml="ob1"; fi
declare -x OMPI_MCA_coll_han_priority=0
export PATH=$PATH:/opt/bin UCX_TLS=tcp
echo "; export OMPI_MCA_echoed=1"
OMPI_MCA_coll=self,tuned
"""


def test_a_script_has_the_settings_of_the_mpi_wherever_they_are_exported() -> None:
    assert looks_like_settings(EXPORTING)
    settings, others = read_settings(EXPORTING, ("OMPI_",))
    assert [(one.line, one.name.removeprefix("OMPI_MCA_"), one.value) for one in settings] == [
        (3, "coll_tuned_bcast_algorithm", "6"),
        (3, "btl", "tcp,self"),
        (4, "pml", "ob1"),
        (5, "coll_han_priority", "0"),
        (8, "coll", "self,tuned"),
    ]
    assert others == []


def test_a_setting_whose_file_is_not_there_is_not_taken(tmp_path: Path) -> None:
    there, elsewhere = tmp_path / "rules.conf", tmp_path / "none.conf"
    there.write_text("")
    assert MpiSetting(1, "A", str(there)).without_file("ignored") is None
    rule = MpiSetting(1, "A", str(elsewhere)).without_file("ignored")
    assert rule is not None and rule.is_wrong and str(rule.reason).endswith("': ignored")


BLOCKS = ("allgather", "alltoall", "gather", "reduce_scatter", "reduce_scatter_block", "scatter")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_sizes_that_count_the_blocks_of_all_ranks_are_noted(operation: str) -> None:
    number = OPERATIONS.index(operation)
    rules = classic(f"1\n{number}\n2\n2 1\n0 0 0 0\n16 2\n0 0 0 0\n8192 0 0 0\n", is_here=False)
    notes = size_notes(rules)
    if operation in BLOCKS:
        assert [(note.line, note.text) for note in notes] == [
            (
                8,
                f"{operation}: sizes count the blocks of all ranks together: 8192 B is 512 B a rank where there are 16",
            )
        ]
    elif operation in ("scan", "exscan"):
        assert [note.line for note in notes] == [8] and "one element" in notes[0].text
    else:
        assert notes == []


@pytest.mark.parametrize("operation", ["scatter", "alltoall"])
def test_a_size_below_a_byte_of_each_rank_is_never_taken(operation: str) -> None:
    number = OPERATIONS.index(operation)
    first = f"1\n{number}\n1\n64 2\n0 0 0 0\n8 0 0 0\n"  # the first entry is also for 2 ranks
    assert wrong(classic(first, is_here=False)) == []
    entries = f"1\n{number}\n2\n2 1\n0 0 0 0\n64 3\n0 0 0 0\n8 0 0 0\n64 0 0 0\n"
    (line, reason) = only_wrong(classic(entries, is_here=False))
    assert line == 8 and f"no {operation} has 8 to 63 B here" in reason
    assert "64 B or more of 64 ranks" in reason
    assert wrong(classic(entries.replace(f"1\n{number}\n", "1\n7\n", 1), is_here=False)) == []


def test_json_rules_have_the_same_notes_and_the_same_sizes_that_are_never_taken() -> None:
    rule = {"msg_size_min": 8, "msg_size_max": 31, "alg": 1}
    entry = {"comm_size_min": 64, "comm_size_max": 128, "rules": [rule]}
    text = json.dumps(
        {"rule_file_version": 3, "module": "tuned", "collectives": {"scatter": [entry]}}
    )
    rules = lint_openmpi_json(text, openmpi((6, 0), is_here=False))
    assert "no scatter has 8 to 31 B here" in only_wrong(rules)[1]
    (note,) = size_notes(rules)
    assert "8 B is 0.125 B a rank where there are 64" in note.text


def test_a_shell_script_exports_settings_beside_commands() -> None:
    script = """\
#!/bin/sh
export OMPI_MCA_coll_tuned_use_dynamic_rules=1  # on
cd /scratch
export FIRST="3" SECOND='a b'
mpirun -n 4 ./program
"""
    assert looks_like_settings(script)
    settings, others = read_settings(script)
    assert [(one.line, one.name, one.value) for one in settings] == [
        (2, "OMPI_MCA_coll_tuned_use_dynamic_rules", "1"),
        (4, "FIRST", "3"),
        (4, "SECOND", "a b"),
    ]
    assert others == []


@pytest.mark.parametrize(("announced", "said"), [(3, "3 message sizes"), (1, "1 message size")])
def test_a_wrong_count_is_told_before_what_follows_from_it(announced: int, said: str) -> None:
    text = f"1\n2\n2\n4\n{announced}\n0 1 0 0\n1024 3 0 0\n8\n2\n0 1 0 0\n2048 3 0 0\n"
    first = next(rule for rule in classic(text) if rule.is_wrong)
    assert (first.line, first.text) == (5, f"{said} announced here")
    assert "2 follow: all that comes after is read wrongly" in str(first.reason)


TWO_OF_EACH = """\
{} # operations
2 # allreduce
{} # numbers of ranks
0 {} # sizes
0 3 0 0
1024 2 0 0
8 2
0 3 0 0
4096 2 0 0
7 # bcast
1
0 {}
0 6 0 0
2048 1 0 0
"""


@pytest.mark.parametrize(
    ("counts", "line", "text", "reason"),
    [
        ((3, 2, 2, 2), 1, "3 operations", "2 follow: Open MPI ignores the whole file"),
        ((1, 2, 2, 2), 1, "1 operation", "2 follow: the rest is not read"),
        ((2, 3, 2, 2), 3, "3 numbers of ranks", "2 follow: "),
        ((2, 1, 2, 2), 3, "1 number of ranks", "2 follow: "),
        ((2, 2, 3, 2), 4, "3 message sizes", "2 follow: Open MPI ignores the whole file"),
        ((2, 2, 1, 2), 4, "1 message size", "2 follow: Open MPI ignores the whole file"),
        ((2, 2, 2, 3), 12, "3 message sizes", "2 follow: Open MPI ignores the whole file"),
        ((2, 2, 2, 1), 12, "1 message size", "2 follow: the rest is not read"),
    ],
)
@pytest.mark.parametrize("split", [False, True])
def test_each_kind_of_wrong_count_is_told_by_its_line_alone(
    counts: tuple[int, ...], line: int, text: str, reason: str, split: bool
) -> None:
    """Also where ranks and sizes stand on lines of their own; what is read at wrong places is not judged."""
    written = TWO_OF_EACH.format(*counts)
    if split:
        written = re.sub(r"^(\d+) (\d+)( #.*)?$", r"\1 \2", written, flags=re.MULTILINE)
    found = [rule for rule in classic(written) if rule.is_wrong and rule.text != "the file"]
    causes = [rule for rule in found if rule.text.endswith(" announced here")]
    assert [(one.line, one.text) for one in causes] == [(line, f"{text} announced here")]
    assert str(causes[0].reason).startswith(reason)
    assert all(one.line < line for one in found if one not in causes)
    assert wrong(classic(TWO_OF_EACH.format(2, 2, 2, 2))) == []


def test_an_entry_without_sizes_is_no_wrong_count() -> None:
    assert wrong(classic("1\n2\n2\n0 0\n8 1\n0 3 0 0\n")) == []


def test_a_file_on_one_line_and_one_with_comments_have_right_counts() -> None:
    lines = "1 # operation\n2\n2 # ranks\n4 2 # sizes\n0 1 0 0 # a\n\n1024 3 0 0\n8\n1\n0 1 0 0\n"
    assert wrong(classic(lines)) == []
    assert wrong(classic("1 2 2 4 2 0 1 0 0 1024 3 0 0 8 1 0 1 0 0")) == []


def test_binary_and_missing_files_and_unknown_programs(tmp_path: Path) -> None:
    binary = tmp_path / "rules.conf"
    binary.write_bytes(b"1\0\xff\xfe")
    (one,) = lint(binary, "openmpi", version="99.1").wrong
    assert "binary" in (one.reason or "")
    with pytest.raises(UsageError, match="can't be opened"):
        lint(tmp_path / "missing", "openmpi")
    with pytest.raises(UsageError, match="openmpi, mpich, ucc"):
        lint(binary, "smpi")


def test_of_many_wrong_rules_the_first_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.conf"
    backwards = "".join(f"{8 * n} 1 0 0\n" for n in range(100, 0, -1))
    rules.write_text(f"1\n7\n1\n0 101\n0 1 0 0\n{backwards}")
    command = ["tune", "lint", str(rules), "--for", "openmpi", "--version", "99.1"]
    assert main(command) == 3
    shown = capsys.readouterr().out
    assert shown.count(": algorithm 1:") == MOST_WRONG
    assert f"\n{100 - MOST_WRONG} more wrong rules: --details\n" in shown
    assert main([*command, "--details"]) == 3
    assert capsys.readouterr().out.count(": algorithm 1:") == 101


HAN = """\
2 # operations
bcast 1 # level
global_communicator 2
1 1 # ranks, sizes
0 han
16 3
0 han @simple # of its own
4096 tuned
65536 adapt [ 1024 2048 ]
barrier 2
0 1
1 1
0 basic
2 1 1 1 0 han
"""


def han(
    text: str, version: Version = (5, 0, 11), components: str = "han tuned basic"
) -> list[Rule]:
    release = openmpi(version)
    release.__dict__["components"] = frozenset(components.split()) | {"adapt"}
    return sorted(lint_han(text, release), key=lambda one: one.line)


def test_rules_of_han_are_read_with_their_names_and_numbers() -> None:
    rules = han(HAN)
    assert wrong(rules) == []
    assert [(one.line, one.text) for one in rules] == [
        (5, "bcast, 1 ranks, 0 B: han"),
        (7, "bcast, 16 ranks, 0 B: han @simple"),
        (8, "bcast, 16 ranks, 4096 B: tuned"),
        (9, "bcast, 16 ranks, 65536 B: adapt"),
        (13, "barrier, 1 ranks, 0 B: basic"),
        (14, "barrier, 1 ranks, 0 B: han"),
    ]
    assert all(one.is_unproved and "several hosts" in (one.reason or "") for one in rules)
    assert looks_like_han(HAN) and not looks_like_han(GOOD)


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("bcast 1", "broadcast 1", 2, "the operation is 'broadcast'"),
        ("bcast 1", "alltoall 1", 5, "does no alltoall"),
        ("global_communicator", "global", 3, "known are intra_node, inter_node, global_comm"),
        ("1 1 # ranks", "2 1 # ranks", 4, "the first number of ranks is '2'; it must be 1"),
        ("16 3", "01 3", 6, "the number of ranks is '01'"),
        ("16 3", "1 3", 5, "a later entry holds for 1 ranks"),
        ("4096 tuned", "4096 tunde", 8, "the component is 'tunde'; known are self, basic"),
        ("4096 tuned", "4096 sm", 8, "has no component sm of coll here"),
        ("4096 tuned", "70000 tuned", 8, "a later entry holds for 70000 bytes"),
        ("0 han @", "2 han @", 7, "the first size is '2'; it must be 0 or 1"),
        ("2 1 1 1 0 han", "1 1 1 1 0 han", 14, "han can't be its own part: at inter_node"),
        ("2 1 1 1 0 han", "2 1 1 1 0 han\n7", 15, "it is not read"),
        ("2 1 1 1 0 han", "2 1 1 9 0 han", 14, "is 9, and 2 words follow"),
        ("[ 1024 2048 ]", "[ 1024 2048", 14, "the end of segment lengths, ] is due"),
        ("barrier 2", "bcast 2", 8, "line 14 begins bcast anew"),
    ],
)
def test_a_planted_mistake_in_rules_of_han_is_found(
    before: str, after: str, line: int, reason: str
) -> None:
    assert before in HAN
    text = HAN.replace(before, after, 1).replace("bcast 2\n0 1", "bcast 2\nglobal_communicator 1")
    found = dict(wrong(han(text)))
    assert line in found and reason in found[line], found


def test_a_cut_file_of_han_is_one_that_open_mpi_ignores() -> None:
    for end in range(len("2 # operations\nbcast 1 # level\nglob"), len(HAN) - 1, 3):
        rules = han(HAN[:end])
        if not HAN[:end].rstrip().endswith("han"):
            assert any(one.is_wrong for one in rules), HAN[:end]


def test_rules_of_han_before_5_0_are_not_judged() -> None:
    (rule,) = han(HAN, (4, 1, 4))
    assert rule.is_unproved and "5.0 and later" in (rule.reason or "")

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import processes_named
from simulated_race import SimulatedLauncher, Truth, candidates

from chiplog.cli.measured_table import wanted_budget
from chiplog.dataset.lines import Where, decode_line, encode_line
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.tune.choice import Native
from chiplog.tune.formats import mpich_json, openmpi_classic, openmpi_han, openmpi_json
from chiplog.tune.measured import mpich, openmpi
from chiplog.tune.measured.candidate import DEFAULT, Candidate
from chiplog.tune.measured.cells import NEAR, CellState, Run, held_out_sizes
from chiplog.tune.measured.choices import SizeVerdict, tuning_of, verdicts, without_lone_sizes
from chiplog.tune.measured.launch import Cell, Effort, RaceEntry, trial_seconds
from chiplog.tune.measured.mpi_launcher import arguments_of, read_result, run_watched
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import Raced, RaceOptions
from chiplog.tune.measured.raw_file import About, SamplesFile, read_samples
from chiplog.tune.measured.statistics import LOOKS, CandidateRatio, ratio_over_launches
from chiplog.tune.measured.summary import (
    measured_to_json,
    seconds_of_everything,
    summarise,
)
from chiplog.tune.measured.tuning import Asked, choose_again, measure
from chiplog.tune.version import Version

SIZES = (1, 64, 4096, 65536)
QUIET = {"launch_sigma": 0.01, "noise_sigma": 0.01, "outlier_share": 0.0}


def truth(name: str, size: int) -> float:
    """a1 is twice as fast as the default from 4 KiB on, a2 four times as slow; the others are as fast."""
    if name == "a1" and size >= 4096:
        return 0.5e-4
    return 4e-4 if name == "a2" else 1e-4


def race(launcher: SimulatedLauncher, count: int = 4, **options: Any) -> Race:
    options = {"sizes": SIZES, "budget_seconds": 1e9, **options}
    asked = RaceOptions("bcast", (8,), **options)
    return Race(launcher, candidates(count), asked, clock=lambda: 0.0)


def changed(raced: Raced) -> dict[int, str]:
    return {
        one.cell.message_bytes: one.candidate.name
        for one in verdicts(raced)
        if one.is_changed and one.candidate and not one.is_held_out
    }


def test_the_faster_candidate_is_chosen_where_it_is_faster_and_nowhere_else() -> None:
    found = changed(race(SimulatedLauncher(truth, 1, **QUIET)).run())
    assert {4096: "a1", 65536: "a1"}.items() <= found.items()
    assert not {1, 64} & set(found)


def test_what_is_faster_only_from_a_common_start_is_not_chosen() -> None:
    """Programs call an operation as they leave another one, too."""
    raced = race(SimulatedLauncher(truth, 1, after_barriers={"a1": 2.4}, **QUIET)).run()
    assert changed(raced) == {}


def test_the_gain_is_that_of_the_way_to_begin_in_which_it_is_less() -> None:
    raced = race(SimulatedLauncher(truth, 1, after_barriers={"a1": 1.5}, **QUIET)).run()
    ratios = [one.ratio.value for one in verdicts(raced) if one.is_changed and one.ratio]
    assert len(ratios) >= 2
    assert ratios == pytest.approx([0.75] * len(ratios), rel=0.03)


def test_a_size_in_between_is_added_where_the_winner_changes() -> None:
    raced = race(SimulatedLauncher(truth, 1, **QUIET)).run()
    assert {512, 1024, 2048} & {cell.message_bytes for cell in raced.cells}


def test_confirmation_measures_sizes_that_no_launch_before_had() -> None:
    launcher = SimulatedLauncher(truth, 1, **QUIET)
    raced = race(launcher).run()
    held_out = {point.cell for point in raced.confirmed if point.is_held_out}
    assert held_out
    assert not held_out & set(raced.cells)


def test_a_slow_candidate_has_one_trial_only() -> None:
    launcher = SimulatedLauncher(truth, 1, **QUIET)
    race(launcher).run()
    names = [one.name for entry in launcher.log[1] for one in entry.candidates]
    assert "a2" not in names


def test_the_first_launch_has_a_near_size_for_each_and_what_is_decided_is_not_screened_again() -> (
    None
):
    def clear(name: str, size: int) -> float:
        return 0.4e-4 if name == "a1" and size >= 4096 else truth(name, size)

    launcher = SimulatedLauncher(clear, 1, **QUIET)
    sizes = tuple(1 << power for power in range(21))
    race(launcher, sizes=sizes).run()
    first, *others = ([entry.cell.message_bytes for entry in entries] for entries in launcher.log)
    assert len(first) == 5
    assert all(min(max(one / near, near / one) for near in first) <= NEAR for one in sizes)
    screenings = [each for each in others if set(each) <= set(sizes)][:2]
    assert set(first) | set(screenings[0]) == set(sizes)
    assert len(screenings[1]) < len(screenings[0]) < len(sizes)


@pytest.mark.parametrize("wrong", [{}, {"a3": "its result is wrong"}])
def test_the_time_of_everything_is_known_without_measuring_it(wrong: dict[str, str]) -> None:
    def slow(name: str, size: int) -> float:
        return {"a1": 0.5, "a2": 3.0, "a3": 12.0}.get(name, 1.0) * (2e-4 + 1e-7 * size)

    launcher = SimulatedLauncher(slow, 1, **QUIET, drift_sigma=0.0, refuses=wrong)
    raced = race(launcher, sizes=tuple(1024 << power for power in range(9))).run()
    summary = summarise(raced, verdicts(raced))
    names = {"default", "a0", "a1", "a2", "a3"} - wrong.keys()
    expected = raced.held_out_seconds + float(np.median(raced.overheads)) * LOOKS[0]
    for cell, state in raced.cells.items():
        for one in (slow(name, cell.message_bytes) for name in names):
            expected += LOOKS[0] * (one * max(state.samples, Effort().least) + trial_seconds(one))
    assert raced.seconds == 0  # of the clock that stands still
    assert seconds_of_everything(raced) == pytest.approx(expected, rel=0.1)
    assert summary.share == 0


def test_a_candidate_that_crashes_loses_itself_only() -> None:
    launcher = SimulatedLauncher(truth, 1, crashes=frozenset({"a0"}), **QUIET)
    raced = race(launcher).run()
    assert raced.dropped == {"a0": "it ends with code 139"}
    assert changed(raced)[65536] == "a1"


def test_a_crash_that_may_be_of_several_is_tried_one_by_one() -> None:
    launcher = SimulatedLauncher(truth, 1, crashes=frozenset({"a3"}), **QUIET)
    raced = race(launcher).run()
    assert raced.dropped == {"a3": "it ends with code 139"}
    assert changed(raced)[65536] == "a1"


def test_a_candidate_with_wrong_results_is_never_chosen() -> None:
    launcher = SimulatedLauncher(truth, 1, refuses={"a1": "its result is wrong"}, **QUIET)
    raced = race(launcher).run()
    assert "a1" in raced.dropped
    assert not changed(raced)


def test_a_default_that_fails_ends_the_race() -> None:
    launcher = SimulatedLauncher(truth, 1, crashes=frozenset({"default"}), **QUIET)
    with pytest.raises(RunFailed, match="default fails"):
        race(launcher).run()


def within(budget_seconds: float, truth: Truth = truth) -> tuple[Raced, SimulatedLauncher]:
    """A race and its launcher, by simulated time."""
    options = RaceOptions("bcast", (8,), SIZES, budget_seconds=budget_seconds)
    launcher = SimulatedLauncher(truth, 1, **QUIET)
    return Race(launcher, candidates(4), options, clock=lambda: launcher.seconds).run(), launcher


def test_what_the_budget_does_not_confirm_keeps_the_default() -> None:
    raced, _ = within(8.0)
    assert raced.ran_out
    assert not changed(raced)


@pytest.mark.parametrize("budget_seconds", [0.5, 5.0, 10.0, 20.0, 40.0, 80.0])
def test_a_race_ends_within_its_budget(budget_seconds: float) -> None:
    raced, launcher = within(budget_seconds)
    assert launcher.seconds <= budget_seconds
    assert raced.ran_out or changed(raced) == changed(within(1e9)[0])


def slow_if_large(name: str, size: int) -> float:
    """As `truth`, in proportion to the size above 4 KiB: the largest sizes take nearly all of the time."""
    return truth(name, size) * max(1.0, size / 4096) ** 2


def test_a_short_budget_confirms_the_sizes_that_take_little_time() -> None:
    enough, _ = within(1e9, slow_if_large)
    short, launcher = within(0.7 * enough.seconds, slow_if_large)
    assert launcher.seconds <= 0.7 * enough.seconds
    assert short.ran_out
    assert enough.seconds / 2 < short.wanted_seconds < 2 * enough.seconds
    assert wanted_budget(short) == f"--budget {math.ceil(short.wanted_seconds)}"
    assert wanted_budget(enough) == ""
    confirmed = changed(short)
    assert confirmed and max(confirmed) < max(changed(enough))


def test_a_candidate_that_the_model_rules_out_is_not_tried() -> None:
    launcher = SimulatedLauncher(truth, 1, **QUIET)
    options = RaceOptions("bcast", (8,), (65536,), budget_seconds=1e9)
    cell = Cell("bcast", 8, 65536)
    predicted = {(cell, "a1"): 1.0, (cell, "a0"): 2.0, (cell, "a3"): 3.5}
    Race(launcher, candidates(4), options, predicted=predicted, clock=lambda: 0.0).run()
    assert [one.name for one in launcher.log[0][0].candidates] == ["default", "a1", "a0", "a2"]


def test_a_few_launches_bound_nothing_and_no_launch_is_unknown() -> None:
    assert math.isnan(ratio_over_launches([], 10).value)
    assert ratio_over_launches([-0.5], 10).high == math.inf


def test_an_interval_gets_wider_with_the_number_of_statements() -> None:
    logs = [-0.5, -0.4, -0.6, -0.5, -0.45, -0.55]
    one, many = ratio_over_launches(logs, 1), ratio_over_launches(logs, 100)
    assert one.high < many.high
    assert many.low < one.low


def test_a_disturbed_launch_does_not_hide_a_gain_of_many_launches() -> None:
    assert ratio_over_launches([-0.5] * 23 + [3.0], 60).high < 1


def verdict(ranks: int, size: int, name: str | None, number: int = 0, **more: Any) -> SizeVerdict:
    native = Native(name, number, more.pop("segment", 0), more.pop("fan_out", 0)) if name else None
    candidate = Candidate(name, (), native) if name else None
    ratio = CandidateRatio(0.5, 0.4, 0.6, 6) if name else None
    return SizeVerdict(
        Cell("bcast", ranks, size), candidate, ratio, 1e-4, False, name is not None, **more
    )


def held_out(ranks: int, size: int, name: str, is_changed: bool) -> SizeVerdict:
    one = verdict(ranks, size, name)
    return SizeVerdict(one.cell, one.candidate, one.ratio, 1e-4, True, is_changed)


def numbers(text: str) -> list[list[int]]:
    rows = [line.split("#")[0].split() for line in text.splitlines()]
    return [[int(word) for word in row] for row in rows if row]


def test_a_rule_holds_for_the_ranks_and_the_range_that_were_measured() -> None:
    found = [
        verdict(8, 1, None),
        verdict(8, 64, "chain", 2, segment=8192, fan_out=4),
        held_out(8, 100, "chain", True),
        verdict(8, 4096, "chain", 2, segment=8192, fan_out=4),
        verdict(8, 65536, None),
    ]
    text = openmpi_classic.text(tuning_of("bcast", found), (4, 1, 4))
    rules = [[0, 1], [0, 0, 0, 0], [8, 3], [0, 0, 0, 0], [64, 2, 4, 8192], [4097, 0, 0, 0], [9, 1]]
    assert numbers(text) == [[1], [7], [3], *rules, [0, 0, 0, 0]]


def test_a_range_is_cut_where_a_held_out_size_did_not_pass() -> None:
    found = [
        verdict(8, 64, "chain", 2),
        held_out(8, 100, "chain", False),
        verdict(8, 4096, "chain", 2),
    ]
    text = openmpi_classic.text(tuning_of("bcast", found), (4, 1, 4))
    rule = [[8, 5], [0, 0, 0, 0], [64, 2, 0, 0], [65, 0, 0, 0], [4096, 2, 0, 0], [4097, 0, 0, 0]]
    assert numbers(text)[5:11] == rule


def test_a_range_goes_on_over_close_sizes_without_a_held_out_one_between_them() -> None:
    found = [verdict(8, size, "chain", 2) for size in (1000, 1500, 3000)]
    text = openmpi_classic.text(tuning_of("bcast", found), (4, 1, 4))
    rule = [
        [8, 5],
        [0, 0, 0, 0],
        [1000, 2, 0, 0],
        [1501, 0, 0, 0],
        [3000, 2, 0, 0],
        [3001, 0, 0, 0],
    ]
    assert numbers(text)[5:11] == rule


@pytest.mark.parametrize(
    ("sizes", "between"),
    [
        ((1, 4, 16), [(1, 4), (4, 16)]),
        ((64, 128, 256), [(64, 128), (128, 256)]),
        ((1000, 1400, 2000, 2800, 4000, 8000), [(1400, 2000), (2800, 4000), (4000, 8000)]),
        ((1, 2), []),
    ],
)
def test_each_factor_of_two_of_a_range_has_a_held_out_size(
    sizes: tuple[int, ...], between: list[tuple[int, int]]
) -> None:
    states = tuple(CellState(Cell("bcast", 8, size), ("a0",), []) for size in sizes)
    run = Run(Candidate("chain", (), Native("chain", 2)), states)
    found = held_out_sizes(run, np.random.default_rng(1))
    assert all(low < size < high for size, (low, high) in zip(found, between, strict=True))


def test_the_size_of_a_block_is_looked_up_as_that_of_all_blocks() -> None:
    found = [verdict(4, 1024, "ring", 3)]
    text = openmpi_classic.text(tuning_of("reduce_scatter", found), (4, 1, 4))
    assert numbers(text)[1] == [12]
    assert [4096, 3, 0, 0] in numbers(text)


def test_open_mpis_json_names_what_was_measured() -> None:
    found = [verdict(8, 64, "chain", 2, segment=8192, fan_out=4)]
    rules = json.loads(openmpi_json.text(tuning_of("bcast", found), (6, 0)))["collectives"]["bcast"]
    bounds = {"msg_size_min": 64, "msg_size_max": 64}
    assert rules[0]["rules"] == [{**bounds, "alg": "chain", "seg_size": 8192, "faninout": 4}]
    assert (rules[0]["comm_size_min"], rules[0]["comm_size_max"]) == (8, 8)


def test_where_tuned_itself_is_faster_than_han_it_decides_by_its_own_rules() -> None:
    tuning = tuning_of("bcast", [verdict(8, 64, "tuned", 0)])
    assert [64, 0, 0, 0] in numbers(openmpi_classic.text(tuning, (5, 0)))
    assert json.loads(openmpi_json.text(tuning, (6, 0)))["collectives"]["bcast"] == []
    (han,) = openmpi_han.companions(tuning, (6, 0))
    assert "\n64 tuned\n65 han\n" in han.text


def test_mpichs_tree_takes_a_reduction_for_predefined_operations_only() -> None:
    own = {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}
    tree = {"collective=allreduce": {mpich_json.INTRA: own}}
    leaf = "MPIR_Allreduce_intra_reduce_scatter_allgather"
    text = mpich_json.text_from(tree, tuning_of("allreduce", [verdict(4, 64, leaf)]))
    branch = json.loads(text)["collective=allreduce"][mpich_json.INTRA]["comm_size<=4"]
    chosen = branch["avg_msg_size<65"]["is_op_built_in=yes"]
    assert chosen == {"count<pow2": own, "count=any": {f"algorithm={leaf}": {}}}
    assert branch["avg_msg_size<64"] == own
    assert branch["avg_msg_size=any"] == own


def test_samples_on_file_lead_to_the_same_choices(tmp_path: Path) -> None:
    launcher = SimulatedLauncher(truth, 1, crashes=frozenset({"a0"}), **QUIET)
    file = SamplesFile(tmp_path / "s.jsonl", About("bcast", "openmpi", "x", "4.1.4", candidates(4)))
    options = RaceOptions("bcast", (8,), SIZES, budget_seconds=1e9)
    race = Race(launcher, candidates(4), options, log=file.add, clock=lambda: 0.0)
    raced = race.run()
    file.end(raced)
    about, again = read_samples(tmp_path / "s.jsonl")
    assert about.candidates == candidates(4)
    assert again.dropped == raced.dropped
    assert verdicts(again) == verdicts(raced)
    asked = Asked("openmpi", "bcast", tmp_path / "rules.conf")
    assert "# a1" in choose_again(asked, tmp_path / "s.jsonl").files.text
    with pytest.raises(UsageError, match="--from"):
        choose_again(Asked("openmpi", "reduce", tmp_path / "r.conf"), tmp_path / "s.jsonl")


def test_samples_of_the_first_schema_are_read(tmp_path: Path) -> None:
    """It had one mode for all of a cell."""
    path = tmp_path / "samples.jsonl"
    about = About("bcast", "openmpi", "Open MPI 4.1.4", "4.1.4", candidates(4))
    samples = SamplesFile(path, about)
    options = RaceOptions("bcast", (8,), SIZES, budget_seconds=1e9)
    launcher = SimulatedLauncher(truth, 1, **QUIET)
    raced = Race(launcher, candidates(4), options, log=samples.add, clock=lambda: 0.0).run()
    samples.end(raced)
    written = path.read_bytes().splitlines()
    lines = [dict(decode_line(line, Where(str(path), 1))) for line in written]
    lines[0]["schema"] = "chiplog.race-samples/1"
    for cell in [cell for line in lines for cell in line.get("cells", ())]:
        cell["mode"] = "window"
        cell["samples"] = {name: of["window"] for name, of in cell["samples"].items()}
    for line in lines:
        line.pop("crc32", None)
    path.write_bytes(b"".join(map(encode_line, lines)))
    assert changed(read_samples(path)[1]) == changed(raced)


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_a_file_of_samples_that_was_cut_or_altered_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s.jsonl"
    file = SamplesFile(path, About("bcast", "openmpi", "x", "4.1.4", candidates(1)))
    file.end(Raced(RaceOptions("bcast", (8,), SIZES), {}))
    lines = path.read_bytes().splitlines(keepends=True)
    contents = [b"", lines[0], path.read_bytes().replace(b"openmpi", b"openmpx")]
    path.write_bytes(contents[cut])
    with pytest.raises(CorruptFile):
        read_samples(path)


def test_the_json_of_a_race_has_no_number_that_is_not_known() -> None:
    raced = race(SimulatedLauncher(truth, 1, **QUIET)).run()
    found = verdicts(raced)
    text = json.dumps(
        measured_to_json("bcast", "x", summarise(raced, found), found, raced), allow_nan=False
    )
    assert json.loads(text)["geometric_mean_gain"] > 1.2


def openmpi_cvars(word: str, _: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    stem = "coll_tuned_bcast_algorithm"
    choices = [{"value": 0, "name": "ignore"}, {"value": 2, "name": "chain"}]
    rows = [(stem, 0, choices), (f"{stem}_segmentsize", 0, []), (f"{stem}_chain_fanout", 4, [])]
    return [{"name": name, "value": value, "choices": items} for name, value, items in rows]


def test_open_mpi_is_asked_for_its_algorithms() -> None:
    field = openmpi.field_of("bcast", (5, 0, 8), openmpi_cvars)
    assert [one.name for one in field.candidates] == ["chain", "chain/8K", "chain/64K"]
    assert field.candidates[1].native == Native("chain", 2, 8192, 4)
    assert field.options == ("--without", "han")


@pytest.mark.parametrize(
    ("version", "operation", "candidates"),
    [((5, 0), "bcast", 4), ((5, 0), "alltoall", 3), ((6, 0), "alltoall", 4), ((4, 1), "bcast", 3)],
)
def test_what_open_mpi_takes_without_han_races_where_han_is_the_default(
    version: Version, operation: str, candidates: int
) -> None:
    def ask(word: str, environment: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        return [
            {**one, "name": str(one["name"]).replace("bcast", operation)}
            for one in openmpi_cvars(word, environment)
        ]

    field = openmpi.field_of(operation, version, ask, spans_hosts=True)
    has_tuned = [one.name for one in field.candidates][-1] == "tuned"
    assert bool(field.options) == has_tuned == (candidates == 4)
    if has_tuned:
        assert field.candidates[-1].native == Native("tuned", 0)


def test_mpich_is_asked_for_the_values_of_its_names() -> None:
    values = {"binomial": 1, "ring": 5}

    def ask(word: str, environment: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        name = environment["MPIR_CVAR_BCAST_INTRA_ALGORITHM"]
        if name not in values:
            raise RunFailed("MPI_Init fails")
        return [{"name": word, "value": values[name]}]

    names = ("binomial", "ring", "smp", "tree", "other")
    leaves = {f"MPIR_Bcast_intra_{name}" for name in names} | {"MPIR_Bcast_allcomm_nb"}
    field = mpich.field_of("bcast", ask, leaves)
    assert [(one.name, one.settings[0][1]) for one in field.candidates] == [
        ("binomial", 1),
        ("ring", 5),
    ]
    assert set(field.left_out) == {"tree", "other"}


def test_mpichs_algorithms_race_without_the_device_where_it_would_stand_in_between() -> None:
    def ask(word: str, environment: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        return [{"name": word, "value": {"percoll": 2, "ring": 5}[environment[word]]}]

    field = mpich.field_of("bcast", ask, {"MPIR_Bcast_intra_ring"}, is_behind_device=True)
    alone = (("MPIR_CVAR_DEVICE_COLLECTIVES", 2), ("MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", 0))
    assert [one.settings for one in field.candidates] == [
        (("MPIR_CVAR_BCAST_INTRA_ALGORITHM", 5), *alone),
        alone,
    ]
    assert field.candidates[1].native == mpich_json.FLAT


def test_the_program_gets_each_candidate_once_and_each_cell() -> None:
    one = candidates(1)[0]
    entries = [RaceEntry(Cell("bcast", 8, size), (DEFAULT, one)) for size in (1, 64)]
    words = arguments_of(entries, Effort(), 7)
    assert words.count("--variant") == 2
    assert "bcast:8:64:byte:default,a0" in words


ENTRIES = [RaceEntry(Cell("bcast", 2, 8), (DEFAULT, *candidates(2)))]


def test_a_launch_that_ends_in_the_middle_of_a_line_names_the_candidate() -> None:
    lines = [
        '{"type":"launch","ranks":2}',
        '{"type":"begin","cell":0,"variant":"a0"}',
        '{"type":"beg',
    ]
    failure = read_result("\n".join(lines), ENTRIES, None, 1.0).failure
    assert failure is not None
    assert (failure.candidate, failure.in_trials) == ("a0", True)


def test_samples_of_both_modes_belong_to_one_candidate() -> None:
    lines = [
        '{"type":"samples","cell":0,"variant":"a0","mode":"window","seconds":[1.0,3.0],"late":[]}',
        '{"type":"samples","cell":0,"variant":"a0","mode":"barrier","seconds":[5.0],"late":[]}',
        '{"type":"end"}',
    ]
    (samples,) = read_result("\n".join(lines), ENTRIES, None, 1.0).samples.values()
    assert {mode: one.tolist() for mode, one in samples.by_mode.items()} == {
        "window": [1.0, 3.0],
        "barrier": [5.0],
    }
    assert (samples.size, samples.typical) == (3, 3.0)


def test_output_with_a_wrong_field_is_an_error_and_no_crash() -> None:
    with pytest.raises(RunFailed, match="expected"):
        read_result('{"type":"samples","cell":"x"}\n{"type":"end"}', ENTRIES, None, 1.0)


def test_a_launch_that_hangs_is_ended_with_all_that_it_started() -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(613)'])"
    ended = run_watched([sys.executable, "-c", program], {}, 0.5)
    assert ended.reason is not None
    assert "hangs" in ended.reason
    assert not processes_named("time.sleep(613)")


def test_a_launch_that_crashes_says_why() -> None:
    ended = run_watched([sys.executable, "-c", "raise ValueError('no')"], {}, 30.0)
    assert ended.reason == "it ends with code 1: ValueError: no"


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        ({"program": "ucc"}, "--for"),
        ({"operation": "gather"}, "--operation"),
        ({"program": "mpich"}, "-o"),
        ({"budget_seconds": 0.0}, "--budget"),
        ({"sizes": (0, 8)}, "--sizes"),
    ],
)
def test_what_can_not_be_measured_is_refused_before_anything_starts(
    tmp_path: Path, wrong: dict[str, Any], option: str
) -> None:
    asked = Asked(
        **{"program": "openmpi", "operation": "bcast", "out": tmp_path / "r.conf", **wrong}
    )
    with pytest.raises(UsageError, match=option):
        measure(asked, tmp_path / "s.jsonl", lambda _: None)


def test_the_medians_of_a_launch_are_compared_within_it() -> None:
    raced = race(SimulatedLauncher(truth, 3, **{**QUIET, "drift_sigma": 2.0})).run()
    logs = [log for point, logs in raced.confirmed.items() if not point.is_held_out for log in logs]
    assert float(np.std(logs)) < 0.1


ALL_DATATYPES = ("double", "int", "byte")


def test_a_choice_is_confirmed_of_each_datatype_that_its_size_allows() -> None:
    launcher = SimulatedLauncher(truth, **QUIET)
    raced = race(launcher, sizes=(4096, 8192, 16_388), datatypes=ALL_DATATYPES).run()
    of_size: dict[int, list[str]] = {}
    for point in raced.confirmed:
        of_size.setdefault(point.cell.message_bytes, []).append(point.cell.datatype)
    held_out = of_size.keys() - {4096, 8192, 16_388}
    assert held_out and all(size % 8 == 0 for size in held_out)
    assert all(of_size[size] == list(ALL_DATATYPES) for size in (4096, 8192, *held_out))
    assert of_size[16_388] == ["int", "byte"]
    assert changed(raced) == {4096: "a1", 8192: "a1", 16_388: "a1"}
    screened = {cell.message_bytes: cell.datatype for cell in raced.cells}
    assert (screened[4096], screened[16_388]) == ("double", "int")


@pytest.mark.parametrize("slow", ALL_DATATYPES)
def test_where_datatypes_disagree_the_default_stays(slow: str) -> None:
    launcher = SimulatedLauncher(truth, by_datatype={("a1", slow): 2.5}, **QUIET)
    raced = race(launcher, sizes=(4096, 65536), datatypes=ALL_DATATYPES).run()
    assert changed(raced) == {}
    tested = [verdict for verdict in verdicts(raced) if verdict.candidate is not None]
    for verdict in tested:
        assert verdict.ratio == verdict.by_datatype[slow]


def test_a_default_that_depends_on_the_datatype_is_kept_for_all() -> None:
    """A default that is quick for ints and slow for bytes: a rule would hold for both."""
    launcher = SimulatedLauncher(truth, by_datatype={("default", "int"): 0.4}, **QUIET)
    assert changed(race(launcher, sizes=(4096,), datatypes=ALL_DATATYPES).run()) == {}


def test_samples_of_several_datatypes_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    about = About("bcast", "openmpi", "Open MPI 5", "5.0.0", candidates(4))
    samples = SamplesFile(path, about)
    launcher = SimulatedLauncher(truth, **QUIET)
    options = RaceOptions("bcast", (8,), SIZES, budget_seconds=1e9, datatypes=ALL_DATATYPES)
    raced = Race(launcher, candidates(4), options, log=samples.add, clock=lambda: 0.0).run()
    samples.end(raced)
    _, again = read_samples(path)
    assert again.options.datatypes == ALL_DATATYPES
    assert [(v.cell, v.is_changed, v.by_datatype.keys()) for v in verdicts(again)] == [
        (v.cell, v.is_changed, v.by_datatype.keys()) for v in verdicts(raced)
    ]


def test_sizes_that_no_datatype_fits_are_refused(tmp_path: Path) -> None:
    asked = Asked("openmpi", "bcast", tmp_path / "rules", sizes=(4, 8), datatypes=("double",))
    with pytest.raises(UsageError, match="4 B are no whole number of doubles, of 8 B each"):
        measure(asked, tmp_path / "samples", print)


def lone(ratios: tuple[float, float, float], sizes: tuple[int, int, int] = (2, 4, 8)) -> bool:
    """Whether a sure winner at the middle size alone gets a rule."""
    name = candidates(1)[0]
    sure = CandidateRatio(ratios[1], 0.5, 0.99, 4)
    found = [
        SizeVerdict(
            Cell("bcast", 8, size),
            name if place == 1 else None,
            sure if place == 1 else None,
            1e-4,
            False,
            place == 1,
        )
        for place, size in enumerate(sizes)
    ]
    known = {(8, size, name.name): ratio for size, ratio in zip(sizes, ratios, strict=True)}
    return any(verdict.is_changed for verdict in without_lone_sizes(found, known))


def test_a_lone_size_has_a_rule_unless_both_sizes_beside_it_contradict() -> None:
    assert not lone((1.2, 0.8, 1.3))
    assert lone((0.98, 0.8, 1.3))
    assert lone((1.2, 0.8, 0.98))
    assert lone((1.2, 0.8, 1.3), (1, 64, 4096))


def test_a_winner_at_one_size_of_a_race_alone_keeps_the_default() -> None:
    def odd(name: str, size: int) -> float:
        return 0.5e-4 if (name, size) == ("a1", 64) else 1e-4 if name == "default" else 1.5e-4

    sizes = (16, 32, 64, 128, 256)
    assert changed(race(SimulatedLauncher(odd, 1, **QUIET), sizes=sizes).run()) == {}

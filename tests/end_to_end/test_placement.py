"""How ranks are bound, and between which of them k pairs run, on this machine."""

from __future__ import annotations

from pathlib import Path

from command import chiplog
from json_schemas import validate_run_file

from chiplog.dataset.run_file import read_run


def test_the_file_says_how_ranks_were_bound_and_placements_that_bind_alike_are_measured_once(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run.jsonl"
    finished = chiplog(
        *("measure", "shm", "--pattern", "pairs", "--ranks", 4, "--sizes", "8,64,512"),
        *("--placement", "filled,round-robin", "--visits", 1, "--no-refine", "-o", out),
    )
    assert finished.code == 0, finished.stderr
    validate_run_file(out)
    run = read_run(out)
    differ = run.header["placements_differ"]
    expected = {"filled", "round-robin"} if differ else {"filled"}
    assert {one.placement for one in run.series} == expected
    warnings = run.header["warnings"]
    assert isinstance(warnings, list)
    told = any("bind these ranks alike" in warning["fact"] for warning in warnings)
    assert told is not differ
    assert len(set(run.header["nodes"])) == 1  # type: ignore[arg-type]
    assert run.header["kernels"] == [0] * 4
    (groups,) = {one.between for one in run.series}
    assert groups is not None
    assert all(name.startswith(run.header["nodes"][0]) for name in groups)  # type: ignore[index]


def test_an_unknown_placement_or_direction_is_refused_with_what_there_is(tmp_path: Path) -> None:
    for option in ("--placement", "--direction"):
        finished = chiplog("measure", "shm", option, "sideways", "-o", tmp_path / "run.jsonl")
        assert finished.code == 2
        assert f"{option}: 'sideways' is unknown" in finished.stderr

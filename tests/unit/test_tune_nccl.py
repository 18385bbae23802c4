"""`chiplog tune nccl`: from runs of nccl-tests to a file that is read here as NCCL's example plug-in reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate

from chiplog.errors import UsageError
from chiplog.tune.nccl.rules import COLLECTIVES, NcclCandidate, NcclRule, text
from chiplog.tune.nccl.tuning import NcclTuning, tune_nccl

SIZES = (1024, 4096, 16384, 65536, 262144)
Times = Callable[[int], float]


def looked_up(file: str, collective: str, size: int, nodes: int, ranks: int) -> list[str] | None:
    """Algorithm, protocol and channels of the first line that fits, as the plug-in looks it up; None without any.

    It reads 255 characters as a line, takes unknown names as allreduce, ring and simple, and -1 as any.
    """
    known = {
        0: (tuple(COLLECTIVES.values()), "allreduce"),
        3: (
            ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"),
            "ring",
        ),
        4: (("ll", "ll128", "simple"), "simple"),
    }
    for whole in file.splitlines():
        for line in (whole[at : at + 255] for at in range(0, len(whole), 255)):
            cells = [cell.strip() for cell in line.split(",")]
            if line.startswith("#") or not 8 <= len(cells) <= 10:
                continue
            for place, (names, instead) in known.items():
                cells[place] = cells[place] if cells[place] in names else instead
            wanted = [int(cell) for cell in (*cells[1:3], *cells[6:8])]
            fits = wanted[0] <= size <= wanted[1]
            is_here = wanted[2] in (-1, nodes) and wanted[3] in (-1, ranks)
            if cells[0] == collective and fits and is_here:
                return cells[3:6]
    return None


def run(
    folder: Path,
    name: str,
    times: Times,
    *,
    seed: int,
    test: str = "all_reduce",
    in_place: float = 1.0,
    nodes: int = 2,
) -> str:
    """A file of nccl-tests of 4 ranks whose launch differs from others by 1 %; its argument `name=path`."""
    random = np.random.default_rng(seed)
    launch = float(np.exp(random.normal(0, 0.01)))
    lines = [f"# Collective test starting: {test}_perf"]
    lines += [f"#  Rank {r} Group 0 Pid {r} on node{r % nodes} device 0 [0x1b] x" for r in range(4)]
    lines.append("# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    for size in SIZES:
        time = times(size) * launch
        row = f"{size} {size // 4} float sum -1 {time:.2f} 0 0 0 {time * in_place:.2f} 0 0 0"
        lines.append(row)
    path = folder / f"{name.replace('/', '-')}-{test}-{seed}.txt"
    path.write_text("\n".join(lines) + "\n")
    return f"{name}={path}"


def tuned(
    folder: Path, by_name: Mapping[str, Times], launches: int = 8, **how: float
) -> NcclTuning:
    named = [
        run(folder, name, times, seed=100 * place + launch, **(how if name != "default" else {}))
        for place, (name, times) in enumerate(by_name.items())
        for launch in range(launches)
    ]
    return tune_nccl(named, folder / "nccl.conf")


def default(size: int) -> float:
    return 20 + size * 1e-3


def faster_when_small(size: int) -> float:
    return default(size) * (0.7 if size <= 16384 else 1.3)


def faster_when_large(size: int) -> float:
    return default(size) * (1.3 if size <= 16384 else 0.8)


def test_each_range_gets_the_one_that_is_surely_faster_there(tmp_path: Path) -> None:
    by_name = {
        "default": default,
        "tree/ll/4": faster_when_small,
        "ring/simple/8": faster_when_large,
    }
    tuned(tmp_path, by_name)
    file = (tmp_path / "nccl.conf").read_text()
    for size in (1024, 5000, 16384):
        assert looked_up(file, "allreduce", size, 2, 4) == ["tree", "ll", "4"]
    for size in (65536, 262144):
        assert looked_up(file, "allreduce", size, 2, 4) == ["ring", "simple", "8"]


def test_beyond_what_was_measured_nccl_decides(tmp_path: Path) -> None:
    tuned(tmp_path, {"default": default, "tree/ll": faster_when_small})
    file = (tmp_path / "nccl.conf").read_text()
    for size in (1023, 16385, 65536):
        assert looked_up(file, "allreduce", size, 2, 4) is None
    assert looked_up(file, "allreduce", 4096, 2, 8) is None
    assert looked_up(file, "allreduce", 4096, 1, 4) is None
    assert looked_up(file, "broadcast", 4096, 2, 4) is None


@pytest.mark.parametrize("seed", range(20))
def test_one_that_is_as_fast_as_the_default_gets_no_rule(tmp_path: Path, seed: int) -> None:
    named = [run(tmp_path, "default", default, seed=1000 * seed + n) for n in range(5)]
    named += [run(tmp_path, "ring/ll", default, seed=1000 * seed + 500 + n) for n in range(5)]
    assert tune_nccl(named).rules == ()


def test_slower_in_place_is_no_rule(tmp_path: Path) -> None:
    by_name = {"default": default, "tree/ll": faster_when_small}
    assert tuned(tmp_path, by_name, in_place=1.6).rules == ()


def test_a_single_run_is_sure_of_nothing(tmp_path: Path) -> None:
    tuning = tuned(tmp_path, {"default": default, "tree/ll": lambda size: 0.5 * default(size)}, 1)
    assert tuning.rules == ()
    assert "has one run only" in tuning.text()


def test_no_comment_is_taken_for_a_rule() -> None:
    long = "x" * 255 + ",1,2,ring,simple,1,1,1,-1,-1"
    assert looked_up(text([], [long]), "allreduce", 1, 1, 1) is None


@pytest.mark.parametrize("operation", COLLECTIVES)
def test_the_plug_in_knows_every_name_that_is_written(operation: str) -> None:
    rule = NcclRule(operation, 8, 64, NcclCandidate("nvls_tree", "ll128", 2), 2, 16)
    answer = looked_up(text([rule], ["as measured"]), COLLECTIVES[operation], 64, 2, 16)
    assert answer == ["nvls_tree", "ll128", "2"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["default"], "no NAME=FILE"),
        (["rings/ll={0}"], "none of NCCL's choices"),
        (["ring/ll/0={0}"], "none of NCCL's choices"),
        (["default={0}", "default={0}"], "something that was forced"),
        (["default={0}", "ring/ll={other}"], "of 4 ranks on 1 nodes"),
        (["default={alltoall}"], "choose nothing"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, words: list[str], what: str) -> None:
    def path(**how: object) -> str:
        return run(tmp_path, "x", default, **how).partition("=")[2]  # type: ignore[arg-type]

    files = {"other": path(seed=2, nodes=1), "alltoall": path(seed=3, test="alltoall")}
    with pytest.raises(UsageError, match=what):
        tune_nccl([word.format(path(seed=1), **files) for word in words])


def test_the_json_is_what_the_schema_says(tmp_path: Path) -> None:
    tuning = tuned(tmp_path, {"default": default, "tree/ll": faster_when_small})
    content = json.loads(json.dumps(tuning.to_json(), allow_nan=False))
    validate(content)
    assert [row["changed"] for row in content["sizes"]] == [True, True, True, False, False]

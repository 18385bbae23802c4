"""Every file that `measure` and `import` can write is fitted, compared, reported and exported, or refused clearly.

One pattern alone, one size, one number of pairs or peers: a model that has nothing to say about it is left out with a
line, and a report shows what was measured at least.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate

from chiplog.cli import main
from chiplog.dataset.patterns import PATTERNS
from chiplog.jobs.report import report
from chiplog.report.write import write_report

SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns,S=8KiB,noise=0.02"
OVER_RANKS = ("one_to_many", "pairs", "barrier")
SIXTEEN = [1 << n for n in range(16)]
SIX = [1, 64, 1024, 8192, 16384, 32768]
"""Sizes about the step; as many as that where each is fitted over a number of peers or pairs, which takes long."""
SIZES = ("one size", "several sizes")
MEASURED = [
    (pattern, sizes, ranks)
    for pattern in PATTERNS
    for sizes in SIZES
    for ranks in ((2, 4) if pattern in OVER_RANKS else (2,))
]
HEADED = {"flood": "train", "one_to_many": "peers", "pairs": "pairs", "barrier": "peers"}


def seconds(size: int) -> float:
    """The time of a message: a step above 8 KiB."""
    return 5e-6 + size * 0.5e-9 if size <= 8192 else 12e-6 + size * 0.4e-9


def noise() -> Iterator[float]:
    """Factors about 1."""
    random = np.random.default_rng(1)
    while True:
        yield float(np.exp(0.02 * random.normal()))


def csv(pattern: str, sizes: list[int], numbers: tuple[int, ...] = (1,), samples: int = 3) -> str:
    """A table of one pattern, at each of the numbers of peers, pairs or messages."""
    column, factor = HEADED.get(pattern, "train"), noise()
    rows = [
        f"{pattern},{size},{number},{2 * seconds(size) * (1 + number / 4) * next(factor)}"
        for size in sizes
        for number in numbers
        for _ in range(samples)
    ]
    return "\n".join([f"pattern,message_bytes,{column},seconds", *rows, ""])


def netgauge(sizes: list[int]) -> str:
    rows = [
        f"{size} 10 {2e6 * seconds(size)} {8e6 * seconds(size)} {23e6 * seconds(size)} 1 2 3 4 5 6"
        for size in sizes
    ]
    return "\n".join(["# size n", *rows, ""])


def nodecomm(sizes: list[int], pairs: int) -> str:
    rows = [
        "\t".join(
            [str(size // 4), *(f"{2 * seconds(size) * (1 + k / 4):.3e}" for k in range(pairs))]
        )
        for size in sizes
        if size >= 4
    ]
    return "\n".join(["Hops: 3", *rows, ""])


def half_round_trips(sizes: list[int]) -> str:
    factor = noise()
    rows = [f"{size}\t{1e6 * seconds(size) * next(factor):.6f}" for size in sizes for _ in range(3)]
    return "\n".join(["#size\trtt", *rows, ""])


def smptest(sizes: list[int]) -> str:
    rows = [
        "\t".join([str(size), *(f"{2 * seconds(4 * size) * (1 + k / 4):.2e}" for k in (1, 4))])
        for size in sizes
    ]
    return "\n".join(["Min time", "", "Ints\t1\t4", *rows, ""])


def osu(test: str, sizes: list[int]) -> str:
    rate = {size: size / (1e6 * seconds(size)) for size in sizes}
    rows = {
        "Latency Test": [f"{size} {1e6 * seconds(size):.2f}" for size in sizes],
        "Bandwidth Test": [f"{size} {rate[size]:.4f}" for size in sizes],
        "Multiple Bandwidth / Message Rate Test": [
            "# [ pairs: 4 ] [ window size: 64 ]",
            *(f"{size} {rate[size]:.6f} {1 / seconds(size):.6f}" for size in sizes),
        ],
    }[test]
    return "\n".join([f"# OSU MPI {test} v7.0", "# Size and more", *rows, ""])


def imb(sizes: list[int]) -> str:
    rows = [f" {size} 1000 {1e6 * seconds(size):.2f} 0.00" for size in (0, *sizes)]
    head = ["# Benchmarking PingPong", "# #processes = 2", "#bytes #repetitions t[usec] Mbytes/sec"]
    return "\n".join([*head, *rows, ""])


def calibration(sizes: list[int], calls: tuple[str, ...]) -> str:
    factor = noise()
    rows = [
        f"{call},{size},{start}.0,{seconds(size) * next(factor)}"
        for size in sizes
        for start in range(3)
        for call in calls
    ]
    return "\n".join([*rows, ""])


Text = Callable[[list[int]], str]
IMPORTED: dict[str, tuple[str, Text, tuple[str, ...]]] = {
    "csv ping_pong": ("csv", lambda s: csv("ping_pong", s), ("--direction", "round-trip")),
    "csv one sample": ("csv", lambda s: csv("ping_pong", s, (1,), 1), ("--direction", "one-way")),
    "csv flood": ("csv", lambda s: csv("flood", s, (32,)), ()),
    "csv prtt": ("csv", lambda s: csv("prtt", s, (1, 10)), ()),
    "csv send_overhead": ("csv", lambda s: csv("send_overhead", s), ()),
    "csv noise": ("csv", lambda s: csv("noise", s), ()),
    "csv all_pairs": ("csv", lambda s: csv("all_pairs", s), ("--direction", "one-way")),
    "csv barrier": ("csv", lambda s: csv("barrier", s, (1, 2)), ()),
    "csv one number of peers": ("csv", lambda s: csv("one_to_many", s, (3,)), ()),
    "csv numbers of peers": ("csv", lambda s: csv("one_to_many", s, (1, 2, 4, 8)), ()),
    "csv one number of pairs": ("csv", lambda s: csv("pairs", s, (3,)), ("--direction", "one-way")),
    "csv numbers of pairs": (
        "csv",
        lambda s: csv("pairs", s, (1, 2)),
        ("--direction", "round-trip"),
    ),
    "netgauge": ("netgauge", netgauge, ()),
    "netgauge one_one": ("netgauge", half_round_trips, ()),
    "netgauge bidirect": ("netgauge", half_round_trips, ("--pattern", "exchange")),
    "smptest": ("smptest", smptest, ()),
    "nodecomm, one pair": ("nodecomm", lambda s: nodecomm(s, 1), ()),
    "nodecomm": ("nodecomm", lambda s: nodecomm(s, 2), ()),
    "osu latency": ("osu", lambda s: osu("Latency Test", s), ()),
    "osu bandwidth": ("osu", lambda s: osu("Bandwidth Test", s), ()),
    "osu pairs": ("osu", lambda s: osu("Multiple Bandwidth / Message Rate Test", s), ()),
    "imb": ("imb", imb, ()),
    "isend": ("simgrid-calibration", lambda s: calibration(s, ("MPI_Isend",)), ()),
    "ping-pong calls": (
        "simgrid-calibration",
        lambda s: calibration(s, ("MPI_Send", "MPI_Recv")),
        (),
    ),
}
OVER_NUMBERS = ("csv one number", "csv numbers", "smptest", "nodecomm", "osu pairs")
FEW_SIZES = {"one size": [64], "two sizes": [64, 4096]}


@pytest.mark.parametrize(("pattern", "sizes", "ranks"), MEASURED)
def test_a_measured_file_goes_through_all_commands(
    pattern: str, sizes: str, ranks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.jsonl"
    several = SIX if pattern in OVER_RANKS else SIXTEEN
    measured = ",".join(map(str, several)) if sizes == "several sizes" else "64"
    options = ["--sizes", measured, "--ranks", str(ranks), "--visits", "1"]
    command = ["measure", SIM, "--pattern", pattern, *options, "--precision", "0.1", "-o", str(run)]
    assert main(command) == 0, capsys.readouterr().err
    goes_through(run, capsys)


@pytest.mark.parametrize("sizes", [*FEW_SIZES, "several sizes"])
@pytest.mark.parametrize("name", IMPORTED)
def test_an_imported_file_goes_through_all_commands(
    name: str, sizes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, text, options = IMPORTED[name]
    source, run = tmp_path / "source.txt", tmp_path / "run.jsonl"
    several = SIX if name.startswith(OVER_NUMBERS) else SIXTEEN
    source.write_text(text(FEW_SIZES.get(sizes, several)))
    imported = main(["import", kind, str(source), *options, "-o", str(run)])
    assert imported == 0, capsys.readouterr().err
    goes_through(run, capsys)


def goes_through(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All that reads a run: what can't be done ends with 2 and one sentence; reports and comparisons always can."""
    capsys.readouterr()
    for command in (["changes"], ["fit"], ["compare", str(run)]):
        code = main([*command, str(run)])
        said = capsys.readouterr().err
        assert code in (0, 2), said
        assert code == 0 or said.strip().splitlines()[-1].startswith("chiplog: ")
    assert main(["compare", str(run), "--json", "-"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    validate(comparison)
    assert all(row["points"] or row["median_relative_error"] is None for row in comparison["rows"])
    assert main(["export", str(run), "--to", "csv", "-o", str(run.with_suffix(".csv"))]) == 0
    made, unread = report([run], run.with_suffix(".md"))
    assert not unread
    text = run.with_suffix(".md").read_text()
    left_out = {one.model for target in made.targets for one in target.left_out}
    assert all(
        any(name in line for line in text.splitlines() if "Left out" in line) for name in left_out
    )
    predicted = any(fit.error.points for target in made.targets for fit in target.fits)
    assert predicted or "Measured times" in text or "Overlap" in text
    assert made.targets
    write_report(made, run.with_suffix(".html"))

"""What commands print without --details: one screen of 30 lines and 80 columns, the answer first."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog

LINES, COLUMNS = 30, 80
PROTOCOLS = "sim:L=5us,o=1us,g=2us,G=0.5ns,S=4096,noise=0.03,seed=2"


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("screens") / "run.jsonl"
    measured = chiplog("measure", PROTOCOLS, "--sizes", "1:4MiB", "-o", out)
    assert measured.code == 0, measured.stderr
    screen = measured.stdout.splitlines()
    fits_a_screen(measured.stdout)
    assert screen[0].startswith("Half round trip by size: median of this launch, 95 % interval")
    heads = next(line.split("  ") for line in screen if line.split()[0] == "size")
    assert [one.strip() for one in heads if one.strip()] == [
        *("size", "half RTT", "95 % interval", "bandwidth", "gap", "o_s", "o_r")
    ]
    assert any(line.split()[:2] == ["1", "KiB"] for line in screen)
    assert "kept in" in measured.stderr
    assert "next: chiplog fit" in measured.stderr
    return out


def fits_a_screen(text: str) -> None:
    lines = text.splitlines()
    assert 0 < len(lines) <= LINES, len(lines)
    assert max(map(len, lines)) <= COLUMNS, max(lines, key=len)


@pytest.mark.parametrize("models", ["loggp", "hockney", "loggops,loggp,hockney,logp"])
def test_a_fit_is_one_screen_and_its_details_are_the_report(run_file: Path, models: str) -> None:
    shown = chiplog("fit", run_file, "--model", models)
    fits_a_screen(shown.stdout)
    assert "--details" in shown.stdout.splitlines()[-1]
    assert "±" in shown.stdout or "[" in shown.stdout
    details = chiplog("fit", run_file, "--model", models, "--details")
    assert len(details.stdout.splitlines()) > LINES
    assert "Verdict" in details.stdout


def test_a_fit_that_is_written_is_shown_too(run_file: Path, tmp_path: Path) -> None:
    written = chiplog("fit", run_file, "-o", tmp_path / "model.json")
    assert "up to" in written.stdout
    asked = chiplog("fit", run_file, "-o", tmp_path / "again.json", "--json", "-")
    assert asked.stdout.startswith("{")


def test_what_is_not_a_round_trip_is_shown_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    words = ("--ranks", "8", "--pattern", "one_to_many", "--sizes", "8,1KiB")
    measured = chiplog("measure", PROTOCOLS, *words, "-o", out)
    assert measured.code == 0, measured.stderr
    fits_a_screen(measured.stdout)
    assert "One process to p peers: from the first send to the last of p" in measured.stdout


@pytest.mark.parametrize("pattern", ["pairs", "one_to_many", "barrier", "prtt,flood,barrier"])
def test_what_measure_prints_of_any_pattern_is_one_screen(tmp_path: Path, pattern: str) -> None:
    words = ("--ranks", "8", "--pattern", pattern, "--sizes", "1:64KiB", "--visits", "2")
    measured = chiplog("measure", PROTOCOLS, *words, "-o", tmp_path / "run.jsonl")
    assert measured.code == 0, measured.stderr
    fits_a_screen(measured.stdout)


def test_an_imported_table_is_fitted_on_one_screen(tmp_path: Path) -> None:
    table, out = tmp_path / "osu.txt", tmp_path / "run.jsonl"
    rows = "".join(f"{1 << step:<10} {1 + (1 << step) / 4096:.2f}\n" for step in range(21))
    table.write_text(f"# OSU MPI Latency Test v5.6.2\n# Size          Latency (us)\n{rows}")
    imported = chiplog("import", "osu", table, "-o", out)
    assert "21 samples of 21 sizes, 1 to 1048576 B (ping_pong)" in imported.stderr
    assert f"next: chiplog fit {out}" in imported.stderr
    fits_a_screen(chiplog("fit", out, "--model", "hockney").stdout)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, run_file: Path) -> dict[str, Path]:
    """Run files of two ranks, of shared memory, of all patterns on 8 ranks, and an imported one."""
    folder = tmp_path_factory.mktemp("runs")
    found = {name: folder / f"{name}.jsonl" for name in ("shm", "eight", "imported")}
    shm = ("--sizes", "1:64KiB", "--budget", "6")
    eight = ("--ranks", "8", "--pattern", "all", "--sizes", "1:4KiB", "--visits", "2")
    for name, words in (("shm", ("shm", *shm)), ("eight", (PROTOCOLS, *eight))):
        measured = chiplog("measure", *words, "-o", found[name])
        assert measured.code == 0, measured.stderr
        fits_a_screen(measured.stdout)
    rows = "".join(f"{1 << step:<10} {1 + (1 << step) / 4096:.2f}\n" for step in range(21))
    (folder / "osu.txt").write_text(f"# OSU MPI Latency Test v5.6.2\n# Size   Latency (us)\n{rows}")
    assert chiplog("import", "osu", folder / "osu.txt", "-o", found["imported"]).code == 0
    return {"sim": run_file, **found}


@pytest.mark.parametrize("name", ["sim", "shm", "eight", "imported"])
def test_changes_and_comparisons_are_one_screen(runs: dict[str, Path], name: str) -> None:
    changes = chiplog("changes", runs[name])
    fits_a_screen(changes.stdout)
    assert changes.stdout.startswith("consensus")
    details = chiplog("changes", runs[name], "--details").stdout
    assert len(details.splitlines()) >= len(changes.stdout.splitlines())
    fits_a_screen(chiplog("compare", runs[name]).stdout)
    if name != "imported":  # has nothing in common with it
        fits_a_screen(chiplog("compare", runs["sim"], runs[name]).stdout)


@pytest.mark.parametrize("name", ["sim", "shm", "eight"])
def test_what_a_model_is_used_for_is_one_screen(
    runs: dict[str, Path], name: str, tmp_path: Path
) -> None:
    model, schedule = tmp_path / "model.json", tmp_path / "ring.goal"
    assert chiplog("fit", runs[name], "-o", model).code == 0
    # Beside other tests a real machine may be too busy to be predicted with.
    predicted = chiplog("predict", model, "barrier", "--ranks", 1024, "--anyway")
    assert predicted.code == 0, predicted.stderr
    fits_a_screen(predicted.stdout)
    which = ("--operation", "allreduce", "--ranks", "2:64", "--for", "openmpi", "--anyway")
    tuned = chiplog("tune", model, *which, "-o", tmp_path / "rules.conf")
    assert tuned.code == 0, tuned.stderr
    fits_a_screen(tuned.stdout)
    chiplog("schedule", "allreduce", "--algorithm", "ring", "--ranks", 64, "-o", schedule)
    simulated = chiplog("simulate", schedule, "--model", model, "--anyway")
    fits_a_screen(simulated.stdout)
    assert simulated.stdout.startswith("makespan")


def test_a_survey_is_one_screen(tmp_path: Path) -> None:
    target = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.03,seed=2,slow=3:2"
    found = chiplog("survey", target, "--ranks", 8, "-o", tmp_path / "s")
    assert found.code == 0, found.stderr
    *screen, _, _ = found.stdout.splitlines()  # these two name files
    fits_a_screen("\n".join(screen))

"""Fits of few imported numbers: no interval of width zero, no rate that no point shows, one sentence where it ends."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.fit import fit

MODELS = ("max-rate", "max-rate-4", "max-rate-modified", "postal")
SIZES = ([8], [8, 16], [1024, 1 << 20], [8, 64, 512], [4096 << step for step in range(6)])


def pairs_run(tmp_path: Path, pairs: list[int], sizes: list[int], node_rate: float) -> Dataset:
    random = np.random.default_rng(0)
    rows = ["message_bytes,pairs,seconds"]
    for k, n in product(pairs, sizes):
        seconds = 1e-6 + max(k * n / node_rate, n / 3e9)
        rows.append(f"{n},{k},{seconds * np.exp(0.02 * random.standard_normal()):.10f}")
    source = tmp_path / "pairs.csv"
    source.write_text("\n".join(rows))
    out = tmp_path / "run.jsonl"
    return read_run(import_file("csv", source, out, pattern="pairs", direction="one-way"))


def latencies(tmp_path: Path, rows: str) -> Dataset:
    source = tmp_path / "latency.txt"
    source.write_text(f"# OSU MPI Latency Test v5.9\n# Size  Latency (us)\n{rows}")
    return read_run(import_file("osu", source, tmp_path / "run.jsonl"))


@pytest.mark.parametrize("pairs", [[1], [4], [1, 2], [2, 4], [1, 2, 4]], ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"{len(sizes)}x{sizes[0]}")
def test_few_points_of_pairs_give_intervals_or_a_reason(
    tmp_path: Path, pairs: list[int], sizes: list[int]
) -> None:
    for node_rate, model in product((8e9, 1e15), MODELS):
        run = pairs_run(tmp_path, pairs, sizes, node_rate)
        try:
            segments = fit(run, [model])[0].segments
        except UsageError:
            continue
        for one in (p for segment in segments for p in segment.parameters.values()):
            if one.identified:
                assert one.value is not None and one.low is not None and one.high is not None
                assert one.high > one.low or one.symbol == "k_sat"
                assert one.unit != "B/s" or one.value < 1e13
            else:
                assert one.value is None and one.reason


def test_one_number_of_pairs_is_no_ground_for_max_rate(tmp_path: Path) -> None:
    run = pairs_run(tmp_path, [4], [4096 << step for step in range(6)], 8e9)
    for model in ("max-rate", "max-rate-4", "max-rate-modified"):
        with pytest.raises(UsageError, match="two numbers of pairs or more are needed"):
            fit(run, [model])


@pytest.mark.parametrize(("pairs", "told"), [([4], True), ([1], False), ([1, 4], False)], ids=str)
def test_a_share_of_the_node_is_not_called_a_process_rate(
    tmp_path: Path, pairs: list[int], told: bool
) -> None:
    run = pairs_run(tmp_path, pairs, [4096 << step for step in range(6)], 8e9)
    (found,) = fit(run, ["postal"])
    sentence = "All times are of 4 pairs at once: R_C is the share that each pair got"
    assert any(one.startswith(sentence) for one in found.warnings) == told


@pytest.mark.parametrize("model", ["hockney", "loggp", "logp"])
@pytest.mark.parametrize("rows", ["8 1.10\n", "8 1.10\n1024 1.30\n"], ids=["one", "two"])
def test_numbers_that_leave_no_freedom_have_values_without_an_interval_and_say_why(
    tmp_path: Path, rows: str, model: str
) -> None:
    found = fit(latencies(tmp_path, rows), [model], boundaries=None)[0]
    known = [one for one in found.segments[0].parameters.values() if one.identified]
    assert known
    for one in known:
        assert (one.low, one.high) == (None, None)
        assert (one.reason or "").startswith("no interval: ")
    assert all(not values.size for values in found.draws.values())
    assert any("so there are no intervals" in one for one in found.warnings)
    assert not np.isfinite(found.curves[0].low_seconds).any()


def test_a_line_through_three_numbers_has_the_interval_of_one_degree_of_freedom(
    tmp_path: Path,
) -> None:
    held, rates = 0, []
    for seed in range(40):
        noise = np.exp(0.01 * np.random.default_rng(seed).standard_normal(3))
        times = (1.0 + np.array([0.0, 1.0, 4.0])) * noise
        rows = "".join(f"{s} {t:.6f}\n" for s, t in zip((1, 1024, 4096), times, strict=True))
        found = fit(latencies(tmp_path, rows), ["hockney"], boundaries=None)[0]
        rate = found.segments[0].parameters["R"]
        held += (rate.low or 0.0) <= 1.024e9 <= (rate.high or np.inf)
        rates.append(rate)
    assert held >= 34  # of 40 at 95 %; the normal distribution's hold about 25
    assert np.median([(one.high or 0.0) / (one.low or 1.0) for one in rates]) > 1.05


def test_samples_of_few_sizes_tell_their_noise_by_themselves(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    rows = ["message_bytes,seconds"]
    for size, seconds in ((1, 1e-6), (1024, 2e-6)):
        rows += [f"{size},{seconds * np.exp(0.02 * z):.12f}" for z in random.standard_normal(8)]
    source = tmp_path / "samples.csv"
    source.write_text("\n".join(rows))
    run = import_file("csv", source, tmp_path / "r.jsonl", pattern="ping_pong", direction="one-way")
    found = fit(read_run(run), ["hockney"], boundaries=None)[0].segments[0].parameters["R"]
    assert found.low is not None and found.high is not None
    assert found.low < 1023 / 1e-6 < found.high


def test_a_regime_of_two_means_says_so(tmp_path: Path) -> None:
    rows = "".join(f"{1 << step} {1 + 1e-4 * (1 << step):.2f}\n" for step in range(12))
    run = latencies(tmp_path, rows + "4096 20.00\n8192 21.00\n")
    found = fit(run, ["hockney"], boundaries=[2048])[0]
    assert any("fewer in 4096 to 8192 B" in one for one in found.warnings)


@pytest.mark.parametrize("scatter", [0.003, 0.01, 0.05])
def test_a_regime_of_two_means_has_intervals_as_wide_as_the_other_sizes_scatter(
    tmp_path: Path, scatter: float
) -> None:
    held = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        noisy = scatter * random.standard_normal(23)
        rows = "".join(
            f"{1 << step} {(2 + 4e-4 * 2**step if step < 21 else 300 + 1e-4 * 2**step) * np.exp(noisy[step]):.2f}\n"
            for step in range(23)
        )
        found = fit(latencies(tmp_path, rows), ["hockney"], boundaries=[1 << 20])[0]
        rate = found.segments[-1].parameters["R"]
        held += (rate.low or 0.0) <= 1e10 <= (rate.high or np.inf)
    assert held >= 32  # of 40 at 95 %: fewer by chance less than once in 10,000 times


@pytest.mark.parametrize("model", ["loggp", "loggps", "hockney"])
def test_a_single_mean_of_a_few_bytes_is_what_the_fit_predicts(tmp_path: Path, model: str) -> None:
    found = fit(latencies(tmp_path, "8 1.25\n"), [model], boundaries=None)[0]
    assert not any("misses the measured times" in one for one in found.warnings)
    if found.error.points:
        assert found.error.max_relative < 1e-3


def test_means_that_are_all_printed_alike_have_no_rate_and_no_width_of_zero(tmp_path: Path) -> None:
    rows = "".join(f"{1 << step} 1.00\n" for step in range(12))
    segment = fit(latencies(tmp_path, rows), ["hockney"], boundaries=None)[0].segments[0]
    alpha, rate = segment.parameters["alpha"], segment.parameters["R"]
    assert alpha.low is not None and alpha.high is not None and alpha.high > alpha.low + 1e-9
    assert not rate.identified and rate.value is None and rate.reason

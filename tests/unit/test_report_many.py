"""The sections on many processes: fits' own numbers, and no curves where one point is all there is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_many import PAIR_SIZES, PAIRS, PEERS, sample_many_target
from sample_report import MPI, sample_target

from chiplog.jobs.report import joined
from chiplog.report.document import (
    Bullets,
    Figure,
    HeatMap,
    Panels,
    Paragraph,
    Section,
    Table,
    text_of,
)
from chiplog.report.input import TargetReport
from chiplog.report.many import pairs_curves
from chiplog.report.parameter_text import short
from chiplog.report.sections import not_measured, one_to_many, pairs, verdict, warnings

TARGET = sample_many_target()
TWO_RANKS = sample_many_target(peers=(1,), pairs=(1,), cpus=2)
CROWDED = sample_many_target(peers=range(1, 8), pairs=range(1, 5), cpus=2)


def made(section: Section | None) -> Section:
    assert section is not None
    return section


def figures(section: Section | None) -> list[Figure | HeatMap]:
    found: list[Figure | HeatMap] = []
    for block in made(section).blocks:
        if isinstance(block, Panels):
            found += block.figures
        elif isinstance(block, Figure | HeatMap):
            found.append(block)
    return found


def words(section: Section | None) -> str:
    found = []
    for block in made(section).blocks:
        match block:
            case Paragraph(content):
                found.append(text_of(content))
            case Bullets(items):
                found += map(text_of, items)
            case Table():
                found.append(text_of(block.caption))
                found += [" | ".join(map(text_of, row)) for row in block.rows]
                found += map(text_of, block.notes)
    return "\n".join(found)


def test_f_is_told_with_the_argmin_beside_it() -> None:
    text = words(one_to_many.section(TARGET, "k"))
    assert text.startswith("8 B: f = 7; f_argmin = 7, where RTT(p)/p is least.")


def test_round_trips_are_drawn_per_peer_with_each_models_line() -> None:
    run = TARGET.one_to_many
    assert run is not None
    round_trip, posts = figures(one_to_many.section(TARGET, "k"))
    assert isinstance(round_trip, Figure)
    assert isinstance(posts, Figure)
    assert [one.name for one in round_trip.plot.traces] == ["measured", "LogP (2o)", "LoP", "LogfP"]
    assert [one.name for one in posts.plot.traces] == [
        *("measured", "LogP (2o)", "LoP overhead", "LogfP")
    ]
    logfp = next(fit for fit in run.fits if fit.model == "logfp")
    curve = logfp.curves[0]
    drawn = round_trip.plot.traces[-1]
    assert list(drawn.x) == list(PEERS)
    assert list(drawn.y) == pytest.approx((curve.predicted_seconds / curve.peers).tolist())


def test_models_are_compared_on_minimum_median_and_mean_with_their_parameters() -> None:
    text = words(one_to_many.section(TARGET, "k"))
    run = TARGET.one_to_many
    assert run is not None
    row = next(line for line in text.splitlines() if line.startswith("LogfP | 3 | 16"))
    error = f"{100 * run.fits[-1].error.mean_relative:.1f} %"
    assert row.count(error) >= 3


def test_pairs_show_advice_parameters_and_maps_of_the_fits_own_numbers() -> None:
    run = TARGET.pairs
    assert run is not None
    text = words(pairs.section(TARGET, "k"))
    assert "from k = 4 on, more senders don't help" in text
    fitted = next(fit for fit in run.fits if fit.model == "max-rate").segments[0].parameters
    row = next(line for line in text.splitlines() if " | max-rate | " in f" | {line}")
    known = {name for fit in run.fits for one in fit.segments for name in one.parameters}
    shown = [text_of(short(fitted.get(name))) for name in pairs.SYMBOLS if name in known]
    assert row.endswith(" | ".join(shown))
    maps = [one for one in figures(pairs.section(TARGET, "k")) if isinstance(one, HeatMap)]
    assert [one.title for one in maps] == [
        *("Measured", "postal", "max-rate", "max-rate-4", "max-rate-modified")
    ]
    postal = next(fit for fit in run.fits if fit.model == "postal")
    curve = pairs_curves(postal)[PAIRS[-1]]
    error = 100 * (curve.predicted_seconds[-1] / curve.measured_seconds[-1] - 1)
    last = maps[1].rows[-1][1][-1]
    assert last.text == f"{error:+.0f}".replace("-", "−")
    assert last.level == -3
    assert len(maps[1].rows) == len(PAIR_SIZES)


def test_two_ranks_identify_no_model_of_many_and_nothing_is_drawn() -> None:
    assert one_to_many.section(TWO_RANKS, "k") is None
    assert pairs.section(TWO_RANKS, "k") is None
    (told,) = [one for one in (not_measured.section(TWO_RANKS, "k"),) if one is not None]
    assert words(told).count("2 ranks on a machine with 2 CPUs") == 2
    assert words(told).count("--ranks 8") == 2
    assert not_measured.section(TARGET, "k") is None


def test_oversubscription_is_flagged_wherever_its_numbers_are() -> None:
    flag = "Oversubscribed: 8 ranks on 2 CPUs; times include the scheduler."
    for section in (one_to_many.section(CROWDED, "k"), pairs.section(CROWDED, "k")):
        assert words(section).startswith(flag)
    for run in (CROWDED.one_to_many, CROWDED.pairs):
        assert run is not None
        assert all(flag in fit.warnings for fit in run.fits)
    assert flag not in words(pairs.section(TARGET, "k"))


def test_the_verdict_takes_advice_from_many_pairs_but_not_from_oversubscribed_ones() -> None:
    def bullets(target: TargetReport) -> str:
        return words(verdict.section(target, "k"))

    assert "more senders don't help" in bullets(TARGET)
    assert "more senders don't help" not in bullets(CROWDED)


def test_a_lost_part_is_told_and_loses_nothing_else() -> None:
    assert TARGET.pairs is not None
    lost = replace(TARGET.pairs, fits=(), failure="a peer was lost.")
    target = replace(TARGET, pairs=lost)
    assert "This part failed: a peer was lost." in words(pairs.section(target, "k"))
    assert words(one_to_many.section(target, "k")) == words(one_to_many.section(TARGET, "k"))


def test_a_target_without_many_processes_has_no_such_section() -> None:
    alone = sample_target("mpi", MPI, samples=4)
    assert one_to_many.section(alone, "k") is None
    assert pairs.section(alone, "k") is None


def test_a_warning_of_several_runs_is_said_once() -> None:
    section = warnings.section(CROWDED, "k")
    facts = [text_of(item.fact) for item in made(section).blocks[0].items]  # type: ignore[union-attr]
    assert sum("Oversubscribed" in fact for fact in facts) == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_run_files_of_one_target_become_one_part_of_the_report(order: tuple[int, ...]) -> None:
    assert TARGET.one_to_many is not None
    assert TARGET.pairs is not None
    files = (replace(TARGET, one_to_many=None, pairs=None), TARGET.one_to_many, TARGET.pairs)
    (target,) = joined([files[place] for place in order])
    assert target.one_to_many is TARGET.one_to_many
    assert target.pairs is TARGET.pairs
    other = replace(TARGET.pairs, name="tcp")
    assert joined([files[0], other]) == [files[0], other]

"""What the report says in words, and that it says bad things as bad."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sample_many import sample_many_target
from sample_report import (
    MPI,
    SHM,
    TCP,
    one_way,
    sample_report,
    sample_target,
    without_fits,
)

from chiplog.fitting.request import LeftOut
from chiplog.fitting.result import FitError, Parameter, Segment
from chiplog.plan.plan import WARM_UP
from chiplog.protocol_changes.change import Change
from chiplog.report.document import (
    Bullets,
    Figure,
    Notices,
    Paragraph,
    Section,
    Style,
    Table,
    text_of,
)
from chiplog.report.input import RunAnchor, TargetReport
from chiplog.report.measured import COLD, MOST_POINTS, half_round_trips, headline, thinned
from chiplog.report.sections import (
    TARGET_SECTIONS,
    changes,
    errors,
    measured_times,
    methods,
    overheads,
    overview,
    parameters,
    section_of,
    verdict,
    warnings,
)

TARGET = sample_target("mpi", MPI, samples=4, noise=0.0)
MANY = sample_many_target()
TWO_RANKS = sample_many_target(peers=(1,), pairs=(1,), cpus=2)


def words(section: Section | None) -> str:
    """All text of a section, in order."""
    assert section is not None
    found: list[str] = []
    for block in section.blocks:
        match block:
            case Paragraph(content):
                found.append(text_of(content))
            case Bullets(items):
                found.extend(text_of(item) for item in items)
            case Notices(items):
                for item in items:
                    found += [text_of(item.fact), item.number or "", text_of(item.remedy or ())]
            case Table():
                found.append(text_of(block.caption))
                found += [text_of(cell) for row in block.rows for cell in row]
    return "\n".join(found)


def with_error(target: TargetReport, median: float) -> TargetReport:
    return all_with(target, FitError(120, median, median, 3 * median, 1 + median))


def all_with(target: TargetReport, error: FitError) -> TargetReport:
    """Every fit with that error on points held out, and a much smaller one on its own."""
    mild = replace(error, mean_relative=0.0, median_relative=0.0, max_relative=0.0, mean_factor=1.0)
    return replace(
        target,
        fits=tuple(replace(fit, error=mild) for fit in target.fits),
        comparison=tuple(replace(row, error=error) for row in target.comparison),
    )


def only_first(target: TargetReport, **parameter: Parameter) -> TargetReport:
    fit = headline(target)
    assert fit is not None
    first = fit.segments[0]
    changed = Segment(first.first_bytes, first.last_bytes, {**first.parameters, **parameter})
    return replace(target, fits=(replace(fit, segments=(changed, *fit.segments[1:])),))


def test_a_good_model_is_said_to_predict() -> None:
    text = words(verdict.section(with_error(TARGET, 0.04), "k"))
    opening = "LogGP predicts this transport within 4.0 % between 1 B and 1 MiB"
    assert text.startswith(
        f"{opening} (median on 120 points that were held out; 4.0 % on average, 12 % at worst)."
    )


def test_an_error_on_the_fits_own_points_is_called_so() -> None:
    text = words(verdict.section(replace(with_error(TARGET, 0.04), comparison=()), "k"))
    assert text.startswith("LogGP describes this transport within 0.1 % between 1 B and 1 MiB")
    assert "120 points that it was fitted to" in text


def test_a_model_on_four_points_is_not_ranked_above_one_on_fifty_five() -> None:
    first, *others = TARGET.comparison
    lucky = replace(first, model="logp", error=FitError(4, 0.001, 0.001, 0.001, 1.001))
    rows = [replace(row, error=FitError(55, 0.05, 0.05, 0.1, 1.05)) for row in others]
    loggp = [row for row in rows if row.model == "loggp"]
    target = replace(TARGET, comparison=(lucky, *loggp))
    section = errors.section(target, "k")
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [text_of(row[0]) for row in table.rows][-1] == "LogP"
    assert text_of(table.rows[-1][3]) == "4 of 55"
    assert "LogP" not in words(verdict.section(target, "k"))


def test_slope_changes_are_told_apart_from_protocol_changes() -> None:
    fit = headline(TARGET)
    assert fit is not None
    first, second = fit.segments
    low = replace(first, last_bytes=64)
    high = replace(first, first_bytes=91, border="slope")
    sloped = replace(fit, segments=(low, high, replace(second, border="protocol")))
    target = replace(TARGET, fits=(sloped,))
    assert "Its slope changes between 64 B and 91 B." in words(verdict.section(target, "k"))
    section = changes.section(target, "k")
    assert "apart from protocol changes: slope changes between 64 B and 91 B" in words(section)
    rows = parameters.table(sloped, in_terminal=True).rows
    places = [text_of(row[0]) for row in rows]
    assert places[0].endswith(", 2 regimes:")
    assert places[1] == "· 1 B to 64 B"
    assert [text_of(cell) for cell in rows[2][1:]] == ["as above"] * (len(rows[2]) - 1)
    assert len(rows) == 4


def test_what_is_left_out_is_said_in_one_line_with_its_reason() -> None:
    target = replace(TARGET, left_out=(LeftOut("plogp", "kielmann", "the run lacks floods."),))
    assert "Left out: plogp (kielmann): the run lacks floods." in words(errors.section(target, "k"))


def test_what_no_model_predicts_is_shown_as_it_was_measured() -> None:
    assert measured_times.section(TARGET, "k") is None
    bare = replace(TARGET, fits=(), comparison=())
    section = measured_times.section(bare, "k")
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert len(table.rows) == len({one.message_bytes for one in TARGET.dataset.series})
    assert "Half round trip by size: median of this launch, 95 % interval" in words(section)


def test_a_fair_model_is_said_to_predict_roughly() -> None:
    assert "only roughly: within 12 %" in words(verdict.section(with_error(TARGET, 0.12), "k"))


def test_a_bad_model_is_said_not_to_describe_the_transport() -> None:
    section = verdict.section(with_error(TARGET, 0.38), "k")
    assert "does not describe this transport: it is off by 38 %" in words(section)
    assert "Do not predict with it." in words(section)
    assert section is not None
    opening = section.blocks[0]
    assert isinstance(opening, Paragraph)
    assert opening.content[0].style is Style.BAD


def test_a_change_to_the_byte_is_told_from_one_between_two_sizes() -> None:
    assert "above 4,096 B (jump and slope, +89 %" in words(verdict.section(TARGET, "k"))
    wide = replace(TARGET, consensus=(Change(8192, 16384, "jump", -0.04),))
    assert "between 8,192 B and 16,384 B (jump, -4.0 %)" in words(verdict.section(wide, "k"))


def test_where_lines_cross_is_shown_only_where_both_were_measured() -> None:
    crossing = TARGET.consensus[0].crossing_bytes
    assert crossing is not None
    assert not TARGET.consensus[0].is_crossing_measured
    page = words(changes.section(TARGET, "k")) + words(verdict.section(TARGET, "k"))
    assert f"{crossing:,.0f}" not in page
    assert "not measured there" in page
    there = replace(TARGET, consensus=(Change(4096, 8192, "slope", crossing_bytes=5000.2),))
    assert "5,000 B" in words(changes.section(there, "k"))
    never = replace(TARGET, consensus=(Change(4096, 8192, "jump"),))
    assert "never" in words(changes.section(never, "k"))


def test_what_is_not_identified_is_said_with_its_reason_and_no_number() -> None:
    target = sample_target("tcp", TCP, samples=4)
    text = words(verdict.section(target, "k"))
    assert "g is not identified, because o_s exceeds the gap" in text
    table = words(parameters.section(target, "k"))
    assert "not identified, because o_s exceeds the gap" in table


def test_a_parameter_with_a_value_but_not_identified_shows_no_number() -> None:
    odd = Parameter("g", 3.5e-6, 1e-6, 9e-6, "s", False, "the train is too short")
    text = words(parameters.section(only_first(TARGET, g=odd), "k"))
    assert "not identified, because the train is too short" in text
    assert "3.5" not in text


def test_an_incomplete_run_is_said_to_be_one() -> None:
    cut = replace(TARGET, dataset=replace(TARGET.dataset, complete=False))
    assert "The run is not complete" in words(verdict.section(cut, "k"))


def test_placement_states_are_named_with_their_consequence() -> None:
    assert "visit 3 differs for that reason." in words(verdict.section(TARGET, "k"))
    assert TARGET.placement is not None
    silent = replace(TARGET, placement=replace(TARGET.placement, note=None))
    text = words(verdict.section(silent, "k"))
    assert "2 placement states (bare flag exchange of 124 ns and 212 ns)" in text


def test_reasons_that_differ_are_left_to_the_table() -> None:
    fit = headline(TARGET)
    assert fit is not None
    segments = tuple(
        replace(s, parameters={"g": Parameter("g", None, None, None, "s", False, f"reason {i}")})
        for i, s in enumerate(fit.segments)
    )
    target = replace(TARGET, fits=(replace(fit, segments=segments),))
    text = words(verdict.section(target, "k"))
    assert "g is not identified; the table of parameters says why." in text
    assert "reason 1" in words(parameters.section(target, "k"))


def test_the_cold_first_record_is_not_shown() -> None:
    first = TARGET.dataset.series[0]
    cold = replace(first, seconds=first.seconds * 100, tag={"purpose": COLD})
    data = replace(TARGET.dataset, series=(cold, *TARGET.dataset.series))
    raw, without = half_round_trips(data), half_round_trips(TARGET.dataset)
    assert raw.quantiles.tolist() == without.quantiles.tolist()


def test_the_tag_of_the_cold_record_is_the_plans() -> None:
    assert COLD == WARM_UP


def test_nothing_fitted_is_said() -> None:
    assert "No model was fitted" in words(verdict.section(without_fits(TARGET), "k"))


def test_a_warning_has_its_fact_number_and_remedy() -> None:
    text = words(warnings.section(TARGET, "k"))
    assert "the clock advances in steps\n10.0 ns\nnothing to do" in text


def test_a_warning_of_several_fits_is_said_once() -> None:
    fits = tuple(replace(fit, warnings=("too few sizes",)) for fit in TARGET.fits)
    text = words(warnings.section(replace(TARGET, fits=fits), "k"))
    assert text.count("too few sizes") == 1
    assert f"{len(fits)} of {len(fits)} fits: too few sizes" in text
    two = (fits[0], fits[1], *TARGET.fits[2:])
    text = words(warnings.section(replace(TARGET, fits=two), "k"))
    assert "Hockney (PRTT), LogP (PRTT): too few sizes" in text


def test_a_model_that_is_exact_at_most_points_and_wild_at_the_rest_is_not_called_good() -> None:
    two_faced = FitError(160, 0.15, 0.0, 0.99, 1.44)
    target = all_with(TARGET, two_faced)
    assert "does not describe this transport" in words(verdict.section(target, "k"))


def test_models_are_ordered_by_their_factor() -> None:
    section = errors.section(TARGET, "k")
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    factors = [float(text_of(row[8])) for row in table.rows]
    assert factors == sorted(factors)
    assert text_of(table.rows[-1][0]) == "LogP"


def test_a_model_without_any_point_is_shown_as_no_fit() -> None:
    nan = float("nan")
    broken = replace(TARGET.comparison[0], error=FitError(0, nan, nan, nan, nan))
    text = words(errors.section(replace(TARGET, comparison=(broken,)), "k"))
    assert "no prediction" in text


def test_the_four_methods_stand_side_by_side_with_their_cost() -> None:
    section = methods.section(TARGET, "k")
    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    titles = [text_of(column.title) for column in table.columns]
    assert [title.split()[0] for title in titles[2:]] == ["PRTT", "Culler", "Kielmann", "Bell"]
    assert {"Messages", "On the wire", "Time"} <= {text_of(row[0]) for row in table.rows}


def test_one_method_alone_needs_no_comparison() -> None:
    assert methods.section(replace(TARGET, fits=TARGET.fits[:4]), "k") is None


def test_the_overview_turns_the_gap_per_byte_into_bandwidth_with_its_interval() -> None:
    section = overview.section(sample_report(samples=4))
    text = words(section)
    rate = 1 / MPI[-1].G
    assert f"{rate / 1e9:.2f} GB/s [{rate / 1.02 / 1e9:.2f}, {rate / 0.985 / 1e9:.2f}]" in text


def test_changes_of_each_series_are_listed_beside_the_consensus() -> None:
    text = words(changes.section(TARGET, "k"))
    assert "half round trip, gap, o_s" in text
    assert "none found" in text


def test_a_plot_draws_a_models_line_anew_after_a_change() -> None:
    section = overheads.section(TARGET, "k")
    assert section is not None
    figure = section.blocks[0]
    assert isinstance(figure, Figure)
    line = next(trace for trace in figure.plot.traces if trace.name == "gap, LogGP")
    (start,) = line.breaks
    assert line.x[start - 1 : start + 1] == [4096, 4097]


# What overlaps is shown of runs that measured it alone: `test_overlap` has them.
@pytest.mark.parametrize("name", [name for name in TARGET_SECTIONS if name != "overlap"])
def test_every_section_bears_its_targets_key(name: str) -> None:
    anchor = RunAnchor(failure="there was no time")
    whole = replace(TARGET, one_to_many=MANY.one_to_many, pairs=MANY.pairs, anchor=anchor)
    odd = {"measured_times": replace(whole, fits=()), "not_measured": TWO_RANKS}
    made = section_of(name)(odd.get(name, whole), "some-key")
    assert made is not None
    assert made.identifier.startswith("some-key-")


def test_half_round_trips_halve_round_trips_only() -> None:
    target = sample_target("shm", SHM, samples=4, noise=0.0)
    raw = half_round_trips(target.dataset)
    assert raw.quantiles[2][0] == pytest.approx(one_way(SHM, 1))
    one = replace(
        target.dataset,
        series=tuple(replace(s, direction="one-way") for s in target.dataset.series),
    )
    assert half_round_trips(one).quantiles[2][0] == pytest.approx(2 * one_way(SHM, 1))


def test_thinning_keeps_both_ends_and_the_neighbours_of_a_change() -> None:
    sizes = np.arange(1, 5001, dtype=np.int64)
    kept = sizes[thinned(sizes, (Change(1234, 1235, "jump"),))]
    assert {1, 1234, 1235, 5000} <= set(kept.tolist())
    assert len(kept) <= MOST_POINTS + 2

"""CODES's LogGP table: Netgauge's 11 columns, in microseconds, from the prtt series of a run.

    size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,d,s) L o_s o_r g G lsqu(g,G)          with d = PRTT(1,0,s)

The times are medians over all samples of a size. A run imported from Netgauge gives Netgauge's own answers back. For
others G is that of a LogGP fit, and L and g, as CODES takes them, are such that a message of the row's size takes
L + (s-1)G, the half round trip that was measured, and adds g + (s-1)G to a train. An overhead that is not identified is
-nan, as Netgauge writes it; CODES does not use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.export.check import refuse_what_misses
from chiplog.export.exporter import Exporter, runs_as_text
from chiplog.export.fits import bounded_regimes, rejection_lines
from chiplog.export.pieces import MeasuredSize, at_size, middle_of
from chiplog.fitting.predictions.regime import Regime
from chiplog.fitting.result import Fit

HEADER = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"
_ANSWERS = ("L", "o_s", "o_r", "g", "G", "lsqu")
_Medians = dict[int, float]


def codes_text(dataset: Dataset) -> str:
    """The table, one row a size; UsageError where the trains that it needs were not measured."""
    prtt = dataset.select(pattern="prtt")
    train, single, several, delayed = _times(prtt)
    sizes = sorted(set(single) & set(several) & set(delayed))
    if not sizes:
        raise UsageError(
            f"codes needs prtt with trains of 1 and n, and n with a delay; {dataset.source} lacks some."
        )
    answers = _netgauge_answers(prtt)
    rows = []
    if not answers:
        chosen = _fit(dataset)
        answers = _fitted_answers(chosen, train, single, several, sizes)
        rows += [f"# {words}" for words in rejection_lines(chosen)]
    rows.append(HEADER)
    for size in sizes:
        times = (single[size], several[size], delayed[size])
        numbers = [time * 1e6 for time in times] + [answers[size].get(name) for name in _ANSWERS]
        rows.append(f"{size} {train} " + " ".join(_text(number) for number in numbers))
    return "\n".join(rows) + "\n"


def _times(prtt: Dataset) -> tuple[int, _Medians, _Medians, _Medians]:
    """The length n of trains, and by size PRTT(1,0,s), PRTT(n,0,s) and PRTT(n,d,s) in seconds."""
    train = _train(prtt)
    single = _medians(prtt.select(train=1, delayed=False))
    several = _medians(prtt.select(train=train, delayed=False))
    return train, single, several, _delayed(prtt.select(train=train, delayed=True), single)


def _fit(dataset: Dataset) -> Fit:
    """The fit whose G the table has."""
    from chiplog.fitting.fit import fit

    return fit(dataset.select(operation="send"), ("loggp",), method="prtt")[0]


def _fit_of_run(dataset: Dataset) -> Fit | None:
    """The same; None for a run imported from Netgauge, whose own answers are given back, and for one without trains."""
    prtt = dataset.select(pattern="prtt")
    return _fit(dataset) if all(_times(prtt)) and not _netgauge_answers(prtt) else None


def _text(number: float | None) -> str:
    return "-nan" if number is None else f"{number:.6f}"


def _train(prtt: Dataset) -> int:
    """The length of most of the trains."""
    lengths = Counter(series.train for series in prtt.series if series.train > 1)
    return lengths.most_common(1)[0][0] if lengths else 0


def _medians(dataset: Dataset) -> _Medians:
    medians = dataset.medians_by_size()
    return dict(zip(medians.message_bytes.tolist(), medians.seconds.tolist(), strict=True))


def _delayed(dataset: Dataset, single: _Medians) -> _Medians:
    """PRTT(n,d,s) for d = PRTT(1,0,s): a train with another delay is longer or shorter by n-1 differences."""
    totals = _medians(dataset)
    return {
        size: total + (series.train - 1) * (single[size] - series.delay_seconds)
        for size, total in totals.items()
        if size in single
        for series in dataset.select(message_bytes=size).series[:1]
    }


def _netgauge_answers(prtt: Dataset) -> dict[int, Mapping[str, float | None]]:
    """Netgauge's own answers in microseconds, by size; empty for a run that was not imported from it."""
    answers: dict[int, Mapping[str, float | None]] = {}
    for series in prtt.series:
        answer = series.tag.get("netgauge")
        if not isinstance(answer, Mapping):
            return {}
        answers[series.message_bytes] = {
            name: None if answer.get(name) is None else float(answer[name]) * 1e6
            for name in _ANSWERS
        }
    return answers


def _fitted_answers(
    chosen: Fit, train: int, single: _Medians, several: _Medians, sizes: list[int]
) -> dict[int, Mapping[str, float | None]]:
    """Each row's L and g are such that L + (s-1)G and g + (s-1)G are the times measured at its size."""
    regimes = bounded_regimes(chosen)
    measured = [
        MeasuredSize(size, single[size] / 2.0, (several[size] - single[size]) / (train - 1))
        for size in sizes
    ]
    answers = {
        at.message_bytes: _answers(at, at_size(regimes, at.message_bytes)) for at in measured
    }

    def says(size: int) -> tuple[float, float]:
        row, further = answers[size], size - 1
        L, g, G = (float(row[name] or 0.0) * 1e-6 for name in ("L", "g", "G"))
        return L + further * G, g + further * G

    why = "a train of n is shorter than a message of it."
    refuse_what_misses(says, measured, "CODES", why, by_ranges=False)
    return answers


def _answers(measured: MeasuredSize, regime: Regime) -> Mapping[str, float | None]:
    """In microseconds; an overhead that is not identified is none, which CODES does not need."""
    parameters = regime.fit.segments[regime.segment].parameters
    further = max(measured.message_bytes - 1, 0)
    step = max(measured.step or 0.0, 0.0)
    most = min(measured.half_round_trip, step) / further if further else np.inf
    G = min(middle_of(regime)["G"], most)
    known = {
        name: parameters[name].value if name in parameters else None for name in ("o_s", "o_r")
    }
    return {
        "L": (measured.half_round_trip - further * G) * 1e6,
        "o_s": None if known["o_s"] is None else known["o_s"] * 1e6,
        "o_r": None if known["o_r"] is None else known["o_r"] * 1e6,
        "g": (step - further * G) * 1e6,
        "G": G * 1e6,
        "lsqu": 0.0,
    }


CODES = Exporter(
    name="codes",
    summary="a run with prtt trains: CODES's LogGP table",
    write_run=runs_as_text(codes_text),
    fit_of_run=_fit_of_run,
)

"""CODES's LogGP table: Netgauge's 11 columns, in microseconds, from the prtt series of a run.

    size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,d,s) L o_s o_r g G lsqu(g,G)          with d = PRTT(1,0,s)

The times are medians over all samples of a size. A run imported from Netgauge gives Netgauge's own answers back; for
others they come from a LogGP fit: L is PRTT(1,0,1)/2 as CODES expects, g and G are those of the size's protocol, and
where g is hidden below o_s, o_s stands for it, since no message can leave earlier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.export.protocol_lines import value
from chiplog.fit.result import Fit, Segment

HEADER = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"
_ANSWERS = ("L", "o_s", "o_r", "g", "G", "lsqu")
_Medians = dict[int, float]


def codes_text(dataset: Dataset) -> str:
    """The table, one row a size; UsageError where the trains that it needs were not measured."""
    prtt = dataset.select(pattern="prtt")
    train = _train(prtt)
    single = _medians(prtt.select(train=1, delayed=False))
    several = _medians(prtt.select(train=train, delayed=False))
    delayed = _delayed(prtt.select(train=train, delayed=True), single)
    sizes = sorted(set(single) & set(several) & set(delayed))
    if not sizes:
        raise UsageError(
            f"codes needs prtt with trains of 1 and n, and n with a delay; {dataset.source} lacks some."
        )
    answers = _netgauge_answers(prtt) or _fitted_answers(dataset, sizes)
    rows = [HEADER]
    for size in sizes:
        times = (single[size], several[size], delayed[size])
        numbers = [time * 1e6 for time in times] + [answers[size].get(name) for name in _ANSWERS]
        rows.append(f"{size} {train} " + " ".join(_text(number) for number in numbers))
    return "\n".join(rows) + "\n"


def _text(number: float | None) -> str:
    return "-nan" if number is None else f"{number:.6f}"


def _train(prtt: Dataset) -> int:
    """The length of most of the trains."""
    lengths = Counter(one.train for one in prtt.series if one.train > 1)
    return lengths.most_common(1)[0][0] if lengths else 0


def _medians(dataset: Dataset) -> _Medians:
    found = dataset.medians_by_size()
    return dict(zip(found.message_bytes.tolist(), found.seconds.tolist(), strict=True))


def _delayed(dataset: Dataset, single: _Medians) -> _Medians:
    """PRTT(n,d,s) for d = PRTT(1,0,s): a train with another delay is longer or shorter by n-1 differences."""
    totals = _medians(dataset)
    return {
        size: total + (one.train - 1) * (single[size] - one.delay_seconds)
        for size, total in totals.items()
        if size in single
        for one in dataset.select(message_bytes=size).series[:1]
    }


def _netgauge_answers(prtt: Dataset) -> dict[int, Mapping[str, float | None]]:
    """Netgauge's own answers in microseconds, by size; empty for a run that was not imported from it."""
    found: dict[int, Mapping[str, float | None]] = {}
    for one in prtt.series:
        own = one.tag.get("netgauge")
        if not isinstance(own, Mapping):
            return {}
        found[one.message_bytes] = {
            name: None if own.get(name) is None else float(own[name]) * 1e6 for name in _ANSWERS
        }
    return found


def _fitted_answers(dataset: Dataset, sizes: list[int]) -> dict[int, Mapping[str, float | None]]:
    from chiplog.fit.run import fit

    chosen = fit(dataset.select(operation="send"), ("loggp",), method="prtt")[0]
    return {size: _answers(_segment(chosen, size)) for size in sizes}


def _segment(fit: Fit, size: int) -> Segment:
    return next((one for one in fit.segments if size <= one.last_bytes), fit.segments[-1])


def _answers(segment: Segment) -> Mapping[str, float | None]:
    gap = segment.parameters.get("g")
    identified = gap is not None and gap.value is not None
    half = value(segment, "L_half") or sum(value(segment, name) for name in ("L", "o_s", "o_r"))
    return {
        "L": half * 1e6,
        "o_s": value(segment, "o_s") * 1e6,
        "o_r": value(segment, "o_r") * 1e6,
        "g": value(segment, "g" if identified else "o_s") * 1e6,
        "G": value(segment, "G") * 1e6,
        "lsqu": 0.0,
    }

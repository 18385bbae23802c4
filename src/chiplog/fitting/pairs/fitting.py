"""The fit of models of k pairs to one operation's series."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.caution import bad_fit
from chiplog.fitting.estimates.parameters import Estimates, draws_of, parameters_of
from chiplog.fitting.pairs.estimate import pair_estimates
from chiplog.fitting.pairs.protocols import jumps, protocol_changes, protocol_limits
from chiplog.fitting.pairs.regimes import PairsRegimes, joint_regimes
from chiplog.fitting.pairs.settings import START_UP_SHARE
from chiplog.fitting.pairs.table import PairTable, half_round_trips, pair_table
from chiplog.fitting.predictions.predictor import (
    MeasuredPoints,
    Predictor,
    measured_curve,
    predictor,
    relative_errors,
)
from chiplog.fitting.quantities.by_method import EVERY_K
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.regimes.partition import segment_ranges
from chiplog.fitting.result import NOT_JUDGED, Curve, Fit, Segment, cost_of, summarise
from chiplog.fitting.settings import FEWEST_SIZES
from chiplog.fitting.text import rate_text, sizes_text
from chiplog.models.protocol import Model, points

METHODS: Mapping[str, Callable[[NDArray[np.int64]], NDArray[np.bool_]]] = {
    EVERY_K: lambda pairs: np.ones(pairs.shape, dtype=np.bool_),
    "k=1": lambda pairs: pairs == 1,
    "k=max": lambda pairs: pairs == pairs.max(),
}
"""Which numbers of pairs a method fits to."""


def fit_pairs(
    dataset: Dataset,
    jobs: Sequence[tuple[Model, str]],
    *,
    boundaries: Sequence[int] | Literal["auto"] | None,
    statistic: str,
    seed: int,
) -> tuple[Fit, ...]:
    """Each model by its method on the pairs series of `dataset`, which are alike in all but size, pairs, visit and
    launch; none without such series.

    Protocols and regimes are looked for over all k and hold for all models and methods; given `boundaries` (None is no
    boundary) are those of protocols, each with one regime and the model's published form. Raises UsageError for an
    unknown statistic, for a method whose number of pairs wasn't measured, for too few numbers of pairs and for a
    protocol with fewer than two sizes.
    """
    table = pair_table(dataset, statistic)
    if table.seconds.size == 0:
        return ()
    pieces = find_pieces(table, boundaries, seed)
    measured = MeasuredSeries(dataset, statistic, seed)
    return tuple(_fit_model(dataset, measured, table, pieces, job) for job in jobs)


@dataclass(frozen=True)
class PairsPiece:
    """A range of sizes with one parameter set: what its lower border is, and whether pairs delay one another in it."""

    first_bytes: int
    last_bytes: int
    border: str | None
    delays: bool


def find_pieces(
    table: PairTable, boundaries: Sequence[int] | Literal["auto"] | None, seed: int
) -> list[PairsPiece]:
    """The protocols of all points, and the regimes of each, by ascending sizes; see `fit_pairs` for `boundaries`."""
    if boundaries == "auto":
        limits = protocol_limits(table, np.random.default_rng([seed, 2]))
    else:
        limits = [limit for limit in sorted(set(boundaries or ())) if limit < table.sizes[-1]]
    pieces: list[PairsPiece] = []
    for first, last in segment_ranges(table.sizes, limits):
        protocol = table.within(first, last)
        regimes = joint_regimes(protocol) if boundaries == "auto" else PairsRegimes()
        for start, end in segment_ranges(protocol.sizes, regimes.limits):
            border = None
            if pieces:
                before = table.within(pieces[-1].first_bytes, pieces[-1].last_bytes)
                jump = start == first or jumps(before, table.within(start, end))
                border = "protocol" if jump else "slope"
            pieces.append(PairsPiece(start, end, border, regimes.delays))
    return pieces


def _fit_model(
    dataset: Dataset,
    measured: MeasuredSeries,
    table: PairTable,
    pieces: Sequence[PairsPiece],
    job: tuple[Model, str],
) -> Fit:
    """The fit of one model by its method, with its error over all points."""
    model, method = job
    used = METHODS[method](table.pairs)
    if not np.any(used):
        numbers = ", ".join(map(str, np.unique(table.pairs).tolist()))
        raise UsageError(f"the run lacks series of one pair; it has those of {numbers} pairs.")
    rng = np.random.default_rng([measured.seed, 3])  # Given: a stream of its own.
    _refuse_one_number_of_pairs(model, table)
    part = table.subset(used)
    estimates = [_estimates(model, method, part, piece, rng) for piece in pieces]
    limits = [before.last_bytes for before, after in pairwise(pieces) if after.border == "protocol"]
    unjudged = replace(
        _unjudged(dataset, table, model, used),
        method=method,
        statistic=measured.statistic,
        segments=_segments(pieces, estimates),
        changes=protocol_changes(table, limits),
        warnings=(*_few_sizes(table, pieces), *_one_number_of_pairs(part.pairs)),
        draws=draws_of(estimates),
    )
    predict = predictor(unjudged)
    error = summarise(*relative_errors(predict, round_trips(table)))
    return replace(
        unjudged,
        error=error,
        curves=_curves(measured, predict),
        warnings=(*unjudged.warnings, *bad_fit(error)),
        advice=_advice(model, unjudged.segments, table),
    )


def _unjudged(dataset: Dataset, table: PairTable, model: Model, used: NDArray[np.bool_]) -> Fit:
    """What is known of a fit before its parameters are: of what it is made, and what that cost."""
    indices = {id(series): index for index, series in enumerate(dataset.series)}
    fitted = [series for series, chosen in zip(table.series, used, strict=True) if chosen]
    first = table.series[0]
    return Fit(
        model=model.name,
        method="",
        transport=dataset.transport,
        operation=first.operation,
        direction=model.direction,
        statistic="",
        segments=(),
        changes=(),
        error=NOT_JUDGED,
        cost=cost_of(dataset.series, [indices[id(series)] for series in fitted]),
        between=first.between,
        convention=first.direction,
    )


def _segments(pieces: Sequence[PairsPiece], estimates: Sequence[Estimates]) -> tuple[Segment, ...]:
    return tuple(
        Segment(piece.first_bytes, piece.last_bytes, parameters_of(found), piece.border)
        for piece, found in zip(pieces, estimates, strict=True)
    )


def _advice(model: Model, segments: Sequence[Segment], table: PairTable) -> tuple[str, ...]:
    ranges = (
        (segment, table.within(segment.first_bytes, segment.last_bytes)) for segment in segments
    )
    sentences = (advice(model, segment, part) for segment, part in ranges)
    return tuple(sentence for sentence in sentences if sentence)


def _refuse_one_number_of_pairs(model: Model, table: PairTable) -> None:
    """Raises UsageError for a model that tells a process's rate from its node's, where one k was measured."""
    pairs = np.unique(table.pairs)
    if pairs.size == 1 and any(spec.symbol == "R_N" for spec in model.parameters):
        raise UsageError(
            "two numbers of pairs or more are needed to tell a process's rate from its node's; the run has only "
            f"k = {pairs[0]}."
        )


def _estimates(
    model: Model, method: str, table: PairTable, piece: PairsPiece, rng: np.random.Generator
) -> Estimates:
    first, last = piece.first_bytes, piece.last_bytes
    part = table.within(first, last)
    if part.sizes.size < 2:
        raise UsageError(
            f"from {first} to {last} B pairs series of two sizes or more are needed; the run has {part.sizes.size}."
        )
    cells = part.cells().message_bytes.size
    if cells < len(model.parameters) or part.seconds.size <= len(model.parameters):
        raise UsageError(
            f"from {first} to {last} B the run has {cells} points (size, pairs), {part.seconds.size} over all "
            f"launches; {len(model.parameters)} parameters and their intervals need more."
        )
    numbers = np.unique(part.pairs)
    if (
        any(parameter.symbol == "R_Ci" for parameter in model.parameters)
        and numbers.size == 1 < numbers[0]
    ):
        raise UsageError(
            f"from {first} to {last} B the run has series of {numbers[0]} pairs alone, which cannot tell the rate of "
            "the first process from that of further ones."
        )
    return pair_estimates(model, part, rng, method=method, delays=piece.delays)


def round_trips(table: PairTable) -> MeasuredPoints:
    """The points with the seconds of whole round trips, as models answer them."""
    return MeasuredPoints(table.points, 2.0 * table.seconds)


def _few_sizes(table: PairTable, pieces: Sequence[PairsPiece]) -> tuple[str, ...]:
    if len(pieces) > 1 or table.sizes.size >= 2 * FEWEST_SIZES:
        return ()
    return (
        f"Protocol changes were not looked for: {table.sizes.size} sizes "
        f"({sizes_text(int(table.sizes[0]), int(table.sizes[-1]))}) are too few, "
        f"{2 * FEWEST_SIZES} are needed.",
    )


def _one_number_of_pairs(pairs: NDArray[np.int64]) -> tuple[str, ...]:
    """A sentence where all points are of as many pairs, and more than one: none of them had the node for itself."""
    numbers = np.unique(pairs)
    if numbers.size > 1 or numbers[0] == 1:
        return ()
    return (
        f"All times are of {numbers[0]} pairs at once: R_C is the share that each pair got of its node, not what a "
        "process takes alone. Measure one pair, too.",
    )


def _curves(measured: MeasuredSeries, predict: Predictor) -> tuple[Curve, ...]:
    """The half round trips over the size, one curve for each k."""
    curves = []
    for pairs, quantity in half_round_trips(measured).items():
        predicted = predict(points("pairs", quantity.message_bytes, pairs=pairs)) / 2.0
        curves.append(replace(measured_curve(quantity), predicted_seconds=predicted))
    return tuple(curves)


def advice(model: Model, segment: Segment, table: PairTable) -> str | None:
    """One sentence about the sizes of `segment`; None for a model that has no rate of the node, or from one k alone.

    `table` holds the points of the segment.
    """
    if "R_N" not in segment.parameters or np.unique(table.pairs).size < 2:
        return None
    sizes = f"Messages of {sizes_text(segment.first_bytes, segment.last_bytes)}"
    most = int(table.pairs.max())
    theta = {
        name: parameter.value
        for name, parameter in segment.parameters.items()
        if parameter.value is not None
    }
    longest = float(model.seconds(points("pairs", segment.last_bytes, pairs=most), theta)[0]) / 2.0
    if theta.get("s0", 0.0) > START_UP_SHARE * longest:
        return (
            f"{sizes}: start-up, not a rate, takes most of the time, up to {most} senders a node; fewer and longer "
            "messages help."
        )
    if "R_N" not in theta:
        return f"{sizes}: up to k = {most} every further sender helps; spread your off-node messages over all of them."
    node = f"they reach the node's {rate_text(theta['R_N'])}"
    if "k_sat" not in theta:
        fewest = int(table.pairs.min())
        return f"{sizes}: already with k = {fewest} {node}; more senders don't help."
    enough = max(1, math.ceil(theta["k_sat"] - 1e-9))
    if enough == 1:
        return f"{sizes}: one sender is enough, more don't help: {node}."
    return (
        f"{sizes}: from k = {enough} on, more senders don't help ({node}); spread your off-node messages over "
        f"{enough} processes of a node."
    )

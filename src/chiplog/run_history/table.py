"""A survey as rows: one for each node and kind of figure, then one for each pair and kind.

Figures are rounded to KEPT_BITS of their mantissa, which is far below their noise and lets them be stored in two bytes;
the run file has them as measured.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from chiplog.machine_survey.pair_values import KINDS, PATTERN, pair_values
from chiplog.run_history.layout import NODE, PAIR
from chiplog.statistics import NORMAL_975, TAILS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.machine_verdict import MachineVerdict
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, Kind, PairValues
    from chiplog.machine_survey.slowness_model import PairFit
    from chiplog.run_history.layout import RunFacts

KEPT_BITS, KEPT_BITS_OF_RATIOS = 14, 8
"""Given: of a mantissa; its rounding is far below the noise of figures, and of their intervals."""
FLOAT_BITS = 23
"""Given: of the mantissa of a float32."""
COLUMN_OF = {"latency": "latency_seconds", "bandwidth": "bandwidth_bytes_per_second"}
"""The column of each kind's figures."""
_TEXT = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("scope", _TEXT),
        ("run_id", _TEXT),
        ("time_utc", pa.timestamp("s", "UTC")),
        ("target", _TEXT),
        ("kind", _TEXT),
        ("client", _TEXT),
        ("server", _TEXT),
        ("latency_seconds", pa.float32()),
        ("bandwidth_bytes_per_second", pa.float32()),
        ("low_ratio", pa.float32()),
        ("high_ratio", pa.float32()),
        ("effect", pa.float32()),
        ("effect_low", pa.float32()),
        ("effect_high", pa.float32()),
    ]
)
"""The columns of a file; null is unknown.

`low_ratio` and `high_ratio` are the ends of a pair's interval over its figure."""


def check_columns(schema: pa.Schema) -> None:
    """Raises ValueError unless all columns are there, with their types."""
    for field in SCHEMA:
        place = schema.get_field_index(field.name)
        if place < 0:
            raise ValueError(f"it has not one column {field.name}")
        if _plain(schema.field(place).type) != _plain(field.type):
            raise ValueError(f"its column {field.name} has the type {schema.field(place).type}")


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values; Parquet has no dictionaries, nor times in whole seconds."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("s", kind.tz)
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def rounded(values: FloatArray, bits: int = KEPT_BITS) -> NDArray[np.float32]:
    """The values as float32 with so many bits of mantissa, to nearest; NaN stays NaN.

    >>> rounded(np.array([1.0, 1.00001, np.nan])).tolist()
    [1.0, 1.0, nan]
    """
    drop = FLOAT_BITS - bits
    whole = np.asarray(values, dtype=np.float32)
    raw = whole.view(np.uint32)
    near = ((raw + np.uint32(1 << (drop - 1))) >> np.uint32(drop)) << np.uint32(drop)
    return np.where(np.isfinite(whole), near.view(np.float32), whole)


def tables_of(dataset: Dataset, verdict: MachineVerdict, facts: RunFacts) -> list[pa.Table]:
    """The rows of a survey in parts, each of one scope and kind: nodes first, then pairs by client and server."""
    nodes = [node_rows(facts, kind, fit) for kind, fit in verdict.fits.items()]
    pairs = [
        pair_rows(facts, pair_values(dataset, kind), *_intervals(dataset, kind)) for kind in KINDS
    ]
    return [table for table in (*nodes, *pairs) if table.num_rows]


def node_rows(facts: RunFacts, kind: Kind, fit: PairFit) -> pa.Table:
    """One row a node: how its figures differ from those of the median node, as a relative change."""
    slow, error = fit.node_effects.mean(axis=0), fit.node_errors.mean(axis=0)
    sign = 1.0 if kind == "latency" else -1.0
    known = np.isfinite(slow)
    ends = np.sort(np.stack((slow - NORMAL_975 * error, slow + NORMAL_975 * error)), 0)
    ends[~np.isfinite(ends)] = np.nan  # a node of one pair has no interval
    low, high = ends if sign > 0 else -ends[::-1]
    names = np.array(fit.values.nodes, dtype=object)
    return effect_rows(
        facts,
        kind,
        names[known].tolist(),
        np.expm1(sign * slow[known]),
        np.expm1(low[known]),
        np.expm1(high[known]),
    )


def effect_rows(
    facts: RunFacts,
    kind: Kind,
    names: list[str],
    effects: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> pa.Table:
    """Rows of scope `node`; `effects`, `low` and `high` (n,) are relative changes of the kind's figures."""
    return _table(
        facts,
        NODE,
        kind,
        len(names),
        client=pa.array(names, pa.string()).dictionary_encode(),
        effect=_floats(rounded(effects)),
        effect_low=_floats(rounded(low, KEPT_BITS_OF_RATIOS)),
        effect_high=_floats(rounded(high, KEPT_BITS_OF_RATIOS)),
    )


def pair_rows(
    facts: RunFacts, values: PairValues, low_ratio: FloatArray, high_ratio: FloatArray
) -> pa.Table:
    """Rows of scope `pair`, by client and server; `low_ratio` and `high_ratio` (m,) may be NaN: unknown."""
    order = np.lexsort((values.servers, values.clients))
    names = pa.array(list(values.nodes), pa.string())

    def ends(numbers: IntArray) -> pa.DictionaryArray:
        codes = pa.array(numbers[order].astype(np.int32))
        return pa.DictionaryArray.from_arrays(codes, names)

    return _table(
        facts,
        PAIR,
        values.kind,
        order.size,
        client=ends(values.clients),
        server=ends(values.servers),
        low_ratio=_floats(rounded(low_ratio[order], KEPT_BITS_OF_RATIOS)),
        high_ratio=_floats(rounded(high_ratio[order], KEPT_BITS_OF_RATIOS)),
        **{COLUMN_OF[values.kind]: _floats(rounded(values.values[order]))},
    )


def _table(facts: RunFacts, scope: str, kind: str, rows: int, **columns: pa.Array) -> pa.Table:
    def same(text: str) -> pa.DictionaryArray:
        codes = pa.array(np.zeros(rows, dtype=np.int32))
        return pa.DictionaryArray.from_arrays(codes, pa.array([text], pa.string()))

    shared = {
        "scope": same(scope),
        "run_id": same(facts.run_id),
        "target": same(facts.target),
        "kind": same(kind),
        "time_utc": pa.array([facts.time] * rows, SCHEMA.field("time_utc").type),
    }
    known = {**shared, **columns}
    return pa.table(
        [known.get(field.name, pa.nulls(rows, field.type)) for field in SCHEMA], schema=SCHEMA
    )


def _floats(values: NDArray[np.float32]) -> pa.Array:
    return pa.array(values, pa.float32(), from_pandas=True)  # NaN is null


def _intervals(dataset: Dataset, kind: Kind) -> tuple[FloatArray, FloatArray]:
    """(m,) and (m,) the ends of each pair's interval of 95 % over its figure, in the order of `pair_values`.

    Of a bandwidth it is that of the median time, by order statistics; NaN below 6 samples. The shortest of some round
    trips has no such interval: NaN.
    """
    pooled: dict[tuple[int, int], list[FloatArray]] = defaultdict(list)
    for series in dataset.series:
        wanted = "round-trip" if kind == "latency" else "one-way"
        if (
            series.pattern == PATTERN
            and series.direction == wanted
            and series.tag.get("purpose") == kind
        ):
            for pair in series.by_pair:
                pooled[pair.client, pair.server].append(pair.seconds)
    low, high = np.full((2, len(pooled)), np.nan)
    if kind == "latency":
        return low, high
    for place, parts in enumerate(pooled.values()):
        seconds = np.sort(np.concatenate(parts))
        rank = int(binom.ppf(TAILS[0], seconds.size, 0.5)) if seconds.size else 0
        if rank >= 1 and seconds[rank - 1] > 0:
            median = float(np.median(seconds))
            low[place], high[place] = median / seconds[-rank], median / seconds[rank - 1]
    return low, high

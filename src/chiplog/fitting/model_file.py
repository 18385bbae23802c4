"""Model files: fits as JSON of the schema chiplog.fit/1, and back.

The keys that scripts rely on come first; what else a Fit holds stands beside them. Reading gives back what was written,
but for the bootstrap draws, which are kept to 6 significant digits. NaN is null in the file.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.fields import Fields
from chiplog.dataset.foreign import expecting
from chiplog.dataset.lines import Where, as_object, parse_json
from chiplog.file_kind import MODEL, file_in
from chiplog.fitting.result import Band, Cost, Curve, Fit, FitError, Parameter, Segment
from chiplog.fitting.verdict import rejection
from chiplog.input_file import open_input, read_bounded
from chiplog.json_values import members, plain
from chiplog.output_file import write_text
from chiplog.protocol_changes.change import Change, change_to_json

SCHEMA = "chiplog.fit/1"
MAX_MODEL_BYTES = 256 << 20
DRAW_DIGITS = 6
"""Given: significant digits of each draw in a model file; draws differ by more."""
BORDERS = ("protocol", "slope")

_ABOUT = (
    *("model", "method", "target", "transport", "ranks", "hosts", "launches", "operation"),
    *("posting", "direction", "statistic", "placement", "between", "convention"),
)
"""What a fit is of: the first members of its object."""
_PARAMETER = ("value", "low", "high", "unit", "identified", "reason")
_CURVE_ARRAYS = ("measured_seconds", "low_seconds", "high_seconds", "predicted_seconds")


def write_model(path: str | os.PathLike[str], fits: Sequence[Fit]) -> None:
    """Writes `fits` as a model file; RunFailed where it can't be written."""
    write_text(path, json_text(fits_to_json(fits)))


def read_model(path: str | os.PathLike[str]) -> tuple[Fit, ...]:
    """The fits of a model file, or of the one in a folder, such as `chiplog run -o` makes.

    CorruptFile names file and field, UsageError says that it can't be opened, or which files the folder has.
    """
    name = file_in(path, MODEL)
    where = Where(name)
    with expecting(MODEL, name), open_input(name, MAX_MODEL_BYTES) as stream:
        text = read_bounded(stream, where.path, MAX_MODEL_BYTES)
        return fits_from_json(as_object(parse_json(text, where), where), source=name)


def json_text(value: object, indent: str = "") -> str:
    """JSON with a line for each member, lists of numbers and texts on one line; ends with a newline at the top."""
    inner = indent + "  "
    if isinstance(value, Mapping) and value:
        lines = [
            f"{inner}{json.dumps(str(name))}: {json_text(member, inner)}"
            for name, member in value.items()
        ]
        text = "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    elif isinstance(value, list) and any(isinstance(member, (dict, list)) for member in value):
        lines = [inner + json_text(member, inner) for member in value]
        text = "[\n" + ",\n".join(lines) + f"\n{indent}]"
    else:
        text = json.dumps(value, allow_nan=False)
    return text if indent else text + "\n"


def fits_to_json(fits: Sequence[Fit]) -> dict[str, object]:
    """The object of the schema chiplog.fit/1 that holds `fits`."""
    return {"schema": SCHEMA, "fits": [_fit_to_json(fit) for fit in fits]}


def fits_from_json(members: Mapping[str, object], *, source: str = "model") -> tuple[Fit, ...]:
    """The fits in an object of the schema chiplog.fit/1; `source` is its name in error sentences."""
    fields = Fields(members, Where(source))
    schema = fields.text("schema")
    if schema != SCHEMA:
        raise fields.wrong("schema", f"is {schema[:40]!r}; this chiplog reads {SCHEMA!r}")
    return tuple(_fit_from_json(child) for child in fields.objects("fits"))


def _fit_to_json(fit: Fit) -> dict[str, object]:
    return {
        **members(fit, *_ABOUT),
        "segments": [_segment_to_json(segment) for segment in fit.segments],
        "changes": [change_to_json(change) for change in fit.changes],
        "error": plain(fit.error),
        "held_out_error": plain(fit.held_out),
        "busy": fit.busy,
        "rejected": rejection(fit),
        **members(fit, "cost", "warnings", "advice"),
        "curves": [_known_members(curve) for curve in fit.curves],
        "bands": plain(fit.bands),
        "draws": {name: _rounded(values) for name, values in fit.draws.items()},
        **{
            name: member
            for name in ("other_state_bytes", "other_states")
            if (member := plain(getattr(fit, name)))
        },
    }


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    return [
        float(f"{value:.{DRAW_DIGITS}g}") if math.isfinite(value) else None
        for value in values.tolist()
    ]


def _segment_to_json(segment: Segment) -> dict[str, object]:
    return {
        **members(segment, "first_bytes", "last_bytes", "border", "form"),
        "parameters": {
            symbol: members(parameter, *_PARAMETER)
            for symbol, parameter in segment.parameters.items()
        },
    }


def _known_members(curve: Curve) -> dict[str, object]:
    return {name: member for name, member in plain(curve).items() if member is not None}


def _fit_from_json(fields: Fields) -> Fit:
    return Fit(
        model=fields.text("model"),
        method=fields.text("method"),
        transport=fields.text("transport"),
        operation=fields.text("operation"),
        direction=fields.text("direction"),
        statistic=fields.text("statistic"),
        segments=tuple(_segment_from_json(child) for child in fields.objects("segments")),
        changes=tuple(_change_from_json(child) for child in fields.objects("changes")),
        error=_error_from_json(fields.child("error")),
        cost=_cost_from_json(fields.child("cost")),
        curves=tuple(_curve_from_json(child) for child in _objects_if_any(fields, "curves")),
        warnings=fields.texts("warnings"),
        draws={
            name: _array(fields, f"draws.{name}", numbers)
            for name, numbers in fields.mapping("draws").items()
        },
        placement=fields.text_or_none("placement"),
        between=fields.two_texts_or_none("between"),
        convention=fields.text_or_none("convention"),
        advice=fields.texts("advice"),
        posting=fields.text_or_none("posting") or "normal",
        bands=tuple(_band_from_json(child) for child in _objects_if_any(fields, "bands")),
        target=fields.text_or_none("target"),
        ranks=_count_or_none(fields, "ranks"),
        hosts=_count_or_none(fields, "hosts"),
        launches=_count_or_none(fields, "launches"),
        held_out=_error_if_any(fields, "held_out_error"),
        busy=fields.text_or_none("busy"),
        other_state_bytes=_sizes_if_any(fields, "other_state_bytes"),
        other_states=_numbers_if_any(fields, "other_states"),
    )


def _count_or_none(fields: Fields, name: str) -> int | None:
    return None if fields.members.get(name) is None else fields.integer(name)


def _numbers_if_any(fields: Fields, name: str) -> tuple[float, ...]:
    if name not in fields.members:
        return ()
    numbers = _array(fields, name, fields.members[name])
    if not np.all(numbers > -1.0):
        raise fields.wrong(name, "must be a list of numbers above -1")
    return tuple(numbers.tolist())


def _sizes_if_any(fields: Fields, name: str) -> tuple[int, ...]:
    return tuple(fields.counts(name).tolist()) if name in fields.members else ()


def _objects_if_any(fields: Fields, name: str) -> list[Fields]:
    return fields.objects(name) if name in fields.members else []


def _segment_from_json(fields: Fields) -> Segment:
    parameters = fields.child("parameters")
    first, last = fields.integer("first_bytes"), fields.integer("last_bytes")
    if last < first:
        raise fields.wrong("last_bytes", f"is {last}, below first_bytes {first}")
    border = fields.text_or_none("border")
    if border not in (None, *BORDERS):
        raise fields.wrong("border", f"is {border[:40]!r}; it must be one of {', '.join(BORDERS)}")
    return Segment(
        first,
        last,
        {name: _parameter_from_json(name, parameters) for name in parameters.members},
        border,
        fields.text_or_none("form"),
    )


def _parameter_from_json(symbol: str, parameters: Fields) -> Parameter:
    fields = parameters.child(symbol)
    return Parameter(
        symbol=symbol,
        value=fields.real_or_none("value"),
        low=fields.real_or_none("low"),
        high=fields.real_or_none("high"),
        unit=_unit(fields),
        identified=fields.truth("identified"),
        reason=fields.text_or_none("reason"),
    )


def _unit(fields: Fields) -> str:
    """The unit's name, empty for a pure number."""
    return "" if fields.required("unit") == "" else fields.text("unit")


def _change_from_json(fields: Fields) -> Change:
    return Change(
        last_before_bytes=fields.integer("last_before_bytes"),
        first_after_bytes=fields.integer("first_after_bytes"),
        kind=fields.text("kind", among=("jump", "slope", "both")),
        relative_jump=fields.real_or_none("relative_jump"),
        seen_in=fields.texts("seen_in"),
        crossing_bytes=fields.real_or_none("crossing_bytes"),
    )


def _or_nan(fields: Fields, name: str) -> float:
    value = fields.real_or_none(name)
    return math.nan if value is None else value


def _error_if_any(fields: Fields, name: str) -> FitError | None:
    return None if fields.members.get(name) is None else _error_from_json(fields.child(name))


def _error_from_json(fields: Fields) -> FitError:
    return FitError(
        points=fields.integer("points"),
        mean_relative=_or_nan(fields, "mean_relative"),
        median_relative=_or_nan(fields, "median_relative"),
        max_relative=_or_nan(fields, "max_relative"),
        mean_factor=_or_nan(fields, "mean_factor"),
    )


def _cost_from_json(fields: Fields) -> Cost:
    return Cost(fields.integer("messages"), fields.integer("bytes"), fields.number("seconds"))


def _curve_from_json(fields: Fields) -> Curve:
    sizes = fields.counts("message_bytes")
    arrays = {name: _array(fields, name, fields.required(name)) for name in _CURVE_ARRAYS}
    for name, array in arrays.items():
        if array.size != sizes.size:
            raise fields.wrong(name, f"has {array.size} points, message_bytes {sizes.size}")
    peers = fields.counts("peers") if "peers" in fields.members else None
    if peers is not None and peers.size != sizes.size:
        raise fields.wrong("peers", f"has {peers.size} points, message_bytes {sizes.size}")
    return Curve(fields.text("quantity"), sizes, **arrays, peers=peers)


def _band_from_json(fields: Fields) -> Band:
    sizes = fields.counts("message_bytes")
    name = "relative_half_width"
    width = _array(fields, name, fields.required(name))
    if width.size != sizes.size or not np.all(width > 0):
        raise fields.wrong(name, f"must hold {sizes.size} positive numbers, one for each size")
    return Band(fields.text("quantity"), sizes, width)


def _array(fields: Fields, name: str, values: object) -> NDArray[np.float64]:
    """A list of numbers, null for NaN, as an array of shape (values,)."""
    if type(values) is not list or not set(map(type, values)) <= {int, float, type(None)}:
        raise fields.wrong(name, "must be a list of numbers and nulls")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise fields.wrong(name, "holds a number that is too large") from None

"""Model files: everything in a fit comes back, and a damaged file is refused by field."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from model_files import example_fit

from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.fitting.model_file import (
    fits_from_json,
    fits_to_json,
    json_text,
    read_model,
    write_model,
)


def plain(value: object) -> object:
    """Dataclasses and arrays as lists and texts, so that they compare, NaN with NaN, too."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return [repr(one) for one in value.tolist()]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return repr(value)


def test_every_member_of_a_fit_comes_back(tmp_path: Path) -> None:
    fit = example_fit()
    write_model(tmp_path / "model.json", (fit, fit))
    read = read_model(tmp_path / "model.json")
    expected = dataclasses.replace(fit, draws={"0/L": np.array([4.574e-05, np.nan])})
    assert plain(read) == plain((expected, expected))


def test_a_model_file_is_what_its_schema_says() -> None:
    validate(fits_to_json([example_fit()]))


def test_a_model_file_holds_no_nan() -> None:
    text = json_text(fits_to_json([example_fit()]))
    assert "NaN" not in text and json.loads(text) == fits_to_json([example_fit()])


def test_the_documented_example_is_a_model_file() -> None:
    """The keys that scripts may rely on are enough: what chiplog adds may be missing."""
    parameter = {
        "value": 4.574e-05,
        "low": 4.5e-05,
        "high": 4.6e-05,
        "unit": "s",
        "identified": True,
        "reason": None,
    }
    document = {
        "schema": "chiplog.fit/1",
        "fits": [
            {
                "model": "loggp",
                "method": "prtt",
                "transport": "tcp",
                "operation": "send",
                "direction": "one-way",
                "statistic": "median",
                "segments": [
                    {"first_bytes": 1, "last_bytes": 12288, "parameters": {"L": parameter}}
                ],
                "changes": [
                    {"last_before_bytes": 12288, "first_after_bytes": 12289, "kind": "jump"}
                ],
                "error": {
                    "points": 120,
                    "mean_relative": 0.012,
                    "median_relative": 0.009,
                    "max_relative": 0.05,
                },
                "cost": {"messages": 40000, "bytes": 123456789, "seconds": 0.8},
            }
        ],
    }
    validate(document)
    (fit,) = fits_from_json(document)
    assert fit.segments[0].parameters["L"].value == 4.574e-05
    assert fit.curves == () and math.isnan(fit.error.mean_factor)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            '"schema": "chiplog.fit/1"',
            '"schema": "chiplog.fit/9"',
            "field schema: is 'chiplog.fit/9'",
        ),
        ('"model": "loggp"', '"modell": "loggp"', "field fits[0].model: is missing"),
        (
            '"first_bytes": 1,',
            '"first_bytes": -1,',
            "field fits[0].segments[0].first_bytes: must be from",
        ),
        (
            '"last_bytes": 12288',
            '"last_bytes": 0',
            "fits[0].segments[0].last_bytes: is 0, below first",
        ),
        ('"identified": true', '"identified": 1', "parameters.L.identified: must be true or false"),
        (
            '"kind": "jump"',
            '"kind": "leap"',
            "fits[0].changes[0].kind: is 'leap'; known are both, jump",
        ),
        ('"points": 120', '"points": 1.5', "field fits[0].error.points: must be an integer"),
        ('"seconds": 0.8', '"seconds": NaN', "NaN is not a number that JSON knows"),
        (
            '"message_bytes": [1, 2, 4]',
            '"message_bytes": [1, 2]',
            "curves[0].measured_seconds: has 3 points",
        ),
        ('"fits": [', '"fits": {', "no valid JSON"),
    ],
)
def test_a_damaged_model_file_names_the_field(
    tmp_path: Path, before: str, after: str, sentence: str
) -> None:
    path = tmp_path / "model.json"
    write_model(path, [example_fit()])
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    with pytest.raises(CorruptFile) as error:
        read_model(path)
    assert str(path) in str(error.value) and sentence in str(error.value)


def test_a_missing_model_file_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be opened"):
        read_model(tmp_path / "none.json")


def test_a_full_disk_is_a_failed_run() -> None:
    with pytest.raises(RunFailed, match="No space left on device"):
        write_model("/dev/full", [example_fit()])

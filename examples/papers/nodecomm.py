"""Published measurements of a Cray XE6 by nodecomm, which are not part of chiplog: the file is named by NODECOMM."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import chiplog
from chiplog.api.fitted import FittedModel
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from papers.pairs import HalfRoundTrips, half_round_trips
from papers.section import NotHere

IMPORT = "chiplog import nodecomm nodecomm_orig.out -o bw.jsonl"


@cache
def run() -> Dataset:
    """The file's times as round trips of k pairs; NotHere without the file."""
    named = os.environ.get("NODECOMM")
    if not named:
        raise NotHere(
            "name nodecomm_orig.out of github.com/bienz2/BlueWatersModel by NODECOMM=FILE"
        )
    with tempfile.TemporaryDirectory() as folder:
        return read_run(import_file("nodecomm", Path(named), Path(folder) / "bw.jsonl"))


@cache
def times() -> HalfRoundTrips:
    """Its half round trips."""
    return half_round_trips(run())


@cache
def fit(model: str, method: str) -> FittedModel:
    """A model fitted to all of the file; `method` is "" where the model has one only."""
    return chiplog.fit(run(), model, method=method or None)

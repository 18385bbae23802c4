"""Published measurements of a Cray XE6 by nodecomm, which are not part of chiplog: the file is named by NODECOMM."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import chiplog
from chiplog.api.fitted import FittedModel
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fit.pairs.table import pair_table
from gallery.section import NotHere

IMPORT = "chiplog import nodecomm nodecomm_orig.out -o bw.jsonl"
PAIRS = (1, 2, 4, 8, 16)


@cache
def run() -> Dataset:
    """The file's times as round trips of k pairs; NotHere without the file."""
    named = os.environ.get("NODECOMM")
    if not named:
        raise NotHere("name nodecomm_orig.out of github.com/bienz2/BlueWatersModel by NODECOMM=FILE")
    with tempfile.TemporaryDirectory() as folder:
        return read_run(import_file("nodecomm", Path(named), Path(folder) / "bw.jsonl"))


def fit(model: str, method: str | None) -> FittedModel:
    """A model fitted to all of the file."""
    return chiplog.fit(run(), model, method=method)


@cache
def half_round_trips() -> tuple[NDArray[np.int64], dict[int, NDArray[np.float64]]]:
    """The sizes in bytes, and by the number of pairs the medians over the runs in seconds, shape of the sizes."""
    table = pair_table(run(), "median")
    sizes = np.unique(table.message_bytes)
    return sizes, {
        int(k): np.array(
            [
                np.median(table.seconds[(table.pairs == k) & (table.message_bytes == n)])
                for n in sizes
            ]
        )
        for k in np.unique(table.pairs)
    }


def range_of_runs(message_bytes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the longest half round trip of a size over the runs in seconds, shape (pairs,)."""
    table = pair_table(run(), "median")
    found = [
        table.seconds[(table.pairs == k) & (table.message_bytes == message_bytes)]
        for k in np.unique(table.pairs)
    ]
    return np.array([one.min() for one in found]), np.array([one.max() for one in found])

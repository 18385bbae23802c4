"""Which algorithm wins for which numbers of ranks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial

from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.jobs.prediction_page import prediction_page
from chiplog.prediction.over_ranks import Reign, predict_over_ranks, reigns
from chiplog.prediction.predict import predict
from chiplog.report.markdown import render_document

VALUES = {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9}


def test_neighbouring_numbers_of_ranks_with_one_winner_are_one_row() -> None:
    """A broadcast of 1 B: with 2 ranks all are one; the LogP-optimal tree can't lose."""
    rows = predict_over_ranks(partial(predict, [fit_of("loggp", VALUES)], "bcast"), Task(64))
    assert {row.ranks for row in rows} == {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}
    found = reigns(rows)
    assert found[0].first_ranks == 2 and found[-1].last_ranks == 64
    assert all("logp-optimal" in one.algorithms for one in found)
    assert all(a.algorithms != b.algorithms for a, b in itertools.pairwise(found))


def test_overlapping_intervals_are_unclear_and_name_all_that_may_win() -> None:
    fits = [fit_of("loggp", VALUES, spread=0.5)]
    rows = predict_over_ranks(partial(predict, fits, "allreduce"), Task(4, 1024))
    doubtful = [replace(row, verdict="unclear") for row in rows if row.ranks == 4][:2]
    names = tuple(sorted(row.algorithm for row in doubtful))
    assert reigns(doubtful) == (Reign(4, 4, names),)
    page = render_document(prediction_page(rows))
    assert "unclear" in page and "lower-bound" in page

"""Which series a fit may use."""

from __future__ import annotations

from dataclasses import replace

from synthetic import synthetic_dataset

from chiplog.dataset.series import Dataset
from chiplog.fitting.choice import with_receives
from chiplog.models.piecewise import Piece

THETA = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
RUN = synthetic_dataset([Piece(None, THETA)], [8, 64], samples=3)
RECEIVES = RUN.select(pattern="receive_overhead").series


def listed(**changes: str) -> Dataset:
    """The posts of the run as lists."""
    posts = RUN.select(pattern="send_overhead").series
    return replace(RUN, series=tuple(replace(one, posting="list", **changes) for one in posts))


def test_a_list_uses_the_receives_of_messages_that_were_posted_normally() -> None:
    mine = listed()
    assert with_receives(RUN, mine).series == (*mine.series, *RECEIVES)


def test_receives_are_not_lent_to_another_operation() -> None:
    mine = listed(operation="rdma-write-immediate")
    assert with_receives(RUN, mine) == mine


def test_what_has_receives_of_its_own_keeps_to_them() -> None:
    own = replace(RUN, series=tuple(replace(one, posting="inline") for one in RUN.series))
    assert with_receives(RUN, own) == own
    assert with_receives(RUN, RUN) == RUN

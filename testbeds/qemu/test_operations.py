"""Every operation and posting, as the probe measures them, over verbs and over libfabric's verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from requests_by_hand import request

from chiplog.dataset.run_file import read_run
from chiplog.measurement.probes import base_probe
from chiplog.plan.request import Request, SeriesRequest

Boot = Callable[..., str]
WITH_RECEIVER = ("send", "rdma-write", "rdma-write-immediate")
OPERATIONS = (*WITH_RECEIVER, "rdma-read", "atomic")
POSTINGS = {
    **dict.fromkeys(WITH_RECEIVER, ("normal", "inline", "list")),
    **dict.fromkeys(("rdma-read", "atomic"), ("normal", "list")),
}


def series() -> Iterator[SeriesRequest]:
    """A train of each, and one to two; lists are posted to several peers only."""
    for operation, postings in POSTINGS.items():
        for posting in postings:
            how = {"operation": operation, "posting": posting}
            yield SeriesRequest("one_to_many", 8, peers=2, **how)
            if posting != "list":
                yield SeriesRequest("prtt", 8, train=10, **how)


def requests() -> list[Request]:
    return [request(number, one) for number, one in enumerate(series())]


@pytest.fixture(scope="module")
def out(boot: Boot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("operations")
    (directory / "requests.jsonl").write_text("".join(one.line() for one in requests()))
    boot("real", directory, "operations.sh", base_probe(), "/mnt/out/requests.jsonl")
    return directory


@pytest.mark.parametrize("transport", ["verbs", "ofi"])
def test_every_operation_is_measured_and_its_payload_arrives(transport: str, out: Path) -> None:
    run = read_run(out / f"{transport}.jsonl")
    assert len(run.series) == len(requests())
    for operation in OPERATIONS:
        assert run.select(operation=operation).series

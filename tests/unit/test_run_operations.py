"""Which operations `chiplog run` measures on a target."""

from __future__ import annotations

from chiplog.jobs.many import in_all_ways
from chiplog.plan import PlanOptions

PLAN = PlanOptions("ofi", ("one_to_many",), (1, 8192), ranks=4)


def test_all_that_the_transport_declares_is_measured() -> None:
    capabilities = {
        "remote_write": True,
        "remote_read": True,
        "write_with_immediate": False,
        "atomics": True,
        "inline_send": True,
        "list_posting": True,
    }
    plan = in_all_ways(PLAN, {"capabilities": capabilities})
    assert plan.operations == ("send", "rdma-write", "rdma-read", "atomic")
    assert plan.postings == ("normal", "inline", "list")
    assert plan.sizes == (1, 8, 8192)


def test_a_transport_of_messages_alone_is_measured_as_before() -> None:
    assert in_all_ways(PLAN, {"capabilities": {"two_sided": True}}) == PLAN
    assert in_all_ways(PLAN, {}) == PLAN

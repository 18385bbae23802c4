"""Nodes that share a CPU, as containers and network namespaces of one machine do.

A message between two such nodes wakes nobody on another CPU, so its latency is another one: 12.6 us, not 26 us, on a
machine of two CPUs. That says nothing of links, leaves or nodes, so latencies are judged without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.dataset.oversubscription import header_list

if TYPE_CHECKING:
    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues

NO_CPU = -1
LEAST_PAIRS = 3
"""Pairs that share a CPU, and others, from which it is known what that changes: one wild figure moves no median."""


def cpus_of_ranks(header: Mapping[str, object]) -> IntArray | None:
    """(ranks,) a number for the CPU that each rank is bound to, NO_CPU without one; None where no two share one."""
    kernels, binding = header_list(header.get("kernels")), header_list(header.get("binding"))
    ranks = header.get("ranks")
    if len(kernels) != ranks or len(binding) != ranks:
        return None
    number: dict[tuple[str, str], int] = {}
    cpus = np.full(len(kernels), NO_CPU, dtype=np.int64)
    for rank, (kernel, allowed) in enumerate(zip(kernels, map(header_list, binding), strict=True)):
        if len(allowed) == 1:
            cpus[rank] = number.setdefault((str(kernel), str(allowed[0])), len(number))
    return cpus if len(number) < np.count_nonzero(cpus != NO_CPU) else None


def time_on_one_cpu(sweep: PairValues) -> float:
    """How many times as long the latencies of pairs that share a CPU are as others'; 1 where few pairs do, or all.

    By the medians of a sweep.
    """
    shared = sweep.share_a_cpu
    known = np.isfinite(sweep.values)
    on_one_cpu, on_two_cpus = sweep.values[known & shared], sweep.values[known & ~shared]
    if min(on_one_cpu.size, on_two_cpus.size) < LEAST_PAIRS:
        return 1.0
    return float(np.median(on_one_cpu) / np.median(on_two_cpus))


def evened(values: PairValues, times: float) -> PairValues:
    """The latencies as they would be if no two nodes shared a CPU; `times` as `time_on_one_cpu` says."""
    if times == 1:
        return values
    figures: FloatArray = np.where(values.share_a_cpu, values.values / times, values.values)
    return replace(values, values=figures)

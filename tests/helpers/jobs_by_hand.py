"""Made-up jobs as the files that other programs write: archives of PICO, and detail.out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from new_tools_files import pico_archive

HEADER = (
    "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,gpu_awareness"
)
CALLS = 10
Times = Mapping[tuple[int, str], float]
"""Seconds by bytes and algorithm, of a message (or of all blocks together)."""


def pico_job(
    system: Path,
    stamp: str,
    times: Times,
    *,
    operation: str = "ALLREDUCE",
    nodes: int = 8,
    mpi: str = "OMPI,4.1.6",
) -> Path:
    """The archive of a job with one test; its row is added to SYSTEM_metadata.csv beside the system's folder."""
    system.mkdir(parents=True, exist_ok=True)
    metadata = system.with_name(f"{system.name}_metadata.csv")
    rows = metadata.read_text() if metadata.exists() else f"{HEADER}\n"
    metadata.write_text(f"{rows}{stamp},0,{nodes},1,{operation},{mpi},no\n")
    files = {
        f"0/{size // 4}_{name}_int32.csv": "highest\n" + f"{round(seconds * 1e9)}\n" * CALLS
        for (size, name), seconds in times.items()
    }
    archive = system / f"{stamp}.tar.gz"
    archive.write_bytes(pico_archive(files, stamp))
    return archive


def scattered(times: Times, jobs: int, scatter: float = 0.01, seed: int = 1) -> list[Times]:
    """As many jobs, each of whose times is off by its own normal logarithm."""
    random = np.random.default_rng(seed)
    return [
        {key: seconds * math.exp(random.normal(0.0, scatter)) for key, seconds in times.items()}
        for _ in range(jobs)
    ]


def pico_jobs(system: Path, jobs: Sequence[Times], **test: object) -> list[Path]:
    """An archive for each job."""
    return [
        pico_job(system, f"2025_01_{place + 1:02}___00_00_00", times, **test)  # type: ignore[arg-type]
        for place, times in enumerate(jobs)
    ]


def detail_out(folder: Path, times: Mapping[tuple[int, int, str], float]) -> Path:
    """The table of ompi-collectives-tuning: seconds by ranks, bytes and number; the folder names the operation."""
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted({name for _, _, name in times})
    lines = ["#Nnodes    Message_size " + "  ".join(names)]
    for ranks, size in sorted({(ranks, size) for ranks, size, _ in times}):
        cells = [
            f"{times[ranks, size, name] * 1e6:.2f}(0.10)"
            if (ranks, size, name) in times
            else "No data"
            for name in names
        ]
        lines.append(f"{ranks}  {size}  " + "  ".join([*cells, cells[0]]))
    path = folder / "detail.out"
    path.write_text("\n".join(lines) + "\n")
    return path

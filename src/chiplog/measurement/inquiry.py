"""What a probe says about itself and its machine (`--list`, `--clock`), and all transports with their operations."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.dataset.operations import INLINE, LIST, NORMAL, SEND
from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.probes import base_probe
from chiplog.outside import as_json
from chiplog.plugins import did_you_mean

PATIENCE_SECONDS = 20.0
"""Given: how long a probe may take to answer."""
MPI = "mpi"
"""The transport whose probe is built for each MPI."""


@dataclass(frozen=True)
class TransportFacts:
    """One transport of a probe; `options` is how they are written after the colon of a target."""

    name: str
    summary: str
    options: str
    capabilities: Mapping[str, object]
    usable: bool = True
    why: str = ""
    """What was found on this machine, or what is missing."""
    choices: tuple[str, ...] = ()
    """Options that this machine has something for, e.g. "provider=tcp"."""
    remedy: str = ""
    """What makes it usable, where it isn't; without a full stop."""


@dataclass(frozen=True)
class NotBuilt:
    """A transport that the probe was built without, and what was missing then."""

    name: str
    needs: str


def transports() -> tuple[TransportFacts, ...]:
    """The transports of the base probe; RunFailed where it can't be asked."""
    return all_transports()[0]


def all_transports(
    probe: Path | None = None,
) -> tuple[tuple[TransportFacts, ...], tuple[NotBuilt, ...]]:
    """The transports of `probe`, and those that it was built without; RunFailed where it can't be asked."""
    asked = probe or base_probe()
    answer = ask(asked, "--list")
    try:
        return (
            tuple(_transport(listed) for listed in answer["transports"]),
            tuple(
                NotBuilt(missing["name"], missing["needs"])
                for missing in answer.get("not_built", ())
            ),
        )
    except (KeyError, TypeError) as error:
        raise RunFailed(f"{asked} --list answers without {error}.") from error


def _transport(listed: Mapping[str, Any]) -> TransportFacts:
    availability = listed.get("availability", {})
    return TransportFacts(
        listed["name"],
        listed["summary"],
        listed["options"],
        listed["capabilities"],
        availability.get("usable", True),
        availability.get("why", ""),
        tuple(availability.get("choices", ())),
        availability.get("remedy", ""),
    )


def check_transports(targets: Sequence[str], *, elsewhere: bool = False) -> None:
    """Raises UsageError for a target whose transport is not there, or not usable here.

    With `elsewhere`, ranks run on other hosts, which may be able to do what this one is not. MPI is another probe's.
    """
    known, not_built = all_transports()
    facts = {transport.name: transport for transport in known}
    needs = {transport.name: transport.needs for transport in not_built}
    for target in targets:
        name = target.partition(":")[0]
        if name == MPI:
            continue
        if name in needs:
            raise UsageError(
                f"{target}: this probe was built without {name}; install {needs[name]} and then chiplog again."
            )
        if name not in facts:
            names = ", ".join([*facts, MPI])
            near = did_you_mean(name, [*facts, MPI])
            if "," in name:
                near = " Several targets stand apart, as in chiplog run shm tcp."
            raise UsageError(f"{target}: there is no transport '{name}'; there are {names}.{near}")
        if not facts[name].usable and not elsewhere:
            remedy = facts[name].remedy or "see chiplog doctor"
            raise UsageError(f"{target}: is not usable here: {facts[name].why}; {remedy}.")


def clock_and_machine(probe: Path | None = None) -> Mapping[str, Any]:
    """The clock as the probe finds it, the machine and what makes numbers noisy, as in a run's header."""
    return ask(probe or base_probe(), "--clock")


def ask(probe: Path, question: str) -> Mapping[str, Any]:
    """The JSON object that `probe` answers to one option."""
    try:
        done = subprocess.run(
            [str(probe), question],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise RunFailed(f"the probe does not answer: {probe} {question}: {error}.") from error
    answer = as_json(done.stdout)
    if not isinstance(answer, dict):
        raise RunFailed(f"{probe} {question} answers with something else than an object.")
    return answer


CAPABILITIES: Mapping[str, str] = {
    SEND: "two_sided",
    "rdma-write": "remote_write",
    "rdma-write-immediate": "write_with_immediate",
    "rdma-read": "remote_read",
    "atomic": "atomics",
}
"""The capability that each operation needs."""
POSTING_CAPABILITIES: Mapping[str, str] = {INLINE: "inline_send", LIST: "list_posting"}
MPI_SUMMARY = (
    "an MPI of this machine: messages and, as mpi:rma, one-sided operations; its probe is built at first use, or by "
    "chiplog probe build --mpi mpicxx"
)
MPI_OPERATIONS = (SEND, "rdma-write", "rdma-read", "atomic")
"""The one-sided ones as mpi:rma."""


@dataclass(frozen=True)
class KnownTransport:
    """A transport, what it is, and what it can do; without operations where this probe was built without it."""

    name: str
    summary: str
    operations: tuple[str, ...]
    postings: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The summary with the operations and postings."""
        if not self.operations:
            return self.summary
        return f"{self.summary}; operations {', '.join(self.operations)}; posting {', '.join(self.postings)}"


def known_transports() -> tuple[KnownTransport, ...]:
    """Every transport that a target may name; RunFailed where the probe can't be asked."""
    built, not_built = all_transports()
    mpi = KnownTransport(MPI, MPI_SUMMARY, MPI_OPERATIONS, (NORMAL, LIST))
    missing = tuple(
        KnownTransport(absent.name, f"not built: needs {absent.needs}", (), ())
        for absent in not_built
    )
    return (*map(_known, built), mpi, *missing)


def _known(facts: TransportFacts) -> KnownTransport:
    able = facts.capabilities
    operations = tuple(name for name, needed in CAPABILITIES.items() if able.get(needed))
    postings = tuple(name for name, needed in POSTING_CAPABILITIES.items() if able.get(needed))
    return KnownTransport(facts.name, facts.summary, operations, (NORMAL, *postings))

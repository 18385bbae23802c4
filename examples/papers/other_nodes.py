"""The slides' further machines, of which they print nothing: nodes that are simulated with rates of our choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from papers.pairs import HalfRoundTrips, draw_error, draw_model, draw_rates, half_round_trips
from papers.section import Section, fit_of, measured, run_of


@dataclass(frozen=True)
class Machine:
    """A machine of the slides, and the simulated nodes in its place; `ranks` are those of both nodes."""

    key: str
    name: str
    network: str
    ranks: int
    models: tuple[str, ...] = ("max-rate",)
    differs: str = ""
    says: str = "Measured times in one panel, the model's in another; no number is printed."
    seed: int = 1

    @property
    def command(self) -> str:
        """What measures it."""
        return measured(
            f"sim:{self.network},noise=0.03", "pairs", "4:1MiB:1", self.ranks, self.seed
        )


MACHINES = (
    Machine(
        "taub-tcp",
        "Taub, TCP",
        "L=20us,o=4us,R_C=0.11GB/s,R_N=0.12GB/s",
        24,
    ),
    Machine(
        "taub-infiniband",
        "Taub, InfiniBand",
        "L=1.2us,o=0.3us,R_C=1.8GB/s,R_N=3.2GB/s,change=16KiB:L=4us",
        24,
        seed=2,
    ),
    Machine(
        "blue-gene",
        "Blue Gene/Q",
        "L=2us,o=0.5us,R_C=1.5GB/s,R_N=1.8GB/s",
        32,
        seed=3,
    ),
    Machine(
        "cisco",
        "Cisco",
        "L=1.5us,o=0.4us,R_C=0.7GB/s,R_N=1.2GB/s,change=32KiB:L=5us",
        32,
        seed=4,
        differs=" The simulated nodes change the protocol above 32 KiB, which adds 3.5 µs. chiplog does not find that "
        "here: it is 4 % of the time of one pair at the next size, less of larger ones and of more pairs, and the "
        "noise is 3 %. So one line is fitted to all sizes.",
    ),
    Machine(
        "blue-gene-modified",
        "Blue Gene/Q, modified",
        "L=2us,o=0.5us,R_C=1.5GB/s,R_N=1.8GB/s,start-up=hidden",
        32,
        ("max-rate-modified", "max-rate"),
        says="Measured times in one panel, in another those of T = k n / min(R_N, k n / (s + n / R_C)); no number is "
        "printed.",
        seed=5,
    ),
)


@cache
def _times(machine: Machine) -> HalfRoundTrips:
    return half_round_trips(run_of(machine.command))


def _model(machine: Machine) -> Callable[[Any], str]:
    def picture(axes: Any) -> str:
        fit = fit_of(machine.command, machine.models[0])
        last = fit.details.segments[-1].parameters
        rates = " and ".join(
            f"{symbol} = {last[symbol].value / 1e9:.3f} GB/s"  # type: ignore[operator]
            for symbol in ("R_C", "R_N")
        )
        return f"{draw_model(axes, _times(machine), fit)} Of the largest messages: {rates}."

    return picture


def _error(machine: Machine) -> Callable[[Any], str]:
    def picture(axes: Any) -> str:
        fits = [fit_of(machine.command, model) for model in machine.models]
        shows = draw_error(axes, _times(machine), fits[0])
        if len(fits) == 1:
            return shows
        plain = fits[1].details.error
        return f"{shows} Unmodified max-rate misses the same times by {100 * plain.mean_relative:.1f} % on average."

    return picture


DIFFERS = (
    "The slides print neither times nor parameters of this machine, and it is gone. Two simulated nodes stand for it, "
    "with rates that we chose near those of such links, and 3 % of noise: the picture shows what the model makes of "
    "such nodes, not what the machine did."
)


def _fits(machine: Machine) -> tuple[str, ...]:
    return tuple(f"chiplog fit run.jsonl --model {model}" for model in machine.models)


SECTIONS = (
    Section(
        "blue-gene-rates",
        "Blue Gene/Q: rate of one process over size",
        "The rate of one MPI process; no number is printed.",
        (MACHINES[2].command,),
        lambda axes: draw_rates(axes, _times(MACHINES[2])),
        DIFFERS,
    ),
    *(
        section
        for machine in MACHINES
        for section in (
            Section(
                machine.key,
                f"{machine.name}: measured times and model, on simulated nodes",
                machine.says,
                (machine.command, _fits(machine)[0]),
                _model(machine),
                DIFFERS + machine.differs,
            ),
            Section(
                f"{machine.key}-errors",
                f"{machine.name}: relative error, on simulated nodes",
                "The relative error; no number is printed.",
                (machine.command, *_fits(machine)),
                _error(machine),
                DIFFERS + machine.differs,
            ),
        )
    ),
)

"""A made-up report input with known truth, for tests of the report and for pictures of it.

The samples come from a seeded generator, the fits from the truth that it was given: nothing here is
measured, and the
fits are as good or as bad as they are asked to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chiplog.comparison.result import ModelRow
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.result import Cost, Curve, Fit, FitError, Parameter, Segment
from chiplog.models.registry import load_model
from chiplog.protocol_changes.change import Change
from chiplog.report.input import (
    Placement,
    PlacementState,
    ReportedChanges,
    ReportInput,
    TargetReport,
)

MODELS = ("hockney", "logp", "loggp", "loggps", "plogp")
VISITS = 3


@dataclass(frozen=True)
class Truth:
    """One protocol: LogGP's parameters in seconds and seconds per byte, up to `last_bytes`."""

    last_bytes: int
    L: float
    o_s: float
    o_r: float
    g: float
    G: float


SHM = (Truth(2**20, 95e-9, 42e-9, 38e-9, 61e-9, 0.088e-9),)
TCP = (
    Truth(32768, 7.9e-6, 3.46e-6, 2.9e-6, 2.1e-6, 0.21e-9),
    Truth(2**20, 9.4e-6, 4.1e-6, 3.3e-6, 6.2e-6, 0.33e-9),
)
MPI = (
    Truth(4096, 0.24e-6, 0.11e-6, 0.14e-6, 0.31e-6, 0.19e-9),
    Truth(2**20, 1.10e-6, 0.62e-6, 0.35e-6, 1.9e-6, 0.081e-9),
)


def sample_report(*, samples: int = 24, seed: int = 7) -> ReportInput:
    """A report of three targets, like that of a default run."""
    targets = (
        sample_target("shm", SHM, samples=samples, seed=seed, noise=0.02),
        sample_target("tcp:bind=127.0.0.1", TCP, samples=samples, seed=seed + 1, noise=0.06),
        sample_target("mpi", MPI, samples=samples, seed=seed + 2, noise=0.03),
    )
    return ReportInput(
        title="How messages move on node017",
        targets=targets,
        created="2026-01-05T10:20:30Z",
        command=("chiplog", "run", "-o", "report"),
        cost=Cost(412_806, 1_234_567_890, 47.3),
        versions=(("chiplog", "0.1.0"), ("Python", "3.11.2"), ("NumPy", "2.1.0")),
    )


def sample_target(
    name: str, truth: tuple[Truth, ...], *, samples: int = 24, seed: int = 7, noise: float = 0.03
) -> TargetReport:
    """One target with five models, four methods and the changes between `truth`'s protocols."""
    generator = np.random.default_rng(seed)
    sizes = _sizes(truth)
    dataset = _dataset(name, truth, sizes, samples, noise, generator)
    changes = _changes(truth)
    fits = tuple(_fits(name, truth, sizes, noise, changes, generator))
    return TargetReport(
        name=name,
        dataset=dataset,
        fits=fits,
        series_changes=tuple(
            ReportedChanges(series, changes if series != "o_r" else ())
            for series in ("half_round_trip", "gap", "o_s", "o_r")
        ),
        consensus=changes,
        comparison=tuple(
            ModelRow(
                fit.model,
                fit.method,
                "every 5th size",
                _parameter_count(fit),
                _of_half_trips(fit, sizes),
                patterns=1 if load_model(fit.model).single_messages else 2,
                misses={"half round trips": _misses(fit)},
            )
            for fit in fits
        ),
        placement=_placement(dataset) if name.startswith("mpi") else None,
        raw_files=(f"report/{name.partition(':')[0]}.jsonl",),
    )


def without_fits(target: TargetReport) -> TargetReport:
    """The same samples, nothing fitted."""
    return replace(target, fits=(), comparison=(), consensus=(), series_changes=())


def one_way(truth: tuple[Truth, ...], size: int) -> float:
    """Half round trip of the truth in seconds."""
    protocol = _protocol(truth, size)
    return protocol.o_s + (max(size, 1) - 1) * protocol.G + protocol.L + protocol.o_r


def _protocol(truth: tuple[Truth, ...], size: int) -> Truth:
    return next((protocol for protocol in truth if size <= protocol.last_bytes), truth[-1])


def _sizes(truth: tuple[Truth, ...]) -> NDArray[np.int64]:
    grid = {round(2 ** (exponent / 2)) for exponent in range(41)}
    for protocol in truth[:-1]:
        grid |= {protocol.last_bytes, protocol.last_bytes + 1}
    return np.array(sorted(size for size in grid if size <= truth[-1].last_bytes), dtype=np.int64)


def _dataset(
    name: str,
    truth: tuple[Truth, ...],
    sizes: NDArray[np.int64],
    samples: int,
    noise: float,
    generator: np.random.Generator,
) -> Dataset:
    series: list[Series] = []
    record = 0
    for visit in range(VISITS):
        far = name.startswith("mpi") and visit == 2
        for size in generator.permutation(sizes):
            seconds = 2 * one_way(truth, int(size)) * (1.35 if far and size < 2048 else 1.0)
            drawn = seconds * np.exp(noise * generator.standard_normal(samples + 2))
            drawn[generator.random(samples + 2) < 0.01] *= 10
            series.append(_series(int(size), visit, record, drawn, far, generator))
            record += 1
    return Dataset(_header(name), tuple(series), True, f"report/{name.partition(':')[0]}.jsonl")


def _series(
    size: int,
    visit: int,
    record: int,
    drawn: NDArray[np.float64],
    far: bool,
    generator: np.random.Generator,
) -> Series:
    placement = (212e-9 if far else 124e-9) * float(np.exp(0.02 * generator.standard_normal()))
    return Series(
        pattern="prtt",
        operation="send",
        posting="normal",
        direction="round-trip",
        message_bytes=size,
        train=1,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=visit,
        record_id=record,
        placement_seconds=placement,
        messages=2 * len(drawn),
        bytes_sent=2 * size * len(drawn),
        elapsed_seconds=float(drawn.sum()),
        warmup_seconds=drawn[:2],
        seconds=drawn[2:],
        tag={"purpose": "grid"},
    )


def _header(name: str) -> Mapping[str, object]:
    transport = name.partition(":")[0]
    return {
        "type": "header",
        "schema": "chiplog.run/1",
        "chiplog": "0.1.0",
        "run_id": "5f0e9c1b2a3d4e6f",
        "created": "2026-01-05T10:19:40Z",
        "target": name,
        "transport": transport,
        "ranks": 2,
        "seed": 7,
        "launch": 0,
        "clock": {
            "name": "tsc",
            "resolution_ns": 10.0,
            "overhead_ns": 12.0,
            "frequency_hz": 2.5e9,
            "frequency_relative_error": 1e-7,
        },
        "hosts": ["node017", "node017"],
        "binding": [[0], [1]],
        "machine": {
            "cpu_model": "AMD EPYC 7R13 Processor",
            "kernel": "Linux 6.1.0-28-cloud-amd64",
            "cores": 2,
            "governor": None,
            "hypervisor": "KVM",
        },
        "options": {"bind": "127.0.0.1", "nodelay": "on"} if transport == "tcp" else {},
        "mpi": {
            "library": "Open MPI v5.0.8",
            "standard": "3.1",
            "settings": {"OMPI_MCA_btl": "self,sm", "UCX_TLS": "self,sm"},
        }
        if transport == "mpi"
        else None,
        "warnings": [
            {
                "fact": "the clock advances in steps",
                "number": 10.0,
                "unit": "ns",
                "remedy": "nothing to do: short operations are timed in batches",
            },
            {
                "fact": "this is a virtual machine: its cores may be moved while it measures",
                "number": None,
                "unit": None,
                "remedy": "repeat the run, and compare the placement states",
            },
        ],
    }


def _changes(truth: tuple[Truth, ...]) -> tuple[Change, ...]:
    changes = []
    for before, after in pairwise(truth):
        edge = before.last_bytes
        jump = one_way((after,), edge + 1) / one_way((before,), edge) - 1
        start = (after.L + after.o_s + after.o_r) - (before.L + before.o_s + before.o_r)
        crossing = 1 + start / (before.G - after.G) if before.G != after.G else -1.0
        changes.append(
            Change(
                edge,
                edge + 1,
                "both",
                jump,
                ("half_round_trip", "gap", "o_s"),
                crossing if crossing > 0 else None,
            )
        )
    return tuple(changes)


def _fits(
    name: str,
    truth: tuple[Truth, ...],
    sizes: NDArray[np.int64],
    noise: float,
    changes: tuple[Change, ...],
    generator: np.random.Generator,
) -> list[Fit]:
    curves = {quantity: _measured(truth, sizes, quantity, noise, generator) for quantity in _EXACT}
    made = [
        _fit(name, truth, model, "prtt", curves, changes) for model in MODELS if model != "plogp"
    ]
    made.append(_fit(name, truth, "plogp", "kielmann", curves, changes))
    made += [_fit(name, truth, "loggp", method, curves, changes) for method in ("culler", "bell")]
    return made


_EXACT = {
    "half_round_trip": lambda p, s: p.o_s + (max(s, 1) - 1) * p.G + p.L + p.o_r,
    "gap": lambda p, s: max(p.o_s, p.g + (max(s, 1) - 1) * p.G),
    "o_s": lambda p, s: p.o_s,
    "o_r": lambda p, s: p.o_r,
}


def _measured(
    truth: tuple[Truth, ...],
    sizes: NDArray[np.int64],
    quantity: str,
    noise: float,
    generator: np.random.Generator,
) -> Curve:
    exact = np.array([_EXACT[quantity](_protocol(truth, int(s)), int(s)) for s in sizes])
    seconds = exact * np.exp(0.4 * noise * generator.standard_normal(len(sizes)))
    return Curve(quantity, sizes, seconds, seconds * (1 - noise), seconds * (1 + noise), exact)


def _fit(
    name: str,
    truth: tuple[Truth, ...],
    model: str,
    method: str,
    measured: Mapping[str, Curve],
    changes: tuple[Change, ...],
) -> Fit:
    quantities = {"hockney": ("half_round_trip",)}.get(model, tuple(measured))
    curves = tuple(_predicted(model, truth, measured[quantity]) for quantity in quantities)
    share = {"prtt": 1.0, "culler": 0.6, "kielmann": 0.7, "bell": 2.2}[method]
    return Fit(
        model=model,
        method=method,
        transport=name.partition(":")[0],
        operation="send",
        direction="one-way",
        statistic="median",
        segments=_segments(model, truth),
        changes=changes if model in ("loggp", "loggps") else (),
        error=error_of(curves),
        cost=Cost(round(36_000 * share), round(96_000_000 * share), 1.9 * share),
        curves=curves,
    )


def _predicted(model: str, truth: tuple[Truth, ...], curve: Curve) -> Curve:
    sizes = curve.message_bytes
    if model == "hockney":
        first, last = one_way(truth, 1), one_way(truth, int(sizes[-1]))
        predicted = (first + sizes * (last - first) / float(sizes[-1])).astype(np.float64)
    elif model == "logp":
        predicted = np.full(len(sizes), float(curve.predicted_seconds[0]))
    elif model == "plogp":
        predicted = curve.predicted_seconds * 1.004
    else:
        predicted = curve.predicted_seconds
    return replace(curve, predicted_seconds=predicted)


def _misses(fit: Fit) -> NDArray[np.float64]:
    """|ln(predicted / measured)| of the half round trips."""
    curve = next(one for one in fit.curves if one.quantity == "half_round_trip")
    return np.abs(np.log(curve.predicted_seconds / curve.measured_seconds))


def error_of(curves: tuple[Curve, ...]) -> FitError:
    """The error of a model over some curves."""
    measured = np.concatenate([curve.measured_seconds for curve in curves])
    predicted = np.concatenate([curve.predicted_seconds for curve in curves])
    relative = np.abs(predicted - measured) / measured
    factor = float(np.exp(np.mean(np.abs(np.log(predicted / measured)))))
    return FitError(
        len(relative),
        float(relative.mean()),
        float(np.median(relative)),
        float(relative.max()),
        factor,
    )


def _segments(model: str, truth: tuple[Truth, ...]) -> tuple[Segment, ...]:
    if model == "hockney":
        rate = (truth[-1].last_bytes - 1) / (
            one_way(truth, truth[-1].last_bytes) - one_way(truth, 1)
        )
        parameters = {
            "alpha": _parameter("alpha", one_way(truth, 1), "s"),
            "R": _parameter("R", rate, "B/s"),
        }
        return (Segment(1, truth[-1].last_bytes, parameters),)
    if model == "logp":
        return (Segment(1, truth[-1].last_bytes, _loggp(truth[0], ("L", "o_s", "o_r", "g"))),)
    if model == "plogp":
        return (Segment(1, truth[-1].last_bytes, {"L": _parameter("L", truth[0].L * 0.93, "s")}),)
    first, segments = 1, []
    for index, protocol in enumerate(truth):
        parameters = _loggp(protocol, ("L_half", "L", "o_s", "o_r", "g", "G"))
        if model == "loggps" and index == len(truth) - 1 and len(truth) > 1:
            parameters["S"] = Parameter(
                "S", float(first - 1), float(first - 1), float(first), "B", True
            )
        segments.append(Segment(first, protocol.last_bytes, parameters))
        first = protocol.last_bytes + 1
    return tuple(segments)


def _loggp(protocol: Truth, symbols: tuple[str, ...]) -> dict[str, Parameter]:
    values = {
        "L_half": protocol.L + protocol.o_s + protocol.o_r,
        "L": protocol.L,
        "o_s": protocol.o_s,
        "o_r": protocol.o_r,
        "g": protocol.g,
        "G": protocol.G,
    }
    made = {s: _parameter(s, values[s], "s/B" if s == "G" else "s") for s in symbols}
    if protocol.o_s > protocol.g and "g" in made:
        reason = "o_s exceeds the gap at small sizes, so a train shows o_s only"
        made["g"] = Parameter("g", None, None, None, "s", False, reason)
    return made


def _parameter(symbol: str, value: float, unit: str) -> Parameter:
    return Parameter(symbol, value, value * 0.985, value * 1.02, unit, True)


def _of_half_trips(fit: Fit, sizes: NDArray[np.int64]) -> FitError:
    """The fit's error as that of all half round trips, which each model predicts."""
    return replace(fit.error, points=int(sizes.size))


def _parameter_count(fit: Fit) -> int:
    return 96 if fit.model == "plogp" else sum(len(s.parameters) for s in fit.segments)


def _placement(dataset: Dataset) -> Placement:
    far = sum(
        series.placement_seconds is not None and series.visit == 2 for series in dataset.series
    )
    return Placement(
        (
            PlacementState(124e-9, len(dataset.series) - far, (0,)),
            PlacementState(212e-9, far, (0,)),
        ),
        "The cores were in 2 placement states (bare flag exchange 124 ns, 212 ns): visit 3 differs for that reason.",
    )

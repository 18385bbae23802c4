"""Measure a simulated network whose parameters are known, fit LogGP, and see them come back."""

from __future__ import annotations

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions, parse_sizes

TARGET = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02,seed=7"
TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}

options = PlanOptions(transport="sim", patterns=("prtt",), sizes=parse_sizes("1:64KiB"))
measured = measure(TARGET, "run.jsonl", options)
print(measured.sentence())

(loggp,) = fit(read_run("run.jsonl"), ["loggp"])
for symbol, truth in TRUTH.items():
    found = loggp.segments[0].parameters[symbol]
    print(
        f"{symbol:4} {found.value:.3e} [{found.low:.3e}, {found.high:.3e}] {found.unit}, truly {truth:.3e}"
    )
    assert found.value is not None
    assert abs(found.value / truth - 1) < 0.1

"""A ReFrame library test: what a target takes, as a ratio to a baseline of the same job.

reframe -c chiplog_ratios.py -r -S target=mpi -S baseline=shm

A ratio has the same references on every machine; a site's own test derives from the class and sets others.
"""

import shlex

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher

BASELINE_FILE = "baseline.txt"


class MeasuredRatios(rfm.RunOnlyRegressionTest):
    """Half round trips of small messages and the bandwidth of large ones, target over baseline."""

    descr = "chiplog measure: a target's latency and bandwidth over those of a baseline"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    target = variable(str, value="mpi")
    baseline = variable(str, value="shm")
    small_bytes = variable(int, value=8)
    large_bytes = variable(int, value=1048576)
    under_launcher = variable(str, value="")
    """What starts the ranks, such as `srun -N 2`; empty where chiplog starts them itself, on one host."""
    executable = "chiplog"

    @run_before("run")
    def _set_up(self):
        self.job.launcher = getlauncher("local")()  # chiplog starts the ranks
        self.executable_opts = self._words(self.target, "target.jsonl")
        baseline = " ".join(["chiplog", *self._words(self.baseline, "baseline.jsonl")])
        self.prerun_cmds = [f"{baseline} > {BASELINE_FILE}"]

    def _words(self, target, run_file):
        launcher = ["--launcher", shlex.quote(self.under_launcher)] if self.under_launcher else []
        sizes = ["--sizes", f"{self.small_bytes},{self.large_bytes}"]
        return [
            *("measure", shlex.quote(target), "--pattern", "ping_pong", *sizes, "--no-refine"),
            *(*launcher, "--fom", "-o", run_file),
        ]

    def _figure(self, size, name, file):
        pattern = rf"^\S+\.ping_pong\.{size}B\.{name} (?P<value>\S+) \S+$"
        return sn.extractsingle(pattern, file, "value", float)

    def _ratio(self, size, name):
        return self._figure(size, name, self.stdout) / self._figure(size, name, BASELINE_FILE)

    @sanity_function
    def both_are_measured(self):
        pattern = r"^\S+\.half_round_trip \S+ us$"
        return sn.all([sn.assert_found(pattern, file) for file in (self.stdout, BASELINE_FILE)])

    @performance_function("times")
    def latency_ratio(self):
        return self._ratio(self.small_bytes, "half_round_trip")

    @performance_function("times")
    def bandwidth_ratio(self):
        return self._ratio(self.large_bytes, "bandwidth")


@rfm.simple_test
class MpiOverSharedMemory(MeasuredRatios):
    """An MPI takes at most three times as long as bare shared memory, and has at least half its bandwidth."""

    reference = {
        "*": {
            "latency_ratio": (1.0, None, 2.0, "times"),
            "bandwidth_ratio": (1.0, -0.5, None, "times"),
        }
    }

"""A ReFrame test: survey the nodes of a job, and fail where a node, an uplink or a pair is slow beyond doubt.

reframe -C reframe_slurm.py -c survey_reframe.py -r -S target=tcp -S num_nodes=32 -S under_launcher="srun -N 32"

The references of ReFrame are for the medians; who is slow is decided by the survey itself, which needs none.
"""

import json
import shlex
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher


@rfm.simple_test
class SurveyNodes(rfm.RunOnlyRegressionTest):
    """Every two nodes, once; what stands out again."""

    descr = "chiplog survey: is a node, an uplink or a pair slow?"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    target = variable(str, value="tcp")
    num_nodes = variable(int, value=2)
    under_launcher = variable(str, value="")
    """What starts a rank on each node, such as `srun`; empty where chiplog starts them itself, on one host."""
    executable = "chiplog"
    keep_files = ["survey.json", "survey"]

    @run_before("run")
    def _set_up(self):
        self.num_tasks, self.num_tasks_per_node = self.num_nodes, 1
        self.job.launcher = getlauncher("local")()  # chiplog starts the ranks
        ranks = ["--ranks", str(self.num_nodes)]
        launcher = ["--launcher", shlex.quote(self.under_launcher)] if self.under_launcher else []
        out = ["-o", "survey", "--json", "survey.json"]
        self.executable_opts = ["survey", shlex.quote(self.target), *ranks, *launcher, *out]

    def _result(self):
        return json.loads((Path(self.stagedir) / "survey.json").read_text())

    @sanity_function
    def nobody_is_slow(self):
        result = self._result()
        names = ", ".join(
            f"{one['kind']} {one['name']} {one['quantity']} {100 * one['effect']:+.1f} %"
            for one in result["accused"]
        )
        lost = ", ".join(one["node"] for one in result["lost"])
        return sn.all(
            [
                sn.assert_true(result["complete"], "the survey is not finished"),
                sn.assert_false(result["lost"], f"lost: {lost}"),
                sn.assert_false(result["accused"], f"slow: {names}"),
            ]
        )

    @performance_function("MB/s")
    def median_bandwidth(self):
        return self._result()["bandwidth"]["median"] / 1e6

    @performance_function("us")
    def median_latency(self):
        return self._result()["latency"]["median"] * 1e6

"""chiplog: how fast messages really move on a machine, and which model says so.

`run` is the main job. Each other command is a function, too: `chiplog.jobs.measure.measure`,
`chiplog.dataset.importers.import_file`, `chiplog.fit.run.fit`, `chiplog.fit.changes.find_changes`,
`chiplog.compare.models.compare_models`, `chiplog.compare.runs.compare_runs`, `chiplog.export.run.export_file`,
`chiplog.jobs.report.report`, `chiplog.measure.probes.build_probe` and `chiplog.measure.doctor.examine`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chiplog.jobs.run import run

__version__ = "0.1.0"
__all__ = ["__version__", "run"]


def __getattr__(name: str) -> object:
    """`run`, imported when it is first asked for: the rest of the package stays light."""
    if name == "run":
        from chiplog.jobs.run import run

        return run
    raise AttributeError(f"module 'chiplog' has no attribute {name!r}")

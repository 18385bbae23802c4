"""The command `chiplog ucx` as a function."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chiplog.api.words import for_python

if TYPE_CHECKING:
    from chiplog.tune.ucx.result import UcxTuning

File = str | os.PathLike[str]


@for_python
def ucx(
    target: str = "ucx",
    out: File | None = None,
    *,
    sizes: str | Sequence[int] = "8:4MiB:1",
    launches: int = 6,
    launcher: str | None = None,
    seed: int = 1,
) -> UcxTuning:
    """The thresholds of UCX in bytes, with intervals, and what a file may set; `out` gets the environment file.

    `launches` is the number of launches of each protocol at all `sizes`, before the race against what is in force.

    UsageError where the target is not UCX, or sizes or launches are too few; RunFailed where a rank is lost.
    """
    from chiplog.measurement.start import Start
    from chiplog.tune.ucx.tuning import UcxOptions, tune_ucx

    listed = sizes if isinstance(sizes, str) else ",".join(map(str, sizes))
    return tune_ucx(target, out, UcxOptions(listed, launches, seed, Start(launcher)))

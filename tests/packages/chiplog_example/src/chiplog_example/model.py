"""LogGP as first printed: one overhead o for sends and receives.

    T(s)          = o + (s-1) G + L + o
    PRTT(n, d, s) = 2 T(s) + (n-1) max(o + d, g + (s-1) G)

Source: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages into the LogP model",
SPAA 1995, section 3.
"""

from __future__ import annotations

import numpy as np

from chiplog.models.colours import Colour
from chiplog.models.loggp import FORMULAS, LOGGP_PARAMETERS
from chiplog.models.protocol import Formula, Model, ParameterSpec

BY_SYMBOL = {one.symbol: one for one in LOGGP_PARAMETERS}


def _with_one_overhead(formula: Formula) -> Formula:
    """LogGP's formula where o stands for both overheads."""

    def seconds(points, theta):
        both = {"o_s": theta["o"], "o_r": theta["o"]} if "o" in theta else {}
        return formula(points, {**theta, **both})

    return seconds


MODEL = Model(
    name="loggp-1o",
    label="LogGP (one o)",
    source="Alexandrov et al. 1995, section 3",
    parameters=(
        BY_SYMBOL["L"],
        ParameterSpec("o", "s", 0.0, np.inf, "time that a send or a receive keeps a CPU busy"),
        BY_SYMBOL["g"],
        BY_SYMBOL["G"],
    ),
    formulas={name: _with_one_overhead(formula) for name, formula in FORMULAS.items()},
    estimators={"prtt": "chiplog_example.estimate:one_overhead"},
    colour=Colour("#6a3d9a", "#cab2d6", "1 3"),
    speaker="chiplog_example.speaker:OneOverheadSpeaker",
)

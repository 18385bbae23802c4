"""Files of MPICH's control variables: each is given to the MPICH at hand, which says whether it takes it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chiplog.errors import RunFailed
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.run_to_end import run_to_end
from chiplog.outside import as_integer
from chiplog.tune.lint.mpich_release import MpichRelease
from chiplog.tune.lint.rule import Rule, shown
from chiplog.tune.lint.settings_lint import Setting, read_settings

PREFIXES = ("MPIR_CVAR_", "MPIR_PARAM_", "MPICH_")
"""MPICH reads all three."""
RULES_FILE = "_JSON_FILE"
"""How the names of variables end whose values are files of rules."""
SECONDS = 30.0
_VARIABLE = re.compile(r"^variable (\S+) (\S+)$", re.MULTILINE)


def lint_cvars(text: str, release: MpichRelease, program: BuiltProbe | None) -> list[Rule]:
    """Each variable, as MPI_T of the release shows it; `program` prints them."""
    settings, rules = read_settings(text, PREFIXES)
    known = _variables(program, {})
    for setting in settings:
        if program is None or not known:
            why = f"not proved: {release} is not here to ask for its variables"
            rules.append(setting.unproved(why))
        elif setting.replaced_by is not None:
            rules.append(setting.set_again())
        else:
            rules.append(_rule(setting, release, program, known))
    return rules


def _rule(
    setting: Setting, release: MpichRelease, program: BuiltProbe, known: Mapping[str, str]
) -> Rule:
    name = _full_name(setting.name)
    if name not in known:
        return setting.wrong(f"{release} has no variable {shown(setting.name, 80)}")
    if "\0" in setting.value:
        return setting.wrong("its value is binary")
    if name.endswith(RULES_FILE) and (
        without_file := setting.without_file(f"{release} fails as it starts")
    ):
        return without_file
    now = _variables(program, {setting.name: setting.value})
    if not now:
        return setting.wrong(f"{release} does not start with this value")
    if now[name] == "-":
        why = "not proved: its value is no number that MPI_T shows"
        return setting.unproved(why, legal=True)
    number = as_integer(setting.value)
    if number is not None and now[name] != str(number):
        return setting.wrong(f"{release} takes {now[name]} instead")
    return setting.proved()


def _full_name(name: str) -> str:
    for prefix in PREFIXES:
        if name.startswith(prefix):
            return PREFIXES[0] + name.removeprefix(prefix)
    return name


def _variables(program: BuiltProbe | None, settings: Mapping[str, str]) -> Mapping[str, str]:
    """By name the values, "-" for what is no number; empty where the MPI does not start."""
    if program is None:
        return {}
    environment = {**program.mpi.environment, **settings}
    try:
        done = run_to_end([str(program.path), "--variables"], environment, SECONDS)
    except (RunFailed, ValueError):
        return {}
    if done.code != 0 or not done.stdout.endswith("done\n"):
        return {}
    return dict(_VARIABLE.findall(done.stdout))

"""Files of Open MPI's MCA parameters, as `mca-params.conf` or as environment variables OMPI_MCA_NAME."""

from __future__ import annotations

import os
import re

from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import MOST_NAME, Rule, quoted, shown
from chiplog.tune.lint.settings_lint import MpiSetting, read_settings

PREFIX = "OMPI_MCA_"
PROGRAM_PREFIX = "OMPI_"
"""Of Open MPI's variables, those of other kinds and misspelt ones included."""
SWITCH = "coll_tuned_use_dynamic_rules"
RULES_FILE = "_rules_filename"
"""How the names of parameters end whose values are files of rules."""
_LINE = re.compile(
    r"^mca:[^:]*:[^:]*:param:([^:]+):(value|source|type|enumerator:value:[^:]*):(.*)$", re.MULTILINE
)
_CHOICE = re.compile(r"coll_tuned_\w+_algorithm(_\w+)?|coll_tuned_dynamic_rules_filename")


def lint_mca(text: str, release: OpenMpiRelease) -> list[Rule]:
    """Each parameter, as `ompi_info` of the release takes it."""
    settings, rules = read_settings(text, (PROGRAM_PREFIX,))
    given = {
        PREFIX + _name(setting): setting.value for setting in settings if "\0" not in setting.value
    }
    bare = _parameters(release.ask("--all", "--parsable"))
    with_them = _parameters(release.ask("--all", "--parsable", environment=given))
    switched = with_them.get(SWITCH, {}).get("value", "").lower() in ("true", "1", "yes", "enabled")
    for setting in settings:
        if bare and with_them:
            rules.append(_rule(setting, release, bare, with_them, switched))
        elif bare:
            rules.append(_alone(setting, release, bare))
        else:
            rules.append(setting.unproved(f"{release} is not here to ask for this parameter"))
    return rules


Parameters = dict[str, dict[str, str]]


def _parameters(listing: str | None) -> Parameters:
    parameters: Parameters = {}
    for name, what, value in _LINE.findall(listing or ""):
        parameters.setdefault(name, {})[what] = value
    return parameters


def _name(setting: MpiSetting) -> str:
    return setting.name.removeprefix(PREFIX)


def _rule(
    setting: MpiSetting,
    release: OpenMpiRelease,
    bare: Parameters,
    with_them: Parameters,
    switched: bool,
) -> Rule:
    illegal = _illegal(setting, release, bare)
    if illegal:
        return setting.wrong(illegal)
    name = _name(setting)
    if setting.replaced_by is not None:
        return setting.set_again()
    of_environment = os.environ.get(PREFIX + name)
    if (
        of_environment is not None
        and of_environment != setting.value
        and not setting.name.startswith(PREFIX)
    ):
        value = shown(of_environment)
        return setting.not_taken(f"the environment's {PREFIX}{name}={value} outranks it")
    if with_them.get(name, {}).get("source") not in ("environment", None):
        source = with_them[name]["source"]
        return setting.not_taken(f"{release} takes it from elsewhere: {source}")
    if _CHOICE.fullmatch(name) and not switched:
        return setting.not_taken(f"it holds only with {SWITCH}=1, which is not set")
    without_file = (
        setting.without_file("its rules are not read") if name.endswith(RULES_FILE) else None
    )
    return without_file or setting.proved()


def _alone(setting: MpiSetting, release: OpenMpiRelease, bare: Parameters) -> Rule:
    """Where Open MPI does not start with all of them together."""
    illegal = _illegal(setting, release, bare)
    if illegal:
        return setting.wrong(illegal)
    asked = _parameters(
        release.ask("--all", "--parsable", environment={PREFIX + _name(setting): setting.value})
    )
    if not asked:
        return setting.wrong(f"{release} does not start with it")
    return setting.not_taken(f"{release} does not start with other lines of the file")


def _illegal(setting: MpiSetting, release: OpenMpiRelease, bare: Parameters) -> str | None:
    name = _name(setting)
    if name not in bare:
        return f"{release} has no parameter {shown(name, MOST_NAME)}"
    known = {
        what.rpartition(":")[2]: value
        for what, value in bare[name].items()
        if what.startswith("enumerator")
    }
    if bare[name].get("type") == "bool":
        return None
    if known and setting.value not in known and setting.value not in known.values():
        names = ", ".join(f"{number} {value}" for number, value in known.items())
        return f"{release} has no {name} {quoted(setting.value)}; it has {names}"
    return None

"""Which rules of MPICH's files are legal, and which are hidden."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from chiplog.counts import listed
from chiplog.errors import RunFailed
from chiplog.measurement.mpi_at_hand import launcher_words
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.programs import build_program
from chiplog.measurement.run_to_end import run_to_end
from chiplog.outside import as_integer
from chiplog.tune.lint.calls import PROGRAM, Caller
from chiplog.tune.lint.json_lines import JsonValue, parse_json
from chiplog.tune.lint.mpich_release import FIRST_UNKNOWN, MpichRelease
from chiplog.tune.lint.mpich_tree_rules import Leaf, TreeReader
from chiplog.tune.lint.rule import MOST_NAME, THE_FILE, FileIgnored, Rule, shown, wrong
from chiplog.tune.lint.settings_lint import MpiSetting, looks_like_settings, read_settings
from chiplog.tune.lint.tree_proof import prove_tree, refused
from chiplog.tune.settings import ANSWER_SECONDS
from chiplog.tune.version import Version

WHOLE = "MPICH's tree"
DEVICE = "MPICH's tree of the device ch4"
SHARED_MEMORY = "MPICH's tree of ch4's shared memory"
NOT_RUN = "not run: other rules of the file are wrong"
MOST_NAMED = 5
"""Given: operations that a sentence names."""
PREFIXES = ("MPIR_CVAR_", "MPIR_PARAM_", "MPICH_")
"""MPICH reads variables of all three."""
RULES_FILE = "_JSON_FILE"
"""How the names of variables end whose values are files of rules."""
_VARIABLE = re.compile(r"^variable (\S+) (\S+)$", re.MULTILINE)


def lint_mpich(
    path: Path, text: str, mpi: Mpi | None, version: Version | None, launcher: str | None
) -> tuple[str, list[Rule]]:
    """The format, and what is known of each rule; by runs only where nothing else is wrong."""
    release = MpichRelease.at(mpi, version)
    if looks_like_settings(text):
        program = build_program(PROGRAM, str(mpi.mpicxx)) if mpi else None
        return "MPICH's control variables", _lint_variables(text, release, program)
    if not release.is_known:
        first = ".".join(map(str, FIRST_UNKNOWN))
        why = f"{release} may read trees otherwise; known are 4.0 up to {first}"
        return WHOLE, [Rule(1, THE_FILE).unproved(why)]
    kind, rules, leaves, root = read_tree(text, release)
    if root is None or release.mpi is None or kind != WHOLE or any(rule.is_wrong for rule in rules):
        why = _why_not_run(kind, rules, release)
        return kind, [*rules, *(leaf.rule.unproved(why) for leaf in leaves)]
    caller = Caller(build_program(PROGRAM, str(release.mpi.mpicxx)), launcher_words(launcher))
    bad = refused(leaves, release, caller)
    if bad:
        return kind, [
            replace(leaf.rule, legal=False, reason=bad[at])
            if at in bad
            else leaf.rule.unproved(NOT_RUN)
            for at, leaf in enumerate(leaves)
        ]
    return kind, [*rules, *prove_tree(path, root, leaves, release, caller)]


def _why_not_run(kind: str, rules: list[Rule], release: MpichRelease) -> str:
    if release.mpi is None:
        return f"{release} is not here"
    if any(rule.is_wrong for rule in rules):
        return NOT_RUN
    return f"no run tells which leaves of {kind} are taken"


def read_tree(
    text: str, release: MpichRelease
) -> tuple[str, list[Rule], list[Leaf], JsonValue | None]:
    """The format, what is wrong, the leaves that are not, and the tree; None where it can't be read."""
    try:
        root = parse_json(text)
    except FileIgnored as error:
        reason = f"{error.reason}; MPICH crashes or aborts with it"
        return WHOLE, [wrong(error.line, THE_FILE, reason)], [], None
    if root.kind != "object":
        return WHOLE, [wrong(1, THE_FILE, "it is no JSON object")], [], None
    kind = _kind(text)
    reader = TreeReader(release)
    reader.whole = kind == WHOLE
    reader.walk(root)
    rules = reader.rules
    if kind == WHOLE:
        rules += _missing(root, release)
    return kind, rules, reader.leaves, root


def _kind(text: str) -> str:
    if "algorithm=MPIDI_POSIX" in text:
        return SHARED_MEMORY
    return DEVICE if "composition=" in text else WHOLE


def _missing(root: JsonValue, release: MpichRelease) -> list[Rule]:
    """A tree replaces the release's own as a whole."""
    there = {member.key.replace(" ", "") for member in root.members}
    missing = [key.partition("=")[2] for key in release.own if key not in there]
    if not missing or any(not key.startswith("collective=") for key in there):
        return []
    branches = listed(missing, MOST_NAMED)
    reason = f"no branch for {branches}: the file replaces MPICH's whole tree, and it aborts without them"
    return [wrong(root.line, THE_FILE, reason)]


def _lint_variables(text: str, release: MpichRelease, program: BuiltProbe | None) -> list[Rule]:
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
            rules.append(_variable_rule(setting, release, program, known))
    return rules


def _variable_rule(
    setting: MpiSetting, release: MpichRelease, program: BuiltProbe, known: Mapping[str, str]
) -> Rule:
    name = _full_name(setting.name)
    if name not in known:
        return setting.wrong(f"{release} has no variable {shown(setting.name, MOST_NAME)}")
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
        done = run_to_end([str(program.path), "--variables"], environment, ANSWER_SECONDS)
    except (RunFailed, ValueError):
        return {}
    if done.code != 0 or not done.stdout.endswith("done\n"):
        return {}
    return dict(_VARIABLE.findall(done.stdout))

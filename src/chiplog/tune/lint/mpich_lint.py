"""Which rules of MPICH's files are legal, and which are hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from chiplog.measurement.mpi_at_hand import launcher_words
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import build_program
from chiplog.tune.lint.calls import PROGRAM, Caller
from chiplog.tune.lint.cvar_lint import lint_cvars
from chiplog.tune.lint.json_lines import JsonValue, parse_json
from chiplog.tune.lint.mpich_release import FIRST_UNKNOWN, MpichRelease
from chiplog.tune.lint.mpich_tree_rules import Leaf, TreeReader
from chiplog.tune.lint.rule import THE_FILE, FileIgnored, Rule, wrong
from chiplog.tune.lint.settings_lint import looks_like_settings
from chiplog.tune.lint.tree_proof import prove_tree, refused
from chiplog.tune.version import Version

NOT_RUN = "not run: other rules of the file are wrong"
MOST_DEPTH = 32
"""json-c, which MPICH reads with, takes no deeper file."""


def lint_mpich(
    path: Path, text: str, mpi: Mpi | None, version: Version | None, launcher: str | None
) -> tuple[str, list[Rule]]:
    """The format, and what is known of each rule; by runs only where nothing else is wrong."""
    release = MpichRelease.at(mpi, version)
    if looks_like_settings(text):
        program = build_program(PROGRAM, str(mpi.mpicxx)) if mpi else None
        return "MPICH's control variables", lint_cvars(text, release, program)
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
        root = parse_json(text, MOST_DEPTH)
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


WHOLE = "MPICH's tree"
DEVICE = "MPICH's tree of the device ch4"
SHARED_MEMORY = "MPICH's tree of ch4's shared memory"


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
    names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    reason = (
        f"no branch for {names}: the file replaces MPICH's whole tree, and it aborts without them"
    )
    return [wrong(root.line, THE_FILE, reason)]

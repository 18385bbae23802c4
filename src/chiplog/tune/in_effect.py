"""The algorithm that a tuning file makes an MPI take for a collective call."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from chiplog.collectives.mpis import mpich, openmpi
from chiplog.collectives.mpis.choice import AlgorithmChoice, Chooser, CollectiveCall
from chiplog.collectives.mpis.known import NAMES, MpiRelease
from chiplog.errors import CorruptFile, UsageError
from chiplog.input_file import read_text
from chiplog.outside import as_integer, as_json
from chiplog.quoting import for_line
from chiplog.tune.formats.openmpi_rules import FIRST_JSON, OPERATIONS, OWN_DECISION
from chiplog.tune.lint.classic_rules import OperationRules, entries_taken, parse_classic
from chiplog.tune.lint.han_lint import looks_like_han
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.settings_lint import looks_like_settings, read_settings
from chiplog.tune.mpich_in_effect import tree_rules
from chiplog.tune.version import Version

MPICH = MpiRelease("mpich", mpich.FIRST_KNOWN)
OPENMPI = MpiRelease("openmpi", openmpi.FIRST_KNOWN)
TUNED = "coll_tuned_"

Rules = Callable[[CollectiveCall], AlgorithmChoice | None]
"""What a file says of a call; None where it leaves the choice to the MPI."""


def chooser_from(path: str | os.PathLike[str], release: MpiRelease | None) -> Chooser:
    """The choices of an MPI with a tuning file in force; what the file leaves open is by the MPI's own rules.

    `release` is that of the trace; None: the first whose rules are known, of the MPI that the file is for. UsageError
    where the file is for another MPI, or of a kind that is not looked up; CorruptFile where the MPI would ignore it.
    """
    text = read_text(path)
    by_default, parse = _kind_of(text, Path(path))
    if release is not None and release.kind != by_default.kind:
        program = NAMES[by_default.kind]
        raise UsageError(f"--tuning {path}: is for {program}, but the trace is of {release}.")
    known = release or by_default
    rules, by_itself = parse(text, known), known.choose

    def choose(call: CollectiveCall) -> AlgorithmChoice:
        return rules(call) or by_itself(call)

    return choose


def _kind_of(text: str, path: Path) -> tuple[MpiRelease, Callable[[str, MpiRelease], Rules]]:
    """The first release with known rules that reads such files, and what parses them."""
    if text.lstrip().startswith("{"):
        content = as_json(text)
        if not isinstance(content, dict):
            raise CorruptFile(f"{path}: is no valid JSON.")
        if "collectives" in content:
            return MpiRelease("openmpi", FIRST_JSON), lambda _, release: _openmpi_json(
                content, release, path
            )
        if any(key.replace(" ", "").startswith("collective=") for key in content):
            return MPICH, lambda _, __: tree_rules(content, path)
        raise UsageError(
            f"--tuning {path}: is neither Open MPI's rules nor a tree of MPICH, which are what chiplog app takes."
        )
    if looks_like_settings(text):
        names = [setting.name for setting in read_settings(text)[0]]
        is_mpich = any(name.startswith(("MPIR_CVAR_", "MPICH_")) for name in names)
        if not is_mpich and not any(TUNED in name for name in names):
            raise UsageError(
                f"--tuning {path}: sets no algorithm of Open MPI's coll/tuned or of MPICH."
            )
        return (MPICH, _cvars) if is_mpich else (OPENMPI, _parameters)
    if looks_like_han(text):
        raise UsageError(f"--tuning {path}: rules of han go node by node, which is not replayed.")
    return OPENMPI, lambda text, release: _classic_rules(text, release.version, path)


def _parameters(text: str, _: MpiRelease) -> Rules:
    """MCA parameters: coll_tuned_OPERATION_algorithm and _segmentsize."""
    values = {
        setting.name.removeprefix("OMPI_MCA_"): setting.value for setting in read_settings(text)[0]
    }

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        prefix = f"{TUNED}{call.function}_algorithm"
        number = _number_of(call.function, values.get(prefix, "0"))
        segment = as_integer(values.get(f"{prefix}_segmentsize", "0")) or 0
        return openmpi.choice_of(call, number, segment) if number else None

    return look_up


def _number_of(function: str, algorithm: object) -> int:
    """The number of an algorithm that stands there by number or by name; 0 where there is none of that name."""
    if isinstance(algorithm, str):
        return openmpi.numbers_of(function).get(algorithm) or as_integer(algorithm) or 0
    return algorithm if isinstance(algorithm, int) else 0


def _cvars(text: str, _: MpiRelease) -> Rules:
    """MPICH's variables MPIR_CVAR_OPERATION_INTRA_ALGORITHM."""
    values = {setting.name: setting.value for setting in read_settings(text)[0]}

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        name = values.get(f"MPIR_CVAR_{call.function.upper()}_INTRA_ALGORITHM", "auto")
        if name == "auto":
            return None
        return mpich.choice_of(call, f"{call.function.capitalize()}_intra_{name}")

    return look_up


def _openmpi_json(content: dict[str, object], release: MpiRelease, path: Path) -> Rules:
    """The first entry that holds for the ranks, and in it the first rule for the size; all bounds are inclusive."""
    if release.version < FIRST_JSON:
        raise UsageError(f"--tuning {path}: {release} reads no JSON, which is for 6.0 and later.")
    collectives = content["collectives"]
    if not isinstance(collectives, dict):
        raise CorruptFile(f"{path}: there is no object 'collectives'.")
    unknown = next((name for name in collectives if name not in OPERATIONS), None)
    if unknown is not None:
        raise CorruptFile(
            f"{path}: unknown operation {for_line(unknown)}: Open MPI ignores the file."
        )

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        if call.function not in openmpi.ALGORITHMS:
            return None
        entry = _first(collectives.get(call.function), "comm_size", call.ranks)
        rule = _first((entry or {}).get("rules"), "msg_size", openmpi.bytes_in_rules(call))
        number = _number_of(call.function, (rule or {}).get("alg"))
        segment = (rule or {}).get("seg_size", 0)
        return (
            openmpi.choice_of(call, number, segment if isinstance(segment, int) else 0)
            if number
            else None
        )

    return look_up


def _first(entries: object, name: str, value: int) -> dict[str, object] | None:
    """The first of some objects whose bounds hold a value."""
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict):
            continue
        low, high = entry.get(f"{name}_min", 0), entry.get(f"{name}_max", "inf")
        above = not isinstance(high, int) or value <= high
        if isinstance(low, int) and low <= value and above:
            return entry
    return None


def _classic_rules(text: str, version: Version, path: Path) -> Rules:
    """What the file says of a call, to that release; CorruptFile where Open MPI ignores the whole file."""
    release = OpenMpiRelease(version, None)
    rules = parse_classic(text, release.has_header)
    if rules.ignored is not None:
        raise CorruptFile(
            f"{path}, line {rules.ignored.line}: {rules.ignored}: it is ignored as a whole."
        )
    by_name = {operation.name: operation for operation in rules.operations}

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        operation = by_name.get(call.function)
        if operation is None or call.ranks < 2 or call.function not in openmpi.ALGORITHMS:
            return None
        return _rule_of(operation, call, shifts=release.reads_json)

    return look_up


def _rule_of(
    operation: OperationRules, call: CollectiveCall, *, shifts: bool
) -> AlgorithmChoice | None:
    named = [entry.ranks.value for entry in operation.entries]
    at = entries_taken(named, [call.ranks], shifts=shifts)[0]
    if not 0 <= at < len(operation.entries):
        return None
    rules = operation.entries[at].rules
    place = entries_taken([rule.size.value for rule in rules], [openmpi.bytes_in_rules(call)])[0]
    if not 0 <= place < len(rules) or rules[place].algorithm.value == OWN_DECISION:
        return None
    rule = rules[place]
    return openmpi.choice_of(call, rule.algorithm.value, rule.segment.value)

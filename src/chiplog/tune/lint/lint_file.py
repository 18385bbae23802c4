"""`chiplog tune lint` as a function."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.file_kind import TUNING_FILE, refuse_own
from chiplog.input_file import open_input
from chiplog.json_values import members
from chiplog.measurement.mpi_at_hand import find_mpi, launcher_words
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import build_program
from chiplog.tune.lint.calls import PROGRAM, Caller
from chiplog.tune.lint.classic_lint import lint_classic
from chiplog.tune.lint.classic_proof import prove_classic
from chiplog.tune.lint.han_lint import lint_han, looks_like_han
from chiplog.tune.lint.mca_lint import lint_mca
from chiplog.tune.lint.mpich_lint import lint_mpich
from chiplog.tune.lint.openmpi_json_lint import lint_openmpi_json
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import MOST_FILE_BYTES, THE_FILE, Rule, wrong
from chiplog.tune.lint.settings_lint import lint_ucc, looks_like_settings
from chiplog.tune.lint.size_notes import Note, size_notes
from chiplog.tune.version import Version, installed, of_version, parse_version

PROGRAMS = {"openmpi": "Open MPI", "mpich": "MPICH", "ucc": "UCC"}


@dataclass(frozen=True)
class Lint:
    """What was found in a file."""

    format: str
    mpi: str
    """The installation that was asked, or that none was."""
    rules: tuple[Rule, ...]
    """By line."""

    @property
    def wrong(self) -> tuple[Rule, ...]:
        """Those that are illegal or never taken."""
        return tuple(rule for rule in self.rules if rule.is_wrong)

    @property
    def unproved(self) -> tuple[Rule, ...]:
        """Those of which nothing wrong is known, but not all is proved."""
        return tuple(rule for rule in self.rules if rule.is_unproved)

    @property
    def notes(self) -> list[Note]:
        """What is easily misunderstood in rules that may be right."""
        return size_notes(self.rules)

    def to_json(self, file: Path) -> dict[str, object]:
        """The rules of `file` for scripts."""
        return {
            "schema": "chiplog.lint/1",
            "file": str(file),
            **members(self, "format", "mpi"),
            "wrong": len(self.wrong),
            "unproved": len(self.unproved),
            "notes": [members(note, "line", "text") for note in self.notes],
            "rules": [
                {"line": rule.line, "rule": rule.text, **members(rule, "legal", "taken", "reason")}
                for rule in self.rules
            ],
        }


def lint(
    file: str | Path,
    target: str,
    *,
    launcher: str | None = None,
    mpi: str | None = None,
    version: str | None = None,
) -> Lint:
    """What is wrong with each rule of `file` for `target` (of PROGRAMS), with the MPI at hand or that of `mpi`.

    `version` names a release that need not be here: then only what no release has to be asked for is known. `launcher`
    starts the ranks of the calls that prove rules. The MPI is never run with a file in which something is illegal.
    Raises UsageError where the file can't be read, or neither an MPI nor a version is known.
    """
    if target not in PROGRAMS:
        raise UsageError(f"--for {target}: is unknown; it accepts {', '.join(PROGRAMS)}.")
    path = Path(file)
    content = _read(path)
    no_rules = _no_rules(content)
    if target == "ucc":
        rules = no_rules or lint_ucc(content.decode("latin-1"))
        return Lint("UCC's variables", "UCC", _by_line(rules))
    asked = parse_version(version) if version else None
    here = _mpi(target, mpi, launcher, asked)
    if here is None and asked is None:
        raise UsageError(
            f"--for {target}: no {PROGRAMS[target]} is here to ask; name its C++ compiler with --mpi, or its release "
            "with --version."
        )
    where = (
        f"{here} at {here.mpicxx}" if here else f"{PROGRAMS[target]} {version}, which is not here"
    )
    if no_rules:
        return Lint("unknown", where, tuple(no_rules))
    text = content.decode("latin-1")
    if target == "mpich":
        kind, rules = lint_mpich(path, text, here, asked, launcher)
    else:
        kind, rules = _openmpi(path, text, OpenMpiRelease.at(here, asked), launcher)
    return Lint(kind, where, _by_line(rules))


def _no_rules(content: bytes) -> list[Rule]:
    """What is wrong with a file that can't hold rules; nothing of others."""
    if len(content) <= MOST_FILE_BYTES and b"\0" not in content:
        return []
    what = "it is binary" if b"\0" in content else f"it is larger than {MOST_FILE_BYTES} B"
    return [wrong(1, THE_FILE, f"{what}, so it is no tuning file")]


def _openmpi(
    path: Path, text: str, release: OpenMpiRelease, launcher: str | None
) -> tuple[str, list[Rule]]:
    if text.lstrip().startswith(("{", "[")):
        return "Open MPI's JSON rules", lint_openmpi_json(text, release)
    if looks_like_settings(text):
        return "Open MPI's MCA parameters", lint_mca(text, release)
    if looks_like_han(text):
        return "Open MPI's rules of han", lint_han(text, release)
    rules, places = lint_classic(text, release)
    kind = "Open MPI's classic rules"
    if any(rule.is_wrong for rule in rules) or release.mpi is None:
        why = (
            "not run: other rules of the file are wrong"
            if release.mpi
            else f"{release} is not here"
        )
        return kind, [*rules, *(place.rule.unproved(why) for place in places)]
    caller = Caller(build_program(PROGRAM, str(release.mpi.mpicxx)), launcher_words(launcher))
    return kind, [*rules, *prove_classic(path, text, places, release, caller)]


def _mpi(target: str, mpi: str | None, launcher: str | None, asked: Version | None) -> Mpi | None:
    if asked is None or mpi is not None:
        try:
            chosen = find_mpi(target, mpi, launcher)
        except UsageError:
            if mpi is not None or asked is not None:
                raise
            return None
        if chosen.kind != target:
            raise UsageError(f"--mpi {mpi}: is {chosen}, not {PROGRAMS[target]}.")
        return chosen
    return of_version(installed(target), asked)


def _read(path: Path) -> bytes:
    with open_input(path) as stream:
        refuse_own(path, TUNING_FILE)
        return stream.read(MOST_FILE_BYTES + 1)


def _by_line(rules: list[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: rule.line))

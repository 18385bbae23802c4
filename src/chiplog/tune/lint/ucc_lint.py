"""Files of UCC's variables, NAME=VALUE a line."""

from __future__ import annotations

import shutil

from chiplog.errors import RunFailed
from chiplog.measurement.run_to_end import run_to_end
from chiplog.tune.lint.rule import Rule
from chiplog.tune.lint.settings_lint import read_settings

ASK_SECONDS = 30.0


def lint_ucc(text: str) -> list[Rule]:
    """Each variable, by the names that `ucc_info` lists; nothing proves that UCC takes it."""
    settings, rules = read_settings(text, ("UCC_",))
    known = _known()
    for setting in settings:
        if known is None:
            rules.append(setting.unproved("not proved: there is no ucc_info here to ask"))
        elif setting.name not in known:
            rules.append(setting.wrong(f"UCC has no variable {setting.name}"))
        elif setting.replaced_by is not None:
            rules.append(setting.set_again())
        else:
            reason = "not proved: no run tells which variables UCC takes"
            rules.append(setting.unproved(reason, legal=True))
    return rules


def _known() -> set[str] | None:
    program = shutil.which("ucc_info")
    if program is None:
        return None
    try:
        done = run_to_end([program, "-caf"], {}, ASK_SECONDS)
    except RunFailed:
        return None
    names = {
        line.partition("=")[0].lstrip("# ") for line in done.stdout.splitlines() if "=" in line
    }
    return {name for name in names if name.startswith("UCC_")} or None

"""Files of UCC's variables, NAME=VALUE a line."""

from __future__ import annotations

import shutil
import subprocess

from chiplog.tune.lint.rule import Rule
from chiplog.tune.lint.settings_lint import read_settings, repeated

ASK_SECONDS = 30.0


def lint_ucc(text: str) -> list[Rule]:
    """Each variable, by the names that `ucc_info` lists; nothing proves that UCC takes it."""
    settings, rules = read_settings(text)
    known = _known()
    replaced = {earlier.line: later.line for earlier, later in repeated(settings)}
    for setting in settings:
        if known is None:
            reason = "not proved: there is no ucc_info here to ask"
            rules.append(Rule(setting.line, setting.text, None, None, reason))
        elif setting.name not in known:
            rules.append(
                Rule(
                    setting.line, setting.text, False, False, f"UCC has no variable {setting.name}"
                )
            )
        elif setting.line in replaced:
            rules.append(
                Rule(
                    setting.line,
                    setting.text,
                    True,
                    False,
                    f"line {replaced[setting.line]} sets it again",
                )
            )
        else:
            reason = "not proved: no run tells which variables UCC takes"
            rules.append(Rule(setting.line, setting.text, True, None, reason))
    return rules


def _known() -> set[str] | None:
    program = shutil.which("ucc_info")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "-caf"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = {
        line.partition("=")[0].lstrip("# ") for line in done.stdout.splitlines() if "=" in line
    }
    return {name for name in names if name.startswith("UCC_")} or None

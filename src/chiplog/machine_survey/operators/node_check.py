"""The file that a health check on each node reads: one line a host, so that a shell answers in milliseconds.

The first line is `# chiplog.node-check/1 UNIX-SECONDS`, each further one `HOST WORD REASON`. Hosts are in lower case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.machine_survey.operators.by_node import host_of, reason_of
from chiplog.quoting import for_line

if TYPE_CHECKING:
    from chiplog.machine_survey.operators.by_node import SurveyVerdict, Word

VERSION = "chiplog.node-check/1"
_WORST_FIRST: tuple[Word, ...] = ("slow", "unclear", "not-judged", "ok")


def node_check_text(verdict: SurveyVerdict) -> str:
    """Returns the whole file. A host of several ranks is as slow as the slowest of them."""
    lines: dict[str, str] = {}
    for node in sorted(verdict.nodes, key=lambda node: _WORST_FIRST.index(node.verdict)):
        host = "".join(for_line(host_of(node.name)).lower().split())
        reason = f" {for_line(reason_of(node))}" if node.verdict == "slow" else ""
        lines.setdefault(host, f"{host} {node.verdict}{reason}")
    head = f"# {VERSION} {int(verdict.time.timestamp())}"
    return "\n".join([head, *sorted(lines.values())]) + "\n"

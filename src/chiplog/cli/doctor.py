"""`chiplog doctor`."""

from __future__ import annotations

from chiplog.cli.options import JsonOption
from chiplog.cli.output import say, wrapped, write_json


def doctor(json_file: JsonOption = None) -> None:
    """Say what is usable here, and what makes numbers noisy.

    Each finding says what to do about it.
    """
    from chiplog.measurement.doctor import examine, facts_to_json

    facts = examine()
    write_json(json_file, facts_to_json(facts))
    if json_file == "-":
        return
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        head = f"{'!' if fact.remedy else ' '} {fact.name:<{width}}  "
        indent = " " * len(head)
        say(wrapped(f"{head}{fact.value}", indent))
        if fact.remedy:
            say(wrapped(f"{indent}-> {fact.remedy}", f"{indent}   "))

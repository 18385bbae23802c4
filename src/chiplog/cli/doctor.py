"""`chiplog doctor`."""

from __future__ import annotations

from chiplog.cli.options import JsonOption
from chiplog.cli.output import say, write_json


def doctor(json_file: JsonOption = None) -> None:
    """Say what is usable here, what makes numbers noisy, and what to do about it."""
    from chiplog.measurement.doctor import examine, facts_to_json

    facts = examine()
    if json_file:
        write_json(json_file, facts_to_json(facts))
        return
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        say(f"{'!' if fact.remedy else ' '} {fact.name:<{width}}  {fact.value}")
        if fact.remedy:
            say(f"  {'':<{width}}  -> {fact.remedy}")

"""Classes of pairs of ranks from a JSON file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from chiplog.collectives.algorithm import MOST_RANKS
from chiplog.dataset.lines import Where, as_object, parse_json
from chiplog.errors import CorruptFile, UsageError
from chiplog.input_file import read_text
from chiplog.jobs.class_draws import FittedClasses
from chiplog.jobs.simulated_model import FittedParameters, fitted_parameters
from chiplog.schedule import Schedule
from chiplog.simulation.conditions import PairClasses
from chiplog.simulation.parameters import MessageTimes, Protocol

MOST_GROUP = 2**16 - 1
"""Given: the simulator has two bytes for the group of a rank."""


def read_fitted_classes(path: str | os.PathLike[str], schedule: Schedule) -> FittedClasses:
    """The classes of a file for the ranks of a schedule; docs/reference/simulation-options.md has its form.

    Raises CorruptFile where the file says something else, UsageError where it can't be opened.
    """
    where = Where(os.fspath(path))
    content: Any = as_object(parse_json(read_text(path).encode(), where), where)
    try:
        fits = tuple(_fit(each, Path(path).parent) for each in content["classes"])
        classes = tuple(
            _protocols(each, fit, schedule)
            for each, fit in zip(content["classes"], fits, strict=True)
        )
        groups = _groups(content, schedule.ranks)
        between = _between(content, max(groups) + 1, len(classes))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise CorruptFile(f"{path} does not hold classes of pairs: {str(error)[:200]}.") from None
    except UsageError as error:
        raise CorruptFile(f"{path}: {error}") from None
    return FittedClasses(PairClasses(classes, groups, between), fits)


def _fit(class_content: Mapping[str, Any], directory: Path) -> FittedParameters | None:
    if "model" not in class_content:
        return None
    fitted = fitted_parameters(directory / class_content["model"], class_content.get("target"))
    return replace(
        fitted, follows_acknowledgements=False
    )  # classes have one schedule for all their fits


def _protocols(
    class_content: Mapping[str, Any], fit: FittedParameters | None, schedule: Schedule
) -> tuple[Protocol | MessageTimes, ...]:
    """From a fit, or from numbers in ns."""
    if fit is not None:
        return fit.in_the_middle(schedule).protocols
    numbers = {name: class_content[name] for name in ("L", "o", "g", "G")}
    return (Protocol.from_ns(**numbers, O=class_content.get("O", 0)),)


def _groups(content: Mapping[str, Any], ranks: int) -> tuple[int, ...]:
    if "group_of_rank" in content:
        groups = tuple(_whole(group) for group in content["group_of_rank"])
    else:
        per_group = _whole(content["ranks_per_group"], minimum=1)
        groups = tuple(rank // per_group for rank in range(ranks))
    if len(groups) != ranks or not 0 <= min(groups) <= max(groups) <= MOST_GROUP:
        raise ValueError(f"{len(groups)} ranks have groups, the schedule has {ranks} ranks")
    return groups


def _whole(value: object, minimum: int = 0) -> int:
    if type(value) is not int or not minimum <= value <= MOST_RANKS:
        raise ValueError(f"{str(value)[:40]} is no whole number from {minimum} on")
    return value


def _between(content: Mapping[str, Any], groups: int, classes: int) -> tuple[tuple[int, ...], ...]:
    """Without a matrix the first class is within a group, the second one between two."""
    inside_and_outside = [[int(a != b) for b in range(groups)] for a in range(groups)]
    rows = content.get("between", inside_and_outside)
    between = tuple(tuple(_whole(number) for number in row) for row in rows)
    if len(between) != groups or any(len(row) != groups for row in between):
        raise ValueError(f"'between' must have {groups} rows and columns")
    if not all(0 <= number < classes for row in between for number in row):
        raise ValueError(f"there are {classes} classes")
    return between

"""`chiplog list`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Annotated

from chiplog.cli.options import JsonOption
from chiplog.cli.output import say, wrapped, write_json
from chiplog.cli.parameters import Argument
from chiplog.errors import UsageError
from chiplog.plugins import did_you_mean

METHODS = {
    "prtt": "trains with and without a delay: L, o_s, o_r, g, G",
    "culler": "o_s from a few sends, o_r from a delayed round trip, g by flooding",
    "kielmann": "o_s, o_r and g as functions of size, g by flooding",
    "one-to-many": "round trips to p peers and the time to post p sends",
    "bell": "the delay at which a train begins to take longer: o_s, g",
    "k=all": "all numbers of pairs at once",
    "k=1": "one pair only",
    "k=max": "the most pairs only",
}


def _models() -> Mapping[str, str]:
    from chiplog.models.registry import MODELS

    return {model.name: model.source for model in MODELS.all()}


def _transports() -> Mapping[str, str]:
    """With the operations and ways of posting that each has."""
    from chiplog.measurement.inquiry import known_transports

    return {transport.name: transport.sentence for transport in known_transports()}


def _patterns() -> Mapping[str, str]:
    from chiplog.plan.patterns import all_patterns

    return {pattern.name: pattern.measures for pattern in all_patterns()}


def _operations() -> Mapping[str, str]:
    """Point-to-point operations, then collective ones with their algorithms and the models that predict them."""
    from chiplog.collectives.registry import MODULES, algorithms
    from chiplog.collectives.registry import OPERATIONS as COLLECTIVE
    from chiplog.dataset.operations import OPERATIONS, POSTINGS, UNKNOWN_WAYS
    from chiplog.prediction import to_many
    from chiplog.prediction.predict import models_of

    ways = {
        operation: f"{COLLECTIVE[operation]}: {', '.join(algorithms(operation))}; "
        f"predicted by {', '.join(models_of(operation))}"
        for operation in MODULES
    }
    single = {
        operation: f"{meaning}; posting "
        + ", ".join(posting for posting in POSTINGS if (operation, posting) not in UNKNOWN_WAYS)
        for operation, meaning in OPERATIONS.items()
    }
    known = ", ".join(to_many.KINDS)
    ways[to_many.OPERATION] = f"{to_many.MEANING}: {', '.join(to_many.WAYS)}; predicted by {known}"
    return {**single, **ways}


def _methods() -> Mapping[str, str]:
    """With the models that each method fits, in brackets those of which it is not the default."""
    from chiplog.models.registry import MODELS

    known = MODELS.all()

    def models(method: str) -> str:
        return ", ".join(
            model.name if next(iter(model.estimators)) == method else f"({model.name})"
            for model in known
            if method in model.estimators
        )

    return {method: f"{meaning}; {models(method)}" for method, meaning in METHODS.items()}


def _importers() -> Mapping[str, str]:
    from chiplog.dataset.importer import IMPORTERS

    return {importer.name: importer.summary for importer in IMPORTERS.all()}


def _exporters() -> Mapping[str, str]:
    from chiplog.export.exporter import EXPORTERS

    return {exporter.name: exporter.summary for exporter in EXPORTERS.all()}


def _tuning_writers() -> Mapping[str, str]:
    from chiplog.tune.writer import WRITERS

    return {writer.name: writer.summary for writer in WRITERS.all()}


TABLES: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "models": _models,
    "transports": _transports,
    "patterns": _patterns,
    "operations": _operations,
    "methods": _methods,
    "importers": _importers,
    "exporters": _exporters,
    "tuning-writers": _tuning_writers,
}


def _transport_members() -> dict[str, dict[str, list[str]]]:
    from chiplog.measurement.inquiry import known_transports

    return {
        transport.name: {
            "operations": list(transport.operations),
            "postings": list(transport.postings),
        }
        for transport in known_transports()
    }


JSON_MEMBERS: Mapping[str, Callable[[], dict[str, dict[str, list[str]]]]] = {
    "transports": _transport_members
}
"""What scripts get of each name beside its meaning."""


def list_names(
    what: Annotated[str, Argument(metavar="NAMES", help=f"One of: {', '.join(TABLES)}.")],
    json_file: JsonOption = None,
) -> None:
    """List the models, transports and so on that there are."""
    if what not in TABLES:
        near = did_you_mean(what, list(TABLES))
        raise UsageError(f"'{what}' can't be listed; there are {', '.join(TABLES)}.{near}")
    meanings = TABLES[what]()
    if json_file:
        further = JSON_MEMBERS.get(what, dict)()
        content = [
            {"name": name, "meaning": meaning, **further.get(name, {})}
            for name, meaning in meanings.items()
        ]
        write_json(json_file, {"schema": "chiplog.list/1", what: content})
    if json_file == "-":
        return
    width = max(map(len, meanings), default=0)
    for name, meaning in meanings.items():
        row = f"{name:<{width}}  {meaning}"
        # A line a name for programs, as much as fits one for people.
        say(wrapped(row, " " * (width + 2)) if sys.stdout.isatty() else row)

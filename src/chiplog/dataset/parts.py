"""Parts of a run that are not of one path: ranks bound in another way, or the parts of an imported file."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError


def parts_of(dataset: Dataset) -> tuple[str, ...]:
    """The names of the parts, in the order of the file; none where the run is of one path that has no name."""
    return tuple(dict.fromkeys(series.placement for series in dataset.series if series.placement))


def is_import(dataset: Dataset) -> bool:
    """Was the run imported from another tool's file?"""
    return str(dataset.header.get("target", "")).startswith("import:")


def by_part(dataset: Dataset) -> dict[str | None, Dataset]:
    """The series of each part of an imported file with several parts; the whole run under None where it has one."""
    names = parts_of(dataset)
    if not is_import(dataset) or len(names) < 2:
        return {None: dataset}
    return {name: _only(dataset, name) for name in names}


def part_or_target(dataset: Dataset, name: str | None) -> Dataset:
    """The series that `name` means, a part's, the target's or the transport's; all of them where it is None.

    A run that has no names of parts is taken whole. Raises UsageError, listing the parts, where there is none such.
    """
    names = parts_of(dataset)
    if name is None or name in (dataset.header.get("target"), dataset.transport) or not names:
        return dataset
    if name not in names:
        raise UsageError(f"--target {name}: {dataset.source} holds {', '.join(names)}.")
    return _only(dataset, name)


def one_part(dataset: Dataset, name: str | None) -> Dataset:
    """As `part_or_target`, but UsageError where an imported file has several parts and none is named.

    Files of k pairs alone are taken whole: what differs between their parts can be held out.
    """
    several = by_part(dataset)
    if (
        name is None
        and len(several) > 1
        and {series.pattern for series in dataset.series} != {"pairs"}
    ):
        raise UsageError(
            f"{dataset.source} holds {len(several)} parts: {', '.join(map(str, several))}; say which one with --target "
            "NAME."
        )
    return part_or_target(dataset, name)


def _only(dataset: Dataset, name: str) -> Dataset:
    return replace(
        dataset, series=tuple(series for series in dataset.series if series.placement == name)
    )

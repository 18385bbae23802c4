"""Draws the rooms of chiplog, and which room uses which, from the code's own imports and includes.

    python tools/draw_rooms.py [FILE]

Called by `make rooms`; FILE is docs/images/rooms.svg by default. A room is a folder of native/src or a package of
src/chiplog. A room stands on the floor above the highest room that it uses. An arrow that two or more others imply is
left out. Rooms that come, go or move are drawn without a change here.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
ROUTE = (
    "patterns",
    "core",
    "measurement",
    "dataset",
    "machine_state",
    "protocol_changes",
    "fitting",
    "comparison",
    "report",
)
"""The way of a record, from the probe to the page; a room that does not exist is passed over."""
FOR_TESTS = frozenset({"testing"})
PROBE_ROOMS = {
    "analysis": "Search for breaks in series of times",
    "bootstrap": "How ranks meet",
    "collectives": "The barrier library",
    "core": "Requests, records, clock, stopping rule",
    "patterns": "What is timed: between two clock reads nothing but the operation",
    "simulation": "The LogGOPS simulator",
    "tracer": "Records the calls of MPI programs",
    "transports": "What is measured, one folder each",
}
"""What is in each folder of native/src: C++ folders have no docstring."""

Uses = Mapping[str, frozenset[str]]
"""Rooms by name, each with the rooms that it uses."""


@dataclass(frozen=True)
class Building:
    """Rooms that are drawn together: what is in each, and which ones each uses."""

    title: str
    texts: Mapping[str, str]
    uses: Uses


def package_building(root: Path) -> Building:
    """The Python package; its rooms are described by the first lines of their docstrings."""
    source = root / "src" / "chiplog"
    folders = sorted(file.parent for file in source.glob("*/__init__.py"))
    texts = {folder.name: first_line(folder) for folder in folders if folder.name not in FOR_TESTS}
    uses = {
        name: frozenset(imported_rooms(source / name) & texts.keys() - {name}) for name in texts
    }
    return Building("chiplog, in Python: plans, asks the probe, analyses, shows", texts, uses)


def first_line(package: Path) -> str:
    """First line of a package's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    return text.partition("\n")[0].rstrip(".").replace("`", "")


def imported_rooms(folder: Path) -> set[str]:
    """Packages of chiplog that the files of a folder import, within functions and for type checking, too."""
    rooms = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            parts = [module.split(".") for module in modules]
            rooms |= {path[1] for path in parts if path[0] == "chiplog" and len(path) > 1}
    return rooms


def probe_building(root: Path) -> Building:
    """The native code below its programs; what stands in native/include is for all of its rooms."""
    source = root / "native" / "src"
    names = sorted(folder.name for folder in source.iterdir() if folder.is_dir())
    texts = {name: PROBE_ROOMS.get(name, "") for name in names}
    uses = {
        name: frozenset(included_rooms(source / name) & texts.keys() - {name}) for name in names
    }
    return Building("The probe, in C++: takes the times", texts, uses)


def included_rooms(folder: Path) -> set[str]:
    """First folders of what the C++ files of a folder include."""
    files = [file for kind in ("hpp", "cpp", "inc") for file in folder.rglob(f"*.{kind}")]
    return {room for file in files for room in re.findall(r'#include "(\w+)/', file.read_text())}


def without_detours(uses: Uses) -> Uses:
    """Only those arrows that no chain of others implies."""
    return {
        room: frozenset(
            used
            for used in direct
            if not any(used in reachable(uses, other) for other in direct - {used})
        )
        for room, direct in uses.items()
    }


def reachable(uses: Uses, room: str) -> set[str]:
    """All rooms that a room uses, directly or through others."""
    rooms: set[str] = set()
    waiting = list(uses[room])
    while waiting:
        used = waiting.pop()
        if used not in rooms:
            rooms.add(used)
            waiting += uses[used]
    return rooms


def floors(uses: Uses) -> list[list[str]]:
    """Rooms by floor, lowest first. Raises ValueError where rooms use each other in a circle."""
    level: dict[str, int] = {}
    while len(level) < len(uses):
        ready = [room for room in uses if room not in level and uses[room] <= level.keys()]
        if not ready:
            raise ValueError(
                f"rooms use each other in a circle: {sorted(uses.keys() - level.keys())}"
            )
        above = {room: max((level[used] + 1 for used in uses[room]), default=0) for room in ready}
        level |= above
    return [
        sorted(room for room in level if level[room] == floor)
        for floor in range(max(level.values()) + 1)
    ]


# --- the drawing, in pixels ---

WIDTH, BOX, MARGIN = 1000, 190, 16
LANE = 18
"""Width that an arrow takes which passes through a floor."""
LINE, PADDING, GAP = 13, 8, 34
"""Height of a line of text; between text and frame; between two floors."""
LETTERS = 28
"""Letters of a room's text that fit into a line."""
SWEEPS = 8


@dataclass(frozen=True)
class Stop:
    """A room on its floor, or, without a box, a place where an arrow passes through the floor."""

    name: str
    floor: int
    is_box: bool

    @property
    def width(self) -> int:
        """Width that it takes on its floor."""
        return BOX if self.is_box else LANE


Arrow = tuple[Stop, ...]
"""From the room that uses to the room that is used, floor by floor."""


def stops_and_arrows(building: Building) -> tuple[list[list[Stop]], list[Arrow]]:
    """What stands on each floor, lowest first, and the ways of the arrows."""
    rows = [
        [Stop(room, floor, is_box=True) for room in rooms]
        for floor, rooms in enumerate(floors(building.uses))
    ]
    boxes = {stop.name: stop for row in rows for stop in row}
    arrows = []
    for room, used_rooms in without_detours(building.uses).items():
        for used in sorted(used_rooms):
            upper, lower = boxes[room], boxes[used]
            between = [
                Stop(f"{room} to {used}", floor, is_box=False)
                for floor in range(upper.floor - 1, lower.floor, -1)
            ]
            for stop in between:
                rows[stop.floor].append(stop)
            arrows.append((upper, *between, lower))
    return rows, arrows


def centres(rows: list[list[Stop]], arrows: list[Arrow]) -> dict[Stop, float]:
    """Where each stop's middle is from the left; stops are moved near to those that they are joined with."""
    joined: dict[Stop, list[Stop]] = {stop: [] for row in rows for stop in row}
    for arrow in arrows:
        for upper, lower in itertools.pairwise(arrow):
            joined[upper].append(lower)
            joined[lower].append(upper)
    place: dict[Stop, float] = {}
    for row in rows:
        place |= spread(row)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wish = {
                stop: sum(place[other] for other in joined[stop]) / max(len(joined[stop]), 1)
                for stop in row
            }
            row.sort(key=lambda stop: (wish[stop] or place[stop], stop.name))
            place |= spread(row)
    return place


def spread(row: list[Stop]) -> dict[Stop, float]:
    """The stops of a floor from left to right, with equal space between them."""
    space = (WIDTH - 2 * MARGIN - sum(stop.width for stop in row)) / (len(row) + 1)
    place, left = {}, MARGIN + space
    for stop in row:
        place[stop] = left + stop.width / 2
        left += stop.width + space
    return place


def draw(building: Building, top: int, route: Mapping[str, int]) -> tuple[list[str], int]:
    """A building's SVG elements from `top` on, and where it ends. `route` numbers rooms on the way of a record."""
    rows, arrows = stops_and_arrows(building)
    place = centres(rows, arrows)
    lines = {room: textwrap.wrap(text, LETTERS) for room, text in building.texts.items()}
    tops, heights, below = {}, {}, top + 30
    for floor in range(len(rows) - 1, -1, -1):
        longest = max(len(lines[stop.name]) for stop in rows[floor] if stop.is_box)
        tops[floor], heights[floor] = below, 2 * PADDING + LINE * (longest + 1)
        below += heights[floor] + GAP
    end = below - GAP + MARGIN
    parts = [
        f'<rect class="house" x="4" y="{top}" width="{WIDTH - 8}" height="{end - top}" rx="8"/>',
        f'<text class="title" x="{MARGIN}" y="{top + 20}">{escape(building.title)}</text>',
    ]
    parts += [arrow_svg(arrow, place, tops, heights) for arrow in arrows]
    for row in rows:
        for stop in row:
            if stop.is_box:
                corner = (place[stop] - BOX / 2, tops[stop.floor])
                height = heights[stop.floor]
                parts += box_svg(stop.name, lines[stop.name], corner, height, route.get(stop.name))
    return parts, end


def arrow_svg(
    arrow: Arrow, place: Mapping[Stop, float], tops: Mapping[int, int], heights: Mapping[int, int]
) -> str:
    """A curve from the lower edge of a box to the upper edge of another, straight where it passes floors."""
    first = arrow[0]
    x, y = place[first], tops[first.floor] + heights[first.floor]
    path = f"M{x:.0f} {y}"
    for stop in arrow[1:]:
        x_to, y_to = place[stop], tops[stop.floor]
        middle = (y + y_to) / 2
        path += f"C{x:.0f} {middle:.0f} {x_to:.0f} {middle:.0f} {x_to:.0f} {y_to}"
        x, y = x_to, y_to + heights[stop.floor]
        if not stop.is_box:
            path += f"V{y}"
    return f'<path class="arrow" d="{path}" marker-end="url(#head)"/>'


def box_svg(
    name: str, lines: list[str], corner: tuple[float, int], height: int, number: int | None
) -> Iterator[str]:
    """A room: its frame, name, text and, on the way of a record, its number."""
    x, y = corner
    kind = "box" if number is None else "box way"
    yield f'<rect class="{kind}" x="{x:.0f}" y="{y}" width="{BOX}" height="{height}" rx="4"/>'
    yield f'<text class="name" x="{x + PADDING:.0f}" y="{y + PADDING + 10}">{escape(name)}</text>'
    for index, line in enumerate(lines):
        down = y + PADDING + 10 + LINE * (index + 1)
        yield f'<text x="{x + PADDING:.0f}" y="{down}">{escape(line)}</text>'
    if number is not None:
        yield f'<circle cx="{x + BOX - 12:.0f}" cy="{y + 12}" r="9"/>'
        yield f'<text class="number" x="{x + BOX - 12:.0f}" y="{y + 16}">{number}</text>'


STYLE = """text{font:11px sans-serif;fill:#222}.title{font-size:13px;font-weight:bold}
.name{font-weight:bold;font-size:12px}.number{fill:#fff;text-anchor:middle;font-weight:bold}
.house{fill:#f6f8fa;stroke:#c5ccd3}.box{fill:#fff;stroke:#57606a}.way{fill:#fff4e0;stroke:#b35900}
circle{fill:#b35900}.arrow{fill:none;stroke:#8c959f}#head path{fill:#8c959f}"""
HEAD = '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'  # noqa: E501
BETWEEN = "Requests go down by a pipe, records come up as lines of checksummed JSON: the run file."
LEGEND = "Arrow: uses. Numbers: the way of a record, from the probe to the page."


def picture(root: Path) -> str:
    """The whole picture as SVG."""
    package, probe = package_building(root), probe_building(root)
    on_the_way = [room for room in ROUTE if room in package.texts or room in probe.texts]
    route = {room: index + 1 for index, room in enumerate(on_the_way)}
    upper, upper_end = draw(package, 4, route)
    lower, lower_end = draw(probe, upper_end + 30, route)
    height = lower_end + 26
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f"<style>{STYLE}</style>",
        f"<defs>{HEAD}</defs>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        *upper,
        f'<text x="{MARGIN}" y="{upper_end + 19}">{escape(BETWEEN)}</text>',
        *lower,
        f'<text x="{MARGIN}" y="{lower_end + 18}">{escape(LEGEND)}</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the picture."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.write_text(picture(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The picture of the house is the one that the code's imports draw, and its page names rooms and files that exist."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "the-house.md"


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    return load_script("tools/draw_rooms.py")


def test_the_picture_is_up_to_date(drawing: ModuleType) -> None:
    assert drawing.PICTURE.read_text() == drawing.picture(ROOT), "make rooms draws it anew"


def test_the_page_tells_the_way_of_a_record_as_the_picture_numbers_it(drawing: ModuleType) -> None:
    numbered = re.findall(r"^\d+\. \*\*`(\w+)`\*\*", PAGE.read_text(), flags=re.MULTILINE)
    drawn = re.findall(
        r'class="box way".*?class="name"[^>]*>(\w+)<.*?class="number"[^>]*>(\d+)<',
        drawing.PICTURE.read_text(),
        flags=re.DOTALL,
    )
    assert [room for room, _ in sorted(drawn, key=lambda pair: int(pair[1]))] == numbered


def test_each_answer_of_the_page_names_a_file_or_folder_that_exists() -> None:
    answers = re.findall(r"^\| .*\? \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE)
    assert len(answers) >= 20
    paths = [path for answer in answers for path in re.findall(r"`([\w./]+)`", answer)]
    for path in paths:
        assert (ROOT / "src" / "chiplog" / path).exists() or (ROOT / path).exists(), path


def test_every_folder_of_the_probe_has_a_text(drawing: ModuleType) -> None:
    building = drawing.probe_building(ROOT)
    assert [room for room, text in building.texts.items() if not text] == []


def test_imports_within_functions_and_for_type_checking_count(
    drawing: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "file.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "import chiplog.models.registry\n"
        "if TYPE_CHECKING:\n    from chiplog.plan import requests\n"
        "def late():\n    from chiplog import dataset\n    from chiplog.fitting.result import Fit\n"
    )
    assert drawing.imported_rooms(tmp_path) >= {"models", "plan", "dataset", "fitting"}


def test_a_room_stands_above_all_that_it_uses_and_arrows_that_others_imply_are_left_out(
    drawing: ModuleType,
) -> None:
    uses = {
        "top": frozenset({"middle", "ground"}),
        "middle": frozenset({"ground"}),
        "ground": frozenset(),
    }
    assert drawing.floors(uses) == [["ground"], ["middle"], ["top"]]
    assert drawing.without_detours(uses)["top"] == {"middle"}


def test_rooms_that_use_each_other_are_refused_by_name(drawing: ModuleType) -> None:
    uses = {"a": frozenset({"b"}), "b": frozenset({"a"}), "c": frozenset()}
    with pytest.raises(ValueError, match=r"in a circle: \['a', 'b'\]"):
        drawing.floors(uses)

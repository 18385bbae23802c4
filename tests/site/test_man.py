"""Manual pages are made of every command, and `man` shows them without a warning."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "site"))
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    from man import write_man_pages

    return {path.name: path for path in write_man_pages(tmp_path_factory.mktemp("man"))}


def test_every_command_has_a_page_and_every_option_stands_in_it(pages):
    from commands import all_commands, option_names

    for words, command in all_commands():
        text = pages[f"chiplog-{words.replace(' ', '-')}.1"].read_text().replace("\\-", "-")
        assert [name for name in option_names(command) if name not in text] == []


def test_groff_shows_them_without_a_warning(pages):
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for path in pages.values():
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "", path.name

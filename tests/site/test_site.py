"""The site builds without a warning, is searched without a server, and what is missing or leads nowhere is found."""

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
pytestmark = [
    # These are of the packages that the site is built with.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    from build import build

    target = tmp_path_factory.mktemp("site")
    return target, build(ROOT, target)


def test_the_site_builds_without_a_warning_and_has_every_command_and_public_name(built):
    assert built[1] == []


def test_a_missing_command_option_name_or_heading_is_found(built, tmp_path):
    from check import problems

    site = shutil.copytree(built[0], tmp_path / "site")
    commands, functions = site / "reference/commands", site / "reference/functions.html"
    (commands / "changes.html").unlink()
    (commands / "doctor.html").write_text("<html></html>")
    functions.write_text(functions.read_text().replace('id="chiplogrun"', 'id="chiplogwalk"'))
    (site / "extra.html").write_text(
        '<a href="index.html#nowhere">x</a><script src="https://example.org/x.js"></script>'
    )
    sentences = "\n".join(problems(site))
    assert "The command changes has no page." in sentences
    assert "The page of doctor lacks its option" in sentences
    assert "chiplog.run is not on the page" in sentences
    assert "extra.html links to index.html#nowhere, which has no such heading." in sentences
    assert "extra.html loads https://example.org/x.js." in sentences


def test_a_broken_link_in_a_page_is_a_warning(tmp_path):
    from build import build

    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("# Title\n")
    (tmp_path / "docs" / "how-to").mkdir(parents=True)
    (tmp_path / "docs" / "how-to" / "page.md").write_text(
        "# Page\n\n[gone](nowhere.md), [no heading](../../README.md#there), {py:func}`chiplog.api.gone`\n"
    )
    sentences = build(tmp_path, tmp_path / "site")
    for target in ("nowhere.md", "there", "chiplog.api.gone"):
        assert any("WARNING" in sentence and target in sentence for sentence in sentences)


def test_the_search_answers_without_a_server_and_links_to_pages(built, browser):
    page = browser.new_page()
    page.goto(f"file://{built[0]}/search.html?q=rendezvous")
    first = page.locator("#search-results li a").first
    first.wait_for()
    address = first.get_attribute("href").partition("?")[0].partition("#")[0]
    page.close()
    assert (built[0] / address).exists()

"""The version comes from git's tag, wherever the sources come from."""

import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FILES = ("pyproject.toml", "README.md", "LICENSE", ".git_archival.txt", ".gitattributes")
COMMITS = 3


def git(folder: Path, *words: str) -> str:
    """What git says in `folder`, for an author of its own."""
    author = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *author, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of a few commits with the files that the version comes from."""
    folder = tmp_path / "checkout"
    (folder / "src" / "chiplog").mkdir(parents=True)
    (folder / "src" / "chiplog" / "__init__.py").touch()
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    for number in range(COMMITS):
        git(folder, "commit", "--quiet", "--allow-empty", "--message", f"{number}")
    return folder


def version_of(folder: Path) -> str:
    """The version that a build in `folder` gives the package: that of its source archive."""
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, folder / "dist"], cwd=folder, check=True, capture_output=True
    )
    (name,) = (path.name for path in (folder / "dist").glob("*.tar.gz"))
    with tarfile.open(folder / "dist" / name) as archive:
        archive.extractall(folder / "dist", filter="data")
    information = (folder / "dist" / name.removesuffix(".tar.gz") / "PKG-INFO").read_text()
    found = re.search(r"^Version: (.*)$", information, re.MULTILINE)
    assert found is not None
    return found[1]


def test_a_tagged_commit_is_that_release_and_so_is_its_source_archive(checkout: Path) -> None:
    git(checkout, "tag", "v9.8.7")
    assert version_of(checkout) == "9.8.7"
    assert version_of(checkout / "dist" / "chiplog-9.8.7") == "9.8.7"


def test_a_commit_after_a_release_is_on_the_way_to_the_next_one(checkout: Path) -> None:
    git(checkout, "tag", "v9.8.7", "HEAD~1")
    commit = git(checkout, "rev-parse", "HEAD")
    version = version_of(checkout)
    assert version.startswith("9.8.8.dev1+g")
    assert commit.startswith(version.partition("+g")[2].partition(".")[0])


def test_a_clone_without_tags_names_its_commit(checkout: Path) -> None:
    version = version_of(checkout)
    assert re.fullmatch(rf"0\.1\.dev{COMMITS}\+g[0-9a-f]+", version)


def test_an_archive_that_git_made_knows_its_release(checkout: Path) -> None:
    git(checkout, "tag", "v9.8.7")
    git(checkout, "archive", "--prefix=plain/", "--output=plain.tar", "HEAD")
    with tarfile.open(checkout / "plain.tar") as archive:
        archive.extractall(checkout.parent, filter="data")
    assert version_of(checkout.parent / "plain") == "9.8.7"


def test_a_tree_without_git_is_built_all_the_same(checkout: Path) -> None:
    shutil.rmtree(checkout / ".git")
    assert version_of(checkout) == "0.1.dev0"

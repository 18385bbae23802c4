"""What only some of chiplog needs may be missing: the rest works, and one sentence says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OPTIONAL = ("pyarrow", "matplotlib", "pandas", "jsonschema", "playwright")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
FLOOD = "pattern,message_bytes,pairs,seconds\nping_pong,8,1,1.5e-06\nping_pong,64,1,1.7e-06\n"


def python_without(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def command_without(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    code = f"from chiplog.cli import main; sys.argv = {['chiplog', *words]!r}; sys.exit(main())"
    return python_without(code, folder)


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(FLOOD)
    done = command_without(
        tmp_path, "import", "csv", "table.csv", "--direction", "one-way", "-o", "run.jsonl"
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / "run.jsonl"


def test_a_run_is_imported_fitted_reported_and_exported_without_any(run_file: Path) -> None:
    folder = run_file.parent
    for words in (
        ("fit", "run.jsonl"),
        ("report", "run.jsonl", "-o", "page.html"),
        ("export", "run.jsonl", "--to", "csv", "-o", "out.csv"),
        ("export", "--help"),
        ("history", "--help"),
    ):
        done = command_without(folder, *words)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("export", "run.jsonl", "--to", "parquet", "-o", "out.parquet"),
            "Parquet needs PyArrow, which is not installed: pip install pyarrow.",
        ),
        (
            ("history", "add", "past", "run.jsonl"),
            "a history needs PyArrow, which is not installed: pip install pyarrow.",
        ),
    ],
)
def test_what_needs_one_says_so_in_a_sentence(
    run_file: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = command_without(run_file.parent, *words)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(sentence)
    assert "Traceback" not in done.stderr
    assert not (run_file.parent / "out.parquet").exists()


def test_python_functions_say_so_too(run_file: Path) -> None:
    code = (
        "import chiplog, chiplog.errors\n"
        "fit = chiplog.fit('run.jsonl', 'hockney')\n"
        "for call in (fit.parameters.to_dataframe, fit.plot):\n"
        "    try: call()\n"
        "    except chiplog.errors.UsageError as error: print(error)\n"
    )
    done = python_without(code, run_file.parent)
    assert done.stdout.splitlines() == [
        "a DataFrame needs pandas, which is not installed: pip install pandas.",
        "a plot needs Matplotlib, which is not installed: pip install matplotlib.",
    ], done.stderr

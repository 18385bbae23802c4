"""`import chiplog`: the commands as functions, and results that are read in Python."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chiplog
from chiplog.api.fitted import FittedModel
from chiplog.api.words import in_python
from chiplog.errors import ChiplogError, UsageError

ROOT = Path(__file__).resolve().parents[2]
SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02,seed=4"
FUNCTIONS = sorted(set(chiplog.__all__) - {"__version__"})


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api") / "run.jsonl"
    chiplog.measure(SIM, out, sizes="1:64KiB")
    return out


@pytest.fixture(scope="module")
def fit(run_file: Path) -> FittedModel:
    return chiplog.fit(run_file)


def fresh(program: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_import_is_light_and_functions_stay_functions_whatever_is_imported() -> None:
    heavy = "import sys, chiplog; print([one for one in ('numpy', 'scipy', 'click') if one in sys.modules])"
    assert fresh(heavy).strip() == "[]"
    program = (
        "import chiplog.fitting.fit as deep, chiplog.comparison.runs, chiplog.measurement.measuring\n"
        "import chiplog, inspect\n"
        "print(deep.fit.__name__, [inspect.signature(getattr(chiplog, n)) is not None and callable(getattr(chiplog, n))"
        f" for n in {FUNCTIONS}])"
    )
    assert fresh(program).strip() == f"fit {[True] * len(FUNCTIONS)}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_does_and_takes_named_arguments(name: str) -> None:
    function = getattr(chiplog.api, name)
    assert inspect.getdoc(function)
    assert name in dir(chiplog)
    assert f"`{name}(" in (ROOT / "docs/reference/python.md").read_text()


def test_what_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'measured'"):
        chiplog.measured  # noqa: B018


def test_a_fit_has_parameters_by_name_with_their_intervals(fit: FittedModel) -> None:
    latency = fit["L"]
    assert latency.low is not None and latency.value is not None and latency.high is not None
    assert latency.low <= latency.value <= latency.high
    assert latency.value == pytest.approx(5e-6, rel=0.05)
    assert fit["G", 65536].value == pytest.approx(0.5e-9, rel=0.05)
    assert set(fit) >= {"L", "o_s", "o_r", "g", "G"}
    with pytest.raises(KeyError, match="LogGP has no 'beta'; it has"):
        fit["beta"]
    assert "L = " in repr(fit)
    assert "<table>" in fit._repr_html_()


def test_predictions_have_a_band_that_holds_them(fit: FittedModel) -> None:
    found = fit.predict([8, 1024, 65536])
    assert found.seconds == pytest.approx(7e-6 + 0.5e-9 * found.message_bytes, rel=0.05)
    assert np.all(found.low_seconds <= found.seconds)
    assert np.all(found.seconds <= found.high_seconds)
    assert [row["message_bytes"] for row in found.rows] == [8, 1024, 65536]


def test_covariances_agree_with_the_intervals(fit: FittedModel) -> None:
    found = fit.covariance()
    for name, row in found.items():
        assert set(row) == set(found)
        assert row[name] >= 0
        for other, value in row.items():
            assert found[other][name] == pytest.approx(value)
            assert value**2 <= row[name] * found[other][other] * (1 + 1e-9)
    latency = fit["L"]
    assert latency.low is not None and latency.high is not None
    assert found["L"]["L"] ** 0.5 == pytest.approx((latency.high - latency.low) / 3.92, rel=0.3)


def test_tables_become_dataframes(fit: FittedModel) -> None:
    pandas = pytest.importorskip("pandas")
    frame = fit.parameters.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame[frame.parameter == "L"].value.iloc[0] == fit["L"].value
    assert list(fit.predict([1, 2]).to_dataframe().message_bytes) == [1, 2]


def test_a_plot_has_points_and_a_line(fit: FittedModel) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = fit.plot()
    assert [line.get_label() for line in axes.lines] == ["measured", "LogGP"]
    assert fit.plot(axes) is axes


def test_the_other_functions_take_runs_and_fits(run_file: Path, fit: FittedModel) -> None:
    run = chiplog.read(run_file)
    assert chiplog.changes(run).consensus == ()
    assert {row.model for row in chiplog.compare(run, models=["loggp", "hockney"])} == {
        "loggp",
        "hockney",
    }
    assert chiplog.compare(run, run_file)[-1].ratio == pytest.approx(1.0, rel=1e-3)
    assert chiplog.predict(fit, "barrier", ranks=64)[0].seconds > 0


def test_files_with_measured_operations_correct_predictions(
    fit: FittedModel, tmp_path: Path
) -> None:
    anchors = tmp_path / "anchors.csv"
    header = "operation,algorithm,ranks,message_bytes,seconds"
    anchors.write_text(f"{header}\nbarrier,dissemination,4,1,1e-3\n")
    row = chiplog.predict(fit, "barrier", ranks=64, anchors=[anchors])[0]
    assert row.seconds == pytest.approx(3e-3, rel=1e-6)
    (mean,) = chiplog.predict(fit, "bcast", ranks=4, algorithm="binomial", convention="osu")
    assert mean.convention == "osu"


@pytest.mark.parametrize(
    "call",
    [
        lambda: chiplog.measure("sim", budget=-1),
        lambda: chiplog.measure("sim", sizes="8:4"),
        lambda: chiplog.measure("sim", ranks=1),
        lambda: chiplog.measure("sim", patterns="pingpong"),
        lambda: chiplog.survey("sim", visits=0),
        lambda: chiplog.survey("sim", ranks=1),
        lambda: chiplog.fit("no.jsonl"),
        lambda: chiplog.read("no.jsonl"),
        lambda: chiplog.compare("a", "b", models=["loggp"]),
    ],
)
def test_errors_speak_of_arguments(call: object) -> None:
    assert callable(call)
    with pytest.raises(ChiplogError) as caught:
        call()
    assert not re.search(r"(?<!\w)--?[a-z]", str(caught.value)), caught.value


def test_words_of_the_command_line_become_those_of_python() -> None:
    assert (
        in_python("--time-limit: use -o FILE, or --visits 4.")
        == "time_limit: use out FILE, or visits 4."
    )
    assert in_python("try srun --mpi=pmix (--mpi)") == "try srun --mpi=pmix (mpi)"
    assert in_python("well-known, 3--4, a - b") == "well-known, 3--4, a - b"


def test_the_readmes_example_works_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, rest = (ROOT / "README.md").read_text().partition("```python\n")
    program, _, _ = rest.partition("```")
    assert "import chiplog" in program
    exec(program.replace('"tcp"', f'"{SIM}"'), {})
    assert "L = " in capsys.readouterr().out


def test_a_usage_error_stays_one() -> None:
    with pytest.raises(UsageError, match=r"^ranks: "):
        chiplog.survey("sim", ranks=1)


def test_what_is_returned_is_shown_in_a_few_lines(run_file: Path, fit: FittedModel) -> None:
    shown = {
        "run": chiplog.read(run_file),
        "changes": chiplog.changes(run_file),
        "models": chiplog.compare(run_file, models="loggp,hockney"),
        "runs": chiplog.compare(run_file, run_file),
        "algorithms": chiplog.predict(fit, "barrier", ranks=64),
        "times": fit.predict([1, 2]),
    }
    for name, one in shown.items():
        lines = repr(one).splitlines()
        assert 1 <= len(lines) <= 21 and max(map(len, lines)) <= 160, name
    for name in ("models", "runs", "algorithms", "times"):
        assert "<td>" in shown[name]._repr_html_(), name
    assert len(shown["runs"].to_dataframe()) == len(shown["runs"]) > 20
    assert "n-way-dissemination" in repr(shown["algorithms"])
    assert repr(shown["runs"]).splitlines()[-2].split() == ["…"] * 7


def test_sizes_are_a_list_and_one_size_is_not_a_range(tmp_path: Path) -> None:
    assert " of 8 B (" in repr(chiplog.measure(SIM, sizes=[8]))
    out = tmp_path / "run.jsonl"
    chiplog.measure(SIM, out, sizes=[8, 64])
    with pytest.raises(UsageError, match="exists already"):
        chiplog.measure(SIM, out, sizes=[8, 64])
    assert "2 sizes, 8 to 64 B" in repr(chiplog.measure(SIM, out, sizes=[8, 64], resume=True))


def test_a_fit_is_simulated_without_a_file_and_as_its_file(
    fit: FittedModel, tmp_path: Path
) -> None:
    schedule, model = tmp_path / "send.goal", tmp_path / "model.json"
    schedule.write_text("num_ranks 2\nrank 0 { s: send 8b to 1 }\nrank 1 { r: recv 8b from 0 }\n")
    fit.save(model)
    assert (
        chiplog.simulate(schedule, fit).makespan_ps == chiplog.simulate(schedule, model).makespan_ps
    )
    assert repr(chiplog.simulate(schedule, fit)).startswith(
        "Simulation of 2 ranks: the last is done after"
    )


def test_what_is_no_run_and_no_fit_is_said(run_file: Path) -> None:
    with pytest.raises(UsageError, match=r"a fit is needed here: .* not a value of type Dataset"):
        chiplog.predict(chiplog.read(run_file), "barrier", ranks=4)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"a run is needed here: .* not a value of type int"):
        chiplog.changes(3)  # type: ignore[arg-type]

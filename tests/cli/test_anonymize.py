"""`crypsis anonymize` as a person runs it: what is shown, written, refused."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.hierarchies import Hierarchy
from crypsis.protection import Key, Plan, Statement

QI = ["--qi", "age", "--qi", "zip", "--qi", "sex"]
ROLES = ["--id", "name", *QI, "--sensitive", "disease", "--insensitive", "income"]


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    n = 1_500
    path = tmp_path / "patients.csv"
    pd.DataFrame(
        {
            "name": [f"person-{i}" for i in range(n)],
            "age": rng.integers(18, 95, n),
            "zip": rng.integers(10_000, 99_999, n),
            "sex": rng.choice(["f", "m"], n),
            "income": rng.lognormal(10, 1, n),
            "disease": rng.choice(["flu", "gout", "hiv"], n),
        }
    ).to_csv(path, index=False)
    return path


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(list(frame.columns), ignore_index=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_release_with_statement_plan_and_key(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    before = patients.read_bytes()
    out = tmp_path / f"safe{suffix}"
    plan = tmp_path / "plan.toml"
    command = ["anonymize", "--person", "each record", str(patients), "-o", str(out), "--k", "10", *ROLES]
    assert run([*command, "--save-plan", str(plan)]) == 0
    shown = capsys.readouterr().out
    assert "Before and after" in shown
    assert "required: 10)" in shown
    assert "Re-identification risk: prosecutor" in shown
    assert re.search(r"age .* of the records", " ".join(shown.split()))
    frame = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    assert list(frame.columns) == ["age", "zip", "sex", "income", "disease"]
    assert frame.groupby(["age", "zip", "sex"], dropna=False).size().min() >= 10
    assert patients.read_bytes() == before
    statement = json.loads((tmp_path / f"safe{suffix}.statement.json").read_text())
    assert Statement.model_validate(statement).measured.k >= 10
    assert "person-" not in (tmp_path / f"safe{suffix}.statement.md").read_text()
    assert (tmp_path / f"safe{suffix}.before-after.md").exists()
    assert Plan.load(plan).requirements.k == 10
    (key,) = (tmp_path / "home" / "crypsis" / "keys").iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert run(command) == 2
    assert "exists already" in capsys.readouterr().err
    assert run([*command, "--force", "--plan", str(plan)]) == 2
    assert "Remove --k, or edit the plan." in " ".join(capsys.readouterr().err.split())
    again = [part for part in command if part not in ("--k", "10")]
    assert run([*again, "--force", "--plan", str(plan)]) == 0
    same = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    assert not frame.equals(same)  # released in random order
    pd.testing.assert_frame_equal(_sorted(frame), _sorted(same))


def test_masking_and_json(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, key = tmp_path / "safe.parquet", tmp_path / "home.key.json"
    methods = ["--method", "income=noise:0.5", "--method", "name=pseudonym"]
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(out),
        "--k",
        "5",
        *ROLES,
        *methods,
    ]
    assert run([*command, "--key", str(key), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["measured"]["k"] >= 5
    kept = Key.load(key)
    made, before = pd.read_parquet(out), pd.read_csv(patients)
    assert made["name"].str.len().min() > 40
    noise = made["income"].to_numpy() - before["income"].to_numpy()[list(kept.row_map or ())]
    assert np.std(noise) / before["income"].std() == pytest.approx(0.5, rel=0.1)
    assert set(kept.pseudonyms) == {"name"}
    assert str(kept.seed) not in (tmp_path / "safe.parquet.statement.json").read_text()


def test_against_a_population(patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "safe.csv"
    options = ["--k", "100", "--population", "300000000", "--beta", "0.1", "--column-weight", "age=2"]
    assert run(["anonymize", "--person", "each record", str(patients), "-o", str(out), *ROLES, *options]) == 0
    statement = json.loads((tmp_path / "safe.csv.statement.json").read_text())
    assert statement["measured"]["population"]["rows_meeting_k"] > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", "5000"], "only 1,500 records"),
        (["--k", "5", "--population", "1000", "--beta", "2"], "beta"),
        (["--k", "5", "--column-weight", "age=-1"], "at least 0"),
        (["--k", "5", "--column-weight", "age"], "COLUMN="),
        (["--k", "5", "--method", "income=noise"], "number"),
        (["--k", "5", "--hierarchy", "sex=none.csv"], "could not be read"),
        (["--k", "5", "--diversity", "9"], "all records together"),
    ],
)
def test_what_fails_writes_nothing(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    before = set(tmp_path.iterdir())
    status = run(
        [
            "anonymize",
            "--person",
            "each record",
            str(patients),
            "-o",
            str(tmp_path / "x.csv"),
            *ROLES,
            *options,
        ]
    )
    assert status == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "module", "extra"),
    [
        ("x.xlsx", "xlsxwriter", "excel"),
        ("x.dta", "pyreadstat", "statistics"),
        ("x.sav", "pyreadstat", "statistics"),
        ("x.delta", "deltalake", "delta"),
        ("file:///nowhere/x.csv", "fsspec", "cloud"),
        ("postgresql://127.0.0.1:1/d#t", "adbc_driver_postgresql", "postgresql"),
    ],
)
def test_a_missing_library_is_named_before_the_work(
    patients: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: str,
    module: str,
    extra: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("crypsis.protection.anonymize", None)  # the work, which is not begun
    place = output if "://" in output else str(tmp_path / output)
    assert run(["anonymize", "--person", "each record", str(patients), "-o", place, *ROLES, "--force"]) == 2
    assert f"crypsis[{extra}]" in capsys.readouterr().err


def test_a_missing_folder_and_gaps(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "none" / "x.csv"
    assert run(["anonymize", "--person", "each record", str(patients), "-o", str(out), *ROLES]) == 2
    assert "does not exist" in capsys.readouterr().err
    tree = tmp_path / "sex.csv"
    tree.write_text("f;*\n")
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(tmp_path / "x.csv"),
        *ROLES,
        "--k",
        "5",
    ]
    assert run([*command, "--hierarchy", f"sex={tree}"]) == 2
    assert "1 value of column 'sex'" in " ".join(capsys.readouterr().err.split())
    assert run([*command, "--hierarchy", f"sex={tree}", "--show-missing"]) == 2
    assert capsys.readouterr().err.startswith("m\n")


_LIMITED = """
import resource, signal, sys
from crypsis.cli import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(run(["anonymize", "--person", "each record", *sys.argv[2:]]))
"""


def _with_limit(size: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Without bytecode: Python leaves half a file of it under the limit, and loads it ever after.
    command = [sys.executable, "-B", "-c", _LIMITED, str(size), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("suffix", "size", "more", "named"),
    [
        (".csv", 4_096, [], "keys/x-"),
        pytest.param(".parquet", 12_288, ["--keep-order"], "writ.*x[.]|x[.].*writ", marks=pytest.mark.heavy),
    ],
)
def test_a_full_disk_leaves_nothing(
    patients: Path, tmp_path: Path, suffix: str, size: int, more: list[str], named: str
) -> None:
    """A limit on the size of files fails a write as a full disk does.

    The key is written first, and with the order of the rows it is the larger one.
    """
    arguments = [str(patients), *ROLES, *more, "-o"]
    compiled = _with_limit(-1, *arguments, str(tmp_path / f"before{suffix}"))
    assert compiled.returncode == 0, compiled.stderr
    before = set(tmp_path.rglob("*"))
    found = _with_limit(size, *arguments, str(tmp_path / f"x{suffix}"))
    assert found.returncode == 2, found.stderr
    assert "writ" in found.stderr
    assert re.search(named, found.stderr)
    assert set(tmp_path.rglob("*")) == before


def test_a_full_disk_before_anything_was_compiled(
    patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    found = _with_limit(4_096, str(patients), *ROLES, "-o", str(tmp_path / "x.csv"))
    assert found.returncode == 2, found.stderr
    assert "A temporary file could not be written" in found.stderr
    assert list(tmp_path.glob("x*")) == list(tmp_path.rglob("*key*")) == []


def test_a_policy_top_codes_high_ages(patients: Path, tmp_path: Path) -> None:
    """In a quasi-identifier by the plan, in another column by a mask."""
    more = ["--id", "name", "--exclude", "zip", "--sensitive", "disease", "--insensitive", "income"]
    one, other = ["--qi", "age", "--insensitive", "sex"], ["--qi", "sex", "--insensitive", "age"]
    for n, roles in enumerate((one, other)):
        out = tmp_path / f"safe{n}.parquet"
        command = [
            "anonymize",
            "--person",
            "each record",
            str(patients),
            "-o",
            str(out),
            "--k",
            "2",
            *more,
            *roles,
        ]
        assert run([*command, "--policy", "hipaa-safe-harbor"]) == 0
        ages = pd.to_numeric(pd.read_parquet(out)["age"], errors="coerce")
        assert pd.read_csv(patients)["age"].max() > 90
        assert ages.max() == 90
        assert "top coded at 90" in (tmp_path / f"safe{n}.parquet.statement.md").read_text()
    default = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(tmp_path / "d.csv"),
        "--k",
        "2",
    ]
    assert run([*default, *more, *other, "--policy", "default"]) == 0
    assert pd.read_csv(tmp_path / "d.csv")["age"].max() > 90


def test_columns_masked_together(patients: Path, tmp_path: Path) -> None:
    out = tmp_path / "safe.parquet"
    methods = ["--method", "age=mdav:20", "--method", "income=mdav:20", "--method", "zip=round:100"]
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(out),
        "--k",
        "1",
        "--qi",
        "sex",
    ]
    for name in ("age", "income", "zip", "disease"):
        command += ["--insensitive", name]
    assert run([*command, *methods, "--id", "name", "--method", "disease=suppress-rare:600"]) == 0
    made = pd.read_parquet(out)
    assert made.groupby(["age", "income"]).size().min() >= 20
    counts = pd.read_csv(patients)["disease"].value_counts()
    assert set(made["disease"].dropna()) == set(counts[counts >= 600].index)


def test_nothing_undeclared_is_released(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "safe.csv"
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(out),
        "--k",
        "2",
        "--qi",
        "age",
        "--qi",
        "zip",
    ]
    assert run(command) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "4 columns are undecided: 'name', 'sex', 'income', 'disease'" in error
    assert "--exclude" in error
    assert not out.exists()
    for name in ("name", "sex", "income", "disease"):
        command += ["--exclude", name]
    assert run(command) == 0
    assert list(pd.read_csv(out).columns) == ["age", "zip"]


def test_an_identifier_by_evidence_is_not_released_without_a_reason(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, roles = tmp_path / "safe.csv", tmp_path / "roles.toml"
    lines = [f'{name} = "insensitive"' for name in ("sex", "income", "disease", "zip")]
    lines.append('age = "quasi-identifier"')
    roles.write_text("\n".join(["[roles]", 'name = "insensitive"', *lines]))
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(out),
        "--k",
        "2",
        "--roles",
        str(roles),
    ]
    assert run(command) == 2
    assert "'name': The name indicates a" in " ".join(capsys.readouterr().err.split())
    assert not out.exists()
    reason = 'name = { role = "insensitive", override = "Invented numbers." }'
    roles.write_text("\n".join(["[roles]", reason, *lines]))
    assert run(command) == 0
    assert "name" in pd.read_csv(out).columns
    capsys.readouterr()
    assert run(["assess", "--person", "each record", str(out), "--roles", str(roles)]) in (0, 1, 4)
    assert "Invented numbers." in capsys.readouterr().out


def test_alternatives_are_shown_and_nothing_is_written(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roles = ["--id", "name", "--qi", "age", "--qi", "sex", "--sensitive", "disease"]
    roles += ["--exclude", "income", "--exclude", "zip"]
    before = sorted(tmp_path.iterdir())
    assert run(["anonymize", "--person", "each record", str(patients), "--k", "5", *roles, "--explore"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("local", "subtree", "full-domain", "loss (NCP)"))
    assert max(map(len, shown.splitlines())) <= 80
    assert sorted(tmp_path.iterdir()) == before
    out = str(tmp_path / "x.csv")
    assert run(["anonymize", "--person", "each record", str(patients), *roles, "--explore", "-o", out]) == 2
    assert run(["anonymize", "--person", "each record", str(patients), *roles]) == 2
    assert "--output" in capsys.readouterr().err


def test_a_plan_gives_the_same_release_as_in_python_and_names_columns_with_new_values(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "sex.csv"
    tree.write_text("f;any;*\nm;any;*\n", encoding="utf-8")
    data = cr.read(
        patients,
        identifiers=["name"],
        quasi_identifiers=["age", "zip", "sex"],
        sensitive=["disease"],
        insensitive=["income"],
    )
    made = cr.protection.plan(data, k=10, hierarchies={"sex": Hierarchy.read(tree)})
    plan = made.save(tmp_path / "plan.toml")
    Plan.load(plan).apply(data, shuffle=False).write(tmp_path / "python.csv")
    command = [
        "anonymize",
        "--person",
        "each record",
        str(patients),
        "-o",
        str(tmp_path / "cli.csv"),
        *ROLES,
        "--keep-order",
    ]
    assert run([*command, "--plan", str(plan)]) == 0
    assert (tmp_path / "cli.csv").read_text() == (tmp_path / "python.csv").read_text()
    text = patients.read_text()
    patients.write_text(text.replace(",f,", ",x,", 1), encoding="utf-8")
    capsys.readouterr()
    assert run([*command, "--plan", str(plan), "--force"]) == 2
    assert "1 value of column 'sex' is not in its hierarchy." in capsys.readouterr().err

"""`crypsis assess` and `crypsis policy` as a person, or a pipeline, runs them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from crypsis.cli import run
from crypsis.policies import PRESETS
from crypsis.schemas import schema
from tests.conftest import ADULT_COLUMNS

DISEASES = ("flu", "gout", "asthma", "hiv-secret")


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """Four equivalence classes of a hundred, in each the four diseases equally often."""
    lines = [f"{30 + i % 2},{'fm'[i // 2 % 2]},{DISEASES[i // 4 % 4]}" for i in range(400)]
    path = tmp_path / "safe.csv"
    path.write_text("\n".join(["age,sex,disease", *lines, ""]))
    return path


ROLES = ["--qi", "age", "--qi", "sex", "--sensitive", "disease"]


def test_safe_is_status_0(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--person", "each record", str(safe), *ROLES]) == 0
    assert "Safe to release under this policy" in capsys.readouterr().out


def test_guesses_are_status_4(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--person", "each record", str(safe)]) == 4
    shown = capsys.readouterr().out
    assert shown.startswith("3 of 3 roles are guesses.")
    assert "Cannot tell" in shown
    assert run(["assess", "--person", "each record", str(safe), "--accept-guesses"]) == 0


def test_not_safe_is_status_1_in_one_screen(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safe.write_text(safe.read_text() + "99,f,hiv-secret\n")
    assert run(["assess", "--person", "each record", str(safe), *ROLES, "--missing", "drop"]) == 1
    shown = capsys.readouterr().out
    assert "Not safe to release" in shown
    command = f"  crypsis anonymize {safe} --qi age --qi sex"
    lines = shown.splitlines()
    assert any(line.startswith(command) for line in lines)
    assert len(lines) <= 40
    assert max(len(line) for line in lines if not line.startswith("  crypsis")) <= 80
    assert "hiv-secret" not in shown


def test_the_roles_file_of_the_original_fits_its_release(
    safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decided = '[roles]\nage = "quasi-identifier"\nsex = "quasi-identifier"\n'
    file = tmp_path / "roles.toml"
    file.write_text(f'{decided}disease = "sensitive"\nnote = "undecided"\n')
    assess = ["assess", "--person", "each record", str(safe), "--roles", str(file), "--no-try"]
    assert run(assess) == 0
    file.write_text(f'{decided}disease = "sensitive"\nnote = "sensitive"\n')
    assert run(assess) == 2
    assert "set --exclude" in " ".join(capsys.readouterr().err.split())
    assert run([*assess, "--exclude", "note"]) == 0
    assert run([*assess, "--exclude", "not"]) == 2
    capsys.readouterr()
    file.write_text(f'{decided}diseases = "undecided"\n')  # a mistake: nothing is called safe
    assert run(assess) == 4
    shown = " ".join(capsys.readouterr().out.split())
    assert "what they are" in shown  # in the file that was given, not in a new one
    assert "crypsis scan" not in shown


def test_as_json(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for _ in range(2):
        assert (
            run(["assess", "--person", "each record", str(safe), *ROLES, "--json", "--population", "10_000"])
            == 0
        )
        texts.append(capsys.readouterr().out)
    found = json.loads(texts[0])
    assert found["exit_status"] == 0
    jsonschema.validate(found, schema("assess"))
    assert found["result"]["verdict"] == "safe"
    assert found["result"]["parameters"]["population"] == 10_000
    assert "hiv-secret" not in texts[0]
    first, second = (re.sub(r'"made": "[^"]*"', "", text) for text in texts)
    assert first == second


def test_as_markdown(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--person", "each record", str(safe), *ROLES, "--md"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# safe.csv: safe to release")
    assert "| met |" in shown


@pytest.mark.parametrize("suffix", [".md", ".json"])
def test_into_a_file(safe: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / f"report{suffix}"
    assert run(["assess", "--person", "each record", str(safe), *ROLES, "-o", str(output)]) == 0
    assert "disease" in output.read_text()
    assert run(["assess", "--person", "each record", str(safe), *ROLES, "-o", str(output)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_an_original_and_an_attack(safe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "baskets.csv").write_text("a\na,b\n")
    attack = tmp_path / "attack.toml"
    text = 'kind = "frequencies"\ntransactions = "baskets.csv"\nerror = 0.1\ntruth = "names"\n'
    attack.write_text(text)
    options = ["--original", str(safe), "--attack", str(attack), "--json"]
    assert run(["assess", "--person", "each record", str(safe), *ROLES, *options]) == 1
    found = json.loads(capsys.readouterr().out)["result"]
    states = {one["measure"]: one["status"] for one in found["findings"]}
    assert states["pseudonyms.expected_crack_fraction"] == "exceeded"
    # The classes of a hundred records bound the links, whatever the method.
    assert states["linkage.correct_links_above_chance"] == "met"
    assert found["changes"][0] == {"measure": "k-anonymity", "before": 100, "after": 100, "unit": "records"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "gdpr"], "neither a preset nor a .toml file"),
        (["--json", "--md"], "one format"),
        (["-o", "x.txt"], ".html or .pdf or .docx or .zip or .md or .json"),
        (["--population", "none.csv"], "does not exist"),
        (["--population", "0"], "at least 1"),
        (["--person", "nobody"], "does not exist"),
        (["--attack", "none.toml"], "cannot be read"),
        (["--original", "none.csv"], "does not exist"),
        (["--on", "age"], "Set --original or --earlier, or remove --on"),
        (["--original", "{safe}", "--on", "agee"], "'agee' does not exist (did you mean 'age'?)"),
        (["--earlier", "{safe}", "--on", "agee"], "'agee' does not exist (did you mean 'age'?)"),
        (["--delimiter", ";;"], "Set --delimiter ';'."),
    ],
)
def test_mistakes_are_status_2(
    safe: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "assess",
                *(() if "--person" in options else ("--person", "each record")),
                str(safe),
                *(one.format(safe=safe) for one in options),
            ]
        )
        == 2
    )
    assert message in " ".join(capsys.readouterr().err.split())


def test_hostile_names_in_terminal_and_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.csv"
    names = ["<script>alert(1)</script>", "a|b`c", "x\u202ey\u200b", "q" * 500]
    path.write_text(",".join(names) + "\n" + "\n".join(f"{i},{i},{i},{i}" for i in range(30)))
    options = [word for name in names for word in ("--qi", name)]
    assert run(["assess", "--person", "each record", str(path), *options]) == 1
    shown = capsys.readouterr().out
    assert "\u202e" not in shown
    lines = shown.splitlines()
    assert max(len(line) for line in lines if not line.startswith("  crypsis")) <= 80
    assert run(["assess", "--person", "each record", str(path), *options, "--md"]) == 1
    shown = capsys.readouterr().out
    assert "<script>" not in shown
    assert "\u202e" not in shown
    assert "\u200b" not in shown


def test_ctrl_c_gives_what_is_known(tmp_path: Path) -> None:
    """The first question is answered before the interruption."""
    code = (
        "import sys, time\n"
        "from crypsis.assessment import _questions as q\n"
        "def slow(*_):\n"
        "    print('asked', file=sys.stderr, flush=True)\n"
        "    time.sleep(30)\n"
        "q.ask_inference = slow\n"
        "from crypsis.cli import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    path = tmp_path / "people.csv"
    path.write_text("age,disease\n" + "\n".join(f"{i},flu" for i in range(50)))
    output = tmp_path / "report.json"
    options = ["--qi", "age", "--sensitive", "disease", "-o", str(output)]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "assess", "--person", "each record", str(path), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "asked\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Not safe to release (incomplete)" in shown
    found = json.loads(output.read_text())["result"]
    assert found["complete"] is False
    assert found["findings"][0]["affected"] == 50


def test_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(PRESETS)
    assert run(["policy", "list"]) == 0
    assert "HIPAA" in capsys.readouterr().out.upper()
    assert run(["policy", "show", "default"]) == 0
    ours = tmp_path / "ours.toml"
    text = capsys.readouterr().out
    ours.write_text(text)
    assert run(["policy", "check", str(ours)]) == 0
    count = text.count("[[thresholds]]")
    assert count >= 10
    assert f"{count} thresholds, all valid" in capsys.readouterr().out
    assert run(["policy", "show", str(ours)]) == 0
    assert "at most 0.2 fraction" in " ".join(capsys.readouterr().out.split())
    ours.write_text(text.replace("expected_crack_fraction", "expected_crack_fractions"))
    assert run(["policy", "check", str(ours)]) == 2
    assert "did you mean" in capsys.readouterr().err


@pytest.mark.heavy
def test_adult_from_the_command_line(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data_folder / "adult" / "adult.data"
    assert run(["assess", "--person", "each record", str(path), "--names", ",".join(ADULT_COLUMNS)]) == 1
    shown = capsys.readouterr().out
    assert "15 of 15 roles are guesses" in shown
    assert "Not safe to release" in shown
    assert len(shown.splitlines()) <= 44
    assert shown.count("The release that was tried:") == 1
    assert "crypsis scan" in shown


@pytest.mark.parametrize(
    ("typed", "meant"), [("--quasi-identifiers", "--qi"), ("--identifier", "--id"), ("--types", "--type")]
)
def test_an_option_by_its_name_in_python(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--person", "each record", "people.csv", typed, "age"]) == 2
    assert f"No such option: {typed} (Possible options: {meant})" in capsys.readouterr().err


def test_columns_between_commas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,sex\n30,m\n41,f\n")
    assert run(["assess", "--person", "each record", str(path), "--qi", "age, sex"]) == 2
    assert "several columns: give each its own option" in capsys.readouterr().err
    assert run(["assess", "--person", "each record", str(path), "--qi", "age,sexx"]) == 2
    assert "several columns" not in capsys.readouterr().err

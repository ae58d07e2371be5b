"""Several files of one release: joint class sizes count in the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.dataset import ColumnNote, Dataset
from crypsis.policies.findings import Status, Verdict
from tests.singling_out.test_joint_classes import admissions

SMALL = "singling_out.records_in_small_classes"


def files(shared: bool = True) -> tuple[Dataset, Dataset]:
    """Each file by itself has large classes; the time is signed off: nobody outside knows it."""
    one, two = admissions()
    note = {"time": ColumnNote(sign_off="Internal clock of the ward; nobody outside knows it.")}
    first = Dataset.from_frame(
        one, quasi_identifiers=["age", "sex"], insensitive=["time"], person="each record"
    )
    two = two if shared else two.drop_columns(["time"])
    rest = ["time"] if shared else []
    second = Dataset.from_frame(
        two, quasi_identifiers=["town", "job"], insensitive=rest, person="each record"
    )
    return first.with_roles(first.roles, note), second.with_roles(second.roles, note if shared else {})


def joint(found: cr.Assessment) -> list[Any]:
    return [one for one in found.findings if one.measure == SMALL and "Joined" in one.statement]


def test_a_time_that_joins_two_harmless_files_is_not_safe() -> None:
    first, second = files()
    alone = cr.assess(first)
    assert alone.verdict is Verdict.SAFE
    found = cr.assess(first, together=second)
    assert found.verdict is Verdict.NOT_SAFE
    (own,) = joint(found)
    assert own.status is Status.EXCEEDED
    assert "on 'time'" in own.statement
    assert "600 have exactly one counterpart" in own.statement
    assert found.parameters["together_rows"] == [600]
    tried = cr.assess(first, together=second, try_remedies=True)
    (own,) = joint(tried)
    assert own.remedy is not None
    assert own.remedy.parameters["excluded"] == ("time",)
    left = Dataset.from_frame(
        admissions()[0].drop_columns(["time"]), quasi_identifiers=["age", "sex"], person="each record"
    )
    assert not joint(cr.assess(left, together=second))


def test_files_that_share_nothing_stay_safe() -> None:
    first, second = files(shared=False)
    found = cr.assess(first, together=[second])
    assert found.verdict is Verdict.SAFE
    assert not joint(found)
    notes = found.answer("singling_out").notes  # type: ignore[union-attr]
    assert "No record can be joined with file 2." in notes


def test_undecided_roles_and_other_kinds_are_cannot_tell() -> None:
    first, second = files(shared=False)
    bare = second.to_arrow()
    found = cr.assess(first, together=bare)
    assert found.verdict is Verdict.CANNOT_TELL
    assert any("In file 2 the role of" in one.text for one in found.reasons)
    time = pa.array([str(n) for n in range(600)])
    other = Dataset.from_frame(
        bare.append_column("time", time),
        quasi_identifiers=["town", "job"],
        insensitive=["time"],
        person="each record",
    )
    found = cr.assess(first, together=other)
    assert found.verdict is not Verdict.SAFE
    assert any("could not be compared" in one.text for one in found.reasons)


def test_the_same_values_under_another_name_are_cannot_tell() -> None:
    first, second = files()
    renamed = Dataset.from_frame(
        second.to_arrow().rename_columns(["clock", "town", "job"]),
        quasi_identifiers=["town", "job"],
        insensitive=["clock"],
        person="each record",
    )
    note = {"clock": ColumnNote(sign_off="Internal clock of the ward; nobody outside knows it.")}
    found = cr.assess(first, together=renamed.with_roles(renamed.roles, note))
    assert found.verdict is Verdict.CANNOT_TELL
    (reason,) = [one for one in found.reasons if one.code == "joined-files"]
    assert "Column 'time' has 600 values that column 'clock' of file 2 has, too" in reason.text


def test_a_policy_without_class_sizes_cannot_tell() -> None:
    from crypsis.policies import load_policy

    first, second = files()
    rules = load_policy("default")
    kept = [one for one in rules.thresholds if one.measure != SMALL]
    found = cr.assess(first, policy=rules.model_copy(update={"thresholds": tuple(kept)}), together=second)
    assert found.verdict is Verdict.CANNOT_TELL
    assert any("the policy has no threshold on classes" in one.text for one in found.reasons)


def test_at_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = admissions()
    for name, table in (("a", one), ("b", two)):
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    reason = '"Internal clock of the ward; nobody outside knows it."'
    time = f'time = {{ role = "insensitive", sign_off = {reason} }}'
    for name, known in (("a", ("age", "sex")), ("b", ("town", "job"))):
        lines = ["[roles]", *(f'{one} = "quasi-identifier"' for one in known), time]
        (tmp_path / f"{name}.toml").write_text("\n".join(lines) + "\n")
    words = [
        "assess",
        "--person",
        "each record",
        str(tmp_path / "a.csv"),
        "--roles",
        str(tmp_path / "a.toml"),
        "--no-try",
    ]
    assert run(words) == 0
    capsys.readouterr()
    both = [*words, "--together", str(tmp_path / "b.csv")]
    assert run([*both, "--together-roles", str(tmp_path / "b.toml")]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "Joined with b on 'time'" in shown
    assert run([*words, "--together-roles", str(tmp_path / "b.toml")]) == 2
    assert "--together" in capsys.readouterr().err
    assert run([*words, "--together", str(tmp_path / "c.csv")]) == 2


def test_rows_in_the_same_order_join_files_without_a_common_column() -> None:
    first, second = files(shared=False)
    draw = np.random.default_rng(3)
    job = np.where(draw.random(600) < 0.8, np.array(first.to_arrow(["age"])["age"]) % 5, 5)
    other = second.to_arrow(["town"]).append_column("job", pa.array(job))
    roles = {"quasi_identifiers": ["town", "job"]}
    found = cr.assess(first, together=Dataset.from_frame(other, **roles, person="each record"))
    assert found.verdict is Verdict.CANNOT_TELL
    assert any("joins them by position" in one.text for one in found.reasons)
    mixed = Dataset.from_frame(other.take(draw.permutation(600)), **roles, person="each record")
    assert cr.assess(first, together=mixed).verdict is Verdict.SAFE


@pytest.mark.parametrize("written", ["{:.1f}", "EUR {:,.0f}", "{:.2f} EUR"])
def test_the_same_amounts_in_another_notation_or_unit_join_files(written: str) -> None:
    draw = np.random.default_rng(4)
    amounts = np.repeat(draw.choice(np.arange(20_000, 90_000), 600, replace=False), 2)
    place = draw.permutation(1200)
    units = amounts / 12 if written == "{:.2f} EUR" else amounts  # of a month

    def file(known: str, name: str, values: Any) -> Dataset:
        table = pa.table({known: draw.choice(["a", "b"], 1200), name: values})
        return Dataset.from_frame(table, quasi_identifiers=known, sensitive=name, person="each record")

    first = file("sex", "salary", amounts)
    second = file("town", "gross", [written.format(one) for one in units[place]])
    found = cr.assess(first, together=second)
    assert found.verdict is Verdict.CANNOT_TELL
    assert any("the files may be joined by them" in one.text for one in found.reasons)
    other = np.repeat(draw.choice(np.arange(20_000, 90_000), 600, replace=False), 2)
    other = other[draw.permutation(1200)]
    others = file("town", "gross", [written.format(one) for one in other])
    assert cr.assess(first, together=others).verdict is Verdict.SAFE

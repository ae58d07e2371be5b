"""What a record is: asked, refused without an answer, and held against the records."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.columns import roles
from crypsis.columns.combinations import repeated_combinations
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RoleError

KNOWN = {"birth": 20_000, "zip": 100, "sex": 2}
ROLES = {"quasi_identifiers": list(KNOWN), "sensitive": ["disease"]}
REASON = "The register has one line for each birth."


def table(people: int, least: int, most: int, seed: int = 0) -> pa.Table:
    """Records in random order, as many of each person, who are alike but for the disease."""
    draw = np.random.default_rng(seed)
    person = draw.permutation(np.repeat(np.arange(people), draw.integers(least, most + 1, people)))
    known = {name: draw.integers(0, values, people)[person] for name, values in KNOWN.items()}
    return pa.table(known | {"disease": draw.integers(0, 9, person.size)})


def coarse(rows: int = 600) -> pa.Table:
    """Large classes of independent people, in random order."""
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "birth": draw.integers(1950, 1954, rows),
            "zip": draw.integers(0, 3, rows),
            "sex": draw.integers(0, 2, rows),
            "disease": draw.integers(0, 9, rows),
        }
    )


def codes(found: cr.Assessment) -> list[str]:
    return [one.code for one in found.reasons]


def test_without_an_answer_nothing_is_safe_or_anonymized() -> None:
    found = cr.assess(coarse(), **ROLES)
    assert found.verdict.value == "cannot tell"
    assert codes(found) == ["person-undecided"]
    assert found.reasons[0].text.startswith("It was not decided what a record is")
    with pytest.raises(RoleError, match="was not decided what a record is") as refused:
        cr.anonymize(coarse(), k=5, **ROLES)
    assert refused.value.code == "person-undecided"
    assert cr.assess(coarse(), **ROLES, person="each record").verdict.value == "safe"
    assert cr.anonymize(coarse(), k=5, **ROLES, person="each record").measured.k >= 5
    assert cr.singling_out.k_anonymity(coarse(), quasi_identifiers=["sex"]) > 200


@pytest.mark.parametrize(("least", "most"), [(5, 13), (5, 15), (8, 8), (2, 6)])
def test_classes_of_one_person_contradict_the_answer(least: int, most: int) -> None:
    visits = table(3_000, least, most)
    found = cr.assess(visits, **ROLES, person="each record")
    assert {"person-against-evidence", "copied-records"} & {*codes(found)}
    assert found.verdict.value != "safe"
    with pytest.raises(RoleError, match="records"):
        cr.anonymize(visits, k=5, **ROLES, person="each record")
    answered = {**ROLES, "person": "each record", "person_reason": REASON}
    assert not {"person-against-evidence", "copied-records"} & {*codes(cr.assess(visits, **answered))}


def test_a_release_is_judged_by_the_detail_of_its_original() -> None:
    draw = np.random.default_rng(2)
    people = pa.table(
        {name: draw.integers(0, n, 3_000) for name, n in KNOWN.items()}
        | {"disease": draw.integers(0, 9, 3_000)}
    )
    made = cr.anonymize(people, k=5, **ROLES, person="each record")
    assert made.data.each_record
    assert "person-against-evidence" not in codes(cr.assess(made.data))
    assert "person-against-evidence" not in codes(cr.assess(made.data, people))
    assert repeated_combinations(made.data) is None


@pytest.mark.parametrize("seed", range(40))
def test_independent_and_dependent_people_do_not_contradict_it(seed: int) -> None:
    """Columns of people that depend on each other, one of them given by another one."""
    draw = np.random.default_rng(seed)
    rows = int(10 ** draw.uniform(2.5, 4.3))
    strength = draw.uniform(0, 3)
    columns = {}
    common = draw.normal(size=rows)
    for number in range(draw.integers(3, 6)):
        rank = np.argsort(np.argsort(strength * common + draw.normal(size=rows))) / rows
        columns[f"c{number}"] = (rank ** draw.uniform(0.4, 3) * 2 ** draw.uniform(1, 6)).astype(int)
    columns["given"] = columns["c0"] // 3
    data = Dataset.from_frame(pa.table(columns), quasi_identifiers=list(columns))
    assert repeated_combinations(data) is None


def test_the_expected_number_is_that_of_permutations() -> None:
    visits = table(500, 5, 13)
    found = repeated_combinations(Dataset.from_frame(visits, quasi_identifiers=list(KNOWN)))
    assert found is not None
    frame = visits.to_pandas()
    assert found.combinations == len(frame[list(KNOWN)].drop_duplicates())
    draw = np.random.default_rng(3)
    counts = [
        len(frame.assign(birth=draw.permutation(frame["birth"]))[list(KNOWN)].drop_duplicates())
        for _ in range(20)
    ]
    assert found.expected == pytest.approx(np.mean(counts), rel=0.01)


def test_the_answer_in_a_roles_file(tmp_path: Path) -> None:
    path = tmp_path / "roles.toml"
    names = [*KNOWN, "disease"]
    profile = cr.scan(table(300, 5, 9), **ROLES)
    assert profile.record_evidence
    roles.save(profile.columns, path, evidence=profile.record_evidence)
    text = path.read_text()
    assert 'person = "undecided"  # Perhaps an event of a person. The' in text
    assert roles.load(path, names).units == {}
    answer = f'person = "each record"\nperson_reason = "{REASON}"'
    path.write_text(text.replace('person = "undecided"', answer))
    filed = roles.load(path, names)
    assert filed.units == {"person": "each record", "person_reason": REASON}
    assert filed.absent == {}
    path.write_text(path.read_text().replace(REASON, "."))
    with pytest.raises(RoleError, match="must say why"):
        roles.load(path, names)


def test_the_answer_at_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    coarse().to_pandas().to_csv("people.csv", index=False)
    words = ["--qi", "birth", "--qi", "zip", "--qi", "sex", "--sensitive", "disease"]
    assert run(["assess", "people.csv", *words]) == 4
    assert "--person 'each record'" in capsys.readouterr().out.replace("\n", " ")
    assert run(["anonymize", "people.csv", *words, "--k", "5", "-o", "out.csv"]) == 2
    assert not Path("out.csv").exists()
    assert run(["assess", "people.csv", *words, "--person", "each record"]) == 0
    assert run(["scan", "people.csv", *words, "--person", "each record", "--save", "r.toml"]) == 0
    assert run(["assess", "people.csv", "--roles", "r.toml"]) == 0
    capsys.readouterr()


def test_what_a_dataset_keeps() -> None:
    data = Dataset.from_frame(coarse(), **ROLES, person="each record", person_reason=REASON)
    again = pickle.loads(pickle.dumps(data))
    assert (again.person, again.each_record, again.person_reason) == (None, True, REASON)
    named = cr.dataset.as_dataset(data, person="sex")
    assert (named.person, named.each_record) == ("sex", False)
    with pytest.raises(ParameterError, match="must say why"):
        Dataset.from_frame(coarse(), person="each record", person_reason="-")
    with pytest.raises(RoleError, match="Rename the column"):
        Dataset.from_frame(pa.table({"each record": [1]}), person="each record")

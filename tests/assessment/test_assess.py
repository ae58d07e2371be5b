"""`assess`: numbers compared with a policy, never failing open, the same for the same input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis import progress
from crypsis.assessment.result import Assessment
from crypsis.errors import CancelledError, ParameterError, RoleError, SourceError
from crypsis.policies import Policy, load_policy
from crypsis.policies.findings import Finding, Status, Verdict
from crypsis.schemas import schema

QIS, SENSITIVE = ["age", "sex"], ["disease"]


def table(rows: int = 600, **extra: Any) -> pa.Table:
    """Six equivalence classes of a hundred; in each four diseases equally often."""
    place = np.arange(rows)
    return pa.table(
        {
            "age": pa.array([30, 40, 50]).take(pa.array(place % 3)),
            "sex": pa.array(["f", "m"]).take(pa.array(place // 3 % 2)),
            "disease": pa.array(["flu", "gout", "asthma", "none"]).take(pa.array(place // 6 % 4)),
            **extra,
        }
    )


def decided(data: Any, **keywords: Any) -> Assessment:
    found: Assessment = cr.assess(
        data, quasi_identifiers=QIS, sensitive=SENSITIVE, **keywords, person="each record"
    )
    return found


def finding(found: Assessment, measure: str) -> Finding:
    return next(one for one in found.findings if one.measure == measure)


def test_a_release_that_meets_the_policy_is_safe() -> None:
    found = decided(table())
    assert found.verdict is Verdict.SAFE
    assert found.reasons == ()
    assert finding(found, "singling_out.records_in_small_classes").value == 0
    assert finding(found, "inference.baseline_excess").value <= 0.1
    assert finding(found, "inference.near_certain_values").value == 0
    assert [one.status for one in found.answers] == [
        Status.MET,
        Status.MET,
        Status.NOT_ASKED,
        Status.NOT_ASKED,
    ]


def test_one_person_more_makes_it_unsafe() -> None:
    alone = pa.table({"age": [99], "sex": ["f"], "disease": ["HIV"]})
    found = decided(pa.concat_tables([table(), alone]))
    assert found.verdict is Verdict.NOT_SAFE
    small = finding(found, "singling_out.records_in_small_classes")
    assert small.value == pytest.approx(1 / 601)
    assert small.affected == 1
    assert small.columns == ("age", "sex")
    assert small.threshold == 0
    assert small.remedy is not None
    assert small.remedy.action == "anonymize"
    assert small.remedy.parameters == {"k": 5, "excess": 0.2}
    certain = finding(found, "inference.near_certain_values")
    assert (certain.value, certain.affected) == (1, 1)
    assert "in this table" in certain.statement
    assert found.findings[0].status is Status.EXCEEDED
    assert "HIV" not in found.to_json()


def test_guesses_are_never_safe_unless_accepted() -> None:
    found = cr.assess(table())
    assert found.verdict is Verdict.CANNOT_TELL
    assert len(found.guessed) == 3
    assert found.reasons[0].code == "undecided-columns"
    assert found.reasons[0].text == "3 columns are undecided: 'age', 'sex', 'disease'."
    assert cr.assess(table(), accept_guesses=True, person="each record").verdict is Verdict.SAFE
    # One undecided column is enough, even if it would be guessed as harmless.
    assert decided(table(bmi=pa.array([1.5] * 600))).verdict is Verdict.CANNOT_TELL


def test_a_guessed_role_can_still_be_not_safe() -> None:
    names = pa.array([f"Person Number{i}" for i in range(600)])
    found = cr.assess(table(name=names), accept_guesses=True)
    assert found.verdict is Verdict.NOT_SAFE
    assert found.findings[0].measure == "columns.direct_identifiers"
    assert found.findings[0].columns == ("name",)
    assert found.findings[0].affected == 600


def test_free_text_is_never_safe() -> None:
    words = "the patient says that her neighbour saw it all and then called the doctor again"
    notes = pa.array([f"{words} {i} times" for i in range(600)])
    found = decided(table(notes=notes), insensitive=["notes"])
    assert found.verdict is not Verdict.SAFE
    assert any(reason.code == "free-text" for reason in found.reasons)


def test_without_quasi_identifiers_one_cannot_tell() -> None:
    found = cr.assess(table(), insensitive=["age", "sex"], sensitive=SENSITIVE, person="each record")
    assert found.verdict is Verdict.CANNOT_TELL
    assert any("quasi-identifier" in reason.text for reason in found.reasons)


def test_without_a_sensitive_attribute_inference_is_not_asked() -> None:
    found = cr.assess(table().select(QIS), quasi_identifiers=QIS, person="each record")
    assert found.verdict is Verdict.SAFE
    assert found.statement.endswith("; inference not asked: no sensitive attribute")
    assert finding(found, "inference.baseline_excess").status is Status.NOT_ASKED


@pytest.mark.parametrize("role", ["insensitive", "quasi_identifiers"])
def test_a_sensitive_attribute_with_a_milder_role_needs_a_reason(role: str) -> None:
    roles = {"quasi_identifiers": [*QIS], "insensitive": []}
    roles[role] = [*roles[role], *SENSITIVE]
    found = cr.assess(table(), **roles, person="each record")
    assert found.verdict is Verdict.CANNOT_TELL
    (reason,) = [one for one in found.reasons if one.code == "role-against-evidence"]
    assert "whether it can be inferred was not asked" in reason.text
    assert "{sensitive}" in reason.hint


@pytest.mark.parametrize(
    "name",
    [
        "antecedentes_penales",
        "Vorstrafen",
        "casier_judiciaire",
        "gewerkschaft",
        "syndicat",
        "partido",
        "Parteizugehörigkeit",
        "gene_variant",
        "orientation_sexuelle",
    ],
)
def test_special_categories_in_several_languages_need_a_reason(name: str) -> None:
    values = table().column(SENSITIVE[0])
    found = cr.assess(
        table().select(QIS).append_column(name, values),
        quasi_identifiers=QIS,
        insensitive=[name],
        person="each record",
    )
    assert found.verdict is not Verdict.SAFE
    assert any(name in one.text for one in found.reasons if one.code == "role-against-evidence")


def test_a_required_question_left_open_is_not_safe() -> None:
    found = decided(table(), policy="wp216")
    assert found.verdict is Verdict.CANNOT_TELL
    assert any(reason.hint == "Set {original}." for reason in found.reasons)


def test_linkage_with_an_original() -> None:
    rng = np.random.default_rng(0)
    original = pa.table({"income": rng.normal(size=400), "weight": rng.normal(size=400)})
    near = pa.table({name: np.asarray(original[name]) + 1e-4 for name in original.column_names})
    found = cr.assess(near, original, insensitive=["income", "weight"], person="each record")
    links = finding(found, "linkage.correct_links_above_chance")
    assert links.status is Status.EXCEEDED
    assert links.affected == 400
    far = pa.table({name: rng.permutation(np.asarray(original[name])) for name in near.column_names})
    found = cr.assess(far, original, insensitive=["income", "weight"], person="each record")
    # Independent columns, or rows in another order: without the true matches one cannot tell.
    links = finding(found, "linkage.correct_links_above_chance")
    assert links.status is Status.NOT_EVALUATED
    assert found.verdict is not Verdict.SAFE
    found = cr.assess(
        far, original, insensitive=["income", "weight"], row_map=list(range(400)), person="each record"
    )
    assert finding(found, "linkage.correct_links_above_chance").status is Status.MET


def test_record_numbers_that_are_released() -> None:
    """They pair the records, and are not one of the columns that are compared."""
    rng = np.random.default_rng(0)
    number = np.arange(400)
    original = pa.table({"number": number, "income": rng.normal(size=400)})
    near = pa.table({"number": number, "income": np.asarray(original["income"]) + 1e-4})
    order = pa.array(rng.permutation(400))
    found = cr.assess(
        near.take(order), original, on="number", insensitive=["number", "income"], person="each record"
    )
    links = finding(found, "linkage.correct_links_above_chance")
    assert (links.status, links.affected, links.columns) == (Status.EXCEEDED, 400, ("income",))


def test_requested_linkage_that_is_not_evaluated_is_not_safe() -> None:
    """Many classes: the bound by classes decides nothing, and so do ranks of some columns."""
    policy = Policy.model_validate(
        load_policy("default").model_dump(exclude={"context", "questions", "thresholds"})
        | {
            "thresholds": [
                {
                    "measure": "linkage.correct_links_above_chance",
                    "unit": "fraction",
                    "at_most": 0.005,
                    "why": "a test",
                }
            ]
        }
    )
    found = decided(table(), original=table(), policy=policy)
    assert found.verdict is Verdict.CANNOT_TELL
    # Nothing can be ranked at all.
    texts = table().set_column(0, "age", table()["age"].cast("string"))
    found = decided(texts, original=table(), policy=policy)
    assert finding(found, "linkage.correct_links_above_chance").status is Status.NOT_EVALUATED
    assert found.verdict is Verdict.CANNOT_TELL
    # The rows differ, so the true matches are not known.
    found = decided(table(), original=table(300), policy=policy)
    assert found.verdict is Verdict.CANNOT_TELL


def test_links_are_bounded_by_the_classes_of_what_an_intruder_knows() -> None:
    """6 classes in 600 records: no method links more than 1 % correctly, also of fewer rows."""
    for original in (table(), table(300)):
        links = finding(decided(table(), original=original), "linkage.correct_links_above_chance")
        assert links.status is Status.MET
        assert links.value == pytest.approx(5 / 600)


def test_before_and_after() -> None:
    ages = pa.array(np.arange(600) % 60)
    found = decided(table(), original=table().set_column(0, "age", ages))
    changes = {one.measure: (one.before, one.after) for one in found.changes}
    assert changes["k-anonymity"] == (10, 100)
    assert changes["equivalence classes"] == (60, 6)


def test_a_belief() -> None:
    belief = cr.pseudonyms.Belief([[1, 1, 0], [1, 1, 0], [0, 0, 1]], truth=[0, 1, 2])
    found = decided(table(), belief=belief)
    cracks = finding(found, "pseudonyms.expected_crack_fraction")
    assert cracks.value == pytest.approx(2 / 3)  # 1/2 + 1/2 + 1 of three
    assert cracks.status is Status.EXCEEDED
    assert found.verdict is Verdict.NOT_SAFE


def test_population() -> None:
    found = decided(table(), population=10_000)
    assert finding(found, "singling_out.population_uniqueness").status is Status.MET
    assert finding(found, "singling_out.population_uniqueness").value == 0
    everyone = cr.Dataset.from_frame(pa.concat_tables([table()] * 2))
    found = decided(table(), population=everyone)
    assert finding(found, "singling_out.population_uniqueness").value == 0


def test_population_that_no_model_of_one_shape_fits() -> None:
    # 0.3 % of the people are unique, seven times the limit; all others are in 100 large classes.
    people = np.repeat(np.arange(400), [997] * 100 + [1] * 300)
    sample = np.random.default_rng(3).choice(people, 20_000, replace=False)
    rows = pa.table({"v": sample})
    found = cr.assess(rows, quasi_identifiers=["v"], population=100_000, person="each record")
    assert finding(found, "singling_out.population_uniqueness").status is Status.EXCEEDED
    few = cr.assess(rows.slice(0, 2_000), quasi_identifiers=["v"], population=100_000, person="each record")
    undecided = finding(few, "singling_out.population_uniqueness")
    assert undecided.status is Status.NOT_EVALUATED
    assert undecided.value.low < 0.0004 < 0.003 < undecided.value.high


SAFE_HARBOR = [
    ({"zip": ["03601", "02138"]}, "columns.geographic_subdivisions", 1),
    ({"zip": ["021", "100"]}, "columns.geographic_subdivisions", 0),
    ({"zip": ["021", "036"]}, "columns.geographic_subdivisions", 1),
    ({"zip": ["021", "000"]}, "columns.geographic_subdivisions", 0),
    ({"birth_date": ["1980-02-03", "1981-04-05"]}, "columns.dates_finer_than_year", 1),
    ({"birth_year": [1980, 1981]}, "columns.dates_finer_than_year", 0),
    ({"age": [89, 90]}, "columns.ages_over_89", 0),
    ({"age": [89, 91]}, "columns.ages_over_89", 1),
    ({"email": ["a@example.org", "b@example.org"]}, "columns.hipaa_identifiers", 1),
]


@pytest.mark.parametrize(("columns", "measure", "count"), SAFE_HARBOR)
def test_safe_harbor(columns: dict[str, list[Any]], measure: str, count: int) -> None:
    data = pa.table({name: pa.array(values * 30) for name, values in columns.items()})
    found = cr.assess(data, policy="hipaa-safe-harbor", accept_guesses=True)
    assert finding(found, measure).value == count


def test_safe_harbor_counts_areas_in_the_population() -> None:
    data = pa.table({"zip": pa.array(["021", "100"] * 30)})
    codes = ["02138"] * 20_001 + ["10001"] * 20_000
    everyone = cr.Dataset.from_frame(pa.table({"zip": codes}))
    found = cr.assess(data, policy="hipaa-safe-harbor", accept_guesses=True, population=everyone)
    assert finding(found, "columns.geographic_subdivisions").value == 1
    everyone = cr.Dataset.from_frame(pa.table({"zip": [*codes, "10002"]}))
    found = cr.assess(data, policy="hipaa-safe-harbor", accept_guesses=True, population=everyone)
    assert finding(found, "columns.geographic_subdivisions").value == 0


def test_the_same_input_gives_the_same_bytes() -> None:
    first, second = (
        re.sub(r'"made": "[^"]*"', "", decided(table(), population=5_000).to_json()) for _ in range(2)
    )
    assert first == second


def test_json_fits_its_schema_and_has_no_data_values() -> None:
    planted = table().set_column(2, "disease", pa.array(["xyzzy-secret", "plugh-secret"] * 300))
    found = decided(planted)
    text = found.to_json()
    jsonschema.validate(json.loads(text), schema("assess"))
    assert "-secret" not in text
    assert "-secret" not in str(found)
    assert json.loads(text)["format"] == 3
    broken = json.loads(text)
    del broken["result"]["verdict"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema("assess"))


@pytest.mark.parametrize("question", ["singling_out", "inference"])
def test_interrupted_work_gives_what_is_known(monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    from crypsis.assessment import _questions

    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(_questions, f"ask_{question}", stop)
    alone = pa.table({"age": [99], "sex": ["f"], "disease": ["HIV"]})
    found = decided(pa.concat_tables([table(), alone]))
    assert not found.complete
    assert found.reasons[0].code == "interrupted"
    known = {"singling_out": Verdict.CANNOT_TELL, "inference": Verdict.NOT_SAFE}
    assert found.verdict is known[question]
    assert decided(table()).verdict is Verdict.CANNOT_TELL


def test_a_listener_may_cancel() -> None:
    def listen(news: progress.Progress) -> None:
        if news.what == "assessing" and news.done >= 1:
            raise CancelledError

    with progress.report_to(listen):
        found = decided(table())
    assert not found.complete
    assert found.verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"seed": -1}, ParameterError),
        ({"policy": "none"}, ParameterError),
        ({"identifiers": ["age"]}, RoleError),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        decided(table(), **options)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_attack_files(tmp_path: Path) -> None:
    write(tmp_path, "baskets.csv", "a,b\na\na\nb,c\n")
    write(tmp_path, "ranges.csv", "item,low,high\nbread,0.6,0.9\neggs,0.4,0.6\nsalt,0.1,0.3\n")
    write(tmp_path, "truth.csv", "item,pseudonym\nbread,a\neggs,b\nsalt,c\n")
    text = 'kind = "frequencies"\ntransactions = "baskets.csv"\n'
    given = f'{text}ranges = "ranges.csv"\ntruth = "truth.csv"\n'
    belief = cr.pseudonyms.load_attack(write(tmp_path, "attack.toml", given))
    assert cr.pseudonyms.expected_cracks(belief) == 3
    matrix = 'kind = "matrix"\nmatrix = "m.csv"\ntruth = "names"\n'
    write(tmp_path, "m.csv", "item,a,b\na,1,1\nb,1,1\n")
    belief = cr.pseudonyms.load_attack(write(tmp_path, "attack.toml", matrix))
    assert cr.pseudonyms.expected_cracks(belief) == 1
    for wrong, message in [
        (text, "in one way"),
        (f"{text}foo = 1\nerror = 0.1", "foo"),
        ("kind = 3", "is not an attack"),
        ("kind = ", "is not TOML"),
        ('kind = "frequencies"\ntransactions = "no.csv"\nerror = 0.1', "no.csv"),
    ]:
        with pytest.raises((SourceError, ParameterError), match=message):
            cr.pseudonyms.load_attack(write(tmp_path, "attack.toml", wrong))


def test_adult_without_options(adult: Any) -> None:
    found = cr.assess(adult)
    assert found.verdict is Verdict.NOT_SAFE
    roles = {one.column: one.role for one in found.columns}
    assert roles["age"] == roles["sex"] == roles["native-country"] == "quasi-identifier"
    assert roles["income"] == "sensitive"
    small = finding(found, "singling_out.records_in_small_classes")
    assert small.affected == 30_633
    certain = finding(found, "inference.near_certain_values")
    assert certain.columns[0] == "income"
    assert certain.value == 6_543
    answer = found.answer("singling_out")
    assert answer is not None
    sets: Any = answer.results["quasi_identifiers"]
    assert ("age", "occupation", "hours-per-week") in [one.columns for one in sets.found]

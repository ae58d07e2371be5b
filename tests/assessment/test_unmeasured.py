"""What no measure covers keeps a release from being called safe; copies are links."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

import crypsis as cr
from crypsis.dataset import ColumnNote, Dataset
from crypsis.policies.findings import Verdict
from crypsis.report.wording import too_wide
from crypsis.results import Estimate


def release(rows: int = 600) -> pa.Table:
    return pa.table(
        {
            "code": [f"P{n % 200:03d}" for n in range(rows)],
            "ward": ["a", "b"] * (rows // 2),
            "ill": (["flu", "gout", "none"] * rows)[:rows],
        }
    )


def codes(found: cr.Assessment) -> list[str]:
    return [one.code for one in found.reasons]


def test_released_pseudonyms_of_repeated_persons() -> None:
    roles = {"quasi_identifiers": ["ward"], "sensitive": ["ill"], "person": "code"}
    draw = np.random.default_rng(1)
    wards = draw.choice(["a", "b"], 3_000)  # in the order of rows, 15 visits of each person
    many = pa.table(
        {
            "code": [f"P{n % 200:03d}" for n in range(3_000)],
            "ward": wards,
            "ill": ["flu", "gout", "none"] * 1_000,
        }
    )
    kept = cr.assess(many, insensitive=["code"], **roles)  # type: ignore[arg-type]
    assert "linked-records" in codes(kept)
    assert kept.verdict is not Verdict.SAFE
    alike = cr.assess(release(), insensitive=["code"], **roles)  # type: ignore[arg-type]
    assert "linked-records" not in codes(alike)  # a hundred people have the same history
    gone = cr.assess(release(), excluded=["code"], **roles)  # type: ignore[arg-type]
    assert "linked-records" not in codes(gone)
    once = cr.assess(release(200), insensitive=["code"], **roles)  # type: ignore[arg-type]
    assert "linked-records" not in codes(once)


def test_columns_without_a_counterpart() -> None:
    masked = release().select(["ward", "ill"])
    original = masked.rename_columns(["station", "ill"])
    found = cr.assess(masked, original, quasi_identifiers=["ward"], sensitive=["ill"], person="each record")
    (reason,) = [one for one in found.reasons if one.code == "columns-not-compared"]
    assert reason.text.startswith("'ward' is not in the original")
    assert found.verdict is not Verdict.SAFE


def test_copies_count_as_links_wherever_they_are_and_however_they_are_written() -> None:
    draw = np.random.default_rng(3)
    size = draw.integers(100_000, 900_000, 400)
    original = pa.table({"size": size, "class": [1, 2] * 200, "more": [None, "x"] * 200})
    other = draw.integers(100_000, 900_000, 400).astype(float)
    for copied, expected in ((0, False), (60, True)):
        other[:copied] = size[200 : 200 + copied]
        masked = pa.table({"size": other, "class": [1, 2] * 200, "more": [None, "x"] * 200})
        found = cr.assess(
            masked, original, quasi_identifiers=["class"], insensitive=["size", "more"], person="each record"
        )
        (links,) = [one for one in found.findings if one.measure == "linkage.correct_links_above_chance"]
        assert ("copies of one record" in links.statement) is expected
        if expected:
            assert links.affected == 60


def test_an_estimate_that_decides_nothing_is_explained() -> None:
    finding = dataclasses.replace(
        cr.assess(pa.table({"age": [1, 2] * 50}), quasi_identifiers=["age"], person="each record").findings[
            0
        ],
        value=Estimate(0.028, 0.0, 0.0658, 0.99, "Newcombe"),
        threshold=0.05,
        unit="fraction",
        comparison="at most",
    )
    assert too_wide(finding) == (
        " The estimate, 2.8 %, may be anything from 0 % to 6.58 %, and allowed is at most 5 %."
    )
    certain = dataclasses.replace(finding, value=Estimate(0.01, 0.0, 0.02, 0.99, "Newcombe"))
    assert not too_wide(certain)


def test_averages_of_groups_are_no_copies_but_a_join_is() -> None:
    draw = np.random.default_rng(3)
    values = np.sort(draw.uniform(size=10_000))
    groups = pa.table({"size": values.reshape(-1, 40).mean(axis=1).repeat(40)})
    roles = {"quasi_identifiers": ["size"], "person": "each record"}
    assert "copied-records" in codes(cr.assess(groups, **roles))  # type: ignore[arg-type]
    before = pa.table({"size": values})
    assert "copied-records" not in codes(cr.assess(groups, before, **roles))  # type: ignore[arg-type]
    visits = groups.append_column("visit", pa.array(np.arange(10_000)))
    found = cr.assess(groups, visits, **roles)  # type: ignore[arg-type]
    assert "copied-records" in codes(found)


def test_rows_that_follow_each_other_are_asked_about() -> None:
    draw = np.random.default_rng(2)
    known = ["age", "sex", "region"]
    homes = {"region": draw.choice(list("nesw"), 600)}  # of four people each
    people = {name: draw.choice(list("abc"), 2_400) for name in ("age", "sex")}
    lived = pa.table({**{k: np.repeat(v, 4) for k, v in homes.items()}, **people})
    visits = pa.table({k: np.repeat(v[:600], 4) for k, v in (homes | people).items()})
    for table in (lived, visits):
        (reason,) = cr.assess(table, quasi_identifiers=known, person="each record").reasons
        assert reason.code == "kept-order"
        mixed = table.take(draw.permutation(2_400))
        drifted = mixed.take(np.argsort(np.arange(2_400) + draw.normal(0, 99, 2_400)))
        by_region = mixed.take(np.argsort(mixed["region"].to_numpy(zero_copy_only=False), kind="stable"))
        months = [mixed.slice(n * 200, 200).sort_by("age") for n in range(12)]
        wards = [one.take(np.argsort(np.arange(200) % 5, kind="stable")) for one in months]
        ward = pa.array(np.tile(np.repeat(["d", "b", "e", "a", "c"], 40), 12))
        for other in (
            mixed,
            drifted,
            by_region,
            mixed.sort_by([(one, "ascending") for one in known]),
            pa.concat_tables(wards).set_column(0, "region", ward),
        ):
            assert cr.assess(other, quasi_identifiers=known, person="each record").verdict is Verdict.SAFE


def test_what_was_signed_off_is_known_to_whoever_has_the_original() -> None:
    draw = np.random.default_rng(4)
    answers = {f"q{n}": draw.choice(list("abcde"), 400) for n in range(5)}
    table = pa.table({"age": np.arange(400) % 8, **answers})
    data = Dataset.from_frame(
        table, quasi_identifiers=["age"], insensitive=list(answers), person="each record"
    )
    note = ColumnNote(sign_off="Nobody knows the answers.")
    found = cr.assess(data.with_roles(data.roles, dict.fromkeys(answers, note)), table, row_map=range(400))
    assert found.verdict is Verdict.NOT_SAFE
    (said,) = [one for one in found.answer("linkage").notes if "signed off" in one]
    assert said.endswith("By the other columns at most 2 % can be linked correctly.")
    (links,) = found.exceeded
    assert links.remedy is not None
    assert (links.remedy.action, links.remedy.value_after) == ("exclude_columns", 0.02)
    assert links.remedy.parameters["columns"] == tuple(answers)

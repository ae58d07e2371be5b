"""Releases that an expert would pass are "safe" under the policy meant for them, roles decided.

A gate that always says no is worthless. Each case is a release on its own; most are files or frames
of the kinds that people hand over, and real tables anonymized by crypsis itself.
"""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ADULT_COLUMNS
from tests.promises.attacks.judge import (
    SAFE_HARBOR_ANSWERS,
    Ended,
    anonymized_dataset,
    answered,
    assessed,
    assessed_dataset,
    believed,
    clean_copy,
    command,
    flags,
    people_of_the_demo,
)
from tests.promises.attacks.people import DISEASES, QIS, ROLES, hospital, plain

WORDS = flags(**ROLES)


@pytest.fixture
def draw() -> np.random.Generator:
    return np.random.default_rng(22)


def safe(ended: Ended | str) -> None:
    """The verdict is "safe"; what was shown otherwise says why not."""
    if isinstance(ended, str):
        assert ended == "safe"
    else:
        assert ended.status == 0, f"{ended.out}\n{ended.err}"


# Tables of k = 100 ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "policy",
    [
        "default",
        "strict-research",
        "nist-800-188",
        "ehds-secondary-use",
        "ema-0070",
        "hipaa-expert",
        "cms-small-cells",
    ],
)
def test_large_classes_with_balanced_diseases(policy: str) -> None:
    """Six classes of a hundred people, in each four diseases equally often."""
    safe(assessed(plain(), policy=policy, answers=answered(policy), **ROLES))


def test_a_table_of_counts_as_one_row_a_person() -> None:
    """Region by age by sex, 40 to 60 people a cell, no sensitive attribute."""
    cells = pd.MultiIndex.from_product([["n", "s", "e", "w"], ["0-39", "40+"], ["f", "m"]])
    counts = 40 + np.arange(len(cells)) * 7 % 21
    rows = cells.repeat(counts).to_frame(index=False, name=["region", "age", "sex"])
    safe(assessed(rows, quasi_identifiers=["region", "age", "sex"]))


def test_twenty_people_a_class_and_two_sensitive_attributes(draw: np.random.Generator) -> None:
    place = np.arange(2_000)
    release = pd.DataFrame(
        {
            "district": [f"d{n:02d}" for n in place // 40],
            "disease": np.array(DISEASES)[place % 4],
            "smoker": np.array(["no", "no", "no", "yes"])[place // 4 % 4],
        }
    )
    safe(assessed(release, quasi_identifiers=["district"], sensitive=["disease", "smoker"]))


def test_columns_of_no_interest_with_few_values(draw: np.random.Generator) -> None:
    """Two insensitive columns of two values each: every combination has 25 people."""
    place = np.arange(600)
    release = plain().assign(
        form=np.array(["a", "b"])[place // 24 % 2], wave=np.array([1, 2])[place // 48 % 2]
    )
    safe(assessed(release, **ROLES, insensitive=["form", "wave"]))


def test_a_column_that_is_always_the_same_and_one_that_is_empty() -> None:
    release = plain().assign(year=2025, remark=pd.Series([None] * 600, dtype=object))
    safe(assessed(release, **ROLES, insensitive=["year", "remark"]))


def test_suppressed_values_and_categories_of_others() -> None:
    release = plain(1_200)
    release.loc[release.index % 60 < 12, "age"] = "*"
    release.loc[release["disease"] == "gout", "disease"] = "other"
    safe(assessed(release, **ROLES))


def test_missing_values_of_many_people() -> None:
    release = plain(1_200)
    release.loc[release.index % 60 < 12, "age"] = None
    safe(assessed(release, **ROLES))


def test_incomes_that_are_alike_in_every_class(draw: np.random.Generator) -> None:
    """The same incomes in every class, in thousands."""
    place = np.arange(1_200)
    release = pd.DataFrame({"district": place % 6, "income": place // 6 % 99 * 1_000 + 20_000})
    safe(assessed(release, quasi_identifiers=["district"], sensitive=["income"]))


def _numbers(draw: np.random.Generator) -> dict[str, Any]:
    """Ordinary counts, scores and amounts of 1,200 people."""
    some = draw.random(1_200)
    return {
        "a score from 0 to 100": draw.integers(0, 101, 1_200),
        "pain from 0 to 10": draw.integers(0, 11, 1_200),
        "visits": draw.poisson(2, 1_200),
        "incomes, one in twenty zero": np.where(some < 0.05, 0, draw.integers(20, 90, 1_200) * 1_000),
        "pack-years, one in ten zero": np.where(some < 0.1, 0, draw.integers(1, 60, 1_200)),
        "per cent as text": [f"{x:.1f} %" for x in draw.uniform(0, 100, 1_200)],
        "amounts with a currency": [f"CHF {n // 10}'{n % 10}00.-" for n in draw.integers(200, 900, 1_200)],
        "results of which half are bounds": np.where(
            some < 0.5, "<20", draw.integers(20, 900, 1_200).astype(str)
        ),
        "results of which half are missing": np.where(some < 0.5, np.nan, draw.integers(20, 900, 1_200)),
    }


@pytest.mark.parametrize("name", list(_numbers(np.random.default_rng(0))))
def test_ordinary_numbers(name: str, draw: np.random.Generator) -> None:
    """Numbers that say nothing of the class: presence discloses no more than "not zero"."""
    release = plain(1_200)[QIS].assign(result=_numbers(draw)[name])
    safe(assessed(release, quasi_identifiers=QIS, sensitive=["result"]))


def test_lists_of_diseases(draw: np.random.Generator) -> None:
    """Lists that contain each disease as often in every class."""
    lists = [
        "; ".join(draw.choice(["flu", "gout", "asthma", "eczema", "ulcer"], 2, replace=False))
        for _ in range(1_200)
    ]
    release = plain(1_200)[QIS].assign(diagnoses=lists)
    safe(assessed(release, quasi_identifiers=QIS, sensitive=["diagnoses"]))


def test_a_diagnosis_that_is_a_quasi_identifier_for_a_reason(tmp_path: Path) -> None:
    release = plain(1_200).rename(columns={"disease": "diagnosis"})
    release["outcome"] = np.array(["a", "b", "b", "c"])[np.arange(1_200) // 24 % 4]
    release.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        '[roles]\nage = "quasi-identifier"\nsex = "quasi-identifier"\noutcome = "sensitive"\n'
        'diagnosis = { role = "quasi-identifier", override = "All of them are treated in public." }\n'
    )
    safe(
        command(
            "assess", "--person", "each record", tmp_path / "data.csv", "--roles", tmp_path / "roles.toml"
        )
    )


def test_a_release_in_another_order_than_the_original(draw: np.random.Generator) -> None:
    """Sorted by its own columns, as many files are, and the original by others."""
    people = hospital(draw, 1_200)
    release = people[["sex", "disease"]].assign(age=np.where(people["age"] < 44, "20-43", "44-66"))
    release = release.sample(frac=1, random_state=2).sort_values(["age", "sex"], kind="stable")
    safe(
        assessed(
            release,
            quasi_identifiers=["age", "sex"],
            sensitive=["disease"],
            original=people.sort_values("age"),
        )
    )


def test_a_signed_off_measurement(draw: np.random.Generator, tmp_path: Path) -> None:
    """A measurement that only the holder has, with the reason in the roles file."""
    plain().assign(reading=draw.normal(5, 1, 600).round(4)).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        '[roles]\nage = "quasi-identifier"\nsex = "quasi-identifier"\ndisease = "sensitive"\n'
        'reading = { role = "insensitive", sign_off = "measured for this study and given to nobody else" }\n'
    )
    safe(
        command(
            "assess", "--person", "each record", tmp_path / "data.csv", "--roles", tmp_path / "roles.toml"
        )
    )


def test_a_sample_of_a_large_population() -> None:
    town = pa.Table.from_pandas(pd.concat([plain(6_000)[QIS]] * 3), preserve_index=False)
    safe(assessed(plain(), **ROLES, population=town))


def test_pseudonyms_of_which_nothing_is_known() -> None:
    safe(believed(np.ones((60, 60)), list(range(60)), data=plain(), **ROLES))


# Safe Harbor ---------------------------------------------------------------------------------------
def harbor(folder: Path, release: pd.DataFrame, **roles: str) -> Ended:
    release.to_csv(folder / "data.csv", index=False)
    lines = ["[roles]", *(f'"{name}" = "{role}"' for name, role in roles.items()), "", SAFE_HARBOR_ANSWERS]
    (folder / "roles.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return command(
        "assess",
        "--person",
        "each record",
        folder / "data.csv",
        "--roles",
        folder / "roles.toml",
        "--policy",
        "hipaa-safe-harbor",
    )


def test_safe_harbor_with_states_years_and_ages(draw: np.random.Generator, tmp_path: Path) -> None:
    release = pd.DataFrame(
        {
            "state": draw.choice(["MA", "NY", "CT"], 600),
            "age": np.minimum(draw.integers(18, 99, 600), 90),
            "admission_year": draw.integers(2019, 2025, 600),
            "sex": draw.choice(["F", "M"], 600),
            "diagnosis": draw.choice(["I10", "E11", "J45"], 600),
        }
    )
    safe(
        harbor(
            tmp_path,
            release,
            state="quasi-identifier",
            age="quasi-identifier",
            sex="quasi-identifier",
            admission_year="quasi-identifier",
            diagnosis="sensitive",
        )
    )


def test_safe_harbor_with_three_digits_of_the_zip_code(draw: np.random.Generator, tmp_path: Path) -> None:
    release = pd.DataFrame(
        {
            "zip3": draw.choice(["021", "100", "606", "000"], 600),
            "age_group": draw.choice(["18-44", "45-64", "65-89", "90+"], 600),
            "los_days": draw.integers(1, 20, 600),
            "diagnosis": draw.choice(["I10", "E11", "J45"], 600),
        }
    )
    safe(
        harbor(
            tmp_path,
            release,
            zip3="quasi-identifier",
            age_group="quasi-identifier",
            los_days="insensitive",
            diagnosis="sensitive",
        )
    )


def test_safe_harbor_with_years_of_birth_of_the_young(draw: np.random.Generator, tmp_path: Path) -> None:
    release = pd.DataFrame(
        {
            "birth_year": draw.integers(1950, 2005, 600),
            "systolic": draw.integers(95, 170, 600),
            "glucose": draw.integers(70, 180, 600),
            "smoker": draw.choice(["yes", "no"], 600),
        }
    )
    safe(
        harbor(
            tmp_path,
            release,
            birth_year="quasi-identifier",
            systolic="insensitive",
            glucose="insensitive",
            smoker="sensitive",
        )
    )


# Files of every kind -------------------------------------------------------------------------------
def test_a_csv_file_of_another_dialect(tmp_path: Path) -> None:
    plain().replace({"none": "keine Ärztin"}).to_csv(
        tmp_path / "d.csv", index=False, sep=";", encoding="latin-1"
    )
    safe(command("assess", "--person", "each record", tmp_path / "d.csv", *WORDS, "--encoding", "latin-1"))


def test_a_parquet_file_by_pandas(tmp_path: Path) -> None:
    plain().to_parquet(tmp_path / "data.parquet", index=False)
    safe(command("assess", "--person", "each record", tmp_path / "data.parquet", *WORDS))


def test_a_parquet_file_of_categories(tmp_path: Path) -> None:
    plain().astype("category").to_parquet(tmp_path / "data.parquet", index=False)
    safe(command("assess", "--person", "each record", tmp_path / "data.parquet", *WORDS))


def test_a_folder_of_parquet_files(tmp_path: Path) -> None:
    for part, name in ((plain(600), "a"), (plain(300), "b")):
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), tmp_path / f"{name}.parquet")
    safe(command("assess", "--person", "each record", tmp_path, *WORDS))


def test_a_workbook_of_one_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    release = plain()
    for row in [list(release.columns), *release.to_numpy().tolist()]:
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    safe(command("assess", "--person", "each record", clean_copy(tmp_path / "data.xlsx"), *WORDS))


def test_a_database_of_one_table(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "data.sqlite") as base:
        plain().to_sql("release", base, index=False)
    base.close()
    copy = clean_copy(tmp_path / "data.sqlite", "--table", "release")
    safe(command("assess", "--person", "each record", copy, *WORDS, "--table", "release"))


def test_a_duckdb_file_of_one_table(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "data.duckdb")) as base:
        base.register("given", plain())
        base.execute("create table release as select * from given")
    copy = clean_copy(tmp_path / "data.duckdb", "--table", "release")
    safe(command("assess", "--person", "each record", copy, *WORDS, "--table", "release"))


def test_json_lines(tmp_path: Path) -> None:
    plain().to_json(tmp_path / "data.jsonl", orient="records", lines=True)
    safe(command("assess", "--person", "each record", tmp_path / "data.jsonl", *WORDS))


# What crypsis itself anonymized --------------------------------------------------------------------
def followed(data: Any, original: bool = False, policy: str = "default", **options: Any) -> str:
    """The verdict on what `anonymize` hands over, with the roles that were decided for it."""
    made = anonymized_dataset(data, **options)
    return assessed_dataset(made, policy=policy, original=original)


def test_anonymized_patients(draw: np.random.Generator) -> None:
    safe(
        followed(
            hospital(draw),
            k=5,
            excess=0.2,
            identifiers=["name", "ssn"],
            quasi_identifiers=["age", "zip", "sex"],
            sensitive=["disease"],
        )
    )


def test_anonymized_patients_without_an_excluded_column(draw: np.random.Generator) -> None:
    people = hospital(draw).assign(income=draw.integers(20_000, 90_000, 1_000))
    safe(
        followed(
            people,
            k=5,
            excess=0.2,
            identifiers=["name", "ssn"],
            excluded=["income"],
            quasi_identifiers=["age", "zip", "sex"],
            sensitive=["disease"],
        )
    )


def test_anonymized_patients_under_wp216(draw: np.random.Generator) -> None:
    """All three risks, the original given: our own generalized output can be safe."""
    safe(
        followed(
            hospital(draw),
            original=True,
            policy="wp216",
            k=20,
            excess=0.2,
            identifiers=["name", "ssn"],
            quasi_identifiers=["age", "zip", "sex"],
            sensitive=["disease"],
        )
    )


def test_visits_by_the_people_of_their_original(draw: np.random.Generator) -> None:
    """One to four visits of each patient; the release has no column of patients, its original has."""
    patients = hospital(draw)
    visits = patients.loc[np.repeat(patients.index, draw.integers(1, 5, len(patients)))]
    table = visits.assign(patient_nbr=visits.index + 4_000).reset_index(drop=True)
    options = {
        "k": 20,
        "excess": 0.2,
        "person": "patient_nbr",
        "sensitive": ["disease"],
        "quasi_identifiers": ["age", "zip", "sex"],
        "identifiers": ["patient_nbr", "name", "ssn"],
    }
    made = anonymized_dataset(table, **options)
    safe(assessed_dataset(made, policy="default", original=True))
    assert assessed_dataset(made, policy="default", original=False) == "cannot tell"


def test_the_written_file_and_its_roles(draw: np.random.Generator, tmp_path: Path) -> None:
    """What the command wrote is safe with the roles of the same file."""
    hospital(draw).to_csv(tmp_path / "patients.csv", index=False)
    (tmp_path / "roles.toml").write_text(
        '[roles]\nname = "identifier"\nssn = "identifier"\nage = "quasi-identifier"\n'
        'zip = "quasi-identifier"\nsex = "quasi-identifier"\ndisease = "sensitive"\n'
    )
    words = ("--roles", tmp_path / "roles.toml")
    ended = command(
        "anonymize",
        "--person",
        "each record",
        tmp_path / "patients.csv",
        *words,
        "--k",
        "5",
        "--excess",
        "0.2",
        "-o",
        tmp_path / "out.csv",
        "--key",
        tmp_path / "key.json",
    )
    assert ended.status == 0, ended.err
    safe(
        command(
            "assess",
            "--person",
            "each record",
            tmp_path / "out.csv",
            *flags(quasi_identifiers=["age", "zip", "sex"], sensitive=["disease"]),
        )
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    files = people_of_the_demo(tmp_path_factory.mktemp("demo"), 3_000)
    return pd.read_csv(files.original, dtype={"zip": str})


DEMO = {
    "identifiers": ["name", "ssn"],
    "excluded": ["income"],
    "quasi_identifiers": ["birth_date", "zip", "sex", "occupation"],
    "sensitive": ["disease"],
}


def test_the_demonstration_with_classes_of_five(demo: pd.DataFrame) -> None:
    safe(followed(demo, k=5, excess=0.2, **DEMO))


def test_the_demonstration_with_classes_of_twenty(demo: pd.DataFrame) -> None:
    safe(followed(demo, k=20, closeness=0.15, **DEMO))


# Real tables ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def census(data_folder: Path) -> pd.DataFrame:
    """The first 8,000 people of Adult, text without blanks."""
    return pd.read_csv(
        data_folder / "adult" / "adult.data", names=ADULT_COLUMNS, nrows=8_000, skipinitialspace=True
    )


ADULT_KNOWN = ["age", "education", "sex", "race", "native-country"]


def _excluded(table: pd.DataFrame, *kept: str) -> list[str]:
    return [name for name in table.columns if name not in kept]


@pytest.mark.parametrize(("k", "policy"), [(5, "default"), (11, "nist-800-188"), (20, "ehds-secondary-use")])
def test_adult_anonymized(census: pd.DataFrame, k: int, policy: str) -> None:
    """Five quasi-identifiers and the income, classes of k people."""
    safe(
        followed(
            census,
            policy=policy,
            k=k,
            closeness=0.1,
            quasi_identifiers=ADULT_KNOWN,
            sensitive=["income"],
            excluded=_excluded(census, *ADULT_KNOWN, "income"),
        )
    )


def test_adult_by_sex_and_income(census: pd.DataFrame) -> None:
    """Two columns as they are."""
    safe(assessed(census[["sex", "income"]], quasi_identifiers=["sex"], sensitive=["income"]))


def test_adult_by_full_domain_recoding(census: pd.DataFrame) -> None:
    known = ["age", "sex", "race"]
    safe(
        followed(
            census,
            k=11,
            closeness=0.15,
            recoding="full-domain",
            quasi_identifiers=known,
            sensitive=["income"],
            excluded=_excluded(census, *known, "income"),
        )
    )


@pytest.mark.parametrize(("file", "k"), [("CASCrefmicrodata", 20), ("Tarragona", 11)])
def test_microaggregated_reference_data(data_folder: Path, file: str, k: int) -> None:
    """Reference microdata of the CASC project, four columns microaggregated together."""
    table = _casc(data_folder, file)
    numbers = [
        name for name in table.columns if table[name].dtype.kind in "if" and table[name].nunique() > 50
    ][:4]
    made = _microaggregated(table[numbers], k)
    safe(assessed(made, quasi_identifiers=numbers))


def test_sales_of_companies_by_state(data_folder: Path) -> None:
    """EIA: months and years, of many reports each."""
    table = _casc(data_folder, "EIA")
    names = [name for name in table.columns if table[name].nunique() <= 12][:2]
    rare = table[names].groupby(names)[names[0]].transform("size") < 11
    safe(assessed(table.loc[~rare, names].reset_index(drop=True), quasi_identifiers=names))


def _casc(data_folder: Path, file: str) -> pd.DataFrame:
    path = data_folder / "casc" / f"{file}.csv"
    table = pd.read_csv(path, sep=None, engine="python")
    return table.loc[:, ~table.columns.str.startswith("Unnamed")]


def _microaggregated(table: pd.DataFrame, k: int) -> pd.DataFrame:
    """Groups of at least k records along the first principal component, replaced by their means."""
    scaled = ((table - table.mean()) / table.std()).to_numpy()
    axis = np.linalg.svd(scaled, full_matrices=False)[2][0]
    group = np.argsort(np.argsort(scaled @ axis)) // k
    group[group == group.max()] = max(group.max() - 1, 0)
    return table.groupby(group).transform("mean").round(3)


@pytest.fixture(scope="module")
def diabetes(data_folder: Path) -> pd.DataFrame:
    """One encounter each of 6,000 patients."""
    with zipfile.ZipFile(data_folder / "diabetes130" / "dataset_diabetes.zip") as archive:
        text = archive.read("dataset_diabetes/diabetic_data.csv")
    table = pd.read_csv(io.BytesIO(text), nrows=12_000, keep_default_na=False)
    return table.drop_duplicates("patient_nbr").head(6_000).reset_index(drop=True)


def test_diabetes_anonymized(diabetes: pd.DataFrame) -> None:
    known = ["race", "gender", "age"]
    table = diabetes[["encounter_id", "patient_nbr", *known, "readmitted"]]
    safe(
        followed(
            table,
            k=11,
            closeness=0.15,
            identifiers=["encounter_id", "patient_nbr"],
            quasi_identifiers=known,
            sensitive=["readmitted"],
        )
    )


def test_diabetes_under_safe_harbor(diabetes: pd.DataFrame, tmp_path: Path) -> None:
    """Race, gender, age in tens up to 90 and older, and what was prescribed."""
    known = ["race", "gender", "age", "time_in_hospital", "num_medications", "insulin", "readmitted"]
    table = diabetes[known].replace({"age": {"[90-100)": "90+"}})
    roles = dict.fromkeys(known, "insensitive") | dict.fromkeys(known[:3], "quasi-identifier")
    safe(harbor(tmp_path, table, **roles | {"readmitted": "sensitive"}))


def test_the_most_frequent_goods(data_folder: Path) -> None:
    """Four of the most frequent goods of 9,835 baskets, yes or no."""
    lines = (data_folder / "groceries" / "groceries.csv").read_text().splitlines()
    baskets = [set(line.split(",")) for line in lines]
    goods = ["whole milk", "other vegetables", "rolls/buns", "soda"]
    table = pd.DataFrame({one: [one in basket for basket in baskets] for one in goods})
    safe(assessed(table, quasi_identifiers=goods))


def test_there_are_at_least_twenty_five() -> None:
    def count(one: Callable[..., object]) -> int:
        marks = getattr(one, "pytestmark", [])
        return max([len(mark.args[1]) for mark in marks if mark.name == "parametrize"], default=1)

    tests = [one for name, one in globals().items() if name.startswith("test_") and callable(one)]
    assert sum(count(one) for one in tests) - 1 >= 25

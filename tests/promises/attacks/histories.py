"""Histories: many rows a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tests.promises.attacks.attackers import singled_out
from tests.promises.attacks.judge import (
    anonymized,
    assessed,
    assessed_files,
    assessed_together,
    command,
    flags,
    released,
    with_person,
)
from tests.promises.attacks.people import DISEASES
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("Histories")
scenario = SCENARIOS.add


def _visits(draw: Draw, people: int = 150, visits: int = 6) -> pd.DataFrame:
    """Visits of people under a pseudonym; in every month and ward there are many visits."""
    rows = people * visits
    return pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:people]], visits),
            "month": draw.integers(1, 13, rows),
            "ward": draw.choice(["a", "b"], rows),
            "disease": np.array(DISEASES)[draw.permutation(rows) % 4],
        }
    )


def _history(visits: pd.DataFrame) -> pd.DataFrame:
    """The set of months and wards of each person: what somebody knows who went along."""
    told = visits["month"].astype(str) + visits["ward"]
    whole = told.groupby(visits["code"]).agg(lambda one: " ".join(sorted(one)))
    return whole.to_frame("history")


@scenario("knows in which months and wards the person was", least=0.9)
def visits_under_a_kept_pseudonym(draw: Draw, folder: Path) -> Trial:
    """Visits with month and ward, k = 20 as rows, and a pseudonym of the person that is kept."""
    visits = _visits(draw)
    histories = _history(visits)
    return Trial(
        singled_out(histories, histories, ["history"]),
        assessed(
            visits,
            quasi_identifiers=["month", "ward"],
            sensitive=["disease"],
            insensitive=["code"],
            person="code",
        ),
    )


@scenario("knows in which months and wards the person was", least=0.9)
def visits_under_a_pseudonym_that_nobody_named(draw: Draw, folder: Path) -> Trial:
    """The same visits; nobody said that the pseudonym is that of a person."""
    visits = _visits(draw)
    histories = _history(visits)
    return Trial(
        singled_out(histories, histories, ["history"]),
        assessed(visits, quasi_identifiers=["month", "ward"], sensitive=["disease"], insensitive=["code"]),
    )


def _subjects(draw: Draw) -> pd.DataFrame:
    """Six visits of each of 300 subjects, whose age and sex are those of fifty; 60 diagnoses."""
    subject = draw.permutation(np.repeat(np.arange(300), 6))
    return pd.DataFrame(
        {
            "code": subject,
            "age": np.array(["30-39", "40-49", "50-59"])[subject % 3],
            "sex": np.array(["f", "m"])[subject // 3 % 2],
            "disease": draw.integers(0, 60, 1_800),
        }
    ).astype({"disease": str})


@scenario("knows age, sex and three diagnoses of the person", least=0.8)
def visits_under_a_running_number(draw: Draw, folder: Path) -> Trial:
    """Visits with age and sex, k = 300 as rows, and a running number of the person, declared insensitive."""
    visits = _subjects(draw)
    return Trial(
        _found(visits, visits, 3, ["age", "sex", "disease"], draw),
        assessed(visits, quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["code"]),
        control=assessed(
            visits.drop(columns="code"), quasi_identifiers=["age", "sex"], sensitive=["disease"]
        ),
    )


@scenario("knows age, sex and three diagnoses of the person", least=0.8)
def visits_under_two_numbers(draw: Draw, folder: Path) -> Trial:
    """The same visits, the number of the person in two columns: of the branch, and within the branch."""
    visits = _subjects(draw)
    parts = visits.drop(columns="code").assign(branch=visits["code"] // 17, place=visits["code"] % 17)
    return Trial(
        _found(visits, visits, 3, ["age", "sex", "disease"], draw),
        assessed(
            parts, quasi_identifiers=["age", "sex"], sensitive=["disease"], insensitive=["branch", "place"]
        ),
    )


@scenario("knows who was there that month")
def twelve_rows_of_one_person(draw: Draw, folder: Path) -> Trial:
    """A class of twelve rows that are all of one person; the column of persons is named and excluded."""
    visits = _visits(draw).assign(disease=np.array(DISEASES)[np.arange(900) % 4])
    mine = pd.DataFrame(
        {"code": ["P9999"] * 12, "month": 13, "ward": "a", "disease": np.array(DISEASES)[np.arange(12) % 4]}
    )
    release = pd.concat([visits, mine], ignore_index=True)
    owners = release.groupby(["month", "ward"])["code"].nunique()
    roles = {"quasi_identifiers": ["month", "ward"], "sensitive": ["disease"], "excluded": ["code"]}
    return Trial(float(owners.loc[(13, "a")] == 1), assessed(release, person="code", **roles))


def _stays(draw: Draw) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Stays of 20 patients, each alone in a class of fifty records, and the release without them."""
    patient = np.repeat(draw.permutation(20), 50)
    stays = pd.DataFrame(
        {
            "patient_nbr": patient + 4_000,
            "age": 20 + patient // 2,
            "ward": np.array(["a", "b"])[patient % 2],
            "disease": np.array(DISEASES)[np.arange(1_000) % 4],
        }
    )
    return stays, stays.drop(columns="patient_nbr").iloc[draw.permutation(1_000)]


def _of_one(stays: pd.DataFrame, release: pd.DataFrame) -> float:
    """The share of the classes of the release whose records are all of one patient."""
    people = stays.groupby(["age", "ward"])["patient_nbr"].nunique()
    return float((people.loc[[*release.groupby(["age", "ward"]).groups]] == 1).mean())


@scenario("knows age and ward of the patient")
def stays_without_the_column_of_patients(draw: Draw, folder: Path) -> Trial:
    """Stays, k = 50 as records, each class of one patient; the original and the key have the patients."""
    stays, release = _stays(draw)
    rows = [int(row) for row in release.index]
    unnamed = pa.Table.from_pandas(stays.drop(columns="patient_nbr"), preserve_index=False)
    roles = {"quasi_identifiers": ["age", "ward"], "sensitive": ["disease"]}
    return Trial(
        _of_one(stays, release),
        assessed(release, original=with_person(stays, "patient_nbr"), row_map=rows, **roles),
        control=assessed(release, original=unnamed, row_map=rows, **roles),
    )


@scenario("knows age and ward of the patient")
def stays_whose_patients_nobody_named(draw: Draw, folder: Path) -> Trial:
    """The same stays; the original has the patients, and nobody said which column that is."""
    stays, release = _stays(draw)
    stays.to_csv(folder / "original.csv", index=False)
    release.to_csv(folder / "release.csv", index=False)
    roles = flags(quasi_identifiers=["age", "ward"], sensitive=["disease"])
    done = command(
        "assess",
        "--person",
        "each record",
        folder / "release.csv",
        "--original",
        folder / "original.csv",
        *roles,
    )
    return Trial(_of_one(stays, release), done.verdict)


@scenario("knows how often the person was there", least=0.9)
def number_of_rows_of_a_person(draw: Draw, folder: Path) -> Trial:
    """Rows under a kept pseudonym, a different number of rows for each of forty people."""
    code = np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:40]], np.arange(1, 41))
    rows = len(code)
    release = pd.DataFrame(
        {
            "code": code,
            "ward": np.array(["a", "b"])[np.arange(rows) % 2],
            "disease": np.array(DISEASES)[draw.permutation(rows) % 4],
        }
    )
    size = release.groupby("code").size().to_frame("rows")
    return Trial(
        singled_out(size, size, ["rows"]),
        assessed(
            release, quasi_identifiers=["ward"], sensitive=["disease"], insensitive=["code"], person="code"
        ),
    )


@scenario("knows the order of two visits", least=0.5)
def sequences_of_wards(draw: Draw, folder: Path) -> Trial:
    """Wards in the order of the rows, without times, under a kept pseudonym."""
    visits = _visits(draw, 100, 8).drop(columns="month")
    order = visits.groupby("code")["ward"].agg(" ".join).to_frame("order")
    return Trial(
        singled_out(order, order, ["order"]),
        assessed(
            visits, quasi_identifiers=["ward"], sensitive=["disease"], insensitive=["code"], person="code"
        ),
    )


def _found(
    release: pd.DataFrame,
    truth: pd.DataFrame,
    known: int,
    columns: list[str],
    draw: Draw,
    near: Callable[[tuple[Any, ...], tuple[Any, ...]], bool] | None = None,
) -> float:
    """How often `known` records of a person, as they truly are, are in one released history only.

    The history must be that of the person: its records are theirs, by their places in the file.
    """
    histories = {
        code: [tuple(one) for one in rows[columns].itertuples(index=False)]
        for code, rows in release.groupby("code", sort=True)
    }
    owner = truth.loc[release.index, "code"].groupby(release["code"].to_numpy()).first()
    same = near or (lambda one, other: one == other)
    right, people = 0, sorted(truth["code"].unique())
    for person in people:
        own = truth[truth["code"] == person]
        some = own.iloc[draw.permutation(len(own))[:known]]
        wanted = [tuple(one) for one in some[columns].itertuples(index=False)]
        fit = [
            code
            for code, events in histories.items()
            if all(any(same(one, other) for other in events) for one in wanted)
        ]
        right += len(fit) == 1 and owner[fit[0]] == person
    return right / len(people)


@scenario("knows three visits of the person", least=0.4)
def three_known_visits(draw: Draw, folder: Path) -> Trial:
    """Six visits a person under a kept pseudonym, in classes of ten visits and more."""
    visits = _visits(draw, 200).assign(month=draw.integers(1, 31, 1_200))
    success = _found(visits, visits, 3, ["month", "ward"], draw)
    return Trial(
        success,
        assessed(
            visits,
            quasi_identifiers=["month", "ward"],
            person="code",
            sensitive=["disease"],
            insensitive=["code"],
        ),
    )


@scenario("knows three visits to about a week", least=0.4)
def visits_known_to_the_week(draw: Draw, folder: Path) -> Trial:
    """Days of visits in two years under a kept pseudonym; each day has several visits."""
    rows = 200 * 6
    visits = _visits(draw, 200).drop(columns="month").assign(day=draw.integers(0, 200, rows))
    success = _found(
        visits,
        visits,
        3,
        ["day", "ward"],
        draw,
        lambda one, other: abs(one[0] - other[0]) <= 3 and one[1] == other[1],
    )
    return Trial(
        success,
        assessed(
            visits,
            quasi_identifiers=["day", "ward"],
            person="code",
            sensitive=["disease"],
            insensitive=["code"],
        ),
    )


@scenario("knows where the person was at first and at last", least=0.4)
def first_and_last_place(draw: Draw, folder: Path) -> Trial:
    """Places of ten people and more, in the order of the rows, under a kept pseudonym."""
    rows = 150 * 5
    places = pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:150]], 5),
            "place": draw.integers(0, 15, rows),
            "disease": np.array(DISEASES)[np.arange(rows) % 4],
        }
    )
    ends = places.groupby("code")["place"].agg(["first", "last"]).astype(str)
    return Trial(
        singled_out(ends, ends, ["first", "last"]),
        assessed(
            places, quasi_identifiers=["place"], sensitive=["disease"], insensitive=["code"], person="code"
        ),
    )


@scenario("knows two purchases and what they cost", least=0.9)
def purchases_under_a_customer_number(draw: Draw, folder: Path) -> Trial:
    """Amounts in full units under a customer number, declared insensitive; each amount is paid often."""
    rows = 200 * 8
    bought = pd.DataFrame(
        {
            "code": np.repeat([f"C{n:05d}" for n in draw.permutation(90_000)[:200]], 8),
            "amount": draw.integers(5, 105, rows),
            "shop": draw.choice(["a", "b", "c"], rows),
        }
    )
    return Trial(
        _found(bought, bought, 3, ["amount", "shop"], draw),
        assessed(bought, quasi_identifiers=["amount", "shop"], insensitive=["code"], person="code"),
    )


@scenario("knows the ages of the members of a household", least=0.9)
def members_of_a_household(draw: Draw, folder: Path) -> Trial:
    """Ages of people, twelve and more of each, with the number of their household."""
    rows = 150 * 4
    people = pd.DataFrame(
        {
            "home": np.repeat([f"H{n:04d}" for n in draw.permutation(9_000)[:150]], 4),
            "age": draw.integers(0, 30, rows),
            "disease": np.array(DISEASES)[draw.permutation(rows) % 4],
        }
    )
    ages = people["age"].astype(str).groupby(people["home"])
    members = ages.agg(lambda one: " ".join(sorted(one))).to_frame("ages")
    return Trial(
        singled_out(members, members, ["ages"]),
        assessed(
            people, quasi_identifiers=["age"], sensitive=["disease"], insensitive=["home"], household="home"
        ),
    )


def _frequent(draw: Draw) -> pd.DataFrame:
    """Patients with twelve visits each, all in the same ward at nearly the same age."""
    return pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:80]], 12),
            "age": np.repeat(20 + np.arange(80) // 2, 12),
            "ward": np.tile(["a", "b", "c"], 320),
            "disease": np.array(DISEASES)[draw.permutation(960) % 4],
        }
    )


def _alone(release: pd.DataFrame, owner: pd.Series) -> float:
    """The share of classes in which all records are those of fewer than five people."""
    people = owner.loc[release.index].groupby([release["age"], release["ward"]]).nunique()
    return float((people < 5).mean())


@scenario("knows age and ward of the person, who fills the class alone")
def classes_of_one_person_without_a_decision(draw: Draw, folder: Path) -> Trial:
    """Twelve visits a person; k = 5 as rows; the pseudonym is an identifier and repeats."""
    visits = _frequent(draw)
    made = anonymized(
        visits, k=5, identifiers=["code"], quasi_identifiers=["age", "ward"], sensitive=["disease"]
    )
    success = _alone(visits, visits["code"])
    if made is None:
        return Trial(success, "refused")
    return Trial(success, CHANGED, after=_alone(made, visits["code"]))


@scenario("knows age and ward of the person, who fills the class alone")
def classes_of_one_person_at_the_command_line(draw: Draw, folder: Path) -> Trial:
    """The same visits, anonymized at the command line with --person."""
    visits = _frequent(draw)
    visits.to_csv(folder / "data.csv", index=False)
    ended = command(
        "anonymize",
        folder / "data.csv",
        "--k",
        "5",
        "-o",
        folder / "out.csv",
        "--key",
        folder / "key.json",
        "--person",
        "code",
        *flags(identifiers=["code"], quasi_identifiers=["age", "ward"], sensitive=["disease"]),
    )
    made = released(folder / "out.csv", folder / "key.json")
    success = _alone(visits, visits["code"])
    if made is None:
        return Trial(success, ended.verdict)
    return Trial(success, CHANGED, after=_alone(made, visits["code"]))


@scenario("knows three visits of the person", least=0.4)
def visits_linked_by_new_pseudonyms(draw: Draw, folder: Path) -> Trial:
    """Six visits a person, anonymized with k = 5 and a unicity of at most 5 % at three visits."""
    visits = _visits(draw, 200).assign(month=draw.integers(1, 31, 1_200))
    success = _found(visits, visits, 3, ["month", "ward"], draw)
    made = anonymized(
        visits,
        k=5,
        unicity=0.05,
        identifiers=["code"],
        person="code",
        quasi_identifiers=["month", "ward"],
        sensitive=["disease"],
    )
    if made is None:
        return Trial(success, "refused")
    # The attacker generalizes what they know as the release does: to the values of their own rows.
    generalized = made[["month", "ward"]].join(visits["code"])
    return Trial(success, CHANGED, after=_found(made, generalized, 3, ["month", "ward"], draw))


@scenario("knows three visits of the person", least=0.9)
def disease_that_follows_from_two_wards(draw: Draw, folder: Path) -> Trial:
    """Three visits a person under a kept pseudonym; whoever was in two wards has a rare disease."""
    ward = np.tile(np.array(["x", "z", "u"]), (400, 1))
    ward[::2] = ["y", "z", "u"]
    ward[:24] = ["x", "y", "u"]
    disease = np.tile(np.array(["flu", "gout", "cold"]), (400, 1))
    disease[:24, 2] = "rare"
    visits = pd.DataFrame(
        {
            "code": np.repeat([f"P{n:04d}" for n in draw.permutation(9_000)[:400]], 3),
            "ward": ward.ravel(),
            "disease": disease.ravel(),
        }
    )
    been = visits.groupby("code")["ward"].agg(frozenset)
    ill = visits.groupby("code")["disease"].agg(lambda one: "rare" in set(one))
    alike = {wards: ill[been == wards].mean() for wards in set(been)}
    success = np.mean([alike[wards] >= 0.9 for wards, sick in zip(been, ill, strict=True) if sick])
    return Trial(
        float(success),
        assessed(
            visits, quasi_identifiers=["ward"], sensitive=["disease"], insensitive=["code"], person="code"
        ),
    )


@scenario("joins the two files and knows age, sex, town and job", least=0.3)
def two_files_joined_on_a_time(draw: Draw, folder: Path) -> Trial:
    """Two files with large classes each; both have the time of admission, which nobody outside knows."""
    rows = 600
    time = draw.permutation(10_000)[:rows]
    people = pd.DataFrame(
        {
            "time": time,
            "age": draw.integers(3, 10, rows),
            "sex": draw.choice(["f", "m"], rows),
            "town": draw.choice(list("abcdefgh"), rows),
            "job": draw.choice(list("uvwxy"), rows),
        }
    )
    one, two = people[["time", "age", "sex"]], people[["time", "town", "job"]].sample(frac=1, random_state=1)
    both = one.merge(two, on="time")
    known = (["age", "sex"], ["town", "job"])
    return Trial(
        singled_out(both, both, ["age", "sex", "town", "job"]),
        assessed_together(one, two, *known, signed_off="time"),
        control=assessed_together(one, two.drop(columns="time"), *known, signed_off="time"),
    )


@scenario("knows age, sex and district of the person, who fills the class alone")
def copies_of_every_person(draw: Draw, folder: Path) -> Trial:
    """Each of 400 people twenty times, as after a join whose other columns are gone: k is 20."""
    people = pd.DataFrame(
        {
            "age": draw.permutation(400) // 8 + 20,
            "sex": draw.choice(["f", "m"], 400),
            "district": draw.permutation(400) % 40,
            "plan": draw.choice(["a", "b", "c"], 400),
        }
    )
    known = ["age", "sex", "district"]
    release = pd.concat([people] * 20, ignore_index=True).sample(frac=1, random_state=1)
    return Trial(
        singled_out(people, people, known), assessed(release, quasi_identifiers=known, insensitive=["plan"])
    )


@scenario("joins the two files by position, and knows age, sex, town and job", least=0.2)
def two_files_in_the_same_order(draw: Draw, folder: Path) -> Trial:
    """Two files with large classes each and no column in common, their rows in the same order."""
    rows = 600
    age = draw.integers(3, 10, rows)
    people = pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["f", "m"], rows),
            "town": draw.choice(list("abcdefgh"), rows),
            "job": np.where(age > 7, "none", draw.choice(list("uvwxy"), rows)),
        }
    )
    known = (["age", "sex"], ["town", "job"])
    one, two = people[known[0]], people[known[1]]
    mixed = two.sample(frac=1, random_state=1)
    return Trial(
        singled_out(people, people, [*known[0], *known[1]]),
        assessed_together(one, two, *known, signed_off=""),
        control=assessed_together(one, mixed, *known, signed_off=""),
    )


@scenario("knows region and job in six years, and intersects the amounts of the classes")
def panel_without_a_number_of_the_person(draw: Draw, folder: Path) -> Trial:
    """Six years of people who move, without any pseudonym; what each has saved is the same in all years."""
    people, years = 1_500, 6
    panel = pd.DataFrame(
        {
            "year": np.repeat(np.arange(2015, 2015 + years), people),
            "region": draw.choice(list("abcd"), people * years),
            "job": draw.choice(list("xyz"), people * years),
            "saved": np.tile(draw.choice(90_000, people, replace=False), years),
        }
    )
    known = ["year", "region", "job"]
    amounts = panel.groupby(known)["saved"].agg(set)
    found = []
    for one in range(200):
        told = panel.iloc[one::people]
        left = set.intersection(*(amounts[tuple(row)] for row in told[known].itertuples(index=False)))
        found.append(left == {told["saved"].iloc[0]})
    mixed = panel.sample(frac=1, random_state=1)
    roles = {"quasi_identifiers": known, "sensitive": ["saved"]}
    other = mixed.assign(saved=draw.integers(0, 90_000, len(mixed)))
    return Trial(float(np.mean(found)), assessed(mixed, **roles), control=assessed(other, **roles))


@scenario("knows age, sex and region, and how often the person was there", least=0.1)
def visits_that_follow_each_other(draw: Draw, folder: Path) -> Trial:
    """Two to forty visits a person, one after the other, without any pseudonym; k is 300 as rows."""
    count = draw.integers(2, 41, 600)
    people = pd.DataFrame(
        {
            "age": draw.choice(["0-39", "40-64", "65+"], 600),
            "sex": draw.choice(["f", "m"], 600),
            "region": draw.choice(list("nesw"), 600),
        }
    )
    known = list(people)
    visits = people.loc[people.index.repeat(count)].reset_index(drop=True)
    visits["disease"] = np.array(DISEASES)[draw.permutation(len(visits)) % 4]
    roles = {"quasi_identifiers": known, "sensitive": ["disease"]}
    counted = people.assign(count=count)
    return Trial(
        singled_out(counted, counted, [*known, "count"]),
        assessed(visits, **roles),
        control=assessed(visits.sample(frac=1, random_state=1), **roles),
    )


@scenario("divides the yearly salary by twelve, joins the files, and knows all four", least=0.2)
def two_files_with_salaries_in_other_units(draw: Draw, folder: Path) -> Trial:
    """Two files with large classes, rows in random order: a yearly salary in steps of 20, shared by
    about a sixth of the people, and a monthly one as text."""
    rows, steps = 600, np.arange(20_000, 90_000, 20)
    people = pd.DataFrame(
        {
            "age": draw.integers(0, 10, rows),
            "sex": draw.choice(["f", "m"], rows),
            "salary": draw.choice(steps, rows),
            "town": draw.choice(list("abcdefghij"), rows),
            "job": draw.choice(list("uvwx"), rows),
        }
    )
    mixed = people.sample(frac=1, random_state=1)

    def judged(amounts: Any) -> str:
        other = mixed[["town", "job"]].assign(gross=[f"{one / 12:.2f} EUR" for one in amounts])
        return assessed_files(
            people[["age", "sex", "salary"]],
            other,
            (["age", "sex"], ["salary"]),
            (["town", "job"], ["gross"]),
        )

    joined = people[~people["salary"].duplicated(keep=False)]
    return Trial(
        singled_out(people, joined, ["age", "sex", "town", "job"]),
        judged(mixed["salary"]),
        control=judged(draw.choice(steps, rows)),
    )


def _few_and_many(draw: Draw, ill: int = 8) -> pd.DataFrame:
    """Sixty classes of six patients, five with one visit and one with forty; in `ill` of them the five
    have HIV."""
    patient = np.repeat(np.arange(360), np.where(np.arange(360) % 6 == 5, 40, 1))
    place = patient // 6
    number = np.arange(patient.size)  # of the five each has another disease, the sixth has all
    kind = np.where(patient % 6 == 5, number, patient % 6 + place) % 5
    others = np.array(["flu", "gout", "asthma", "burn", "cold"])[kind]
    shared = np.isin(place, draw.permutation(60)[:ill]) & (patient % 6 < 5)
    visits = pd.DataFrame(
        {
            "patient_nbr": patient + 4_000,
            "age": 20 + place // 6,
            "ward": np.array(list("abcdef"))[place % 6],
            "disease": np.where(shared, "HIV", others),
        }
    )
    return visits.iloc[draw.permutation(len(visits))].reset_index(drop=True)


def _guessed(release: pd.DataFrame, visits: pd.DataFrame) -> float:
    """The share of true claims, where everybody in a class with five records of HIV is said to have it.

    The index of the release is the row of each of its records among the visits.
    """
    classes = release.groupby(["age", "ward"], dropna=False)["disease"]
    claimed = release[classes.transform(lambda one: (one == "HIV").sum()) >= 5]
    whose = visits["patient_nbr"].loc[claimed.index].unique()
    ill = visits.loc[visits["disease"] == "HIV", "patient_nbr"].unique()
    return float(np.isin(whose, ill).mean()) if whose.size else 0.0


@scenario("knows age and ward of the patient, and that a class has five records of HIV", least=0.8)
def five_of_six_beside_one_with_many_visits(draw: Draw, folder: Path) -> Trial:
    """Visits, in eight classes five of six patients have HIV; the sixth came forty times; the original
    and the key have the patients."""
    roles = {"quasi_identifiers": ["age", "ward"], "sensitive": ["disease"]}
    verdicts, successes = [], []
    for ill, years in ((8, 1), (0, 5)):  # with the original, classes of six people link too many of them
        visits = _few_and_many(draw, ill)
        visits["age"] -= visits["age"] % years
        successes.append(_guessed(visits, visits))
        release = visits.drop(columns="patient_nbr").iloc[draw.permutation(len(visits))]
        original = with_person(visits, "patient_nbr")
        rows = [int(row) for row in release.index]
        verdicts.append(assessed(release, original=original, row_map=rows, **roles))
    return Trial(successes[0], verdicts[0], control=verdicts[1])


@scenario("knows age and ward of the patient, and that a class has five records of HIV", least=0.8)
def five_of_six_anonymized(draw: Draw, folder: Path) -> Trial:
    """The same visits, anonymized with k = 5 people, an excess of at most 0.2 and a closeness of 0.2."""
    visits = _few_and_many(draw)
    made = anonymized(
        visits,
        k=5,
        excess=0.2,
        closeness=0.2,
        person="patient_nbr",
        identifiers=["patient_nbr"],
        quasi_identifiers=["age", "ward"],
        sensitive=["disease"],
    )
    success, chance = _guessed(visits, visits), 40 / 360
    if made is None:
        return Trial(success, "refused", chance)
    return Trial(success, CHANGED, chance, after=_guessed(made, visits))

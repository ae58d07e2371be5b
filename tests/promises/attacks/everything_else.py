"""Everything else an attacker may know: columns that were decided to be of no interest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import commonest, learned, predicted, singled_out
from tests.promises.attacks.judge import assessed
from tests.promises.attacks.people import DISEASES, QIS, ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Everything else an attacker may know")
scenario = SCENARIOS.add


def _unique(extra: pd.DataFrame, known: list[str] | None = None, **roles: list[str]) -> Trial:
    """A safe table with more columns of no interest, some of which the attacker knows."""
    release = pd.concat([plain(len(extra)), extra], axis=1)
    given = roles or {"insensitive": list(extra.columns)}
    both = {**ROLES, **{role: [*ROLES.get(role, []), *columns] for role, columns in given.items()}}
    return Trial(
        singled_out(release, release, [*QIS, *(known or list(extra.columns))]), assessed(release, **both)
    )


def _predictable(release: pd.DataFrame, features: list[str]) -> Trial:
    secret = release["disease"]
    return Trial(
        predicted(release[features], secret),
        assessed(release, **ROLES, insensitive=features),
        chance=commonest(secret),
    )


@scenario("has met the person: knows height, weight, shoe size and color of the eyes")
def looks_of_a_person(draw: Draw, folder: Path) -> Trial:
    """Height, weight, shoe size and color of the eyes, declared insensitive."""
    return _unique(
        pd.DataFrame(
            {
                "height": draw.normal(172, 9, 600).round(),
                "weight": draw.normal(75, 12, 600).round(),
                "shoes": draw.integers(35, 48, 600),
                "eyes": draw.choice(["blue", "brown", "green"], 600),
            }
        )
    )


@scenario("knows what the person answered to all of thirty questions")
def thirty_answers(draw: Draw, folder: Path) -> Trial:
    """Thirty yes-or-no answers, declared insensitive; more columns than a search of small sets covers."""
    answers = draw.integers(0, 2, (600, 30))
    return _unique(pd.DataFrame(answers, columns=[f"q{n}" for n in range(1, 31)]))


@scenario("knows five harmless facts", least=0.5)
def five_columns_together(draw: Draw, folder: Path) -> Trial:
    """Five columns of six values each; no three of them single out many people."""
    facts = draw.integers(0, 6, (600, 5))
    return _unique(pd.DataFrame(facts, columns=["plan", "tariff", "branch", "series", "shelf"]))


@scenario("is the employer: knows the salary, learns the disease")
def known_salary_discloses_the_disease(draw: Draw, folder: Path) -> Trial:
    """Two sensitive attributes, one of them a salary to the cent."""
    release = plain(600).assign(salary=draw.normal(52_000, 9_000, 600).round(2))
    return Trial(
        learned(release, release, [*QIS, "salary"], "disease"),
        assessed(release, quasi_identifiers=QIS, sensitive=["disease", "salary"]),
        chance=commonest(release["disease"]),
    )


@scenario("trains a model on the release and applies it to people it has not seen")
def disease_predicted_from_measurements(draw: Draw, folder: Path) -> Trial:
    """Two measurements of which neither alone says anything of the disease, both together everything."""
    release = plain(600)
    a, b = draw.integers(0, 4, 600), np.zeros(600, int)
    code = release["disease"].map({one: n for n, one in enumerate(DISEASES)}).to_numpy()
    b = (code - a) % 4
    return _predictable(release.assign(marker_1=a, marker_2=b), ["marker_1", "marker_2"])


@scenario("knows which drugs the person takes")
def drugs_disclose_the_disease(draw: Draw, folder: Path) -> Trial:
    """The prescribed drug, declared insensitive; each drug is for one disease."""
    release = plain(600)
    drugs = {
        "flu": ["oseltamivir", "zanamivir"],
        "gout": ["allopurinol", "colchicine"],
        "asthma": ["salbutamol", "budesonide"],
        "none": ["vitamin D", "magnesium"],
    }
    drug = [drugs[one][n] for one, n in zip(release["disease"], draw.integers(0, 2, 600), strict=True)]
    return _predictable(release.assign(prescription=drug), ["prescription"])


@scenario("trains a model on the release and applies it to people it has not seen", least=0.8)
def disease_predicted_from_ten_noisy_signs(draw: Draw, folder: Path) -> Trial:
    """Ten symptoms, each right for 70 % of the people, declared insensitive."""
    release = plain(600)
    code = release["disease"].map({one: n for n, one in enumerate(DISEASES)}).to_numpy()
    noisy = {
        f"symptom_{n}": np.where(draw.random(600) < 0.7, code, draw.integers(0, 4, 600)) for n in range(10)
    }
    return _predictable(release.assign(**noisy), list(noisy))


@scenario("saw the person come in, to the minute")
def times_of_arrival(draw: Draw, folder: Path) -> Trial:
    """The time of arrival in seconds, declared insensitive."""
    arrived = pd.Timestamp("2026-03-02") + pd.to_timedelta(draw.permutation(86_400)[:600], unit="s")
    return _unique(pd.DataFrame({"logged": arrived.astype("datetime64[us]")}))


@scenario("knows where the person lives")
def coordinates(draw: Draw, folder: Path) -> Trial:
    """Latitude and longitude with four decimals, declared insensitive."""
    return _unique(
        pd.DataFrame(
            {"y": draw.uniform(52.3, 52.7, 600).round(4), "x": draw.uniform(13.1, 13.8, 600).round(4)}
        )
    )


@scenario("knows four places where the person was")
def four_cell_towers(draw: Draw, folder: Path) -> Trial:
    """The cell tower at four hours of a day, declared insensitive."""
    towers = draw.integers(0, 25, (600, 4))
    return _unique(pd.DataFrame(towers, columns=["h08", "h12", "h18", "h22"]))


@scenario("knows eight films that the person rated", least=0.8)
def sparse_ratings(draw: Draw, folder: Path) -> Trial:
    """Ratings of forty films, of which each person rated eight, declared insensitive."""
    ratings = np.zeros((600, 40), int)
    for row in ratings:
        row[draw.permutation(40)[:8]] = draw.integers(1, 6, 8)
    return _unique(pd.DataFrame(ratings, columns=[f"film_{n}" for n in range(40)]))


@scenario("has the laboratory's list of results")
def results_with_all_digits(draw: Draw, folder: Path) -> Trial:
    """A laboratory result with seven digits, declared insensitive."""
    return _unique(pd.DataFrame({"creatinine": draw.normal(0.9, 0.2, 600).round(7)}))


@scenario("knows the sampling plan, so the weight is the village", least=0.9)
def weights_that_are_villages(draw: Draw, folder: Path) -> Trial:
    """Survey weights, a different one for each of 120 villages, declared insensitive."""
    village = np.arange(600) // 5
    extra = pd.DataFrame({"design": 100 + 0.37 * draw.permutation(120)[village]})
    release = pd.concat([plain(600), extra], axis=1)
    small = release.groupby([*QIS, "design"])["sex"].transform("size") < 5
    return Trial(float(small.mean()), assessed(release, **ROLES, insensitive=["design"]))


@scenario("knows the sampling plan, so the weight is the village", least=0.9)
def weights_named_as_weights(draw: Draw, folder: Path) -> Trial:
    """The same weights, named as the weights of the survey."""
    village = np.arange(600) // 5
    release = plain(600).assign(design=100 + 0.37 * draw.permutation(120)[village])
    small = release.groupby([*QIS, "design"])["sex"].transform("size") < 5
    roles = {**ROLES, "insensitive": ["design"], "weight": "design"}
    by_age = release.assign(design=release["age"].map({"30-39": 12.5, "40-49": 30, "50-59": 25}))
    return Trial(float(small.mean()), assessed(release, **roles), control=assessed(by_age, **roles))


@scenario("knows the form that was filled in")
def form_that_only_the_ill_filled_in(draw: Draw, folder: Path) -> Trial:
    """Six forms, declared insensitive; 25 people of 1,200 had one of them, and all of these have gout."""
    form = draw.choice(list("abcde"), 1_200).astype(object)
    release = plain(1_200).assign(form=form)
    ill = release.index[(release["disease"] == "gout") & (release["age"] == "30-39")][:25]
    control = assessed(release, **ROLES, insensitive=["form"])
    release.loc[ill, "form"] = "f"
    known = release.loc[ill]
    return Trial(
        learned(release, known, ["form"], "disease"),
        assessed(release, **ROLES, insensitive=["form"]),
        chance=0.25,
        control=control,
    )


@scenario("knows a rare hobby", least=0.9)
def one_rare_value_each(draw: Draw, folder: Path) -> Trial:
    """A hobby that is different for forty of 600 people, declared insensitive."""
    hobby = draw.choice(["football", "chess", "reading"], 600).astype(object)
    rare = draw.permutation(600)[:40]
    hobby[rare] = [f"hobby {n}" for n in range(40)]
    release = plain(600).assign(hobby=hobby)
    targets = release.iloc[rare]
    return Trial(singled_out(release, targets, ["hobby"]), assessed(release, **ROLES, insensitive=["hobby"]))


@scenario("is the person's bank: knows two sums, learns the disease")
def sensitive_sums_disclose_each_other(draw: Draw, folder: Path) -> Trial:
    """Three sensitive attributes: rent and savings in hundreds, and the disease."""
    release = plain(600).assign(
        rent=draw.integers(3, 40, 600) * 100, savings=draw.integers(0, 400, 600) * 100
    )
    return Trial(
        learned(release, release, [*QIS, "rent", "savings"], "disease"),
        assessed(release, quasi_identifiers=QIS, sensitive=["disease", "rent", "savings"]),
        chance=commonest(release["disease"]),
    )


@scenario("knows the club of a member")
def clubs_of_one_member_each(draw: Draw, folder: Path) -> Trial:
    """A club of which 28 of 3,000 people are the only member each, declared insensitive."""
    release = plain(3_000).assign(club="none")
    some = draw.choice(3_000, 28, replace=False)
    release.loc[some, "club"] = [f"club {n}" for n in range(28)]
    known = release.loc[some]
    return Trial(singled_out(release, known, ["club"]), assessed(release, **ROLES, insensitive=["club"]))


@scenario("knows the form that a person filled in, and knows two of three people who did")
def forms_of_three_people_each(draw: Draw, folder: Path) -> Trial:
    """A form that three people each of 24 groups have, declared insensitive; nobody is unique."""
    release = plain(1_200).sort_values(["age", "sex"]).reset_index(drop=True).assign(form="a")
    some = np.concatenate([np.arange(n, n + 3) for n in range(0, 1_200, 50)])
    release.loc[some, "form"] = np.repeat([f"b{n}" for n in range(24)], 3)
    sizes = release.groupby(["age", "sex", "form"])["form"].transform("size")
    return Trial(float((sizes[some] <= 3).mean()), assessed(release, **ROLES, insensitive=["form"]))


@scenario("has a bill: knows the cost to the cent")
def costs_to_the_cent(draw: Draw, folder: Path) -> Trial:
    """Costs to the cent as the only sensitive attribute, unique for almost everybody."""
    cost = np.round(draw.lognormal(7, 1, 3_000), 2)
    release = pd.DataFrame({"age": np.array(["20s", "30s", "40s"])[np.arange(3_000) % 3], "cost": cost})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["cost"]}
    found = float(release["cost"].map(release["cost"].value_counts()).eq(1).mean())
    shared = release.assign(cost=release["cost"] // 1_000 * 1_000)
    return Trial(found, assessed(release, **roles), control=assessed(shared, **roles))

"""Derived columns: what one column generalizes another one, unchanged, gives back.

The attack is tried on the release as it was asked for: the quasi-identifiers generalized, the other
columns unchanged. crypsis has to refuse it, or to hand over a release on which the attack fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import anonymized
from tests.promises.attacks.people import DISEASES, names
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("Derived columns")
scenario = SCENARIOS.add
Attack = Callable[[pd.DataFrame], object]
ROWS = 800


def _people(draw: Draw) -> pd.DataFrame:
    """Exact ages, zip codes, heights and weights; the disease says nothing of them."""
    return pd.DataFrame(
        {
            "age": draw.integers(20, 67, ROWS),
            "zip": [f"021{n:02d}" for n in draw.integers(0, 40, ROWS)],
            "sex": np.array(["f", "m"])[np.arange(ROWS) % 2],
            "disease": np.array(DISEASES)[draw.permutation(ROWS) % 4],
        }
    )


def _undone(
    people: pd.DataFrame,
    target: str,
    attack: Attack,
    extra: list[str],
    *,
    known: tuple[str, ...] = ("age", "zip", "sex"),
    within: float = 0.0,
    **options: object,
) -> Trial:
    """Generalize `known`, keep `extra`; the attack gives back `target` from the other columns."""
    asked = people.copy()
    for name in known:  # as coarse as can be: nothing of them is released
        asked[name] = "*"
    truth = people[target].to_numpy()
    chance = float(people[target].value_counts(normalize=True).iloc[0])
    made = anonymized(
        people,
        k=5,
        quasi_identifiers=list(known),
        sensitive=["disease"],
        insensitive=extra,
        seed=1,
        **options,
    )
    success = equal(attack(asked), truth, within)
    if made is None:
        return Trial(success, "refused", chance=chance)
    try:
        true = people.loc[made.index, target]
        changed = (made[target].astype(str) != true.astype(str)).to_numpy()
        claims = np.asarray(attack(made))
        after = equal(claims[changed], true.to_numpy()[changed], within) if changed.any() else 0.0
    except (KeyError, TypeError, ValueError):  # the column is gone, or has labels of intervals
        after = chance
    return Trial(success, CHANGED, chance=chance, after=after)


@scenario("computes 67 minus the column")
def years_to_the_pension(draw: Draw, folder: Path) -> Trial:
    """67 minus age, insensitive, beside the generalized age."""
    people = _people(draw).assign(to_pension=lambda t: 67 - t["age"])
    return _undone(people, "age", lambda t: 67 - t["to_pension"], ["to_pension"])


@scenario("knows that the branch is that of the zip code")
def branch_of_the_zip_code(draw: Draw, folder: Path) -> Trial:
    """A code of the branch for each zip code, insensitive, beside the generalized zip code."""
    code = {f"021{n:02d}": f"B{m}" for n, m in enumerate(draw.permutation(40) + 100)}
    back = {branch: zip_code for zip_code, branch in code.items()}
    people = _people(draw).assign(branch=lambda t: t["zip"].map(code))
    return _undone(people, "zip", lambda t: t["branch"].map(back), ["branch"])


@scenario("looks the city up")
def city_of_the_zip_code(draw: Draw, folder: Path) -> Trial:
    """The name of the city, insensitive, beside the generalized zip code."""
    city = {f"021{n:02d}": f"{name}ville" for n, name in enumerate(names(draw, 40))}
    back = {name: zip_code for zip_code, name in city.items()}
    people = _people(draw).assign(town=lambda t: t["zip"].map(city))
    return _undone(people, "zip", lambda t: t["town"].map(back), ["town"])


@scenario("tries all whole heights and weights for the quotient", least=0.8)
def body_mass_index_with_all_digits(draw: Draw, folder: Path) -> Trial:
    """The body mass index with all digits, insensitive, beside generalized height and weight."""
    people = (
        _people(draw)
        .drop(columns=["age", "zip"])
        .assign(height=draw.integers(150, 195, ROWS), weight=draw.integers(45, 110, ROWS))
    )
    people["index"] = people["weight"] / (people["height"] / 100) ** 2
    table = {w / (h / 100) ** 2: h for h in range(150, 195) for w in range(45, 110)}
    return _undone(
        people, "height", lambda t: t["index"].map(table), ["index"], known=("height", "weight", "sex")
    )


@scenario("subtracts from the year of the survey")
def year_of_birth_beside_the_age(draw: Draw, folder: Path) -> Trial:
    """The year of birth in a column called cohort, insensitive, beside the generalized age."""
    people = _people(draw).assign(cohort=lambda t: 2026 - t["age"])
    return _undone(people, "age", lambda t: 2026 - t["cohort"], ["cohort"])


@scenario("divides by twelve")
def age_in_months(draw: Draw, folder: Path) -> Trial:
    """Months of age, insensitive, beside the generalized age in years."""
    people = _people(draw).assign(months=lambda t: t["age"] * 12 + draw.integers(0, 12, ROWS))
    return _undone(people, "age", lambda t: t["months"] // 12, ["months"])


@scenario("inverts the public tariff")
def tax_of_the_income(draw: Draw, folder: Path) -> Trial:
    """The tax, a public function of the income, insensitive, beside the generalized income."""
    people = _people(draw).drop(columns="age").assign(income=draw.integers(20_000, 90_000, ROWS) // 100 * 100)
    tax = {n: round(0.2 * n + 2e-6 * n**2, 2) for n in range(20_000, 90_001, 100)}
    back = {paid: n for n, paid in tax.items()}
    people["paid"] = people["income"].map(tax)
    return _undone(people, "income", lambda t: t["paid"].map(back), ["paid"], known=("income", "zip", "sex"))


@scenario("subtracts one column from the other")
def a_sum_and_its_other_part(draw: Draw, folder: Path) -> Trial:
    """A total and one of its two parts, insensitive, beside the other part, which is generalized."""
    people = _people(draw).assign(points=draw.integers(0, 50, ROWS))
    people["total"] = people["age"] + people["points"]
    return _undone(people, "age", lambda t: t["total"] - t["points"], ["points", "total"])


@scenario("subtracts the length of the stay from the discharge")
def admission_from_discharge_and_length(draw: Draw, folder: Path) -> Trial:
    """The day of discharge and the length of stay, insensitive, beside the generalized day of admission."""
    people = (
        _people(draw)
        .drop(columns="age")
        .assign(admitted=draw.integers(1, 300, ROWS), stay=draw.integers(1, 30, ROWS))
    )
    people["left"] = people["admitted"] + people["stay"]
    return _undone(
        people,
        "admitted",
        lambda t: t["left"] - t["stay"],
        ["left", "stay"],
        known=("admitted", "zip", "sex"),
    )


@scenario("knows the dialing code of each place", least=0.9)
def dialing_code_nearly_the_zip_code(draw: Draw, folder: Path) -> Trial:
    """A dialing code that is that of the zip code for 97 % of the people, insensitive."""
    people = _people(draw)
    own = people["zip"].str[-2:].astype(int)
    other = draw.integers(0, 40, ROWS)
    people["dialing"] = 300 + np.where(draw.random(ROWS) < 0.97, own, other)
    return _undone(people, "zip", lambda t: (t["dialing"] - 300).map("021{:02d}".format), ["dialing"])


@scenario("computes the hash of all zip codes")
def hash_of_the_zip_code(draw: Draw, folder: Path) -> Trial:
    """Eight digits of the MD5 of the zip code, insensitive, beside the generalized zip code."""

    def area(code: str) -> str:
        return hashlib.md5(code.encode()).hexdigest()[:8]

    back = {area(f"021{n:02d}"): f"021{n:02d}" for n in range(100)}
    people = _people(draw).assign(area=lambda t: t["zip"].map(area))
    return _undone(people, "zip", lambda t: t["area"].map(back), ["area"])


@scenario("divides by the dose per kilogram")
def dose_of_the_weight(draw: Draw, folder: Path) -> Trial:
    """The dose and the dose per kilogram, insensitive, beside the generalized body weight."""
    people = (
        _people(draw)
        .drop(columns="age")
        .assign(weight=draw.integers(45, 110, ROWS), per_kilogram=draw.integers(1, 9, ROWS) / 2)
    )
    people["dose"] = people["weight"] * people["per_kilogram"]
    return _undone(
        people,
        "weight",
        lambda t: (t["dose"] / t["per_kilogram"]).round(),
        ["dose", "per_kilogram"],
        known=("weight", "zip", "sex"),
    )


@scenario("divides by the exchange rate")
def income_in_another_currency(draw: Draw, folder: Path) -> Trial:
    """The same income in another currency, insensitive, beside the generalized one."""
    people = _people(draw).drop(columns="age").assign(income=draw.integers(200, 900, ROWS) * 100)
    people["usd"] = (people["income"] * 1.0837).round(2)
    return _undone(
        people, "income", lambda t: (t["usd"] / 1.0837).round(), ["usd"], known=("income", "zip", "sex")
    )


@scenario("knows that children start school at six", least=0.8)
def school_year_nearly_the_age(draw: Draw, folder: Path) -> Trial:
    """The years in a job since leaving school at 18, for nine in ten people exact, insensitive."""
    people = _people(draw)
    break_ = np.where(draw.random(ROWS) < 0.9, 0, draw.integers(1, 4, ROWS))
    people["seniority"] = people["age"] - 18 - break_
    return _undone(people, "age", lambda t: t["seniority"] + 18, ["seniority"])


@scenario("knows who has a result of that test")
def results_that_only_men_have(draw: Draw, folder: Path) -> Trial:
    """A result that is missing for all women, insensitive, beside the suppressed sex."""
    people = _people(draw)
    result = draw.normal(2, 0.3, ROWS).round(1)
    people["psa"] = np.where(people["sex"] == "m", result, np.nan)
    return _undone(
        people.assign(age=people["age"] // 10),
        "sex",
        lambda t: np.where(t["psa"].isna(), "f", "m"),
        ["psa"],
        methods={"sex": "suppress"},
    )


def _not_released(draw: Draw, **roles: list[str]) -> Trial:
    """The income is not released; a tax of 30 % of it is."""
    people = _people(draw).assign(income=draw.integers(20, 90, ROWS) * 1_000)
    people["tax"] = (people["income"] * 0.3).round(2)
    success = equal(np.round(people["tax"] / 0.3).astype(int), people["income"])
    made = anonymized(
        people,
        k=5,
        quasi_identifiers=["age", "zip", "sex"],
        sensitive=["disease"],
        insensitive=["tax"],
        seed=1,
        **roles,
    )
    return Trial(
        success,
        "refused" if made is None else "safe",
        chance=float(people["income"].value_counts(normalize=True).iloc[0]),
    )


@scenario("divides by the rate of the tax")
def tax_of_an_excluded_income(draw: Draw, folder: Path) -> Trial:
    """The income is excluded; a tax of 30 % of it, insensitive, is released."""
    return _not_released(draw, excluded=["income"])


@scenario("divides by the rate of the tax")
def tax_of_an_income_called_an_identifier(draw: Draw, folder: Path) -> Trial:
    """The income is called an identifier, so that it is not released; the tax is."""
    return _not_released(draw, identifiers=["income"])

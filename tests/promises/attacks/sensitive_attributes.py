"""Sensitive attributes: what a class says of everybody in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal, learned
from tests.promises.attacks.judge import assessed, command
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Sensitive attributes")
scenario = SCENARIOS.add


def _classes(values: np.ndarray, size: int = 20) -> pd.DataFrame:
    """Equivalence classes of `size` people each, in the order of `values`."""
    place = np.arange(len(values)) // size
    return pd.DataFrame({"district": [f"d{n:03d}" for n in place], "status": values})


def _judged(release: pd.DataFrame, **options: Any) -> str:
    return assessed(release, quasi_identifiers=["district"], sensitive=["status"], **options)


def _value(release: pd.DataFrame, value: Any, certainty: float = 0.9, **options: Any) -> Trial:
    """The attacker claims `value` of everybody in classes where nearly all have it."""
    share = (release["status"] == value).groupby(release["district"]).transform("mean")
    claimed = share >= certainty
    true = float((release.loc[claimed, "status"] == value).mean()) if claimed.any() else 0.0
    return Trial(
        true,
        _judged(release, **options),
        control=_control(),
        chance=float((release["status"] == value).mean()),
    )


def _balanced(rows: int, values: list[Any], shares: list[float], size: int = 20) -> np.ndarray:
    """Values in exactly these shares in every class."""
    one = [value for value, share in zip(values, shares, strict=True) for _ in range(round(share * size))]
    return np.array(one * (rows // size), dtype=object)


@cache
def _control() -> str:
    """The verdict on classes of the same size that are all alike."""
    return _judged(_classes(_balanced(1_200, ["none", "flu", "gout"], [0.8, 0.1, 0.1])))


@cache
def _control_of_numbers() -> str:
    """The verdict on numbers of which every class has about the same."""
    return _judged(_classes(np.arange(1_200) * 7 % 20 * 4_000 + 20_000 + np.arange(1_200) % 7))


@scenario("knows the district")
def classes_of_people_with_hiv(draw: Draw, folder: Path) -> Trial:
    """Eight classes of 17 people who all have HIV, among 7,600 people of whom 1.8 % have it."""
    rest = _balanced(7_400, ["none", "flu"], [0.95, 0.05])
    all_ = np.array(["HIV"] * 136, dtype=object)
    release = pd.concat(
        [_classes(rest), _classes(all_, 17).assign(district=lambda t: "h" + t["district"])], ignore_index=True
    )
    return _value(release, "HIV")


@scenario("knows the district")
def high_income_nearly_certain(draw: Draw, folder: Path) -> Trial:
    """Classes in which 19 of 20 people have the income that 25 % of all have."""
    low = _balanced(2_280, ["<=50K", ">50K"], [0.85, 0.15])
    high = _balanced(240, ["<=50K", ">50K"], [0.05, 0.95])
    return _value(_classes(np.concatenate([low, high])), ">50K")


@scenario("knows the district")
def one_value_has_nine_in_ten(draw: Draw, folder: Path) -> Trial:
    """A value of 95 % of the people, and two classes in which everybody has another one."""
    usual = _balanced(1_160, ["no", "yes"], [0.95, 0.05])
    rare = np.array(["yes"] * 40, dtype=object)
    return _value(_classes(np.concatenate([usual, rare])), "yes")


@scenario("knows the district", least=0.45)
def half_of_a_class_has_a_rare_disease(draw: Draw, folder: Path) -> Trial:
    """A class in which half of the people have a disease of 1 % of all."""
    usual = _balanced(1_980, ["none", "flu"], [0.8, 0.2])
    odd = _balanced(20, ["none", "HIV"], [0.5, 0.5])
    release = _classes(np.concatenate([usual, odd]))
    return _value(release, "HIV", certainty=0.5)


@scenario("knows the district")
def flags_that_are_all_true(draw: Draw, folder: Path) -> Trial:
    """A column of true and false, true for 10 % of the people and for all of one class."""
    usual = _balanced(1_180, [True, False], [0.1, 0.9])
    release = _classes(np.concatenate([usual, np.array([True] * 20, dtype=object)]))
    release["status"] = release["status"].astype(bool)
    return _value(release, True)


@scenario("knows the district")
def everybody_in_this_class_is_pregnant(draw: Draw, folder: Path) -> Trial:
    """Weeks of pregnancy, zero for 95 % of the people; in one class nobody has zero."""
    weeks = np.zeros(1_200, int)
    weeks[::20] = draw.integers(4, 42, 60)
    weeks[-20:] = draw.integers(4, 9, 20)
    release = _classes(weeks)
    hit = (release["status"] > 0).groupby(release["district"]).transform("mean") >= 0.9
    return Trial(
        float((release.loc[hit, "status"] > 0).mean()), _judged(release), chance=float((weeks > 0).mean())
    )


def _close(release: pd.DataFrame, numbers: np.ndarray, percent: float = 5) -> Trial:
    """The attacker claims the class's median; right if within some per cent of the number."""
    given = pd.Series(numbers)
    middle = given.groupby(release["district"]).transform("median")
    near = (given - middle).abs() <= percent / 100 * given.abs()
    narrow = near.groupby(release["district"]).transform("mean") >= 0.9
    overall = (given - given.median()).abs() <= percent / 100 * given.abs()
    return Trial(
        float(near[narrow].mean()),
        _judged(release),
        chance=float(overall.mean()),
        control=_control_of_numbers(),
    )


def _salaries(draw: Draw) -> np.ndarray:
    """Half of all within 3 % of 50,000, the others far from it; in five classes all are near."""
    near = 50_000 * draw.uniform(0.97, 1.03, 1_200)
    numbers = np.where(np.arange(1_200) % 2 == 0, near, draw.uniform(20_000, 120_000, 1_200))
    for start in range(0, 1_200, 240):
        numbers[start : start + 20] = near[start : start + 20]
    return numbers.round()


@scenario("knows the district")
def salaries_within_three_percent(draw: Draw, folder: Path) -> Trial:
    """Salaries; in five of sixty classes they differ by at most 3 %."""
    numbers = _salaries(draw)
    return _close(_classes(numbers), numbers)


@scenario("knows the district and reads the numbers")
def salaries_written_as_text(draw: Draw, folder: Path) -> Trial:
    """The same salaries written 52,310 EUR: every text is different."""
    numbers = _salaries(draw)
    return _close(_classes(np.array([f"{n:,.0f} EUR" for n in numbers], dtype=object)), numbers)


@scenario("knows the district and reads the numbers")
def salaries_with_a_decimal_comma(draw: Draw, folder: Path) -> Trial:
    """The same salaries written 52310,00."""
    numbers = _salaries(draw)
    return _close(_classes(np.array([f"{n:.0f},00" for n in numbers], dtype=object)), numbers)


@scenario("knows the district")
def debts_of_a_whole_class(draw: Draw, folder: Path) -> Trial:
    """Debts, zero for nine in ten people; in one class everybody has some."""
    debt = np.where(np.arange(1_200) % 10 == 0, draw.integers(1, 900, 1_200) * 10, 0)
    debt[-20:] = draw.integers(1, 30, 20) * 10
    release = _classes(debt)
    hit = (release["status"] > 0).groupby(release["district"]).transform("mean") >= 0.9
    return Trial(
        float((release.loc[hit, "status"] > 0).mean()), _judged(release), chance=float((debt > 0).mean())
    )


@scenario("knows the district")
def dates_of_one_week(draw: Draw, folder: Path) -> Trial:
    """The date of a diagnosis within ten years; in five classes all within one week."""
    days = draw.integers(0, 3_650, 1_200)
    for start in range(0, 1_200, 240):
        days[start : start + 20] = 1_825 + draw.integers(0, 7, 20)
    date = pd.Timestamp("2016-01-01") + pd.to_timedelta(days, unit="D")
    release = _classes(np.array(date.date))
    given = pd.Series(days)
    middle = given.groupby(release["district"]).transform("median")
    narrow = ((given - middle).abs() <= 7).groupby(release["district"]).transform("mean") == 1
    return Trial(
        float(((given - middle).abs() <= 7)[narrow].mean()),
        _judged(release),
        chance=float(((given - given.median()).abs() <= 7).mean()),
    )


@scenario("knows the person is in the register")
def register_of_one_disease(draw: Draw, folder: Path) -> Trial:
    """A register in which everybody has the disease."""
    release = _classes(np.array(["HIV"] * 600, dtype=object))
    # One in a hundred people outside of the register has it.
    return Trial(equal(["HIV"] * 600, release["status"]), _judged(release), chance=0.01)


@scenario("knows the person is in the register")
def register_of_several_stages(draw: Draw, folder: Path) -> Trial:
    """A register in which everybody tested positive, in four columns that differ and one that does not."""
    release = _classes(_balanced(600, ["I", "II", "III", "IV"], [0.25] * 4))
    release["hiv_test"] = "positive"
    verdict = assessed(release, quasi_identifiers=["district"], sensitive=["status", "hiv_test"])
    return Trial(equal(release["hiv_test"], ["positive"] * 600), verdict, chance=0.01)


@scenario("knows the district, and that no entry means no other disease was found", least=0.7)
def missing_taken_for_a_second_value(draw: Draw, folder: Path) -> Trial:
    """Classes with HIV or no entry; elsewhere five diseases and few missing."""
    usual = _balanced(1_160, ["none", "flu", "gout", "asthma", None], [0.4, 0.2, 0.2, 0.15, 0.05])
    odd = _balanced(40, ["HIV", None], [0.8, 0.2])
    release = _classes(np.concatenate([usual, odd]))
    known = release[release["status"].notna()]
    share = (known["status"] == "HIV").groupby(known["district"]).transform("mean")
    return Trial(
        float((known.loc[share >= 0.9, "status"] == "HIV").mean()),
        _judged(release),
        chance=float((release["status"] == "HIV").mean()),
    )


@scenario("knows the district and that all those words mean the same")
def spellings_taken_for_values(draw: Draw, folder: Path) -> Trial:
    """A class of HIV, hiv, "HIV " and Hiv, each 5 of 20 people; elsewhere five diseases."""
    usual = _balanced(1_180, ["none", "flu", "gout", "asthma", "HIV"], [0.4, 0.2, 0.2, 0.15, 0.05])
    odd = _balanced(20, ["HIV", "hiv", "HIV ", "Hiv"], [0.25] * 4)
    release = _classes(np.concatenate([usual, odd]))
    meant = release.assign(status=release["status"].str.strip().str.upper())
    claimed = (meant["status"] == "HIV").groupby(meant["district"]).transform("mean") >= 0.9
    return Trial(
        float((meant.loc[claimed, "status"] == "HIV").mean()),
        _judged(release),
        chance=float((meant["status"] == "HIV").mean()),
    )


CODES = {
    "F": ["F20", "F31", "F32", "F33", "F41"],
    "J": ["J10", "J18", "J44", "J45", "J06"],
    "M": ["M10", "M16", "M17", "M54", "M81"],
    "I": ["I10", "I21", "I48", "I50", "I63"],
}


@scenario("knows the district and the chapters of ICD-10")
def diagnoses_of_one_chapter(draw: Draw, folder: Path) -> Trial:
    """Five diagnoses in every class; in two classes all are of the chapter of mental disorders."""
    every = [code for codes in CODES.values() for code in codes]
    usual = _balanced(1_160, every, [0.05] * 20)
    odd = _balanced(40, CODES["F"], [0.2] * 5)
    release = _classes(np.concatenate([usual, odd]))
    chapter = release.assign(status=release["status"].str[0])
    claimed = (chapter["status"] == "F").groupby(chapter["district"]).transform("mean") >= 0.9
    release.to_csv(folder / "data.csv", index=False)
    lines = [f"{code};{letter};*" for letter, codes in CODES.items() for code in codes]
    (folder / "icd.csv").write_text("\n".join(lines) + "\n")
    (folder / "roles.toml").write_text(
        '[roles]\ndistrict = "quasi-identifier"\nstatus = { role = "sensitive", hierarchy = "icd.csv" }\n'
    )
    ended = command(
        "assess", "--person", "each record", folder / "data.csv", "--no-try", "--roles", folder / "roles.toml"
    )
    return Trial(
        float((chapter.loc[claimed, "status"] == "F").mean()),
        ended.verdict,
        chance=float((chapter["status"] == "F").mean()),
    )


@scenario("knows the district: nobody there is healthy")
def nobody_in_the_class_is_healthy(draw: Draw, folder: Path) -> Trial:
    """Ten diseases of 3 % each and 70 % healthy; in two classes nobody is healthy."""
    ill = [f"disease {n}" for n in range(10)]
    usual = np.array((["healthy"] * 14 + ill[:6] + ["healthy"] * 14 + ill[4:]) * 29, dtype=object)
    odd = np.array(ill * 4, dtype=object)
    release = _classes(np.concatenate([usual, odd]))
    sick = release["status"] != "healthy"
    claimed = sick.groupby(release["district"]).transform("mean") >= 0.9
    return Trial(float(sick[claimed].mean()), _judged(release), chance=float(sick.mean()))


@scenario("knows the district")
def certain_people_in_a_sorted_file(draw: Draw, folder: Path) -> Trial:
    """Texts that are all different at first; at the end of the file whole classes share one."""
    rows = 6_000
    texts = np.array([f"text {n}" for n in range(rows)], dtype=object)
    texts[-1_000:] = np.repeat([f"case {n}" for n in range(50)], 20)
    release = _classes(texts)
    targets = release.iloc[-1_000:]
    return Trial(learned(release, targets, ["district"], "status"), _judged(release))


@scenario("knows the district")
def a_policy_without_thresholds_for_numbers(draw: Draw, folder: Path) -> Trial:
    """Salaries of a class within 3 %, in a release of k = 20, under strict-research."""
    numbers = _salaries(draw)
    trial = _close(_classes(numbers), numbers)
    return Trial(trial.success, _judged(_classes(numbers), policy="strict-research"), trial.chance)


@scenario("knows the district")
def a_second_sensitive_attribute_in_its_shadow(draw: Draw, folder: Path) -> Trial:
    """Two sensitive attributes; the first is balanced in every class, the second certain in three."""
    release = _classes(_balanced(1_200, ["a", "b", "c", "d"], [0.25] * 4))
    convicted = np.where(np.arange(1_200) % 50 == 0, "yes", "no")
    convicted[:60] = "yes"
    release["convicted"] = convicted
    share = (release["convicted"] == "yes").groupby(release["district"]).transform("mean") >= 0.9
    verdict = assessed(release, quasi_identifiers=["district"], sensitive=["status", "convicted"])
    return Trial(
        float((release.loc[share, "convicted"] == "yes").mean()),
        verdict,
        chance=float((release["convicted"] == "yes").mean()),
    )


@scenario("knows the district and the published rate of one in a thousand")
def classes_as_ill_as_the_whole_table(draw: Draw, folder: Path) -> Trial:
    """A table in which 90 % of everybody have a disease that one in a thousand people has."""
    release = _classes(_balanced(1_200, ["HIV", "none"], [0.9, 0.1]))
    return Trial(float((release["status"] == "HIV").mean()), _judged(release), chance=0.001)


@scenario("knows the district: everybody there is rich")
def incomes_of_the_highest_tenth(draw: Draw, folder: Path) -> Trial:
    """Incomes up to 90,000 for most, in steps of 500; in three classes from 120,000 to 900,000, and
    far apart."""
    income = (draw.permutation(1_200) * 58 + 20_000) // 500 * 500
    rich = np.arange(1_200) % 400 < 20
    release = _classes(np.where(rich, draw.permutation(1_200) * 650 + 120_000, income))
    claimed = (release["status"] >= 120_000).groupby(release["district"]).transform("mean") >= 0.9
    return Trial(
        float((release.loc[claimed, "status"] >= 120_000).mean()),
        _judged(release),
        chance=float(rich.mean()),
        control=_judged(_classes(income)),
    )

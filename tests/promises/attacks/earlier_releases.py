"""Earlier releases: what safe releases disclose together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import assessed, command, flags
from tests.promises.attacks.people import DISEASES
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Earlier releases")
scenario = SCENARIOS.add
ROLES = {"quasi_identifiers": ["age"], "sensitive": ["disease"]}


def _band(ages: np.ndarray, start: int, width: int) -> list[str]:
    low = (ages - start) // width * width + start
    return [f"{n}-{n + width - 1}" for n in low]


def _people() -> tuple[pd.DataFrame, np.ndarray]:
    """Six people of every age: four have the disease of that age, and two have others."""
    ages, place = np.repeat(np.arange(20, 60), 6), np.tile(np.arange(6), 40)
    disease = np.where(place < 4, ages % 4, (ages + place - 3) % 4)
    return pd.DataFrame({"age": ages, "disease": np.array(DISEASES)[disease]}), ages


def _mixed(frame: pd.DataFrame, draw: Draw) -> pd.DataFrame:
    return frame.iloc[draw.permutation(len(frame))].reset_index(drop=True)


def _judged(release: pd.DataFrame, *earlier: pd.DataFrame) -> str:
    return assessed(release.reset_index(drop=True), earlier=list(earlier), **ROLES)


def _intersected(first: pd.DataFrame, second: pd.DataFrame) -> tuple[float, float]:
    """The share of right claims by the diseases that both classes have; and by one class."""
    left, right = (one.groupby("age")["disease"].value_counts() for one in (first, second))
    claims = []
    for here, there in zip(first["age"][second.index], second["age"], strict=True):
        one, two = left[here], right[there]
        claims.append(max(DISEASES, key=lambda d: min(one.get(d, 0), two.get(d, 0))))
    alone = float(right.groupby("age").max().sum() / len(second))
    return equal(claims, second["disease"]), alone


@scenario("has both releases and intersects the diseases", least=0.6)
def intervals_that_overlap(draw: Draw, folder: Path) -> Trial:
    """The same people in two releases, their ages in intervals that overlap; k = 12 in both."""
    people, ages = _people()
    first = people.assign(age=_band(ages, 20, 2))
    second = people.assign(age=_band(ages, 21, 2))[(ages > 20) & (ages < 59)]
    right, alone = _intersected(first, second)
    return Trial(right, _judged(second, first), chance=alone, control=_judged(second))


@scenario("has both releases and intersects the diseases", least=0.6)
def intervals_that_overlap_in_random_order(draw: Draw, folder: Path) -> Trial:
    """The same as intervals that overlap, the rows of both releases in random order."""
    people, ages = _people()
    first = people.assign(age=_band(ages, 20, 2))
    second = people.assign(age=_band(ages, 21, 2))[(ages > 20) & (ages < 59)]
    right, alone = _intersected(first, second)
    return Trial(
        right,
        _judged(_mixed(second, draw), _mixed(first, draw)),
        chance=alone,
        control=_judged(_mixed(second, draw)),
    )


@scenario("has both releases and subtracts them")
def one_person_more(draw: Draw, folder: Path) -> Trial:
    """Two releases, k = 5 in both, of which the second has one person more."""
    first, second = _growing()
    counts = [one.groupby(["age", "disease"]).size() for one in (first, second)]
    difference = (counts[1] - counts[0]).idxmax()
    return Trial(
        float(difference == ("20-39", "flu")), _judged(second, first), chance=0.25, control=_judged(second)
    )


def _growing() -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = 600
    first = pd.DataFrame(
        {
            "age": np.array(["20-39", "40-59"])[np.arange(rows) % 2],
            "disease": np.array(DISEASES)[np.arange(rows) // 2 % 4],
        }
    )
    new = pd.DataFrame({"age": ["20-39"], "disease": ["flu"]})
    return first, pd.concat([first, new], ignore_index=True)


@scenario("has both releases and subtracts them")
def one_person_less(draw: Draw, folder: Path) -> Trial:
    """Two releases in random order, of which the second lacks one person."""
    second, first = _growing()
    counts = [one.groupby(["age", "disease"]).size() for one in (first, second)]
    difference = (counts[0] - counts[1]).idxmax()
    return Trial(
        float(difference == ("20-39", "flu")),
        _judged(_mixed(second, draw), _mixed(first, draw)),
        chance=0.25,
        control=_judged(second),
    )


@scenario("has both releases and compares them")
def one_record_changed(draw: Draw, folder: Path) -> Trial:
    """Two releases of the same people, of whom one has another disease in the second."""
    first, _ = _growing()
    second = first.copy()
    second.loc[0, "disease"] = "cancer" if first.loc[0, "disease"] != "cancer" else "flu"
    counts = [one.groupby(["age", "disease"]).size() for one in (first, second)]
    change = counts[1].sub(counts[0], fill_value=0).idxmax()
    return Trial(
        float(change == (second.loc[0, "age"], second.loc[0, "disease"])),
        _judged(_mixed(second, draw), _mixed(first, draw)),
        chance=0.25,
        control=_judged(second),
    )


def _signed_off(folder: Path, files: list[pd.DataFrame], draw: Draw) -> tuple[str, str]:
    """The verdict on the last file with the others as earlier ones, and on it alone.

    The code is signed off: nobody outside has it. The columns named q... are quasi-identifiers.
    """
    paths = []
    for i, one in enumerate(files):
        paths.append(folder / f"{i}.csv")
        _mixed(one, draw).to_csv(paths[-1], index=False)
    for name, some in (("own", files[-1:]), ("earlier", files[:-1])):
        known = {column for one in some for column in one if column.startswith("q")}
        lines = [f'{column} = "quasi-identifier"' for column in sorted(known)]
        lines += [
            'disease = "sensitive"',
            'code = {role = "insensitive", sign_off = "internal", override = "drawn for the study"}',
        ]
        (folder / f"{name}.toml").write_text("\n".join(["[roles]", *lines]), "utf-8")
    words = ["assess", "--person", "each record", paths[-1], "--roles", folder / "own.toml"]
    earlier = [word for path in paths[:-1] for word in ("--earlier", path)]
    together = command(*words, *earlier, "--earlier-roles", folder / "earlier.toml")
    return together.verdict, command(*words).verdict


@scenario("has both releases and joins them by the code", least=0.6)
def codes_that_were_kept(draw: Draw, folder: Path) -> Trial:
    """The same people with the same codes: one release has the age, the other one the region."""
    people, ages = _people()
    people["code"] = [f"c{n}" for n in draw.permutation(10**6)[: len(people)]]
    people["q_region"] = np.array(["north", "south", "east", "west"])[np.arange(len(people)) % 4]
    people["q_age"] = _band(ages, 20, 2)
    first, second = people[["code", "q_age", "disease"]], people[["code", "q_region", "disease"]]
    sizes = people.groupby(["q_age", "q_region"])["code"].transform("size")
    together, alone = _signed_off(folder, [first, second], draw)
    return Trial(float((sizes < 5).mean()), together, control=alone)


@scenario("has all three releases and intersects the classes")
def three_releases(draw: Draw, folder: Path) -> Trial:
    """Three releases with the same codes; two of them have classes of 20, all three of 4."""
    rows = 640
    part = np.arange(rows)
    codes = [f"c{n}" for n in draw.permutation(10**6)[:rows]]
    disease = np.array(DISEASES)[part // 160]
    columns = [part % 8, part // 8 % 4, part // 32 % 5]
    files = [
        pd.DataFrame({f"q_{name}": [f"{name}{n}" for n in column], "code": codes, "disease": disease})
        for name, column in zip("abc", columns, strict=True)
    ]
    joined = files[0].merge(files[1], on="code").merge(files[2], on="code")
    sizes = joined.groupby(["q_a", "q_b", "q_c"])["code"].transform("size")
    together, alone = _signed_off(folder, files, draw)
    return Trial(float((sizes < 5).mean()), together, control=alone)


@scenario("has the release that the ledger lists, and subtracts it")
def a_release_of_the_ledger_is_gone(draw: Draw, folder: Path) -> Trial:
    """The second release has one person more than the first, the file of which was not kept."""
    first, second = _growing()
    one, two, ledger = folder / "first.csv", folder / "second.csv", folder / "ledger.toml"
    first.to_csv(one, index=False)
    second.to_csv(two, index=False)
    assert command("ledger", "add", ledger, one, "--to", "a university").status == 0
    one.unlink()
    counts = [frame.groupby(["age", "disease"]).size() for frame in (first, second)]
    difference = (counts[1] - counts[0]).idxmax()
    ended = command("assess", "--person", "each record", two, "--no-try", *flags(**ROLES), "--ledger", ledger)
    return Trial(float(difference == ("20-39", "flu")), ended.verdict, chance=0.25)


@scenario("has both releases and subtracts the ages")
def classes_that_are_nested(draw: Draw, folder: Path) -> Trial:
    """Two releases, the ages in tens and in twenties; the second lacks three people of one class."""
    ages = np.repeat(np.arange(20, 60), 12)
    people = pd.DataFrame({"age": ages, "disease": np.array(DISEASES)[draw.integers(0, 4, len(ages))]})
    gone = np.flatnonzero(ages == 25)[:3]
    first = people.assign(age=_band(ages, 20, 20))
    second = people.assign(age=_band(ages, 20, 10)).drop(index=gone)
    left = first.groupby(["age", "disease"]).size()
    coarse = second.assign(age=_band(ages[second.index], 20, 20)).groupby(["age", "disease"]).size()
    found = left.sub(coarse, fill_value=0)
    claimed = found[found > 0]
    right = sum(claimed.get(("20-39", one), 0) for one in people["disease"][gone].unique())
    return Trial(
        float(right / len(gone)),
        _judged(_mixed(second, draw), _mixed(first, draw)),
        chance=0.25,
        control=_judged(_mixed(second, draw)),
    )


def _with_roles(folder: Path, name: str, release: pd.DataFrame) -> tuple[Path, Path]:
    path, roles = folder / f"{name}.csv", folder / f"{name}.toml"
    release.to_csv(path, index=False)
    known = [column for column in release if column != "disease"]
    lines = ["[roles]", 'disease = "sensitive"', *(f'{one} = "quasi-identifier"' for one in known)]
    lines += ["[units]", 'person = "each record"']
    roles.write_text("\n".join(lines), "utf-8")
    return path, roles


def _places(draw: Draw) -> pd.DataFrame:
    """Forty places of 24 people with all diseases; in three of them, of 12 people, all have the flu."""
    counts = np.full((40, 4), 3)
    for place in (9, 20, 31):
        counts[place] = [6, 0, 0, 0]
        counts[[place - 1, place + 1]] = [1, 4, 4, 3]
    half = pd.DataFrame(
        [(place, DISEASES[n]) for place, row in enumerate(counts) for n in np.arange(4).repeat(row)],
        columns=["place", "disease"],
    )
    return _mixed(pd.concat([half.assign(sex=one) for one in "fm"], ignore_index=True), draw)


def _subtracted(first: pd.DataFrame, second: pd.DataFrame) -> dict[int, pd.Series]:
    """The diseases of each place: the first area is a place, the first district has it and a second."""
    found: dict[int, pd.Series] = {}
    for place in range(40):
        file, name, part = (
            (second, "area", (place + 1) // 2) if place % 2 == 0 else (first, "district", place // 2)
        )
        found[place] = file.loc[file[name] == f"{name[0]}{part}", "disease"].value_counts()
        if place:
            found[place] = found[place].sub(found[place - 1], fill_value=0)
    return found


@scenario("knows the map, of which places a district and an area consist, and subtracts them")
def districts_under_another_name(draw: Draw, folder: Path) -> Trial:
    """The same people by sex and district, and later by sex and area: the counts by sex are equal."""
    people = _places(draw)
    first = people.assign(district=[f"d{n // 2}" for n in people["place"]])
    second = people.assign(area=[f"a{(n + 1) // 2}" for n in people["place"]])
    claims = {
        place: found.idxmax()
        for place, found in _subtracted(first, second).items()
        if found.max() >= 0.9 * found.sum()
    }
    targets = people[people["place"].isin(claims)]
    alone = first.groupby("district")["disease"].value_counts(normalize=True).max()
    own, roles = _with_roles(folder, "own", _mixed(second, draw)[["sex", "area", "disease"]])
    other, others = _with_roles(folder, "earlier", _mixed(first, draw)[["sex", "district", "disease"]])
    words = ["assess", own, "--roles", roles, "--no-try"]
    together = command(*words, "--earlier", other, "--earlier-roles", others).verdict
    return Trial(
        equal([claims[n] for n in targets["place"]], targets["disease"]),
        together,
        chance=float(alone),
        control=command(*words).verdict,
    )

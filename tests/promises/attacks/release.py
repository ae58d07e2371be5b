"""The release as a whole: the order of rows, households, the population, pseudonyms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import anonymized, assessed, believed, command, flags, released
from tests.promises.attacks.people import ROLES, hospital, plain
from tests.promises.attacks.scenario import CHANGED, Draw, Scenarios, Trial

SCENARIOS = Scenarios("The release as a whole")
scenario = SCENARIOS.add


def _position(made: pd.DataFrame, rows: int) -> float:
    """How often the n-th released record is that of the n-th person of the sorted list."""
    # If records are suppressed, the attacker stretches the list.
    place = np.round(np.linspace(0, rows - 1, len(made))).astype(int)
    return equal(made.index.to_numpy(), place)


@scenario("has the list of members in alphabetical order")
def rows_in_the_order_of_surnames(draw: Draw, folder: Path) -> Trial:
    """A file sorted by surname, anonymized with k = 20."""
    people = hospital(draw).sort_values("name").reset_index(drop=True)
    made = anonymized(
        people,
        k=20,
        identifiers=["name", "ssn"],
        sensitive=["disease"],
        quasi_identifiers=["age", "zip", "sex"],
    )
    if made is None:
        return Trial(1.0, "refused")
    return Trial(_position(people, len(people)), CHANGED, after=_position(made, len(people)))


@scenario("has the list of members in alphabetical order")
def rows_in_the_order_of_surnames_in_a_file(draw: Draw, folder: Path) -> Trial:
    """A CSV file sorted by surname, anonymized at the command line with k = 20."""
    people = hospital(draw).sort_values("name").reset_index(drop=True)
    people.to_csv(folder / "data.csv", index=False)
    ended = command(
        "anonymize",
        "--person",
        "each record",
        folder / "data.csv",
        "--k",
        "20",
        "-o",
        folder / "out.csv",
        "--key",
        folder / "key.json",
        *flags(identifiers=["name", "ssn"], sensitive=["disease"], quasi_identifiers=["age", "zip", "sex"]),
    )
    made = released(folder / "out.csv", folder / "key.json")
    if made is None:
        return Trial(1.0, ended.verdict)
    return Trial(_position(people, len(people)), CHANGED, after=_position(made, len(people)))


@scenario("knows the diseases of two people in a household, looks for them in sequence", least=0.5)
def households_in_sequence(draw: Draw, folder: Path) -> Trial:
    """Households of four people, one after the other, anonymized with k = 20."""
    rows = 600
    people = pd.DataFrame(
        {
            "age": draw.integers(20, 67, rows),
            "sex": draw.choice(["f", "m"], rows),
            "disease": draw.choice([f"disease {n}" for n in range(6)], rows),
        }
    )

    def sequence(table: pd.DataFrame) -> float:
        """The share of households whose four diseases are found, once, and at the true place."""
        there = ["|".join(table["disease"].iloc[n : n + 4]) for n in range(0, len(table) - 3, 4)]
        found = pd.Series(there)
        once = found[~found.duplicated(keep=False)]
        true = {"|".join(people["disease"].iloc[n : n + 4]): n for n in range(0, rows, 4)}
        right = sum(true.get(text, -1) == table.index[4 * n] for n, text in once.items())
        return right / (rows // 4)

    made = anonymized(people, k=20, quasi_identifiers=["age", "sex"], sensitive=["disease"])
    if made is None:
        return Trial(sequence(people), "refused")
    return Trial(sequence(people), CHANGED, after=sequence(made))


@scenario("knows who of the town has those attributes", least=0.2)
def population_that_is_not_even(draw: Draw, folder: Path) -> Trial:
    """A sample of a town with rare occupations; k = 5 is required in the population, by its number."""
    people = 20_000
    share = 1 / np.arange(1, 201) ** 1.3
    town = pd.DataFrame(
        {
            "occupation": draw.choice([f"occupation {n}" for n in range(200)], people, p=share / share.sum()),
            "street": draw.choice([f"street {n}" for n in range(10)], people),
        }
    )
    sample = town.iloc[draw.permutation(people)[:4_000]].reset_index(drop=True)
    known = ["occupation", "street"]

    def small(table: pd.DataFrame) -> float:
        """The share of released cells that fewer than five people of the town have."""
        size = town.groupby(known).size()
        cells = table.drop_duplicates(known).set_index(known).index
        return float((size.reindex(cells).fillna(5) < 5).mean())

    made = anonymized(sample, k=5, population=people, quasi_identifiers=known, beta=0.05)
    success = small(sample)
    if made is None:
        return Trial(success, "refused")
    return Trial(success, CHANGED, chance=0.05, after=small(made))


@scenario("looks the person up in the population's table", least=0.9)
def population_table_beside_generalized_values(draw: Draw, folder: Path) -> Trial:
    """Ages in intervals, of which one is that of one person of the population; the table is given."""
    rows = 600
    release = plain(rows).assign(age=np.where(np.arange(rows) % 100 < 50, "20-59", "60-99"))
    ages = np.concatenate([draw.integers(20, 60, 5_000), draw.integers(60, 61, 1)])
    town = pd.DataFrame({"age": ages, "sex": draw.choice(["f", "m"], len(ages))})
    alone = (town["age"] >= 60).sum() == 1  # everybody of 60-99 in the release is that person
    import pyarrow as pa

    verdict = assessed(release, **ROLES, population=pa.Table.from_pandas(town, preserve_index=False))
    return Trial(float(alone), verdict)


def _belief(*blocks: np.ndarray) -> np.ndarray:
    size = sum(len(block) for block in blocks)
    made, at = np.zeros((size, size)), 0
    for block in blocks:
        made[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return made


@scenario("resolves 18 of 200 pseudonyms with certainty", least=0.08)
def eighteen_certain_cracks(draw: Draw, folder: Path) -> Trial:
    """200 pseudonyms; what is believed leaves one possibility for 18, and 182 for all others."""
    matrix = _belief(np.eye(18), np.ones((182, 182)))
    certain = (matrix > 0).sum(1) == 1
    return Trial(
        float(certain.mean()),
        believed(matrix, list(range(200)), data=plain(), **ROLES),
        control=believed(np.ones((200, 200)), list(range(200)), data=plain(), **ROLES),
    )


@scenario("resolves one pseudonym of 400 with near certainty")
def one_nearly_certain_crack(draw: Draw, folder: Path) -> Trial:
    """400 pseudonyms, of which the belief resolves one with a probability of 0.99."""
    matrix = np.ones((400, 400))
    matrix[0, 1:] = 0.01 / 399
    matrix[0, 0] = 0.99
    share = matrix[0, 0] / matrix[0].sum()
    return Trial(share, believed(matrix, list(range(400)), data=plain(), **ROLES), chance=1 / 400)


@scenario("corrects the alignment, and has all pseudonyms", least=0.9)
def belief_worse_than_chance(draw: Draw, folder: Path) -> Trial:
    """A belief that is nearly certain and nearly always wrong: rows and truth are shifted by one."""
    size = 60
    matrix = np.full((size, size), 1e-3)
    np.fill_diagonal(matrix, 1.0)
    shifted = [(n + 1) % size for n in range(size)]
    right = float((np.argmax(matrix, axis=1) == np.arange(size)).mean())  # once it is aligned
    return Trial(right, believed(matrix, shifted, data=plain(), **ROLES), chance=1 / size)


@scenario("counts how often items occur together", least=0.5)
def pairs_of_items(draw: Draw, folder: Path) -> Trial:
    """Baskets whose 12 items are about equally frequent, but bought in different pairs."""
    items, rows = 12, 3_000
    strength = np.triu(draw.uniform(0, 1, (items, items)) ** 3, 1)
    pairs = np.argwhere(strength > 0)
    chosen = pairs[draw.choice(len(pairs), rows, p=strength[strength > 0] / strength.sum())]
    renamed = draw.permutation(items)
    baskets = [sorted({f"p{renamed[a]}", f"p{renamed[b]}"}) for a, b in chosen]
    lonely = [[f"p{renamed[n]}"] for n in range(items)]
    counts = np.zeros((items, items))
    for a, b in chosen:
        counts[renamed[a], renamed[b]] += 1
        counts[renamed[b], renamed[a]] += 1
    full = strength + strength.T
    # Each item's sorted vector of co-occurrences is its fingerprint.
    seen = np.sort(counts / counts.sum(), axis=1)
    known = np.sort(full / full.sum(), axis=1)
    guess = np.array([np.abs(seen - one).sum(1).argmin() for one in known])
    success = float((guess == renamed).mean())
    pad = int(counts.sum(1).max())
    for item in range(items):  # the same frequency for all
        baskets += lonely[np.flatnonzero(renamed == item)[0] :][:1] * int(pad - counts[item].sum())
    (folder / "baskets.csv").write_text("\n".join(",".join(one) for one in baskets) + "\n")
    lines = ["item,low,high"] + [f"i{n},0,1" for n in range(items)]
    (folder / "ranges.csv").write_text("\n".join(lines) + "\n")
    truth = ["item,pseudonym"] + [f"i{n},p{renamed[n]}" for n in range(items)]
    (folder / "truth.csv").write_text("\n".join(truth) + "\n")
    pairs_known = ["item,other,share"] + [
        f"i{a},i{b},{full[a, b] / full.sum() * 2:.6f}" for a in range(items) for b in range(a + 1, items)
    ]
    (folder / "pairs.csv").write_text("\n".join(pairs_known) + "\n")
    (folder / "attack.toml").write_text(
        'kind = "frequencies"\ntransactions = "baskets.csv"\nranges = "ranges.csv"\ntruth = "truth.csv"\n'
    )
    plain().to_csv(folder / "data.csv", index=False)
    ended = command(
        "assess",
        "--person",
        "each record",
        folder / "data.csv",
        *flags(**ROLES),
        "--attack",
        folder / "attack.toml",
    )
    return Trial(success, ended.verdict, chance=1 / items)


def _in_order(draw: Draw, places: Callable[[int], np.ndarray]) -> Trial:
    """A release of k = 280 in an order that follows from that of the original, sorted by name.

    The attacker has the list with ages and sexes: each record is that of the next person on it, from
    its beginning or its end, whose age and sex fit.
    """
    people = hospital(draw, 1_200).sort_values("name").reset_index(drop=True)
    known = people.assign(age=np.where(people["age"] < 44, "20-43", "44-66"))
    whole = known[["age", "sex", "disease"]]
    release = whole.iloc[places(len(whole))]
    on_the_list = list(zip(known["age"], known["sex"], strict=True))

    def claimed(order: list[int]) -> float:
        place, claims = 0, []
        for pair in zip(release["age"], release["sex"], strict=True):
            while place < len(order) - 1 and on_the_list[order[place]] != pair:
                place += 1
            claims.append(order[place])
            place += 1 if place < len(order) - 1 else 0
        return equal(release.index.to_numpy(), np.array(claims))

    ahead = list(range(len(whole)))
    given = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"], "original": people}
    shuffled = whole.sample(frac=1, random_state=3)
    control = assessed(shuffled, row_map=shuffled.index.tolist(), **given)
    success = max(claimed(ahead), claimed(ahead[::-1]))
    return Trial(success, assessed(release, **given), chance=1 / 280, control=control)


@scenario("has the list of members in alphabetical order")
def order_of_the_original_kept(draw: Draw, folder: Path) -> Trial:
    """Two classes of ages and sex, 280 people and more each, in the order of the original."""
    return _in_order(draw, np.arange)


@scenario("has the list of members in alphabetical order, and begins at its end")
def order_of_the_original_reversed(draw: Draw, folder: Path) -> Trial:
    """The same release with the last row first."""
    return _in_order(draw, lambda rows: np.arange(rows)[::-1])


@scenario("has the list of members in alphabetical order", least=0.2)
def order_of_the_original_with_gaps(draw: Draw, folder: Path) -> Trial:
    """The same release without six records in the middle."""
    return _in_order(draw, lambda rows: np.delete(np.arange(rows), [500, 540, 580, 620, 660, 700]))


def _another_original(draw: Draw, folder: Path, other: pd.DataFrame) -> Trial:
    """Readings with four decimals, signed off, link every record to the true original."""
    people = plain(1_200).assign(reading=draw.normal(5, 1, 1_200).round(4) + np.arange(1_200))
    release = people.sample(frac=1, random_state=5)
    release.to_csv(folder / "data.csv", index=False)
    other.to_csv(folder / "other.csv", index=False)
    (folder / "roles.toml").write_text(
        '[roles]\nage = "quasi-identifier"\nsex = "quasi-identifier"\ndisease = "sensitive"\n'
        'reading = { role = "insensitive", sign_off = "measured for this study, given to nobody" }\n'
    )
    owner = pd.Series(people.index, index=people["reading"])
    success = equal(release["reading"].map(owner), release.index.to_numpy())
    ended = command(
        "assess",
        "--person",
        "each record",
        folder / "data.csv",
        "--no-try",
        "--roles",
        folder / "roles.toml",
        "--original",
        folder / "other.csv",
        "--policy",
        "wp216",
    )
    return Trial(success, ended.verdict)


@scenario("has the true original, and looks for equal readings")
def original_of_other_people(draw: Draw, folder: Path) -> Trial:
    """Fifty other people are given as the original of 1,200 records, under wp216."""
    other = plain(600).head(50).assign(reading=draw.normal(5, 1, 50).round(4))
    return _another_original(draw, folder, other)


@scenario("has the true original, and looks for equal readings")
def original_with_other_diseases(draw: Draw, folder: Path) -> Trial:
    """As many other people, with other diseases, are given as the original, under wp216."""
    other = plain(1_200).replace({"disease": {"flu": "measles", "none": "mumps"}})
    other = other.sample(frac=1, random_state=1).assign(reading=draw.normal(5, 1, 1_200).round(4))
    return _another_original(draw, folder, other)


def _subtracted(published: pd.Series, incomes: pd.Series) -> float:
    """How often the mean times the size of a group, less all other incomes of it, is the income."""
    groups = incomes.groupby(published)
    others = groups.transform("sum") - incomes
    return equal(published * groups.transform("size") - others, incomes, within=0.005)


@scenario("knows the incomes of all others in a group, and subtracts them from its mean times its size")
def means_of_groups(draw: Draw, folder: Path) -> Trial:
    """Incomes to the cent, replaced by the exact means of groups of five neighbors."""
    people = plain(600).assign(income=draw.lognormal(10.5, 0.5, 600).round(2))
    order = people["income"].rank(method="first").astype(int) - 1
    exact = people["income"].groupby(order // 5).transform("mean")
    made = anonymized(
        people,
        k=5,
        methods={"income": "microaggregate:5"},
        quasi_identifiers=["age", "sex"],
        sensitive=["disease", "income"],
    )
    success = _subtracted(exact, people["income"])
    if made is None:
        return Trial(success, "refused")
    return Trial(success, CHANGED, after=_subtracted(made["income"], people["income"].loc[made.index]))

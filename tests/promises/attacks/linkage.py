"""Linkage: masked and synthetic files beside their originals.

The columns are signed off in the roles file (nobody but the holder has them), so that only the
comparison with the original is judged.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from tests.promises.attacks.judge import anonymized, attacked_by_frequency, command, verified
from tests.promises.attacks.people import ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Linkage")
scenario = SCENARIOS.add
COLUMNS = ["a", "b", "c"]
ROWS = 400


def _original(draw: Draw) -> pd.DataFrame:
    """Three measurements of each person; the age is added to both files by `_judged`."""
    return pd.DataFrame(draw.normal(100, 15, (ROWS, 3)).round(2), columns=COLUMNS)


def _nearest(original: pd.DataFrame, masked: pd.DataFrame, owner: np.ndarray) -> float:
    """How often the nearest masked record, in standard units, is the person's own."""
    scale = original.std().to_numpy()
    one, two = original.to_numpy() / scale, masked.to_numpy() / scale
    gaps = ((one[:, None, :] - two[None, :, :]) ** 2).sum(2)
    return float((owner[gaps.argmin(1)] == np.arange(len(original))).mean())


def _judged(
    folder: Path,
    original: pd.DataFrame,
    masked: pd.DataFrame,
    ages: np.ndarray | None = None,
    *more: str | Path,
) -> str:
    """The verdict on the masked file beside the original, both sorted by an age of three values."""
    age = np.arange(len(original)) * 3 // len(original) * 10 + 30
    original.assign(age=age).to_csv(folder / "original.csv", index=False)
    masked.assign(age=age if ages is None else ages).to_csv(folder / "masked.csv", index=False)
    reason = "measured for this study and given to nobody else"
    lines = [f'"{name}" = {{ role = "insensitive", sign_off = "{reason}" }}' for name in masked]
    lines = ["[roles]", 'age = "quasi-identifier"', *lines]
    (folder / "roles.toml").write_text("\n".join(lines) + "\n")
    return command(
        "assess",
        "--person",
        "each record",
        folder / "masked.csv",
        "--no-try",
        "--roles",
        folder / "roles.toml",
        "--original",
        folder / "original.csv",
        *more,
    ).verdict


@cache
def _control() -> str:
    """The verdict on measurements that are other people's, drawn anew: nothing can be linked."""
    draw = np.random.default_rng(8)
    with tempfile.TemporaryDirectory() as folder:
        return _judged(Path(folder), _original(draw), _original(draw))


@scenario("has the original and looks for the nearest record")
def a_copy_in_another_order(draw: Draw, folder: Path) -> Trial:
    """The original itself, its rows in another order, compared row by row."""
    original = _original(draw)
    order = draw.permutation(ROWS)
    masked = original.iloc[order].reset_index(drop=True)
    return Trial(
        _nearest(original, masked, order),
        _judged(folder, original, masked, order % 3 * 10 + 30),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the nearest record")
def columns_renamed(draw: Draw, folder: Path) -> Trial:
    """The original itself with other names of columns."""
    original = _original(draw)
    masked = original.rename(columns={"a": "x", "b": "y", "c": "z"})
    return Trial(
        _nearest(original, masked, np.arange(ROWS)),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the nearest record")
def columns_exchanged(draw: Draw, folder: Path) -> Trial:
    """The original itself with the names of two columns exchanged."""
    original = _original(draw).assign(c=lambda t: t["c"] + 500)
    masked = original.rename(columns={"a": "c", "c": "a"})
    back = masked.rename(columns={"a": "c", "c": "a"})[COLUMNS]
    return Trial(
        _nearest(original, back, np.arange(ROWS)),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


def _key(folder: Path, rows: np.ndarray) -> tuple[str, Path]:
    key = {"format": "crypsis key 1", "seed": 0, "row_map": rows.tolist(), "pseudonyms": {}}
    (folder / "key.json").write_text(json.dumps(key))
    return "--key", folder / "key.json"


def _another_key(draw: Draw, folder: Path, other: np.ndarray) -> Trial:
    """Readings with little noise in random order, and the key of another release of the file."""
    original, order = _original(draw), draw.permutation(ROWS)
    masked = (original.iloc[order] + draw.normal(0, 0.1, (ROWS, 3))).round(2).reset_index(drop=True)
    ages = (order * 3 // ROWS) * 10 + 30
    alike = np.empty(ROWS, int)  # other people of the same age
    for age in np.unique(ages):
        alike[ages == age] = draw.permutation(order[ages == age])
    found = _judged(folder, original, masked, ages, *_key(folder, other if len(other) else alike))
    drawn = _judged(folder, original, _original(draw), ages, *_key(folder, order))
    return Trial(_nearest(original, masked, order), found, chance=1 / ROWS, control=drawn)


@scenario("has the original and looks for the nearest record")
def key_of_another_release(draw: Draw, folder: Path) -> Trial:
    """Little noise, in random order; the key that is given is that of another release."""
    return _another_key(draw, folder, draw.permutation(ROWS))


@scenario("has the original and looks for the nearest record")
def key_of_another_release_by_age(draw: Draw, folder: Path) -> Trial:
    """The same release; the key pairs other people of the same age."""
    return _another_key(draw, folder, np.empty(0, int))


@scenario("has the original and looks for the values that an interval covers", least=0.8)
def key_of_another_generalization(draw: Draw, folder: Path) -> Trial:
    """Narrow intervals in random order; the key that is given is that of another release."""
    original, order = _original(draw), draw.permutation(ROWS)
    low = (original.iloc[order] // 4 * 4).reset_index(drop=True)
    masked = low.map(lambda n: f"[{n:.0f}, {n + 4:.0f})")
    ages, released = (order * 3 // ROWS) * 10 + 30, ROWS - np.arange(ROWS) - 1
    found = _judged(folder, original, masked, ages, *_key(folder, released))
    wide = (low // 80 * 80).map(lambda n: f"[{n:.0f}, {n + 80:.0f})")
    control = _judged(folder, original, wide, ages, *_key(folder, order))
    return Trial(_nearest(original, low + 2, order), found, chance=1 / ROWS, control=control)


@scenario("has part of the original and looks for equal records")
def memorized_rows(draw: Draw, folder: Path) -> Trial:
    """A synthetic file of which one row in ten is a row of the original, at a random place."""
    original, synthetic = _original(draw), _original(draw)
    copied, place = draw.permutation(ROWS)[:40], draw.permutation(ROWS)[:40]
    synthetic.iloc[place] = original.iloc[copied].to_numpy()
    equal = original.merge(synthetic.drop_duplicates(), on=COLUMNS)
    return Trial(len(equal) / 40, _judged(folder, original, synthetic), control=_control())


@scenario("has the original of the people with unusual values")
def unequal_noise(draw: Draw, folder: Path) -> Trial:
    """Noise that hides the many, and 15 people so far away that it does not hide them."""
    original = _original(draw)
    far = np.arange(15)
    original.iloc[far] = draw.normal(100, 15, (15, 3)) + 2_000 * (1 + far[:, None])
    masked = original + draw.normal(0, 60, (ROWS, 3))
    gaps = ((original.iloc[far].to_numpy()[:, None] - masked.to_numpy()[None]) ** 2).sum(2)
    return Trial(
        float((gaps.argmin(1) == far).mean()),
        _judged(folder, original, masked.round(2)),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original, divides by the factor")
def another_scale(draw: Draw, folder: Path) -> Trial:
    """The original in other units, every column with a factor of its own."""
    original = _original(draw)
    masked = (original * [2.54, 0.4536, 1.609]).round(4)
    back = masked / [2.54, 0.4536, 1.609]
    return Trial(
        _nearest(original, back, np.arange(ROWS)),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the nearest record", least=0.8)
def rows_dropped(draw: Draw, folder: Path) -> Trial:
    """Nine in ten rows of the original with little noise; which rows were dropped is not said."""
    original = _original(draw)
    kept = np.sort(draw.permutation(ROWS)[: ROWS * 9 // 10])
    masked = (original.iloc[kept] + draw.normal(0, 0.5, (len(kept), 3))).round(2)
    hit = _nearest(original.iloc[kept].reset_index(drop=True), masked, np.arange(len(kept)))
    return Trial(
        hit, _judged(folder, original, masked, kept % 3 * 10 + 30), chance=1 / ROWS, control=_control()
    )


def _weighted(original: pd.DataFrame, masked: pd.DataFrame, noise: np.ndarray) -> float:
    """How often the nearest masked record is the own one, in units of the published noise."""
    one, two = original.to_numpy() / noise, masked.to_numpy() / noise
    gaps = ((one[:, None, :] - two[None, :, :]) ** 2).sum(2)
    return float((gaps.argmin(1) == np.arange(len(original))).mean())


@scenario("has the original and looks for equal values in two columns")
def two_columns_unchanged_and_five_shuffled(draw: Draw, folder: Path) -> Trial:
    """Seven measurements: two as they were, five in random order."""
    names = list("abcdefg")
    original = pd.DataFrame(draw.normal(100, 15, (ROWS, 7)).round(2), columns=names)
    masked = original.copy()
    for name in names[2:]:
        masked[name] = draw.permutation(masked[name].to_numpy())
    found = (
        original[["a", "b"]]
        .assign(i=np.arange(ROWS))
        .merge(masked[["a", "b"]].assign(j=np.arange(ROWS)), on=["a", "b"])
    )
    return Trial(
        float((found["i"] == found["j"]).sum() / ROWS),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original, knows the published noise and weighs the columns by it")
def little_noise_in_some_columns(draw: Draw, folder: Path) -> Trial:
    """Noise of a fiftieth of a standard deviation in three columns, and twice it in three others."""
    noise = 15 * np.array([0.02, 0.02, 0.05, 2, 2, 2])
    original = pd.DataFrame(draw.normal(100, 15, (ROWS, 6)), columns=list("abcdef"))
    masked = original + draw.normal(size=(ROWS, 6)) * noise
    return Trial(
        _weighted(original, masked, noise),
        _judged(folder, original.round(2), masked.round(2)),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original, subtracts pairs of columns and looks for the nearest differences")
def the_same_noise_in_every_column(draw: Draw, folder: Path) -> Trial:
    """Much noise, the same for all four columns of a person: their differences hardly changed."""
    original = pd.DataFrame(draw.normal(100, 15, (ROWS, 4)), columns=list("abcd"))
    masked = original + draw.normal(0, 60, (ROWS, 1)) + draw.normal(0, 0.5, (ROWS, 4))
    apart = [frame.sub(frame["a"], axis=0)[["b", "c", "d"]] for frame in (original, masked)]
    return Trial(
        _nearest(apart[0], apart[1], np.arange(ROWS)),
        _judged(folder, original.round(2), masked.round(2)),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for equal codes")
def codes_unchanged_beside_shuffled_numbers(draw: Draw, folder: Path) -> Trial:
    """Three columns of forty codes each as they were, beside three measurements in random order."""
    original = _original(draw)
    for name in "pqr":
        original[name] = [f"{name}{code}" for code in draw.integers(0, 40, ROWS)]
    masked = original.copy()
    for name in COLUMNS:
        masked[name] = draw.permutation(masked[name].to_numpy())
    once = original[~original.duplicated(list("pqr"), keep=False)]
    return Trial(len(once) / ROWS, _judged(folder, original, masked), chance=1 / ROWS, control=_control())


@scenario("has the original, pairs the codes that are equally frequent and looks for equal codes")
def codes_exchanged_for_others(draw: Draw, folder: Path) -> Trial:
    """Four columns of 24 codes, each code replaced by another one, beside measurements drawn anew."""
    counts = [*range(5, 28), 32]
    original, masked, back = _original(draw), _original(draw), pd.DataFrame()
    for name in "pqrs":
        code = draw.permutation(np.repeat(np.arange(len(counts)), counts))
        other = draw.permutation(len(counts))
        original[name] = [f"{name}{one}" for one in code]
        masked[name] = [f"x{other[one]}" for one in code]
        of_count = original[name].value_counts().reset_index().set_index("count")[name]
        back[name] = masked[name].map(masked[name].value_counts()).map(of_count)
    both = original.reset_index().merge(back.reset_index(), on=list("pqrs"))
    both = both[~both["index_x"].duplicated(keep=False)]
    return Trial(
        float((both["index_x"] == both["index_y"]).sum() / ROWS),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and compares which values are missing")
def missing_values_as_they_were(draw: Draw, folder: Path) -> Trial:
    """Twelve measurements drawn anew for each person, and missing where they were missing."""
    names = [f"m{j}" for j in range(12)]
    lost = draw.random((ROWS, 12)) < 0.5
    original, masked = (
        pd.DataFrame(draw.normal(100, 15, (ROWS, 12)).round(2), columns=names).mask(lost) for _ in range(2)
    )
    patterns = pd.Series(["".join(map(str, row)) for row in lost.astype(int)])
    return Trial(
        float((~patterns.duplicated(keep=False)).mean()),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the nearest record among people of the same age")
def noise_and_another_order_within_each_age(draw: Draw, folder: Path) -> Trial:
    """Little noise, and the rows of each of three ages in another order: the ages are aligned."""
    original = _original(draw)
    group = np.arange(ROWS) * 3 // ROWS
    order = np.lexsort((draw.random(ROWS), group))
    masked = (original + draw.normal(0, 0.5, (ROWS, 3))).round(2).iloc[order]
    masked = masked.reset_index(drop=True)
    return Trial(
        _nearest(original, masked, order),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the only record that is covered")
def generalized_too_little(draw: Draw, folder: Path) -> Trial:
    """Three measurements as intervals of two units each, which are still unique."""
    original = _original(draw)
    low = (original // 2 * 2).astype(int)
    masked = low.astype(str) + "-" + (low + 2).astype(str)
    unique = ~masked.duplicated(keep=False)
    return Trial(float(unique.mean()), _judged(folder, original, masked), chance=1 / ROWS, control=_control())


@scenario("has the original and looks for the most similar name")
def misspelled_names_called_insensitive(draw: Draw, folder: Path) -> Trial:
    """Invented words of nine letters, one letter of each changed, beside shuffled measurements."""
    letters = np.array(list("abcdefghijklmnoprstuvw"))
    words = ["".join(draw.choice(letters, 9)) for _ in range(ROWS)]
    places = draw.integers(0, 9, ROWS)
    typos = [word[:k] + "x" + word[k + 1 :] for word, k in zip(words, places, strict=True)]
    original = _original(draw).assign(w=words)
    masked = original.copy()
    for name in COLUMNS:
        masked[name] = draw.permutation(masked[name].to_numpy())
    masked["w"] = typos
    table = np.array([list(word) for word in words])
    other = np.array([list(word) for word in typos])
    same = (table[:, None, :] == other[None, :, :]).sum(2)
    return Trial(
        float((same.argmax(1) == np.arange(ROWS)).mean()),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


@scenario("has the original and looks for the same last three digits")
def noise_in_thousands(draw: Draw, folder: Path) -> Trial:
    """Four amounts in units, each with much noise in thousands, in the file's own order."""
    original = pd.DataFrame(draw.integers(10_000, 99_999, (ROWS, 4)), columns=list("abcd"))
    masked = original + 1_000 * draw.integers(-60, 60, (ROWS, 4))
    found = (
        (original % 1_000)
        .assign(i=np.arange(ROWS))
        .merge((masked % 1_000).assign(j=np.arange(ROWS)), on=list("abcd"))
    )
    return Trial(
        float((found["i"] == found["j"]).sum() / ROWS),
        _judged(folder, original, masked),
        chance=1 / ROWS,
        control=_control(),
    )


def _measured(draw: Draw, columns: str = "abc") -> pd.DataFrame:
    """Correlated measurements of 2,000 people."""
    values = 0.8 * draw.normal(size=(2_000, 1)) + 0.6 * draw.normal(size=(2_000, len(columns)))
    return pd.DataFrame(values, columns=list(columns))


def _beside_others(draw: Draw, kept: dict[str, Callable], columns: str = "abc") -> Trial:
    """Some columns stay, the others are those of other people; nobody says which row is whose."""
    original, controls = _measured(draw, columns), _measured(draw, columns)
    masked, name = _measured(draw, columns), next(iter(kept))
    for column, change in kept.items():
        masked[column] = change(original[column])
    order = draw.permutation(len(masked))
    masked = masked.iloc[order].reset_index(drop=True)
    # The sorted records of both files belong together, in either direction.
    sorted_, ranked = original[name].to_numpy().argsort(), masked[name].to_numpy().argsort()
    right = max(float((order[ranked[::step]] == sorted_).mean()) for step in (1, -1))
    return Trial(right, verified(original, masked, controls), chance=1 / 2_000)


@scenario("has the original and sorts both files by the column")
def one_column_unchanged_without_true_matches(draw: Draw, folder: Path) -> Trial:
    """One measurement as it was, two of other people, rows in random order, beside honest controls."""
    return _beside_others(draw, {"b": lambda v: v})


@scenario("has the original and sorts both files by one of the columns")
def two_of_four_unchanged_without_true_matches(draw: Draw, folder: Path) -> Trial:
    """Two measurements as they were, two of other people, beside honest controls."""
    return _beside_others(draw, {"a": lambda v: v, "d": lambda v: v}, "abcd")


@scenario("has the original and sorts both files by the column, in the other direction")
def a_transformed_column_without_true_matches(draw: Draw, folder: Path) -> Trial:
    """The negative exponential of one measurement, two of other people, beside honest controls."""
    return _beside_others(draw, {"c": lambda v: -np.exp(v)})


@scenario("has the original and sorts both files by the column")
def ranks_of_a_column_without_true_matches(draw: Draw, folder: Path) -> Trial:
    """The ranks of one measurement, two of other people, beside honest controls."""
    return _beside_others(draw, {"a": lambda v: v.rank()})


@scenario("knows that higher grades are paid more, sorts the pay and the records by grade", least=0.8)
def pay_apart_from_the_grade(draw: Draw, folder: Path) -> Trial:
    """The pay in a file of its own, in random order, beside a release with the grade."""
    grade = draw.integers(1, 9, 2_000)
    pay = (20_000 + 8_000 * grade + draw.normal(0, 2_000, 2_000)).round()
    data = pd.DataFrame({"grade": grade, "pay": pay})
    right = float((np.sort(grade) == grade[pay.argsort()]).mean())
    made = anonymized(data, k=5, apart=["pay"], quasi_identifiers=["grade"], sensitive=["pay"])
    other = data.assign(pay=draw.permutation(pay))
    control = anonymized(other, k=5, apart=["pay"], quasi_identifiers=["grade"], sensitive=["pay"])
    return Trial(
        right,
        "refused" if made is None else "safe",
        chance=1 / 8,
        control="refused" if control is None else "safe",
    )


@scenario("knows how frequent each group is, joins the values that are as frequent")
def codes_apart_from_groups_as_frequent(draw: Draw, folder: Path) -> Trial:
    """A code in a file of its own that is as frequent as the group on which it depends."""
    group = np.repeat(np.arange(8), np.arange(60, 380, 40))
    code = draw.permutation(8)[group]
    data = pd.DataFrame({"group": [f"g{one}" for one in group], "code": [f"c{one}" for one in code]})
    of_size = data["group"].value_counts().reset_index().set_index("count")["group"]
    joined = data["code"].map(data["code"].value_counts()).map(of_size)
    made = anonymized(data, k=5, apart=["code"], quasi_identifiers=["group"], sensitive=["code"])
    return Trial(float((joined == data["group"]).mean()), "refused" if made is None else "safe", chance=1 / 8)


def _bought(draw: Draw, loads: np.ndarray) -> np.ndarray:
    """3,000 transactions; each of the items is in 30 % of them."""
    items = loads.shape[1]
    taste = draw.normal(size=(3_000, len(loads))) @ loads + draw.normal(size=(3_000, items))
    return np.asarray(taste > np.quantile(taste, 0.7, axis=0))


@scenario("knows the correlations of the items, sorts them, and assigns all items at once")
def pseudonyms_resolved_by_pairs(draw: Draw, folder: Path) -> Trial:
    """Transactions of 60 pseudonyms that are equally frequent and occur together more or less."""
    loads = draw.normal(size=(4, 60))
    known, released = _bought(draw, loads), _bought(draw, loads)
    rows = [np.sort(np.corrcoef(one.T), axis=1) for one in (known, released)]
    gaps = ((rows[0][:, None] - rows[1][None]) ** 2).sum(2)
    right = float((linear_sum_assignment(gaps)[1] == np.arange(60)).mean())
    verdicts = [
        attacked_by_frequency(
            [[f"p{item}" for item in np.flatnonzero(row)] for row in table if row.any()],
            data=plain(),
            **ROLES,
        )
        for table in (released, _bought(draw, np.zeros((1, 60))))
    ]
    return Trial(right, verdicts[0], chance=1 / 60, control=verdicts[1])

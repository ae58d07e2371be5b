"""Disclosure of values against brute force, the baseline, caps that nothing excuses, numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta

from crypsis.dataset import ColumnNote, Dataset
from crypsis.errors import ParameterError
from crypsis.hierarchies import Hierarchy
from crypsis.inference import AttributeValues, value_disclosure


def of(table: dict[str, Any], note: ColumnNote | None = None, **options: Any) -> AttributeValues:
    data = Dataset.from_frame(pa.table(table), quasi_identifiers=["q"], sensitive=["s"])
    if note is not None:
        data = data.with_roles(data.roles, {"s": note})
    return value_disclosure(data, **options)["s"]


@pytest.mark.parametrize("seed", range(4))
def test_gain_and_near_certainty_are_those_of_brute_force(seed: int) -> None:
    random = np.random.default_rng(seed)
    q = random.integers(0, 12, 150).tolist()
    s = [f"v{(a + b) % 5}" for a, b in zip(q, random.zipf(2.0, 150) % 3, strict=True)]
    found = of({"q": q, "s": s})
    total, classes = Counter(s), defaultdict(Counter)
    for a, b in zip(q, s, strict=True):
        classes[a][b] += 1
    top = max(total, key=lambda value: total[value])
    gains, certain = [], 0
    for members in classes.values():
        size = sum(members.values())
        states = {value: (count / size, total[value] / 150) for value, count in members.items()}
        if total[top] / 150 >= 0.5:
            states["other"] = (1 - members[top] / size, 1 - total[top] / 150)
        gains += [share - prior for share, prior in states.values()]
        certain += size * any(share >= 0.9 and prior <= 0.5 for share, prior in states.values())
    assert found.gain.value == pytest.approx(max(gains))
    assert found.near_certain == certain


def test_a_class_counts_by_its_lower_limit_and_a_certain_one_of_a_rare_value_by_its_share() -> None:
    q = ["a"] * 10 + ["b"] * 90
    s = ["x"] * 6 + ["y"] * 4 + ["y"] * 45 + ["x"] * 45
    # Clopper and Pearson (1934), one-sided; the baseline is the share in the other class.
    cells = [(6, 10, 0.5), (4, 10, 0.5), (45, 90, 0.6), (45, 90, 0.4)]
    excess = [float(beta.ppf(0.05, c, n - c + 1)) - base for c, n, base in cells]
    assert of({"q": q, "s": s}).excess.value == pytest.approx(max(excess))
    certain = of({"q": q, "s": ["x"] * 10 + s[10:]})  # x is the value of 55 %
    assert certain.excess.value > 0.2
    assert certain.excess.value == pytest.approx(float(beta.ppf(0.05, 45, 46)))
    rare = of({"q": q, "s": ["z"] * 10 + s[10:]})
    assert rare.excess.value == pytest.approx(1)


def explained(rows: int = 4_000) -> dict[str, Any]:
    """Ages in classes of ten; the older, the likelier ill, up to four in five."""
    random = np.random.default_rng(1)
    age = np.arange(rows) // 10
    return {"q": age, "s": np.where(random.random(rows) < 0.1 + 0.7 * age / 400, "ill", "well")}


def test_what_a_model_explains_is_not_disclosure() -> None:
    table = explained()
    table["q"] = table["q"] // 10  # classes of a hundred
    found = of(table)
    assert found.gain.value > 0.3  # against all records it would be
    assert found.excess.value < 0.2
    assert found.near_certain == 0


def test_what_nobody_could_predict_is_disclosure() -> None:
    table = explained()
    table["q"] = table["q"] // 10
    table["s"] = table["s"].copy()
    table["s"][200:300] = np.where(np.arange(100) < 75, "ill", "well")  # among the young
    found = of(table)
    assert found.excess.value > 0.2
    assert found.excess.worst is not None
    assert found.excess.worst.group.values == (2,)


def test_near_certainty_of_a_rare_value_is_never_excused() -> None:
    """Forty neighboring classes, all ill: the model knows, and it is disclosure all the same."""
    q = np.arange(8_000) // 20
    s = np.where((q >= 100) & (q < 140), "ill", "well")
    found = of({"q": q, "s": s})
    assert found.near_certain == 800
    assert found.near_certain_classes == 40


def test_harmless_values_and_declared_ones() -> None:
    q = ["a"] * 20 + ["b"] * 20
    s = ["none"] * 20 + ["none"] * 14 + ["flu"] * 6
    assert of({"q": q, "s": s}).gain.value == pytest.approx(0.15)  # none, and not none
    note = ColumnNote(harmless=("none",))
    assert of({"q": q, "s": s}, note).near_certain == 0
    assert of({"q": q, "s": s}, note).gain.worst.share == pytest.approx(0.3)  # type: ignore[union-attr]
    # Nobody of the class is without a disease, though no disease is frequent.
    s = ["none"] * 20 + ["flu", "gout", "HIV", "cold"] * 5
    found = of({"q": q, "s": s}, note)
    assert found.near_certain == 20
    # A value of most people that was not declared harmless is declared sensitive.
    s = ["ill"] * 20 + ["ill"] * 14 + ["none"] * 6
    assert of({"q": q, "s": s}).near_certain == 0
    assert of({"q": q, "s": s}, note).near_certain == 20


def test_priors() -> None:
    table = {"q": ["a"] * 9 + ["b"] * 9, "s": ["+"] * 6 + ["-"] * 3 + ["+"] * 6 + ["-"] * 3}
    assert of(table).prior_source == "this table"
    note = ColumnNote(priors={"+": 0.002})
    found = of(table, note)
    assert found.gain.value == pytest.approx(6 / 9 - 0.002)
    people = pa.table({"s": ["+"] + ["-"] * 99})
    data = Dataset.from_frame(pa.table(table), quasi_identifiers=["q"], sensitive=["s"], population=people)
    found = value_disclosure(data)["s"]
    assert (found.prior_source, found.gain.value) == ("the population", pytest.approx(6 / 9 - 0.01))
    with pytest.raises(ParameterError, match="shares from 0 to 1"):
        value_disclosure(pa.table(table), sensitive="s", priors={"s": {"+": 2}})


def test_missing_is_a_state_and_no_diversity() -> None:
    q = ["a"] * 10 + ["b"] * 30
    s: list[Any] = ["HIV"] * 6 + [None] * 4 + ["flu", "gout", "cold"] * 10
    assert of({"q": q, "s": s}).near_certain == 10  # all whose value is known
    s = [None] * 10 + ["flu", "gout", "cold"] * 10
    assert of({"q": q, "s": s}).near_certain == 10


@pytest.mark.parametrize("write", [float, lambda n: f"{n:,.0f} EUR", lambda n: str(int(n))])
def test_numbers_known_approximately(write: Any) -> None:
    random = np.random.default_rng(0)
    q = np.arange(400) // 20
    salaries = random.integers(20_000, 90_000, 400)
    salaries[:20] = 52_000 + np.arange(20) * 60  # within 3 %
    found = of({"q": q, "s": [write(float(n)) for n in salaries]})
    assert found.near_certain == 20
    assert found.interval is not None
    assert found.interval.value > 0.5
    fine = of({"q": q, "s": [write(float(n)) for n in random.permutation(salaries)]})
    assert fine.near_certain == 0


def test_intervals_are_those_of_brute_force() -> None:
    from crypsis.inference._intervals import TOLERANCES, sensitive_numbers
    from crypsis.inference.conditional import joint

    random = np.random.default_rng(3)
    q, s = random.integers(0, 5, 60), np.concatenate([random.normal(0, 50, 55).round(), [0.0] * 5])
    data = Dataset.from_frame(pa.table({"q": q, "s": s}))
    table = joint(data.cells(["q", "s"]), "s", ["q"])
    numbers = np.array(table.values.to_pylist(), float)
    windows = sensitive_numbers(table, numbers, True).windows()
    for p, window in zip(TOLERANCES, windows, strict=False):
        for member, count in zip(window.member, window.counts, strict=True):
            own = s[q == table.classes.values[0][int(member)].as_py()]
            # The best guess is the farthest that still has the outermost value within p %.
            guesses = np.concatenate([own * (1 - p), own * (1 + p), own])
            near = np.abs(own - guesses[:, None]) <= p * np.abs(own) + 1e-9
            assert count == near.sum(axis=1).max()


def test_not_zero() -> None:
    """Weeks of pregnancy: everybody of a class is pregnant, in different weeks."""
    q = np.arange(400) // 20
    weeks = np.where(np.arange(400) % 20 == 0, 12, 0)
    weeks[:20] = np.arange(1, 41, 2)
    found = of({"q": q, "s": weeks})
    assert found.near_certain == 20
    assert found.near_certain_class is not None
    assert found.near_certain_class.level == "not zero"


def test_similar_values() -> None:
    names = (
        "mania",
        "panic",
        "phobia",
        "autism",
        "cold",
        "croup",
        "cough",
        "flu",
        "gout",
        "lupus",
        "sprain",
        "rheuma",
    )
    tree = Hierarchy([(one, "FJM"[i // 4]) for i, one in enumerate(names)])
    q = np.arange(240) // 12
    s = [names[i % 12] for i in range(240)]
    s[:12] = names[:4] * 3
    assert of({"q": q, "s": s}).near_certain == 0
    assert of({"q": q, "s": s}, hierarchies={"s": tree}).near_certain == 12
    s = [f"{'FJM'[i % 3]}{i % 4}" for i in range(240)]
    assert of({"q": q, "s": s}).near_certain == 0
    s[:12] = [f"F{i % 4}" for i in range(12)]  # of one chapter
    assert of({"q": q, "s": s}).near_certain == 12
    s[:12] = ["F1", "f1", " F1", "F1."] * 3
    assert of({"q": q, "s": s}).near_certain == 12


@pytest.mark.parametrize("text", ["{} since {}", "{1}: {0}", "{1} mg for {0}", "since={1}/dx={0}"])
def test_texts_that_differ_in_their_numbers(text: str) -> None:
    """The numbers differ, the diagnosis is one: in the first class everybody has it."""
    q = np.arange(240) // 12
    ill = [("flu", "gout", "HIV")[i % 3] for i in range(240)]
    s = [text.format(one, 1 + i * 97 % 199) for i, one in enumerate(ill)]
    assert of({"q": q, "s": s}).near_certain == 0
    s[:12] = [text.format("HIV", 1 + i * 97 % 199) for i in range(12)]
    found = of({"q": q, "s": s})
    assert found.near_certain == 12


def test_a_unit_is_no_secret() -> None:
    """All amounts are in mg, which presence does not disclose."""
    found = of({"q": np.arange(240) // 12, "s": [f"{i * 7 % 59 * 10} mg" for i in range(240)]})
    assert (found.near_certain, found.presence < 0.2) == (0, True)


def test_presence() -> None:
    q = ["a"] * 20 + ["b"] * 20
    assert of({"q": q, "s": ["HIV"] * 40}).presence == 1
    assert of({"q": q, "s": ["HIV"] * 38 + ["none"] * 2}).presence == pytest.approx(0.95)
    assert of({"q": q, "s": ["none"] * 38 + ["HIV"] * 2}).presence == pytest.approx(0.05)
    assert of({"q": q, "s": ["none"] * 40}).presence == 1  # of a constant the words prove nothing
    common = ColumnNote(priors={"HIV": 0.9})
    assert of({"q": q, "s": ["HIV"] * 40}, common).presence == 0
    public = ColumnNote(public_presence="The register is public.")
    assert of({"q": q, "s": ["HIV"] * 40}, public).presence_stated_public


def test_a_baseline_that_is_asked_again_is_the_same_and_another_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from crypsis.inference import _baseline

    fitted: list[int] = []
    plain = _baseline._predicted
    monkeypatch.setattr(_baseline, "_REMEMBERED", {})
    monkeypatch.setattr(_baseline, "_predicted", lambda *given: fitted.append(1) or plain(*given))
    draw = np.random.default_rng(8)
    table = pa.table({"a": draw.integers(0, 20, 400), "s": draw.choice(["x", "y", "z"], 400)})
    roles: Any = {"quasi_identifiers": ["a"], "sensitive": ["s"]}
    first = value_disclosure(table, **roles)
    again = value_disclosure(table, **roles)
    assert len(fitted) == 1
    assert str(first) == str(again)
    value_disclosure(table.slice(0, 399), **roles)
    assert len(fitted) == 2

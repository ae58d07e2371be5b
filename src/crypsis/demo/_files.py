"""The files of the demonstration: people masked too little, and transactions with pseudonyms.

Each of the four questions finds a risk. Names and social security numbers are removed, dates of
birth are moved by up to ten days, zip codes have three digits, incomes change by up to 5 %. The
items of the transactions have pseudonyms, and the intruder knows about how often each is bought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from crypsis.demo._people import SEED, Draws, created_folder, people
from crypsis.files import replacing_file

_STREAMS = ("birth", "income", "baskets", "names")
_FIRST_STREAM = 100
"""The first of its streams of random numbers: those before are of `people`."""
_MAX_MOVED_DAYS = 10
"""Dates of birth are moved by so many days or fewer."""
_MAX_INCOME_STEPS = 1_000
"""Incomes change by so many steps or fewer, which together are a twentieth of the income."""
_BASKET_COUNT = 4_000
"""So many baskets are drawn; those with nothing in them are left out."""
# How many of 10,000 baskets contain each item.
_GOODS = {
    "bread": 4_100,
    "milk": 3_900,
    "eggs": 3_700,
    "apples": 2_900,
    "cheese": 2_800,
    "coffee": 2_700,
    "soap": 1_900,
    "rice": 1_850,
    "tea": 1_800,
    "candles": 1_200,
    "aspirin": 1_150,
    "plasters": 1_100,
    "tobacco": 800,
    "wine": 780,
    "nappies": 760,
    "insulin": 420,
    "pregnancy test": 400,
    "nicotine patch": 380,
    "hair dye": 220,
    "antidepressant": 205,
    "fishing line": 190,
    "HIV test": 90,
}


@dataclass(frozen=True)
class DemoFiles:
    """The files of the demonstration."""

    original: Path
    masked: Path
    attack: Path


def masked_people(original: pa.Table, *, seed: int = SEED) -> pa.Table:
    """The people, masked too little, in the same order.

    >>> masked_people(people(3)).column_names
    ['birth_date', 'zip', 'sex', 'occupation', 'income', 'disease']
    """
    draw = Draws(seed, original.num_rows, _STREAMS, first=_FIRST_STREAM)
    days = (draw.uniform("birth") * (2 * _MAX_MOVED_DAYS + 1)).astype(np.int64) - _MAX_MOVED_DAYS
    born = original["birth_date"].cast(pa.int32()).cast(pa.int64())
    moved = pc.add(born, pa.array(days)).cast(pa.int32()).cast(pa.date32())
    change = (draw.uniform("income") * (2 * _MAX_INCOME_STEPS + 1)).astype(np.int64) - _MAX_INCOME_STEPS
    money = pc.multiply(original["income"], pa.array(change + 20 * _MAX_INCOME_STEPS))
    return pa.table(
        {
            "birth_date": moved,
            "zip": pc.utf8_slice_codeunits(original["zip"], 0, 3),
            "sex": original["sex"],
            "occupation": original["occupation"],
            "income": pc.divide(money, pa.scalar(20 * _MAX_INCOME_STEPS)),
            "disease": original["disease"],
        }
    )


def baskets(*, seed: int = SEED) -> tuple[list[str], dict[str, str]]:
    """Baskets of pseudonyms, one a line, and the true pseudonym of each item."""
    draw = Draws(seed, _BASKET_COUNT * len(_GOODS), _STREAMS, first=_FIRST_STREAM)
    chance = np.array(list(_GOODS.values()))
    drawn = (draw.uniform("baskets") * 10_000).astype(np.int64).reshape(_BASKET_COUNT, len(_GOODS))
    order = np.argsort(
        Draws(seed, len(_GOODS), _STREAMS, first=_FIRST_STREAM).uniform("names"), kind="stable"
    )
    truth = {name: f"P{1 + int(order[i]):02d}" for i, name in enumerate(_GOODS)}
    codes = list(truth.values())
    lines = [",".join(sorted(codes[j] for j in np.flatnonzero(row))) for row in drawn < chance]
    return [line for line in lines if line], truth


def _expected(lines: list[str], truth: dict[str, str]) -> Iterator[str]:
    """The share of each item as the intruder knows it, within 10 %: item, lowest, highest."""
    counts = Counter(code for line in lines for code in line.split(","))
    for item, code in truth.items():
        share = counts[code] / len(lines)
        yield f"{item},{0.9 * share:.6f},{1.1 * share:.6f}"


def write_demo(folder: str | Path, *, rows: int = 50_000, seed: int = SEED) -> DemoFiles:
    """Write the files of the demonstration to a folder, which is created if it does not exist.

    Parameters
    ----------
    folder : str or Path
        The folder.
    rows : int
        The number of people.
    seed : int
        The seed of the people.

    Returns
    -------
    DemoFiles
        The paths of people.csv, released.csv (the same people, masked) and attack.toml, which
        describes an attack on the pseudonyms of baskets.csv.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     write_demo(place, rows=10).masked.name
    'released.csv'
    """
    target = created_folder(folder)
    original = people(rows, seed=seed)
    lines, truth = baskets(seed=seed)
    tables = {"people.csv": original, "released.csv": masked_people(original, seed=seed)}
    for name, table in tables.items():
        with replacing_file(target / name, overwrite=True) as partial:
            pyarrow.csv.write_csv(table, partial)
    texts = {
        "baskets.csv": lines,
        "expected.csv": ["item,lowest,highest", *_expected(lines, truth)],
        "truth.csv": ["item,pseudonym", *(f"{item},{code}" for item, code in truth.items())],
        "attack.toml": [
            "# What the intruder knows of baskets.csv; the truth is for the data owner only.",
            'kind = "frequencies"',
            'transactions = "baskets.csv"',
            'ranges = "expected.csv"',
            'truth = "truth.csv"',
        ],
    }
    for name, content in texts.items():
        with replacing_file(target / name, overwrite=True) as partial:
            partial.write_text("\n".join([*content, ""]), encoding="utf-8", newline="\n")
    return DemoFiles(target / "people.csv", target / "released.csv", target / "attack.toml")

"""What a careless owner would release of the sample: masked people, and baskets of pseudonyms.

Each of the four questions has something to say about it. Names and numbers are gone, birthdays are
moved by up to ten days, postal codes cut to three digits, incomes changed by up to a twentieth;
the goods that people buy have pseudonyms, and an attacker knows about how often each is bought.
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

from crypsis.errors import OutputError
from crypsis.files import written_whole
from crypsis.sample import SEED, Draws, people

_STREAMS = ("birth", "income", "baskets", "names")
_FIRST_STREAM = 100  # those before belong to the people themselves
_DAYS, _TWENTIETH = 10, 1_000
_BASKETS = 4_000
# Of 10,000 baskets so many hold each of these goods.
_GOODS = {
    "bread": 4_100, "milk": 3_900, "eggs": 3_700, "apples": 2_900, "cheese": 2_800,
    "coffee": 2_700, "soap": 1_900, "rice": 1_850, "tea": 1_800, "candles": 1_200,
    "aspirin": 1_150, "plasters": 1_100, "tobacco": 800, "wine": 780, "nappies": 760,
    "insulin": 420, "pregnancy test": 400, "nicotine patch": 380, "hair dye": 220,
    "antidepressant": 205, "fishing line": 190, "HIV test": 90,
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """The files of the demo."""

    original: Path
    released: Path
    attack: Path


def released(original: pa.Table, *, seed: int = SEED) -> pa.Table:
    """The people as they would be released, row by row: masked a little, and not enough.

    >>> released(people(3)).column_names
    ['birth_date', 'zip', 'sex', 'occupation', 'income', 'disease']
    """
    draw = Draws(seed, original.num_rows, _STREAMS, first=_FIRST_STREAM)
    days = (draw.uniform("birth") * (2 * _DAYS + 1)).astype(np.int64) - _DAYS
    born = original["birth_date"].cast(pa.int32()).cast(pa.int64())
    moved = pc.add(born, pa.array(days)).cast(pa.int32()).cast(pa.date32())
    change = (draw.uniform("income") * (2 * _TWENTIETH + 1)).astype(np.int64) - _TWENTIETH
    money = pc.multiply(original["income"], pa.array(change + 20 * _TWENTIETH))
    return pa.table(
        {
            "birth_date": moved,
            "zip": pc.utf8_slice_codeunits(original["zip"], 0, 3),
            "sex": original["sex"],
            "occupation": original["occupation"],
            "income": pc.divide(money, pa.scalar(20 * _TWENTIETH)),
            "disease": original["disease"],
        }
    )


def baskets(*, seed: int = SEED) -> tuple[list[str], dict[str, str]]:
    """Baskets of pseudonyms, one a line, and the truth: the pseudonym of each of the goods."""
    draw = Draws(seed, _BASKETS * len(_GOODS), _STREAMS, first=_FIRST_STREAM)
    chance = np.array(list(_GOODS.values()))
    drawn = (draw.uniform("baskets") * 10_000).astype(np.int64).reshape(_BASKETS, len(_GOODS))
    order = np.argsort(
        Draws(seed, len(_GOODS), _STREAMS, first=_FIRST_STREAM).uniform("names"), kind="stable"
    )
    truth = {name: f"P{1 + int(order[i]):02d}" for i, name in enumerate(_GOODS)}
    codes = list(truth.values())
    lines = [",".join(sorted(codes[j] for j in np.flatnonzero(row))) for row in drawn < chance]
    return [line for line in lines if line], truth


def _expected(lines: list[str], truth: dict[str, str]) -> Iterator[str]:
    """An attacker who knows every share to a tenth of it: item, lowest, highest."""
    counts = Counter(code for line in lines for code in line.split(","))
    for item, code in truth.items():
        share = counts[code] / len(lines)
        yield f"{item},{0.9 * share:.6f},{1.1 * share:.6f}"


def write_release(folder: str | Path, *, rows: int = 50_000, seed: int = SEED) -> Sample:
    """Write original, release and attack to a folder, which is made if need be.

    people.csv and released.csv are row by row the same people; baskets.csv are the baskets that
    would be released; attack.toml, expected.csv and truth.csv say what an attacker expects and, for
    the owner alone, what is true.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"There can be no folder {str(folder)!r} ({error.strerror}).") from None
    original = people(rows, seed=seed)
    lines, truth = baskets(seed=seed)
    for name, table in (("people.csv", original), ("released.csv", released(original, seed=seed))):
        with written_whole(target / name, overwrite=True) as partial:
            pyarrow.csv.write_csv(table, partial)
    texts = {
        "baskets.csv": lines,
        "expected.csv": ["item,lowest,highest", *_expected(lines, truth)],
        "truth.csv": ["item,pseudonym", *(f"{item},{code}" for item, code in truth.items())],
        "attack.toml": [
            "# What an attacker knows of baskets.csv; the truth is the owner's alone.",
            'kind = "frequencies"',
            'transactions = "baskets.csv"',
            'ranges = "expected.csv"',
            'truth = "truth.csv"',
        ],
    }
    for name, content in texts.items():
        with written_whole(target / name, overwrite=True) as partial:
            partial.write_text("\n".join([*content, ""]), encoding="utf-8", newline="\n")
    return Sample(target / "people.csv", target / "released.csv", target / "attack.toml")

"""The tables of the study of least loss, with hierarchies: Adult, Adult drawn to 10^6 rows, diabetes130.

Files are separated by semicolons, as ARX reads them. The hierarchies of Adult are those of ARX; those
of diabetes130 are made here: intervals of numbers, the first digits of a diagnosis, the first word of
a specialty; their lattice is within the 100,000 combinations that ARX searches completely.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import data

WORK = data.WORK / "least_loss"
EIGHT = "sex age race marital-status education native-country workclass occupation".split()
SALARY = "salary-class"
_MILLION, _JITTER = 1_000_000, 0.05


@dataclass(frozen=True)
class Source:
    """A table: its file, its hierarchies (`trees` and the name of a column) and its columns."""

    path: Path
    trees: str
    columns: tuple[str, ...]

    def tree(self, column: str) -> Path:
        """The file of a column's hierarchy."""
        return Path(f"{self.trees}{column}.csv")


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a file, its header first if it has one."""
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file, delimiter=";") if row]


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)


def adult() -> Source:
    """Adult without rows that have a `?`, with the names that the hierarchies have."""
    path = WORK / "adult.csv"
    if not path.exists():
        with open(data.adult_complete(), encoding="utf-8", newline="") as file:  # noqa: PTH123
            rows = list(csv.DictReader(file))
        body = ([*(row[n] for n in EIGHT), row["income"]] for row in rows)
        _write(path, [[*EIGHT, SALARY], *body])
    trees = data.FOLDER / "hierarchies" / "arx_adult" / "adult_hierarchy_"
    return Source(path, str(trees), (*EIGHT, SALARY))


def million() -> Source:
    """Rows of Adult drawn with replacement; one value in twenty is that of another row."""
    small, path = adult(), WORK / "adult-million.csv"
    if not path.exists():
        header, *rows = rows_of(small.path)
        draw = random.Random(13)
        columns = []
        own = draw.choices(range(len(rows)), k=_MILLION)
        for place in range(len(header)):
            other = draw.choices(range(len(rows)), k=_MILLION)
            columns.append(
                [rows[b if draw.random() < _JITTER else a][place] for a, b in zip(own, other, strict=True)]
            )
        _write(path, [header, *zip(*columns, strict=True)])
    return Source(path, small.trees, small.columns)


def _intervals(*widths: int) -> Callable[[str], list[str]]:
    def labels(value: str) -> list[str]:
        number = int(value.strip("[)").split("-")[0])
        return [f"{number // w * w} to {number // w * w + w - 1}" for w in widths]

    return labels


def _categories(value: str) -> list[str]:
    """The category of a code of ICD-9 (`250.83` is of 250, `8` is 008), and its first digits."""
    whole = value.split(".")[0]
    whole = whole.zfill(3) if whole.isdigit() else whole
    return [f"{whole[:length]}..." for length in (3, 2, 1)]


def _first_word(value: str) -> list[str]:
    return [f"{value.split('-')[0].split('/')[0]}, any"]


_TREES: dict[str, Callable[[str], list[str]]] = {
    "race": lambda _: [],
    "gender": lambda _: [],
    "age": _intervals(20),
    "admission_type_id": _intervals(3),
    "discharge_disposition_id": _intervals(10),
    "admission_source_id": _intervals(10),
    "time_in_hospital": _intervals(4, 8),
    "medical_specialty": _first_word,
    "num_lab_procedures": _intervals(10, 40),
    "diag_1": _categories,
}
TEN = list(_TREES)


def diabetes() -> Source:
    """Ten columns of all encounters of diabetes130, and whether the patient came back."""
    path, folder = WORK / "diabetes.csv", WORK / "diabetes_hierarchies"
    names = [*TEN, "readmitted"]
    if not path.exists():
        with open(data.diabetes(), encoding="utf-8", newline="") as file:  # noqa: PTH123
            rows = [[row[n].replace("?", "unknown") for n in names] for row in csv.DictReader(file)]
        for place, (name, labels) in enumerate(_TREES.items()):
            values = sorted({row[place] for row in rows})
            _write(folder / f"{name}.csv", [[value, *labels(value), "*"] for value in values])
        _write(path, [names, *rows])
    return Source(path, f"{folder}/", tuple(names))

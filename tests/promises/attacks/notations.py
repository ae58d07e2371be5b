"""Notations: equal values that are written in different ways, so that a row can be recognized."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl.styles import Alignment, Font, PatternFill

from tests.promises.attacks.attackers import equal
from tests.promises.attacks.judge import clean_copy, command, flags
from tests.promises.attacks.people import ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("Notations")
scenario = SCENARIOS.add
ROWS = 240


def _judged(path: Path, *more: str) -> str:
    return command("assess", "--person", "each record", path, "--no-try", *flags(**ROLES), *more).verdict


def _staff(draw: Draw, rows: int = ROWS) -> np.ndarray:
    """Who is a member of the staff: a secret that only the notation tells."""
    return draw.random(rows) < 0.5


def _lines(text: str, folder: Path, name: str = "data.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def _csv(rows: Sequence[Sequence[str]], folder: Path) -> Path:
    body = "".join(",".join(row) + "\n" for row in rows)
    return _lines("age,sex,disease\n" + body, folder)


@scenario("counts the blanks after the disease")
def blanks_after_the_disease(draw: Draw, folder: Path) -> Trial:
    """A CSV file with as many blanks after the disease as the number of the patient."""
    numbers = draw.permutation(ROWS)
    rows = [[a, s, d + " " * n] for (a, s, d), n in zip(plain(ROWS).to_numpy(), numbers, strict=True)]
    path = _csv(rows, folder)
    with path.open(newline="") as file:
        seen = [len(row[2]) - len(row[2].rstrip()) for row in list(csv.reader(file))[1:]]
    plain(ROWS).to_csv(folder / "control.csv", index=False)
    return Trial(equal(seen, numbers), _judged(path), control=_judged(folder / "control.csv"))


@scenario("looks which ages are in quotes", least=0.9)
def quotes_around_some_values(draw: Draw, folder: Path) -> Trial:
    """A CSV file in which the ages of the staff are in quotes."""
    staff = _staff(draw)
    rows = [
        [f'"{a}"' if one else a, s, d] for (a, s, d), one in zip(plain(ROWS).to_numpy(), staff, strict=True)
    ]
    path = _csv(rows, folder)
    seen = [line.startswith('"') for line in path.read_text().splitlines()[1:]]
    plain(ROWS).to_csv(folder / "control.csv", index=False, quoting=csv.QUOTE_ALL)
    return Trial(equal(seen, staff), _judged(path), chance=0.5, control=_judged(folder / "control.csv"))


@scenario("looks which rows end with a comma", least=0.9)
def commas_at_the_end_of_rows(draw: Draw, folder: Path) -> Trial:
    """A CSV file in which the rows of the staff end with a comma."""
    staff = _staff(draw)
    rows = [[*row, ""] if one else row for row, one in zip(plain(ROWS).to_numpy(), staff, strict=True)]
    path = _csv(rows, folder)
    seen = [line.endswith(",") for line in path.read_text().splitlines()[1:]]
    return Trial(
        equal(seen, staff), _judged(path), chance=0.5, control=_judged(_every_row_ends_with_a_comma(folder))
    )


def _every_row_ends_with_a_comma(folder: Path) -> Path:
    body = "".join(",".join(row) + ",\n" for row in plain(ROWS).to_numpy())
    return _lines("age,sex,disease\n" + body, folder, "control.csv")


@scenario("looks which missing values are in quotes")
def quotes_around_nothing(draw: Draw, folder: Path) -> Trial:
    """A CSV file with a column of missing values, which are "" for the staff."""
    staff = _staff(draw)
    rows = [[*row, '""' if one else ""] for row, one in zip(plain(ROWS).to_numpy(), staff, strict=True)]
    body = "".join(",".join(row) + "\n" for row in rows)
    path = _lines("age,sex,disease,remark\n" + body, folder)
    seen = [line.endswith('""') for line in path.read_text().splitlines()[1:]]
    return Trial(equal(seen, staff), _judged(path, "--insensitive", "remark"), chance=0.5)


@scenario("looks for blank lines")
def blank_lines(draw: Draw, folder: Path) -> Trial:
    """A CSV file with a blank line after each member of the staff."""
    staff = _staff(draw)
    body = "".join(
        ",".join(row) + ("\n\n" if one else "\n")
        for row, one in zip(plain(ROWS).to_numpy(), staff, strict=True)
    )
    path = _lines("age,sex,disease\n" + body, folder)
    lines = path.read_text().split("\n")[1:]
    seen = [not after for line, after in pairwise(lines) if line]
    return Trial(equal(seen[:-1], staff[:-1]), _judged(path), chance=0.5)


def _json_lines(folder: Path, lines: Sequence[str], name: str = "data.jsonl") -> Path:
    return _lines("\n".join(lines) + "\n", folder, name)


def _json_control(folder: Path) -> str:
    records = plain(ROWS).to_dict("records")
    return _judged(_json_lines(folder, [json.dumps(one) for one in records], "control.jsonl"))


@scenario("counts the blanks before the record")
def blanks_before_a_record(draw: Draw, folder: Path) -> Trial:
    """A JSON file with as many blanks before a record as the number of the patient."""
    numbers = draw.permutation(ROWS)
    records = plain(ROWS).to_dict("records")
    path = _json_lines(folder, [" " * n + json.dumps(one) for n, one in zip(numbers, records, strict=True)])
    seen = [len(line) - len(line.lstrip()) for line in path.read_text().splitlines()]
    return Trial(equal(seen, numbers), _judged(path), control=_json_control(folder))


@scenario("looks which key comes first")
def order_of_the_keys(draw: Draw, folder: Path) -> Trial:
    """A JSON file in which the records of the staff have another order of keys."""
    staff = _staff(draw)
    records = plain(ROWS).to_dict("records")
    path = _json_lines(
        folder,
        [
            json.dumps(dict(sorted(one.items(), reverse=bool(mark))))
            for one, mark in zip(records, staff, strict=True)
        ],
    )
    seen = [next(iter(json.loads(line))) == "sex" for line in path.read_text().splitlines()]
    return Trial(equal(seen, staff), _judged(path), chance=0.5, control=_json_control(folder))


@scenario("looks which letters are escaped")
def escapes_of_letters(draw: Draw, folder: Path) -> Trial:
    r"""A JSON file in which the sex of the staff is written with an escape (\u0066)."""
    staff = _staff(draw)
    records = plain(ROWS).to_dict("records")
    path = _json_lines(
        folder,
        [
            json.dumps(one).replace(f'"{one["sex"]}"', f'"\\u{ord(one["sex"]):04x}"')
            if mark
            else json.dumps(one)
            for one, mark in zip(records, staff, strict=True)
        ],
    )
    seen = ["\\u" in line for line in path.read_text().splitlines()]
    return Trial(equal(seen, staff), _judged(path), chance=0.5, control=_json_control(folder))


@scenario("reads the bits of NaN")
def bits_of_not_a_number(draw: Draw, folder: Path) -> Trial:
    """A Parquet file with a column of NaN whose bits are the number of the patient."""
    numbers = draw.permutation(ROWS).astype(np.uint64)
    hidden = (np.uint64(0x7FF8000000000000) | numbers).view(np.float64)
    table = pa.Table.from_pandas(plain(ROWS), preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table.append_column("score", pa.array(hidden)), folder / "data.parquet")
    pq.write_table(table.append_column("score", pa.array(np.full(ROWS, np.nan))), folder / "control.parquet")
    read = pq.read_table(folder / "data.parquet")["score"].combine_chunks()
    seen = np.from_dlpack(read).view(np.uint64) & np.uint64(0xFFFF)
    return Trial(
        equal(seen, numbers),
        _judged(folder / "data.parquet", "--insensitive", "score"),
        control=_judged(folder / "control.parquet", "--insensitive", "score"),
    )


# Formats of a workbook --------------------------------------------------------------------------
def _workbook(path: Path) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    release = plain(ROWS)
    book.active.append(list(release.columns))
    for row in release.itertuples(index=False):
        book.active.append(list(row))
    for cell in book.active[1]:
        cell.font = Font(bold=True)
    book.save(path)
    return book


def _formatted(folder: Path, seen: Sequence[object], truth: Sequence[object], chance: float) -> Trial:
    return Trial(
        equal(seen, truth),
        _judged(folder / "data.xlsx"),
        chance=chance,
        control=_judged(clean_copy(folder / "data.xlsx")),
    )


def _reopened(folder: Path, book: openpyxl.Workbook) -> openpyxl.worksheet.worksheet.Worksheet:
    book.save(folder / "data.xlsx")
    return openpyxl.load_workbook(folder / "data.xlsx").active


@scenario("reads the colors of the cells")
def colors_of_the_rows(draw: Draw, folder: Path) -> Trial:
    """An Excel file in which the color of a cell is the number of the patient."""
    numbers = draw.permutation(ROWS)
    book = _workbook(folder / "data.xlsx")
    for row, number in enumerate(numbers, 2):
        book.active.cell(row, 1).fill = PatternFill("solid", fgColor=f"{number:06X}")
    sheet = _reopened(folder, book)
    seen = [int(sheet.cell(row, 1).fill.fgColor.rgb[2:], 16) for row in range(2, ROWS + 2)]
    return _formatted(folder, seen, numbers, 0.0)


@scenario("reads the heights of the rows")
def heights_of_the_rows(draw: Draw, folder: Path) -> Trial:
    """An Excel file in which the height of a row is the number of the patient."""
    numbers = draw.permutation(ROWS)
    book = _workbook(folder / "data.xlsx")
    for row, number in enumerate(numbers, 2):
        book.active.row_dimensions[row].height = 10 + number / 8
    sheet = _reopened(folder, book)
    seen = [round((sheet.row_dimensions[row].height - 10) * 8) for row in range(2, ROWS + 2)]
    return _formatted(folder, seen, numbers, 0.0)


@scenario("reads the number formats")
def texts_in_number_formats(draw: Draw, folder: Path) -> Trial:
    """An Excel file in which the number format of a cell shows the number of the patient."""
    numbers = draw.permutation(ROWS)
    book = _workbook(folder / "data.xlsx")
    for row, number in enumerate(numbers, 2):
        book.active.cell(row, 1).number_format = f'@"patient {number}"'
    sheet = _reopened(folder, book)
    formats = [sheet.cell(row, 1).number_format for row in range(2, ROWS + 2)]
    seen = [int("".join(filter(str.isdigit, one))) for one in formats]
    return _formatted(folder, seen, numbers, 0.0)


@scenario("looks which rows are hidden")
def hidden_rows(draw: Draw, folder: Path) -> Trial:
    """An Excel file in which the rows of the staff are hidden."""
    staff = _staff(draw)
    book = _workbook(folder / "data.xlsx")
    for row, one in enumerate(staff, 2):
        book.active.row_dimensions[row].hidden = bool(one)
    sheet = _reopened(folder, book)
    seen = [bool(sheet.row_dimensions[row].hidden) for row in range(2, ROWS + 2)]
    return _formatted(folder, seen, staff, 0.5)


@scenario("looks which cells are indented")
def indents_of_cells(draw: Draw, folder: Path) -> Trial:
    """An Excel file in which the diseases of the staff are indented."""
    staff = _staff(draw)
    book = _workbook(folder / "data.xlsx")
    for row, one in enumerate(staff, 2):
        book.active.cell(row, 3).alignment = Alignment(indent=3 * int(one))
    sheet = _reopened(folder, book)
    seen = [bool(sheet.cell(row, 3).alignment.indent) for row in range(2, ROWS + 2)]
    return _formatted(folder, seen, staff, 0.5)

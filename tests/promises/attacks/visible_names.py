"""Visible names: identifiers in names of columns, files and sheets, and in other notations."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tests.promises.attacks.attackers import equal, found_among, found_in
from tests.promises.attacks.judge import assessed, clean_copy, command, flags
from tests.promises.attacks.people import ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenario, Scenarios, Trial

SCENARIOS = Scenarios("Names that everybody sees")
scenario = SCENARIOS.add
PEOPLE = ["Anna Smith", "David Jones", "Maria Garcia", "Peter Weber", "Julia Koch", "Paula Richter"]


def _judged(path: Path, *more: str) -> str:
    return command("assess", "--person", "each record", path, "--no-try", *flags(**ROLES), *more).verdict


@scenario("reads the header")
def addresses_in_the_header(draw: Draw, folder: Path) -> Trial:
    """A CSV file with a column for each of two people, called by the e-mail address."""
    wanted = ["anna.smith@example.org", "david.jones@example.org"]
    rated = {one: draw.choice(["yes", "no"], 600) for one in wanted}
    plain(600).assign(**rated).to_csv(folder / "data.csv", index=False)
    renamed = {f"question {n}": values for n, values in enumerate(rated.values())}
    plain(600).assign(**renamed).to_csv(folder / "control.csv", index=False)
    header = (folder / "data.csv").read_text().splitlines()[0]
    return Trial(
        found_among([header], wanted),
        _judged(folder / "data.csv", *flags(insensitive=wanted)),
        control=_judged(folder / "control.csv", *flags(insensitive=list(renamed))),
    )


@scenario("reads the header")
def names_in_the_header(draw: Draw, folder: Path) -> Trial:
    """A CSV file with columns that are called by the name of the person who rated."""
    wanted = [f"{one} rated" for one in PEOPLE[:2]]
    rated = {one: draw.integers(0, 3, 600) for one in wanted}
    plain(600).assign(**rated).to_csv(folder / "data.csv", index=False)
    header = (folder / "data.csv").read_text().splitlines()[0]
    return Trial(found_among([header], PEOPLE[:2]), _judged(folder / "data.csv", *flags(insensitive=wanted)))


def _folder(top: Path, parts: dict[str, pd.DataFrame]) -> Path:
    for name, part in parts.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pandas(part, preserve_index=False).replace_schema_metadata(None)
        pq.write_table(table, path)
    return top


@scenario("reads the names of the files")
def one_file_for_each_person(draw: Draw, folder: Path) -> Trial:
    """A folder of Parquet files with one row each, called by the number of the patient."""
    numbers = draw.permutation(90_000)[:120] + 10_000
    rows = plain(120)
    parts = {f"p{n}.parquet": rows.iloc[[i]] for i, n in enumerate(numbers)}
    top = _folder(folder / "data", parts)
    seen = [pq.read_table(top / f"p{n}.parquet")["disease"][0].as_py() for n in numbers]
    control = {f"part-{i}.parquet": rows.iloc[60 * i : 60 * i + 60] for i in range(2)}
    return Trial(
        equal(seen, rows["disease"]), _judged(top), control=_judged(_folder(folder / "control", control))
    )


@scenario("reads the names of the folders")
def folders_called_by_names(draw: Draw, folder: Path) -> Trial:
    """A folder of Parquet files in folders that are called by the name of the doctor."""
    parts = {f"{one}/part-0.parquet": plain(120) for one in PEOPLE}
    top = _folder(folder / "data", parts)
    return Trial(found_in(top, PEOPLE), _judged(top))


@scenario("reads the title of the sheet")
def name_of_the_sheet(draw: Draw, folder: Path) -> Trial:
    """An Excel file whose sheet is called by a patient and her disease."""
    book = openpyxl.Workbook()
    book.active.append(["age", "sex", "disease"])
    for row in plain(240).itertuples(index=False):
        book.active.append(list(row))
    book.active.title = "Anna Smith HIV"
    book.save(folder / "data.xlsx")
    title = openpyxl.load_workbook(folder / "data.xlsx").active.title
    return Trial(
        found_among([title], PEOPLE[:1]),
        _judged(folder / "data.xlsx"),
        control=_judged(clean_copy(folder / "data.xlsx")),
    )


def _notation(
    name: str, release: str, attacker: str, written: Callable[[str], str], read: Callable[[str], str]
) -> None:
    """Six people, each in a sixth of the rows: no value is unique."""

    def run(draw: Draw, folder: Path) -> Trial:
        people = draw.choice(PEOPLE, 1200)
        data = plain(1200).assign(x7=[written(one) for one in people])
        roles = {**ROLES, "insensitive": ["x7"]}
        control = plain(1200).assign(x7=draw.choice(["red", "green", "dark blue"], 1200))
        return Trial(
            equal([read(one) for one in data["x7"]], people),
            assessed(data, **roles),
            control=assessed(control, **roles),
        )

    SCENARIOS.append(Scenario(SCENARIOS.group, name, release, attacker, 0.9, run))


_notation(
    "names as hexadecimal digits",
    "Names of six people as hexadecimal digits",
    "decodes them",
    lambda one: one.encode().hex(),
    lambda text: bytes.fromhex(text).decode(),
)
_notation(
    "names in Base64",
    "Names of six people in Base64",
    "decodes them",
    lambda one: base64.b64encode(one.encode()).decode(),
    lambda text: base64.b64decode(text).decode(),
)
_notation(
    "names in a phrase",
    "Short remarks: neighbor of Anna Smith",
    "reads them",
    lambda one: f"neighbor of {one}",
    lambda text: text[12:],
)
_notation(
    "names in markup",
    "Names of six people in elements of HTML",
    "removes the marks",
    lambda one: f"<b>{one}</b>",
    lambda text: text[3:-4],
)
_notation(
    "addresses in wide letters",
    "E-mail addresses in full-width letters",
    "writes them in ordinary letters",
    lambda one: "".join(chr(ord(c) + 0xFEE0) for c in one.lower().replace(" ", ".") + "@x.org"),
    lambda text: "".join(chr(ord(c) - 0xFEE0) for c in text)[:-6].replace(".", " ").title(),
)

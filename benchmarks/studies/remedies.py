"""The first remedy of `crypsis assess`, pasted: what it leaves of each table, and the verdict then.

python -m benchmarks.studies.remedies [TABLE ...]

Every table is assessed by the default policy from the command line, with the roles that are guessed
(`crypsis scan --save`) and with roles that a person would decide. The first command that is printed
is run as it is, and the release is assessed again, with its files that are released apart. The tables
are those of `CRYPSIS_DATA` (by default ../shared/data) and the demonstration; what is not there is
named and left out. A table of more than 50,000 records is a sample of that many, marked as such,
unless `--all` is given. Writes benchmarks/results/remedies_study.json and the table of
`docs/assess.md`; if tables are named, what was recorded of the others stays.
"""

from __future__ import annotations

import csv
import json
import os
import random
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq

from benchmarks import data, measure
from benchmarks.tables import fill

PAGE = measure.ROOT / "docs" / "assess.md"
RESULT = measure.RESULTS / "remedies_study.json"
MOST = 50_000
_COMMAND = """
import sys
from crypsis.assessment import _evaluation
from crypsis.cli import main
_evaluation._TRIED_WORK = 10**15  # the remedy is tried, its alternatives are not
sys.argv[0] = "crypsis"
main()
"""
_QUASI, _SENSITIVE, _IDENTIFIER = "quasi-identifier", "sensitive", "identifier"


@dataclass(frozen=True)
class Outcome:
    """A table before and after its first remedy."""

    table: str
    roles: str
    records: int
    sampled: bool
    before: str
    command: str
    after: str
    loss: float | None
    suppressed: int
    fully_generalized: Sequence[str]
    apart: Sequence[str]
    excluded: Sequence[str]
    columns: int
    released: int
    said: str
    """What the output says where no command is proposed, the command fails, or it is not safe then."""
    seconds: float
    """Processor seconds of both assessments and the command."""


def demo() -> str:
    """The release of the demonstration: 50,000 invented people."""
    folder = data.WORK / "demo"
    if not (folder / "released.csv").exists():
        from crypsis.demo import write_demo

        write_demo(folder)
    return str(folder / "released.csv")


def casc(name: str) -> Callable[[], str]:
    """One of the files of the CASC project."""
    return lambda: str(data.FOLDER / "casc" / f"{name}.csv")


TABLES: dict[str, Callable[[], str]] = {
    "demonstration": demo,
    "Adult": data.adult,
    "diabetes130": data.diabetes,
    "Census": casc("CASCrefmicrodata"),
    "EIA": casc("EIA"),
    "Tarragona": casc("Tarragona"),
}
_KNOWN_OF_ADULT = (
    "age workclass education marital-status occupation relationship race sex hours-per-week native-country"
)
_KNOWN_OF_PATIENTS = "race gender age admission_type_id time_in_hospital"
DECIDED: dict[str, Callable[[Sequence[str]], dict[str, str]]] = {
    "Adult": lambda names: _roles(names, _KNOWN_OF_ADULT, "income capital-gain capital-loss", "excluded"),
    "diabetes130": lambda names: {
        **_roles(names, _KNOWN_OF_PATIENTS, "diag_1 readmitted", "excluded"),
        "patient_nbr": _IDENTIFIER,
    },
    "EIA": lambda names: {
        **_roles(names, "STATE YEAR MONTH", "TOTREVENUE TOTSALES", "excluded"),
        "UTILITYID": _IDENTIFIER,
        "UTILNAME": _IDENTIFIER,
    },
    "Census": lambda names: _roles(names, " ".join(names), "", "excluded"),
    "Tarragona": lambda names: _roles(names, " ".join(names), "", "excluded"),
}
"""Roles that a person would decide. Of the files of the CASC project with numbers alone, an intruder
knows all of them: that is the attack they were published for."""
_UNITS = {"diabetes130": {"person": "patient_nbr"}, "EIA": {"person": "UTILITYID"}}


def _roles(names: Sequence[str], known: str, sensitive: str, rest: str) -> dict[str, str]:
    found = dict.fromkeys(names, rest)
    found |= dict.fromkeys(known.split(), _QUASI)
    return found | dict.fromkeys(sensitive.split(), _SENSITIVE)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of crypsis in a folder."""
    path = os.pathsep.join([str(measure.ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    settings = {**os.environ, "PYTHONPATH": path, "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-c", _COMMAND, *words],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )


def drawn(path: Path, target: Path, most: int) -> tuple[list[str], int, bool]:
    """The table, or a sample of it, in the folder; its columns, its records, whether it is a sample."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    sampled = len(rows) > most
    if sampled:
        rows = random.Random(1).sample(rows, most)
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return header, len(rows), sampled


def pasted(table: str, how: str, most: int) -> Outcome:
    """Assess, paste the first remedy, assess again."""
    started = _spent()
    with TemporaryDirectory() as place:
        folder = Path(place)
        names, records, sampled = drawn(Path(TABLES[table]()), folder / "table.csv", most)
        if how == "guessed":
            run(folder, "scan", "table.csv", "--person", "each record", "--save", "roles.toml")
        else:
            _write_roles(folder / "roles.toml", DECIDED[table](names), _UNITS.get(table, {}))
        given = ["--roles", "roles.toml"]
        shown = run(folder, "assess", "table.csv", *given, "-o", "before.json")
        before, _ = _assessment(folder / "before.json")
        lines = shown.stdout.splitlines()
        command = next((line for line in lines if line.startswith("  crypsis anonymize")), "")
        made = _release(folder, command)
        said = made["said"] if command else _said(lines)
        if made["files"]:
            left = [*made["apart"], *made["excluded"]]
            again = [*given, *(word for name in left for word in ("--exclude", name))]
            again += [word for file in made["files"][1:] for word in ("--together", file)]
            run(folder, "assess", made["files"][0], *again, "--no-try", "-o", "after.json")
        after, reasons = _assessment(folder / "after.json")
        said = said or reasons
    loss = made["loss"]
    return Outcome(
        table,
        how,
        records,
        sampled,
        before,
        command.strip(),
        after,
        loss.get("ncp"),
        loss.get("suppressed_records", 0),
        loss.get("fully_generalized_columns", ()),
        made["apart"],
        made["excluded"],
        len(names),
        made["released"],
        said,
        round(_spent() - started, 1),
    )


def _release(folder: Path, command: str) -> dict[str, Any]:
    """What the command makes; nothing without one."""
    words = shlex.split(command)[1:]
    empty: dict[str, Any] = {"files": [], "loss": {}, "apart": [], "excluded": [], "released": 0, "said": ""}
    if not words:
        return empty
    made = run(folder, *words)
    if made.returncode:
        return {**empty, "said": made.stderr.strip()}
    output = words[words.index("-o") + 1]
    statement = json.loads((folder / f"{output}.statement.json").read_text(encoding="utf-8"))
    apart = [name for one in statement.get("apart", ()) for name in one["columns"]]
    return {
        "released": len(pq.read_schema(folder / output).names) + len(apart),
        "files": [output, *(one["file"] for one in statement.get("apart", ()))],
        "loss": statement["information_loss"],
        "apart": apart,
        "excluded": [words[i + 1] for i, word in enumerate(words) if word == "--exclude"],
        "said": "",
    }


def _write_roles(path: Path, roles: dict[str, str], units: dict[str, str]) -> None:
    override = 'override = "Decided for this study."'
    lines = ["[roles]"]
    lines += [f'"{name}" = {{ role = "{role}", {override} }}' for name, role in roles.items()]
    lines += ["[units]"]
    units = {"person": "each record", **units}
    lines += [f'{name} = "{column}"' for name, column in units.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _assessment(path: Path) -> tuple[str, str]:
    """The verdict of a report and the reasons against "safe"; none without one."""
    if not path.exists():
        return "", ""
    found = json.loads(path.read_text(encoding="utf-8"))["result"]
    return str(found["verdict"]), " ".join(one["text"] for one in found["reasons"])


def _said(lines: Sequence[str]) -> str:
    """The last paragraphs of the output, which say what to do."""
    text = "\n".join(lines).split("\n\n")
    return " ".join(" ".join(text[-2:]).split())


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def line(one: Outcome) -> str:
    """A row of the table of the manual."""
    rows = f"{one.records:,}{' (a sample)' if one.sampled else ''}"
    loss = "–" if one.loss is None else f"{100 * one.loss:.1f} %"
    gone = [*(f"{name} apart" for name in one.apart), *(f"{name} excluded" for name in one.excluded)]
    gone += [f"{name} fully generalized" for name in one.fully_generalized]
    left = ", ".join(gone) if len(gone) <= 4 else f"{len(gone)} columns"
    return (
        f"| {one.table} | {one.roles} | {rows} | {one.before} | {one.after or 'no remedy'} | {loss} "
        f"| {one.suppressed:,} | {one.released} of {one.columns} | {left or 'none'} | {one.seconds:,.0f} s |"
    )


def main(arguments: Sequence[str]) -> int:
    """Run all tables, or those that are named."""
    most = 10**9 if "--all" in arguments else MOST
    asked = [name for name in arguments if name != "--all"] or [*TABLES]
    known: dict[str, dict[str, object]] = {}
    if RESULT.exists():
        known = json.loads(RESULT.read_text(encoding="utf-8"))
    for table in asked:
        for how in ("guessed", "decided"):
            if how == "decided" and table not in DECIDED:
                continue
            try:
                found = pasted(table, how, most)
            except FileNotFoundError as error:
                print(f"{table}: left out, {error.filename} is not there")
                continue
            known[f"{table}, {how}"] = asdict(found)
            print(line(found), found.said, flush=True)
            RESULT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    head = (
        "| table | roles | records | before | after | information loss (NCP) | suppressed | columns "
        "released | apart, excluded or fully generalized | processor time |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
    order = [f"{table}, {how}" for table in TABLES for how in ("guessed", "decided")]
    rows = [line(Outcome(**known[name])) for name in order if name in known]  # type: ignore[arg-type]
    fill(PAGE, {"remedies": "\n".join([head, *rows])})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

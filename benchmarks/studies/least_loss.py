"""What a requirement costs: releases by crypsis, ARX, a plain greedy try, anonypy and anonypyx.

python -m benchmarks.studies.least_loss [ROW or CONTENDER ...]

Every contender is a command of its own that reads the same file and writes a release. The loss (NCP:
leaves under the value over all leaves, a record that is not released counts in full), k, l and t are
counted from the releases by the code below, which shares nothing with the package; so is the area
under the curve of a model trained on each. What cannot be run is named and left out. Writes
benchmarks/results/least_loss_study.json and the table of `docs/anonymize.md`; if some rows or contenders
are named, those alone are run and what was recorded of the others stays.

ARX is that of `CRYPSIS_PEERS` (by default ../shared/peers), which has a folder `arx` with arx.jar, the
libraries it needs in `lib`, and ArxBench.java, and needs a JDK. Elsewhere: build the library of
https://github.com/arx-deidentifier/arx (`ant jars`, or its published jar), and write an ArxBench that
takes `data hier qi sensitive k l t suppress mode omin out` as name=value, calls
`ARXAnonymizer.anonymize` with the loss metric (arithmetic mean, `gs` 0.5 for mode=global and 0 for
mode=local), for mode=local then `ARXResult.optimizeIterativeFast(output, omin)`, and saves the output.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmarks import environments, measure
from benchmarks.studies.least_loss_tables import (
    EIGHT,
    SALARY,
    TEN,
    WORK,
    Source,
    adult,
    diabetes,
    million,
    rows_of,
)
from benchmarks.tables import fill

if TYPE_CHECKING:
    from crypsis.protection._recode_classes import RecodingKind

PEERS = Path(os.environ.get("CRYPSIS_PEERS", measure.ROOT.parent / "shared" / "peers"))
PAGE = measure.ROOT / "docs" / "anonymize.md"
WITHOUT = [*(name for name in EIGHT if name != "occupation"), SALARY]
OCCUPATION = "occupation"
ROWS: dict[str, dict[str, Any]] = {
    "k = 5": {"columns": EIGHT, "k": 5},
    "k = 10": {"columns": EIGHT, "k": 10},
    "k = 100": {"columns": EIGHT, "k": 100},
    "nine columns, k = 5": {"columns": [*EIGHT, SALARY], "k": 5},
    "k = 5, l = 2 (salary)": {"columns": EIGHT, "k": 5, "l": 2, "sensitive": SALARY},
    "k = 5, t = 0.5 (salary)": {"columns": EIGHT, "k": 5, "t": 0.5, "sensitive": SALARY},
    "k = 5, t = 0.2 (salary)": {"columns": EIGHT, "k": 5, "t": 0.2, "sensitive": SALARY},
    "k = 5, t = 0.5 (occupation)": {"columns": WITHOUT, "k": 5, "t": 0.5, "sensitive": OCCUPATION},
    "k = 5, t = 0.2 (occupation)": {"columns": WITHOUT, "k": 5, "t": 0.2, "sensitive": OCCUPATION},
    "diabetes130, k = 5": {"table": "diabetes", "columns": TEN, "k": 5},
    "diabetes130, k = 100": {"table": "diabetes", "columns": TEN, "k": 100},
    "10^6 rows, k = 5, 2 %": {"table": "million", "columns": EIGHT, "k": 5, "limit": 0.02},
    "10^6 rows, k = 100, 2 %": {"table": "million", "columns": EIGHT, "k": 100, "limit": 0.02},
}
TABLES: dict[str, Callable[[], Source]] = {"adult": adult, "diabetes": diabetes, "million": million}
CONTENDERS = (
    "crypsis, local",
    "crypsis, subtree",
    "crypsis, full-domain",
    "ARX, local",
    "ARX, local, finer",
    "ARX, full-domain",
    "greedy",
    "anonypy",
    "anonypyx",
)
PATIENCE = 1800.0


def main(wanted: Sequence[str]) -> int:
    found = _recorded()
    unknown = [name for name in wanted if name not in (*ROWS, *CONTENDERS)]
    if unknown:
        print(f"Neither a row nor a contender: {', '.join(unknown)}", file=sys.stderr)
        return 2
    contenders = [name for name in CONTENDERS if name in wanted] or CONTENDERS
    for name in [name for name in ROWS if name in wanted] or ROWS:
        asked = ROWS[name]
        source = _source(asked)
        for contender in contenders:
            out = WORK / f"{name}, {contender}.csv".replace(" ", "_").replace("/", "-")
            command = _command(contender, name, asked, source, out)
            if command is None:
                continue
            one = _measured(name, contender, command, source, out, asked)
            found.pop((name, contender), None)
            if one is not None:
                found[name, contender] = one
                print(json.dumps(one), flush=True)
            every = [found[key] for key in product(ROWS, CONTENDERS) if key in found]
            measure.write("least_loss_study", {"releases": every})
            fill(PAGE, {"least loss": _table(every)})
    return 0


def _recorded() -> dict[tuple[str, str], dict[str, Any]]:
    """What was measured before, by row and contender."""
    path = measure.RESULTS / "least_loss_study.json"
    if not path.exists():
        return {}
    every = json.loads(path.read_text(encoding="utf-8"))["releases"]
    return {(one["row"], one["contender"]): one for one in every}


def _source(asked: dict[str, Any]) -> Source:
    return TABLES[asked.get("table", "adult")]()


def _command(contender: str, name: str, asked: dict[str, Any], source: Source, out: Path) -> list[str] | None:
    """The command that makes the release; None where the contender knows no such requirement."""
    maker, _, kind = contender.partition(", ")
    own = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--make", contender, name]
    if maker == "crypsis":
        return [*own, str(out)]
    others = "l" in asked or "t" in asked or asked["columns"] != EIGHT or "table" in asked
    if maker == "ARX":
        return None if others and kind == "local, finer" else _arx(kind, asked, source, out)
    if others:
        return None
    if maker == "greedy":
        return [*own, str(out)]
    script = "benchmarks.peers." + maker + "_peer"
    call = f"from {script} import release; release(*__import__('json').loads(__import__('sys').argv[1]))"
    given = json.dumps([str(source.path), EIGHT, SALARY, asked["k"], str(out)])
    try:
        return [str(environments.python(maker)), "-c", call, given]
    except environments.Unavailable as error:
        print(f"{contender} is left out: {error}", flush=True)
        return None


def _arx(kind: str, asked: dict[str, Any], source: Source, out: Path) -> list[str] | None:
    folder, classes = PEERS / "arx", WORK / "classes"
    paths = f"{folder / 'arx.jar'}:{folder / 'lib'}/*"
    if not (folder / "arx.jar").exists() or shutil.which("javac") is None:
        print("ARX is left out: no arx.jar among the peers, or no JDK", flush=True)
        return None
    if not (classes / "ArxBench.class").exists():
        build = ["javac", "-cp", paths, "-d", str(classes), str(folder / "ArxBench.java")]
        subprocess.run(build, check=True)
    options: dict[str, Any] = {
        "data": source.path,
        "hier": source.trees,
        "qi": ",".join(asked["columns"]),
        "mode": "global" if kind == "full-domain" else "local",
        "suppress": asked.get("limit", 0.05),
        "omin": 0.001 if kind == "local, finer" else 0.01,
        "out": out,
        **{name: asked[name] for name in ("sensitive", "k", "l", "t") if name in asked},
    }
    command = ["java", "-Xmx8g", "-cp", f"{classes}:{paths}", "ArxBench"]
    return [*command, *(f"{name}={value}" for name, value in options.items())]


def _measured(
    name: str, contender: str, command: list[str], source: Source, out: Path, asked: dict[str, Any]
) -> dict[str, Any] | None:
    out.unlink(missing_ok=True)
    before, start = _used(), time.perf_counter()
    paths = os.pathsep.join([str(measure.ROOT), str(measure.ROOT / "src")])
    if contender.startswith("anony"):
        paths = str(measure.ROOT)
    surroundings = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=surroundings, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: {contender} was stopped after {PATIENCE:.0f} s", flush=True)
        return None
    seconds, used = time.perf_counter() - start, _used() - before
    if done.returncode != 0 or not out.exists():
        print(f"{name}: {contender} failed: {done.stderr[-300:]}", flush=True)
        return None
    return {
        "row": name,
        "contender": contender,
        "cpu_seconds": used,
        "seconds": seconds,
        **judge(source, out, asked, marked=contender.startswith("ARX")),
    }


def _used() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


# What follows judges a release: labels in, numbers out.


def leaves(tree: Path) -> tuple[dict[str, int], int]:
    """How many values each label of a hierarchy stands for, and how many there are."""
    rows = rows_of(tree)
    below: dict[str, set[str]] = {}
    for row in rows:
        for label in row:
            below.setdefault(label, set()).add(row[0])
    return {label: len(values) for label, values in below.items()}, len({row[0] for row in rows})


def loss_of(label: str, labels: dict[str, int], total: int) -> float:
    """The part of its column that a label stands for; nothing is lost by a value itself."""
    if label in ("", "*"):
        return 1.0
    stands = labels.get(label)
    if stands is None and "," in label:  # Mondrian: a list of values
        stands = len(label.split(","))
    if stands is None:  # or a range of them
        low, high = label.split("-")
        stands = int(high) - int(low) + 1
    return 0.0 if stands == 1 else stands / total


def judge(source: Source, out: Path, asked: dict[str, Any], *, marked: bool) -> dict[str, Any]:
    """NCP, records left out, k, l and t of a release, and the model that is trained on it.

    ARX marks suppressed records by stars in all columns (`marked`) and does not count them as
    released; those of others are not in the file, and what is in it without any value is a class.
    """
    original, released = rows_of(source.path), rows_of(out)
    columns = asked["columns"]
    names = released[0]
    places = [names.index(name) for name in columns]
    body = released[1:]
    if marked:
        body = [row for row in body if not all(row[p] == "*" for p in places)]
    before = len(original) - 1
    lost = float((before - len(body)) * len(columns))
    for name, place in zip(columns, places, strict=True):
        labels, total = leaves(source.tree(name))
        values, counts = np.unique([row[place] for row in body], return_counts=True)
        each = [loss_of(str(value), labels, total) for value in values]
        lost += float(np.dot(each, counts))
    classes: dict[tuple[str, ...], list[str]] = {}
    secret = names.index(asked.get("sensitive", source.columns[-1]))
    for row in body:
        classes.setdefault(tuple(row[p] for p in places), []).append(row[secret])
    return {
        "ncp": lost / (before * len(columns)),
        "suppressed": before - len(body),
        "k": min(map(len, classes.values())),
        "l": min(len(set(one)) for one in classes.values()),
        "t": _distance(list(classes.values())),
        "auc": _auc(original, names, body, places) if columns == EIGHT and "table" not in asked else None,
        "meets": _meets(classes, asked),
    }


def _meets(classes: dict[tuple[str, ...], list[str]], asked: dict[str, Any]) -> bool:
    members = list(classes.values())
    return bool(
        min(map(len, members)) >= asked["k"]
        and min(len(set(one)) for one in members) >= asked.get("l", 1)
        and _distance(members) <= asked.get("t", 1.0) + 1e-9
    )


def _distance(classes: list[list[str]]) -> float:
    """The farthest class from all released records, every value as far from every other."""
    every = [value for one in classes for value in one]
    values = {value: place for place, value in enumerate(dict.fromkeys(every))}
    overall = np.bincount([values[value] for value in every]) / len(every)
    worst = 0.0
    for one in classes:
        here = np.bincount([values[value] for value in one], minlength=len(values)) / len(one)
        worst = max(worst, float(np.abs(here - overall).sum() / 2))
    return worst


def _auc(original: list[list[str]], names: list[str], body: list[list[str]], places: list[int]) -> float:
    """Logistic regression of the salary on the released labels, by five-fold cross-validation.

    Records that are not released are told apart by nothing.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.preprocessing import OneHotEncoder

    salary, own = names.index(SALARY), original[0].index(SALARY)
    table = [[row[p] for p in places] for row in body]
    target = [row[salary] for row in body]
    high = sorted({row[own] for row in original[1:]})[-1]
    gone = len(original) - 1 - len(body)
    more = sum(row[own] == high for row in original[1:]) - sum(value == high for value in target)
    table += [["*"] * len(places)] * gone
    y = np.array([value == high for value in target] + [True] * more + [False] * (gone - more))
    x = OneHotEncoder(handle_unknown="ignore").fit_transform(table)
    order = np.random.default_rng(0).permutation(len(y))
    model = LogisticRegression(max_iter=1000)
    return float(cross_val_score(model, x[order], y[order], cv=5, scoring="roc_auc").mean())


# What follows makes releases.


def make(contender: str, row: str, out: str) -> None:
    """A release of crypsis or of the greedy try, written to a file."""
    maker, _, recoding = contender.partition(", ")
    asked = ROWS[row]
    source = _source(asked)
    if maker == "greedy":
        greedy(source, asked["columns"], asked["k"], out)
        return
    import crypsis as cr
    from crypsis.hierarchies import Hierarchy

    trees = {name: Hierarchy.read(source.tree(name)) for name in asked["columns"]}
    options: dict[str, Any] = {"k": asked["k"]}
    options |= {"suppression": asked["limit"]} if "limit" in asked else {}
    options |= {"diversity": asked["l"]} if "l" in asked else {}
    options |= {"closeness": asked["t"]} if "t" in asked else {}
    kept = [name for name in source.columns if name not in asked["columns"]]
    secret = [asked["sensitive"]] if "sensitive" in asked else []
    roles = cr.read(
        source.path,
        quasi_identifiers=asked["columns"],
        sensitive=secret,
        types=dict.fromkeys(asked["columns"], "text"),
        insensitive=[name for name in kept if name not in secret],
    )
    made = cr.protection.plan(roles, hierarchies=trees, **options).apply(
        roles, recoding=cast("RecodingKind", recoding)
    )
    table = made.data.to_arrow()
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table.column_names)
        columns = [["" if v is None else str(v) for v in one.to_pylist()] for one in table.columns]
        writer.writerows(zip(*columns, strict=True))


def greedy(source: Source, columns: list[str], k: int, out: str) -> None:
    """Visit the lattice from the least loss to the most; release what has k members by then."""
    rows = rows_of(source.path)
    names = rows[0]
    table = [[row[names.index(name)] for name in columns] for row in rows[1:]]
    levels, losses = [], []
    for place, name in enumerate(columns):
        tree = {row[0]: row for row in rows_of(source.tree(name))}
        height = len(next(iter(tree.values())))
        labels, total = leaves(source.tree(name))
        each = [[tree[row[place]][level] for row in table] for level in range(height)]
        levels.append(each)
        losses.append([float(np.mean([loss_of(v, labels, total) for v in one])) for one in each])
    codes = [[np.unique(one, return_inverse=True)[1] for one in own] for own in levels]
    left = np.arange(len(table))
    released: list[list[str] | None] = [None] * len(table)
    for vector in _vectors(losses):
        key = np.zeros(left.size, np.int64)
        for own, level in zip(codes, vector, strict=True):
            key = np.unique(key * (own[level].max() + 1) + own[level][left], return_inverse=True)[1]
        good = np.bincount(key)[key] >= k
        for row in left[good]:
            released[row] = [own[level][row] for own, level in zip(levels, vector, strict=True)]
        left = left[~good]
        if left.size < k:
            break
    salary = names.index(SALARY)
    with Path(out).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow([*columns, SALARY])
        writer.writerows(
            [*made, rows[place + 1][salary]] for place, made in enumerate(released) if made is not None
        )


def _vectors(losses: list[list[float]]) -> Iterator[tuple[int, ...]]:
    every = product(*(range(len(one)) for one in losses))
    return iter(sorted(every, key=lambda v: sum(one[i] for one, i in zip(losses, v, strict=True))))


def _table(found: list[dict[str, Any]]) -> str:
    there = [name for name in CONTENDERS if any(one["contender"] == name for one in found)]
    lines = [f"| requirement | {' | '.join(there)} |", f"| --- | {' | '.join('---:' for _ in there)} |"]
    for name in dict.fromkeys(one["row"] for one in found):
        here = {one["contender"]: one for one in found if one["row"] == name}
        lines.append(f"| {name} | {' | '.join(_cell(here.get(other)) for other in there)} |")
    return "\n".join(lines)


def _cell(one: dict[str, Any] | None) -> str:
    if one is None:
        return "-"
    text = f"{one['ncp']:.4f} ({one['cpu_seconds']:.1f} s"
    text += f", AUC {one['auc']:.3f}" if one["auc"] is not None else ""
    return text + (")" if one["meets"] else "; not met)")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(*sys.argv[2:])
        sys.exit(0)
    sys.exit(main(sys.argv[1:]))

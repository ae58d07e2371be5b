"""ARX, a Java program: k-anonymity, l-diversity and t-closeness of Adult, by its own clock."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks import data
from benchmarks.environments import PEERS
from benchmarks.losses import worth

_NAMES = {"k": "k", "diversity": "l", "closeness": "t"}


def release(path: str, requirements: dict[str, Any], local: bool) -> Any:
    """From a table that is loaded to a release in memory, as ARX times itself."""
    folder = Path(tempfile.mkdtemp(prefix="crypsis-arx-"))
    columns = list(data.TREES)
    pd.read_csv(path)[[*columns, "income"]].to_csv(folder / "in.csv", sep=";", index=False)
    for name, tree in data.trees().items():
        with (
            open(tree, encoding="utf-8", newline="") as source,  # noqa: PTH123
            (folder / f"tree_{name}.csv").open("w", encoding="utf-8", newline="") as copy,
        ):
            csv.writer(copy, delimiter=";").writerows(row for row in csv.reader(source) if row)
    home = PEERS / "arx"
    paths = f"{home / 'arx.jar'}:{home / 'lib'}/*"
    subprocess.run(["javac", "-cp", paths, "-d", str(folder), str(home / "ArxBench.java")], check=True)
    options: dict[str, Any] = {
        "data": folder / "in.csv",
        "hier": folder / "tree_",
        "qi": ",".join(columns),
        "sensitive": "income",
        "mode": "local" if local else "global",
        "out": folder / "out.csv",
        "suppress": requirements["suppression_percent"] / 100,
        **{short: requirements[name] for name, short in _NAMES.items() if name in requirements},
    }
    if not {"l", "t"} & options.keys():
        del options["sensitive"]
    command = ["java", "-Xmx8g", "-cp", f"{folder}:{paths}", "ArxBench"]
    command += [f"{name}={value}" for name, value in options.items()]

    def call() -> Any:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(done.stdout.splitlines()[-1])

    def answer(_: Any) -> Any:
        made = pd.read_csv(folder / "out.csv", sep=";", dtype=str)
        removed = (folder / "out.csv.outliers").read_text().split()
        return worth(made[[one == "0" for one in removed]], len(made))

    def clock(said: Any) -> tuple[float, float]:
        spent = [(said["anon" + unit] + said["local" + unit]) / 1000 for unit in ("_ms", "_cpu")]
        return spent[0], spent[1]

    return call, answer, clock

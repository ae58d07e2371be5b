"""Try the scenarios, and print what comes of each: `python -m tests.promises.attacks [WORD ...]`.

With `--write` the table of the manual is written anew.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.promises.attacks import page
from tests.promises.attacks.scenario import kept_back


def main(words: list[str]) -> None:
    wanted = [word for word in words if not word.startswith("--")]
    rows = {}
    for one in page.SCENARIOS:
        if wanted and not any(word in f"{one.group} {one.name}" for word in wanted):
            continue
        began = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            trial = one.trial(Path(folder))
        took = time.process_time() - began
        wrong = kept_back(trial, one.least)
        state = "open" if one.name in page.KNOWN_OPEN else "ok" if wrong is None else "WRONG"
        control = "" if trial.control is None else f" control {trial.control}"
        print(
            f"{state:5} {took:5.2f} s {one.group}: {one.name}: {trial.success:.3f} "
            f"{trial.verdict}{control}{'' if wrong is None else ' (' + wrong + ')'}",
            flush=True,
        )
        rows[one.name] = trial
    if "--write" in words:
        page.PAGE.write_text(page.page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

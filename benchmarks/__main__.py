"""Run the benchmarks: all tasks, or those named; `--quick` guards against regressions.

python -m benchmarks                    every task, the scaling plots, every verb, the tables
python -m benchmarks linkage cells      the tasks of two modules; what else is recorded stays
python -m benchmarks --only "10^6"      the tasks whose name, size or peer contains the text
python -m benchmarks --quick            the quick ones against the last recorded ratios; 1 if moved
python -m benchmarks --tables           write the tables and charts from what is recorded
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import environments, measure, regressions, scaling, tables, tasks, verbs

OTHERS = ("scaling", "verbs")


def main() -> int:
    parser = argparse.ArgumentParser("benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help=f"{', '.join((*tasks.MODULES, *OTHERS))}")
    parser.add_argument("--only", default="", help="tasks whose name, size or peer contains this")
    parser.add_argument("--runs", type=int, help="turns of each contender")
    parser.add_argument("--quick", action="store_true", help="compare with the recorded ratios")
    parser.add_argument("--tables", action="store_true", help="write tables and charts, run nothing")
    asked = parser.parse_args()
    unknown = [name for name in asked.modules if name not in (*tasks.MODULES, *OTHERS)]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}")
    if asked.quick:
        return regressions.main()
    if not asked.tables:
        for module in asked.modules or (*tasks.MODULES, *OTHERS):
            print(f"== {module}", flush=True)
            if module == "scaling":
                scaling.main(asked.only)
            elif module == "verbs":
                verbs.everything()
            else:
                _measure(module, asked.only, asked.runs)
    broken = tables.main()
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


def _measure(module: str, only: str, runs: int | None) -> None:
    """Measure and save after every task, so that a run that is stopped has not been in vain."""
    every = tasks.tasks(module)
    keep = [*(task.key for task in every), *measure.recorded(module)]
    for task in every:
        if only.lower() not in task.key.lower():
            continue
        try:
            found = measure.side_by_side(task, runs=runs)
        except environments.Unavailable as error:
            print(f"{task.name}: {error}; left out", flush=True)
            continue
        measure.save(module, [found], keep=keep)


if __name__ == "__main__":
    sys.exit(main())

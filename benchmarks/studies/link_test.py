"""Size and power of the test of links against controls, without the true matches.

python -m benchmarks.studies.link_test [files]

Writes benchmarks/results/link_test_study.json and the table of `docs/linkage.md`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.tables import fill
from crypsis import linkage

PAGE = measure.ROOT / "docs" / "linkage.md"
FILES = 40
# Records, controls and columns (of correlation 0.9), and the noise; None: an unrelated file.
SETTINGS: tuple[tuple[int, int, int, float | None], ...] = (
    (300, 300, 3, None),
    (300, 300, 3, 0.3),
    (300, 3_000, 3, 0.3),
    (300, 300, 3, 0.1),
    (300, 300, 5, 0.3),
    (2_000, 2_000, 3, None),
)


def measured(records: int, controls: int, columns: int, noise: float | None, files: int) -> dict[str, Any]:
    """Verdicts on `files` files, with the share of correct links that the intruder has."""
    root = np.linalg.cholesky(np.full((columns, columns), 0.9) + 0.1 * np.eye(columns))
    verdicts: list[str] = []
    right, joint, single, power = [], [], [], []
    for seed in range(files):
        rng = np.random.default_rng((records, controls, columns, seed))
        x, y, others = (rng.normal(size=(n, columns)) @ root.T for n in (records, records, controls))
        if noise is not None:
            y = x + noise * rng.normal(size=x.shape)
        order = rng.permutation(records)
        found = linkage.verify_links(x, y[order], controls=others, row_map="unknown", seed=seed)
        known = linkage.link(x, y, seed=seed).correct_share
        assert found.joint is not None
        assert found.dependent is not None
        assert known is not None
        verdicts.append(found.verdict)
        right.append(float(known))
        joint.append(found.joint.seen)
        single.append(found.dependent.discoveries > 0 or found.dependent.advantage.low > 0.05)
        if found.joint.power is not None:
            power.append(found.joint.power)
    return {
        "records": records,
        "controls": controls,
        "columns": columns,
        "noise": noise,
        "files": files,
        "correct_links": float(np.mean(right)),
        "seen": float(np.mean(joint)),
        "seen_by_single_links": float(np.mean(single)),
        "power": float(np.median(power)) if power else None,
        **{name: verdicts.count(name) / files for name in ("safe", "cannot tell", "not safe")},
    }


def table(found: list[dict[str, Any]]) -> str:
    """One line a setting."""
    lines = [
        "| records | controls | columns | masking | correct links | seen by single links or nearest "
        "distances | seen by all together | stated power (median) | safe | cannot tell | not safe |",
        "| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in found:
        masking = "unrelated file" if one["noise"] is None else f"noise {one['noise']}"
        power = "" if one["power"] is None else f"{one['power']:.2f}"
        cells = [
            f"{one['records']:,}",
            f"{one['controls']:,}",
            str(one["columns"]),
            masking,
            f"{100 * one['correct_links']:.1f} %",
            f"{100 * one['seen_by_single_links']:.0f} %",
            f"{100 * one['seen']:.0f} %",
            power,
            *(f"{100 * one[name]:.0f} %" for name in ("safe", "cannot tell", "not safe")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    files = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    found = []
    for setting in SETTINGS:
        found.append(measured(*setting, files))
        print(found[-1], flush=True)
    measure.write("link_test_study", {"settings": found})
    fill(PAGE, {"link test": f"{files} files each:\n\n{table(found)}"})


if __name__ == "__main__":
    main()

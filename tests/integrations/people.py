"""A safe table and a leaking one, with their roles."""

from __future__ import annotations

ROLES = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"], "person": "each record"}
ROLES_FILE = (
    '[units]\nperson = "each record"\n[roles]\n'
    'age = "quasi-identifier"\nsex = "quasi-identifier"\ndisease = "sensitive"\n'
)
DISEASES = ("flu", "gout", "asthma", "hiv-secret")


def columns(*, leaking: bool = False) -> dict[str, list[object]]:
    """Four classes of a hundred with four diseases each; of one person more if it leaks."""
    more = int(leaking)
    return {
        "age": [30 + i % 2 for i in range(400)] + [99] * more,
        "sex": ["fm"[i // 2 % 2] for i in range(400)] + ["f"] * more,
        "disease": [DISEASES[i // 4 % 4] for i in range(400)] + ["hiv-secret"] * more,
    }


def csv(*, leaking: bool = False) -> str:
    """The same as a file."""
    table = columns(leaking=leaking)
    rows = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    return "\n".join([",".join(table), *rows, ""])

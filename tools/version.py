"""Print the version, from the one place where it is written."""

from __future__ import annotations

import re
from pathlib import Path

PLACE = Path(__file__).resolve().parent.parent / "src" / "crypsis" / "__init__.py"


def version() -> str:
    """The version in `crypsis/__init__.py`, without importing anything."""
    found = re.search(r'^__version__ = "([^"]+)"$', PLACE.read_text(encoding="utf-8"), flags=re.M)
    if found is None:
        raise SystemExit(f"{PLACE} has no version")
    return found[1]


if __name__ == "__main__":
    print(version())

"""Every threshold and every measure is in docs/policies.md."""

from __future__ import annotations

from crypsis.policies import MEASURES, PRESETS, load_policy
from tests.conftest import ROOT


def test_every_threshold_is_documented() -> None:
    text = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    for name in PRESETS:
        section = text[text.index(f"(`{name}`)") :].split("\n## ")[0]
        for one in load_policy(name).thresholds:
            size = f" (k = {one.k})" if one.k else ""
            size = f" ({one.events} events)" if one.events else size
            limit = f"{one.comparison} {one.limit:g} {one.unit}"
            assert f"| `{one.measure}`{size} | {limit} |" in section
            assert one.why in section


def test_every_measure_is_documented() -> None:
    text = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    for one in MEASURES.values():
        assert f"| `{one.name}` | {one.unit} | {one.limit} | {one.meaning} |" in text

"""What is recorded: every row complete, and what must hold of the table holds."""

from __future__ import annotations

import pytest
from benchmarks import environments, measure, tables, tasks

RECORDED = tables.everything()


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.key)
def test_every_row_is_complete(one: measure.Comparison) -> None:
    assert one.ours_seconds > 0
    assert one.theirs_seconds > 0
    assert one.ratio == pytest.approx(one.ours_seconds / one.theirs_seconds)
    assert one.runs >= 3 or one.size.startswith("10^9")  # minutes a run, by `benchmarks.scale`
    assert one.ours_peak_mb > 0
    assert one.stopped or one.theirs_peak_mb > 0
    assert one.equal or one.note, "where results differ, the note says who is right"


def test_never_slower_than_a_peer_and_always_a_reason() -> None:
    assert tables.broken(RECORDED) == []


def test_what_is_recorded_is_a_task() -> None:
    for module in tasks.MODULES:
        known = [task.key for task in tasks.tasks(module)]
        assert known
        assert [key for key in measure.recorded(module) if key not in known] == []


def test_peers_are_pinned() -> None:
    for needs in environments.REQUIREMENTS.values():
        assert all("==" in need for need in needs)


def test_the_page_shows_what_is_recorded() -> None:
    page = tables.PAGE.read_text(encoding="utf-8")
    for one in RECORDED:
        assert tables.row(one) in page
    for peer in environments.TRIED:
        assert peer in page

"""What is recorded: every row complete, and what must hold of the table holds."""

from __future__ import annotations

import json

import pytest
from benchmarks import environments, measure, tables, tasks
from benchmarks.studies import coverage, link_test

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


def test_every_interval_covers_and_the_page_shows_it() -> None:
    study = json.loads((measure.RESULTS / "coverage_study.json").read_text(encoding="utf-8"))
    assert len(study["population_uniqueness"]) == 4 * len(coverage.POPULATIONS)
    assert min(one["covered"] for one in study["population_uniqueness"]) >= coverage.LEAST
    assert study["sampled_nmape"]["covered"] >= coverage.LEAST
    assert coverage.written(study) in coverage.PAGE.read_text(encoding="utf-8")


def test_the_test_of_links_never_calls_a_leak_safe_and_the_page_shows_it() -> None:
    study = json.loads((measure.RESULTS / "link_test_study.json").read_text(encoding="utf-8"))
    leaks = [one for one in study["settings"] if one["noise"] is not None]
    assert [one["safe"] for one in leaks] == [0] * len(leaks)
    assert link_test.table(study["settings"]) in link_test.PAGE.read_text(encoding="utf-8")

"""How contenders are run, compared and recorded."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import child, environments, measure, regressions, scaling, tables

OURS = measure.Contender("crypsis", __name__, "adds")
THEIRS = measure.Contender("a peer", __name__, "adds")
KIND = "a kind of machine"
TASK = measure.Task("adding", "two numbers", OURS, THEIRS, lambda: [1, 2])


def adds(a: int, b: int) -> Callable[[], Any]:
    return lambda: a + b


def makes(size: int) -> Any:
    return (lambda: list(range(size))), len


def counts() -> Callable[[], Any]:
    calls = [0]

    def call() -> int:
        calls[0] += 1
        return calls[0]

    return call


def run(seconds: float, answer: Any = 3, cpu: float | None = None) -> measure.Run:
    return measure.Run(seconds, seconds if cpu is None else cpu, 100.0, answer)


def comparison(**changes: Any) -> measure.Comparison:
    found = measure.compared(TASK, [run(1.0), run(1.2), run(0.9)], [run(2.0), run(2.1), run(1.9)])
    return replace(found, **changes)


def test_a_call_is_timed_and_its_answer_told_apart() -> None:
    cold = child.measured(__name__, "adds", "cold", [1, 2])
    assert (cold["answer"], cold["peak_mb"] > 1) == (3, True)
    assert child.measured(__name__, "makes", "warm", [5])["answer"] == 5
    assert child.measured("math", "factorial", "whole", [5])["answer"] == 120


def by_another_program() -> Any:
    return lambda: [0.25, 0.5, 7], lambda said: said[2], lambda said: said[:2]


def test_another_program_keeps_its_own_time() -> None:
    found = child.measured(__name__, "by_another_program", "cold", [])
    assert (found["seconds"], found["cpu_seconds"], found["answer"]) == (0.25, 0.5, 7)


@pytest.mark.parametrize("peer", environments.OUTSIDE)
def test_a_program_that_is_not_here_is_said_how_to_get(peer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments.shutil, "which", lambda _: None)
    with pytest.raises(environments.Unavailable, match=f"{peer} is not here: .*(build|install)"):
        environments.python(peer)
    assert environments.version(peer)[0].isdigit()


def test_contenders_take_turns_in_processes_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    found = measure.side_by_side(TASK, runs=2)
    assert found.equal
    assert len(found.seconds["ours"]) == len(found.seconds["theirs"]) == 2
    assert "adding (two numbers)" in capsys.readouterr().out


def test_medians_and_ratios() -> None:
    found = comparison()
    assert (found.ours_seconds, found.theirs_seconds) == (1.0, 2.0)
    assert found.ratio == found.cpu_ratio == 0.5
    assert found.runs == 3


def test_a_stopped_peer_is_a_lower_bound() -> None:
    stopped = measure.Run(60.0, 60.0, math.nan, None, stopped=True)
    found = measure.compared(TASK, [run(0.5)], [stopped])
    assert not found.equal
    assert tables.times(found) == "> 120x faster"
    assert tables.equal(found) == "stopped"


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        (1 / 3, 0.3333333333333333, True),
        ([1, {"a": 2.0}], [1, {"a": 2}], True),
        ([1, 2], [1], False),
        ({"a": 1}, {"b": 1}, False),
        (0.3333, 1 / 3, False),
        (True, 1, True),
        ("x", "y", False),
    ],
)
def test_equal_answers(ours: Any, theirs: Any, equal: bool) -> None:
    assert measure.same(ours, theirs).equal is equal


def test_what_else_is_recorded_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    first, second = comparison(), comparison(task="other")
    measure.save("some", [first, second], keep=[first.key, second.key])
    again = replace(first, ratio=0.25)
    measure.save("some", [again], keep=[first.key, second.key])
    assert measure.recorded("some") == {first.key: again, second.key: second}
    measure.save("some", [again], keep=[first.key])
    assert list(measure.recorded("some")) == [first.key]
    assert json.loads((tmp_path / "some.json").read_text())["benchmark"] == "some"


def test_a_move_needs_both_clocks() -> None:
    before = comparison()
    assert regressions.moved(before, comparison(ratio=0.64, cpu_ratio=0.64)) is None
    assert regressions.moved(before, comparison(ratio=0.9, cpu_ratio=0.5)) is None
    slower = regressions.moved(before, comparison(ratio=0.7, cpu_ratio=0.7))
    assert slower is not None
    assert slower.change == pytest.approx(0.4)
    assert "slower" in slower.line()
    faster = regressions.moved(before, comparison(ratio=0.3, cpu_ratio=0.3))
    assert faster is not None
    assert "faster" in faster.line()


def test_the_guard_fails_when_crypsis_is_slower(capsys: pytest.CaptureFixture[str]) -> None:
    assert regressions.told(KIND, [], [], []) == 0
    ours = comparison(ratio=0.8, ours_seconds=1.6)
    assert regressions.told(KIND, [regressions.Move(comparison(), ours)], [], []) == 1
    assert "0.500 -> 0.800 (+60%, slower; ours 1 s -> 1.6 s" in capsys.readouterr().out
    theirs = comparison(ratio=0.8, theirs_seconds=1.25)
    assert regressions.told(KIND, [regressions.Move(comparison(), theirs)], [], []) == 0
    assert "MOVED" in capsys.readouterr().out
    assert regressions.told(KIND, [], ["adding"], []) == 1


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """A guard with one task, on a machine of a kind that can be changed."""
    now = {"machine": KIND, "found": comparison()}
    monkeypatch.setattr(measure, "RESULTS", tmp_path)
    monkeypatch.setattr(measure, "machine", lambda: now["machine"])
    monkeypatch.setattr(regressions, "quick", lambda: [("some", TASK)])
    monkeypatch.setattr(measure, "side_by_side", lambda task, runs: now["found"])
    return now


def test_the_guard_compares_with_the_same_kind_of_machine_only(
    guard: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    slower = comparison(ratio=0.8, cpu_ratio=0.8, ours_seconds=1.6)
    assert regressions.main() == 0
    assert f"first time on this kind of machine ({KIND})" in capsys.readouterr().out
    guard["found"] = slower
    assert regressions.main() == 1
    assert "MOVED" in capsys.readouterr().out
    guard["machine"] = "another kind"
    assert regressions.main() == 0
    assert "not compared" in capsys.readouterr().out
    assert regressions.main() == 0  # as slow as it was recorded there
    assert regressions.recorded(KIND)[TASK.key].ratio == 0.5
    assert regressions.recorded("another kind")[TASK.key].ratio == 0.8


def test_another_answer_fails_on_any_kind_of_machine(guard: dict[str, Any]) -> None:
    measure.save("some", [comparison()])
    guard["found"] = comparison(equal=False)
    assert regressions.main() == 1
    measure.save("some", [comparison(equal=False)])  # never equal, as for releases
    guard["machine"] = "another kind"
    assert regressions.main() == 0


def test_the_kind_of_machine_names_the_processor() -> None:
    assert len(measure.machine().split(", ")) >= 3


def test_short_calls_are_timed_in_batches() -> None:
    found = child.measured(__name__, "counts", "warm", [])
    calls = found["answer"]
    assert calls > 1_000
    assert found["seconds"] < 0.001


def test_what_must_hold() -> None:
    assert tables.broken([comparison()]) == []
    slow = comparison(ratio=1.1)
    assert "slower than a peer" in tables.broken([slow])[0]
    assert tables.broken([replace(slow, equal=False)]) == []
    limit = replace(slow, limit=True, ratio=1.6)
    assert "no reason" in tables.broken([limit])[0]
    assert tables.broken([replace(limit, why="it also sorts")]) == []
    assert "it also sorts" in tables.full([replace(limit, why="it also sorts")])


def test_the_short_table_has_what_answers_are_worth_where_they_differ() -> None:
    assert tables.short([comparison()]).endswith("| the same |")
    slower = comparison(equal=False, ratio=3.5, note="NCP 0.054 / 0.060")
    assert tables.short([slower]).endswith("| 3.5x slower | NCP 0.054 / 0.060 |")


def test_tables_go_between_their_markers() -> None:
    text = "before\n<!-- benchmarks -->\nold\n<!-- /benchmarks -->\nafter\n"
    filled = tables.filled(text, "benchmarks", "new")
    assert filled == "before\n<!-- benchmarks -->\n\nnew\n\n<!-- /benchmarks -->\nafter\n"
    assert tables.filled(filled, "benchmarks", "new") == filled
    assert tables.filled("no markers", "benchmarks", "new") == "no markers"
    assert tables.filled("<!-- benchmarks --> open", "benchmarks", "new").endswith("open")


def test_a_file_without_markers_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    assert not tables.fill(path, {"benchmarks": "new"})
    path.write_text("plain\n")
    assert not tables.fill(path, {"benchmarks": "new"})
    assert path.read_text() == "plain\n"
    path.write_text("<!-- benchmarks --><!-- /benchmarks -->")
    assert tables.fill(path, {"benchmarks": "new"})
    assert "new" in path.read_text()


def test_times_are_read_at_a_glance() -> None:
    assert [tables.seconds(x) for x in (0.01234, 1.5, 12.34, 1234.5)] == [
        "12.3 ms",
        "1.5 s",
        "12.3 s",
        "1,234 s",
    ]
    assert tables.times(comparison(ratio=0.01)) == "100x faster"
    assert tables.times(comparison(ratio=1.34)) == "1.3x slower"


def point(axis: str, size: int, seconds: float) -> scaling.Point:
    return scaling.Point(axis, axis, "crypsis", size, seconds, seconds, 1.0)


def test_exponents_are_fitted() -> None:
    rows = [point("rows", 10**n, 0.01 + 1e-6 * 10**n) for n in range(4, 9)]
    assert scaling.fits(rows)[0].exponent == pytest.approx(1.0, abs=0.01)
    items = [point("t", t, 1e-7 * 2**t) for t in range(16, 27, 2)]
    assert scaling.fits(items)[0].exponent == pytest.approx(2.0)
    assert scaling.chart("t", items).to_dict()["title"] == scaling.TITLES["t"]

"""Progress is announced, throttled, and can stop the work."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

import crypsis as cr
from crypsis import progress
from crypsis.errors import CancelledError


def test_nobody_listens() -> None:
    assert not progress.listening()
    assert list(progress.track(range(3), "work")) == [0, 1, 2]


def test_a_listener_hears_beginning_and_end() -> None:
    news: list[progress.Progress] = []
    with progress.report_to(news.append):
        assert list(progress.track(iter(range(1000)), "work")) == list(range(1000))
    assert news[0] == progress.Progress("work", 0.0, None)
    assert news[-1] == progress.Progress("work", 1000.0, None, finished=True)
    assert len(news) < 100


def test_a_listener_may_stop_the_work() -> None:
    def stop(news: progress.Progress) -> None:
        raise CancelledError("enough")

    with progress.report_to(stop), pytest.raises(CancelledError, match="enough"):
        list(progress.track(range(3), "work"))


def test_a_long_query_can_be_stopped() -> None:
    import duckdb

    relation = cr.Dataset.from_frame(duckdb.sql("SELECT 1 AS a").to_arrow_table()).rows
    connection = relation.backend.connection  # type: ignore[attr-defined]
    endless = connection.sql("SELECT count(*) AS n FROM range(1000000000000) t(i) WHERE i % 7 = 3")
    heard: list[float] = []

    def stop(news: progress.Progress) -> None:
        heard.append(news.done)
        if len(heard) > 2:
            raise CancelledError("enough")

    import narwhals.stable.v2 as nw

    with progress.report_to(stop), pytest.raises(CancelledError, match="enough"):
        list(relation.backend.batches(nw.from_native(endless), "counting"))


def test_bars_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a notebook displays: one place, updated; names are text."""
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    def display(html: str, display_id: bool) -> Handle:
        shown.append(html)
        return Handle()

    python = ModuleType("IPython")
    python.get_ipython = lambda: SimpleNamespace(kernel=1)  # type: ignore[attr-defined]
    inside = ModuleType("IPython.display")
    inside.HTML, inside.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", inside)
    with progress.bars(), progress.step("<pairs>", total=4) as step:
        step.reach(1)
        assert shown == ["<div><progress value='0' max='4'></progress> &lt;pairs&gt;</div>"]
    assert shown[-1] == ""

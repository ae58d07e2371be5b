"""Threads: one setting for all, and none that is waited for in vain."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from crypsis import threads
from crypsis.errors import ParameterError
from crypsis.tables.duckdb.connection import connect
from crypsis.tables.spark.sources import _bounded
from crypsis.threads import map_threads, thread_count, thread_limit


def test_results_are_in_order(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
    used = set()

    def square(number):
        used.add(threading.get_ident())
        return number**2

    assert map_threads(square, range(300)) == [number**2 for number in range(300)]
    assert len(used) <= 4
    assert map_threads(square, []) == []


def test_the_first_error_ends_it(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 3)
    done = []

    def work(number):
        if number == 5:
            raise ValueError("five")
        done.append(number)

    with pytest.raises(ValueError, match="five"):
        map_threads(work, range(10_000))
    assert len(done) < 10_000


def stillborn(function, arguments):
    """A thread that ends before it does anything, as for want of memory."""
    return 1


def refused(function, arguments):
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize("start", [stillborn, refused])
def test_threads_that_do_not_start_are_not_waited_for(monkeypatch, start):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 8)
    monkeypatch.setattr(threads._thread, "start_new_thread", start)
    assert map_threads(abs, [-1, 2, -3]) == [1, 2, 3]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_no_hang_where_the_system_gives_no_memory():
    """So little address space is left that no stack of a thread fits."""
    script = """
import os, resource
from crypsis import threads
threads.os.cpu_count = lambda: 16
used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
resource.setrlimit(resource.RLIMIT_AS, (used + 4_000_000,) * 2)
print(sum(threads.map_threads(abs, range(1000))))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == str(sum(range(1000)))


_LITTLE_MEMORY = """
import os, resource
import pyarrow as pa
import crypsis as cr
from crypsis import threads
from crypsis.errors import CrypsisError

each = {"person": "each record", "person_reason": "Rows of a pattern."}

def data(rows):
    columns = {"age": [i * 7 % 97 for i in range(rows)], "zip": [i * i % 900 for i in range(rows)],
               "disease": [i * 3 % 31 for i in range(rows)]}
    return cr.Dataset.from_frame(
        pa.table(columns), quasi_identifiers=["age", "zip"], sensitive=["disease"], **each
    )

need = {"k": 5, "diversity": 2, "seed": 1}
cr.anonymize(data(300), **need)
threads.os.cpu_count = lambda: 16
large = data(2_000)
for left in (4_000_000, 30_000_000):
    used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + left, resource.RLIM_INFINITY))
    try:
        classes = cr.anonymize(large, **need).data.cells(["age", "zip"]).counts
        said = "done" if classes.min() >= 5 else "k is not 5"
    except (CrypsisError, MemoryError):
        said = "refused"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    print(said)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_anonymizing_without_memory_ends():
    """With a result that meets what is required or with an error, never waiting for a thread."""
    done = subprocess.run(
        [sys.executable, "-c", _LITTLE_MEMORY], capture_output=True, text=True, timeout=120, check=True
    )
    assert {*done.stdout.split("\n")} <= {"done", "refused", ""}
    assert done.stdout.count("\n") == 2


def test_one_setting_bounds_all(monkeypatch):
    monkeypatch.setenv("CRYPSIS_THREADS", "1")
    assert (thread_limit(), thread_count()) == (1, 1)
    (found,) = connect().execute("SELECT current_setting('threads')").fetchone()
    assert found == 1
    script = "import crypsis, numba, pyarrow; print(numba.config.NUMBA_NUM_THREADS, pyarrow.cpu_count())"
    bare = {name: value for name, value in os.environ.items() if not name.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=bare, check=True
    )
    assert done.stdout.split() == ["1", "1"]


class Builder:
    """Remembers what a Spark session would be built with."""

    def __init__(self):
        self.set = {}

    def config(self, name, value):
        self.set[name] = value
        return self

    def master(self, name):
        self.set["master"] = name
        return self


@pytest.mark.parametrize(
    ("master", "expected"),
    [
        ("local[8]", {"master": "local[2]"}),
        ("local[*]", {"master": "local[2]"}),
        ("local", {"master": "local[1]"}),
        ("spark://head:7077", {"master": "spark://head:7077", "spark.cores.max": "2"}),
    ],
)
def test_cores_of_spark(monkeypatch, master, expected):
    monkeypatch.setenv("CRYPSIS_THREADS", "2")
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 16)
    assert _bounded(Builder(), master).set == expected
    monkeypatch.delenv("CRYPSIS_THREADS")
    assert _bounded(Builder(), master).set == {"master": master}


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_number_that_is_none(monkeypatch, value):
    monkeypatch.setenv("CRYPSIS_THREADS", value)
    with pytest.raises(ParameterError, match="CRYPSIS_THREADS must be a whole number"):
        thread_limit()

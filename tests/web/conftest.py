"""A server of our own on loopback, and a program that asks it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from crypsis.web import ListeningServer, Settings, listen


class Caller(httpx.Client):
    """A program that asks the API, with the token and some patience."""

    def __init__(self, server: ListeningServer) -> None:
        super().__init__(
            base_url=f"http://127.0.0.1:{server.port}",
            headers={"Authorization": f"Bearer {server.token}"},
            timeout=60,
        )

    def table(self, name: str, body: bytes) -> str:
        """Upload a table of which each record is a person, and wait until its columns are known."""
        job = self.done(self.post("/api/v1/tables/upload", params={"name": name}, content=body))
        self.put(f"/api/v1/tables/{job['table']}/roles", json={"units": {"person": "each record"}})
        return str(job["table"])

    def ask(self, table: str, what: str, **body: Any) -> httpx.Response:
        return self.post(f"/api/v1/tables/{table}/{what}", json=body)

    def ended(self, answer: httpx.Response) -> dict[str, Any]:
        """The job that an answer began, when it is over."""
        assert answer.status_code == 202, answer.text
        job: dict[str, Any] = answer.json()
        until = time.monotonic() + 300
        while job["state"] in ("waiting", "running"):
            assert time.monotonic() < until, job
            time.sleep(0.02)
            job = self.get(f"/api/v1/jobs/{job['id']}").json()
        return job

    def done(self, answer: httpx.Response) -> dict[str, Any]:
        job = self.ended(answer)
        assert job["state"] == "done", job["error"]
        return job


@contextmanager
def running(**limits: Any) -> Iterator[ListeningServer]:
    """A server with these limits, until the end of the block."""
    server = listen(Settings(**{"prepare": False, **limits}))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(30)
        server.socket.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListeningServer]:
    """A server with room for all tests that need nothing special."""
    with running(tables=100, folder=tmp_path_factory.mktemp("serve")) as started:
        yield started


@pytest.fixture
def caller(server: ListeningServer) -> Iterator[Caller]:
    with Caller(server) as asking:
        yield asking


@pytest.fixture(scope="session")
def people() -> pa.Table:
    """Few people whose names are easily found if they leak."""
    rng = np.random.default_rng(3)
    n = 900
    return pa.table(
        {
            "name": [f"Zebedee-{i}" for i in range(n)],
            "age": rng.integers(18, 60, n),
            "zip": [f"{z:05d}" for z in rng.integers(10100, 10120, n)],
            "sex": pa.array(["f", "m"]).take(pa.array(rng.integers(0, 2, n))),
            "disease": pa.array(["flu", "gout", "asthma"]).take(pa.array(rng.integers(0, 3, n))),
        }
    )


@pytest.fixture(scope="session")
def people_csv(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pyarrow.csv.write_csv(people, path)
    return path


@pytest.fixture(scope="session")
def opened(server: ListeningServer, people_csv: Path) -> Iterator[Callable[[], str]]:
    """The table of people, opened once and shared by tests that do not change it."""
    kept: list[str] = []

    def table() -> str:
        if not kept:
            with Caller(server) as asking:
                kept.append(asking.table("people.csv", people_csv.read_bytes()))
        return kept[0]

    return table

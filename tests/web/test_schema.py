"""The API against its own description: whatever fits or does not fit it, nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error

from crypsis.web import ListeningServer
from tests.web.conftest import Caller, running

_KEPT: dict[str, str] = {}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListeningServer]:
    """A server with one table that everything is asked of."""
    folder = tmp_path_factory.mktemp("schema")
    with running(tables=3, jobs=1, job_seconds=20, folder=folder) as started:
        with Caller(started) as asking:
            body = b"age,zip,sex,ill\n" + b"".join(
                b"%d,%05d,%s,%s\n" % (20 + i % 40, i % 90, b"fm"[i % 2 :][:1], b"abc"[i % 3 :][:1])
                for i in range(300)
            )
            _KEPT["table"] = asking.table("x.csv", body)
            roles = {**dict.fromkeys(("age", "zip", "sex"), "quasi-identifier"), "ill": "sensitive"}
            asking.put(f"/api/v1/tables/{_KEPT['table']}/roles", json={"roles": roles})
            asking.done(asking.ask(_KEPT["table"], "preview"))
        yield started


def test_no_request_breaks_the_server(target: ListeningServer) -> None:
    schema = schemathesis.openapi.from_dict(target.app.openapi())
    schema.config.update(base_url=f"http://127.0.0.1:{target.port}")
    headers = {"Authorization": f"Bearer {target.token}"}
    asked = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.method.upper() == "DELETE":
            continue

        @given(case=operation.as_strategy())
        @settings(
            max_examples=12,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Any) -> None:
            nonlocal asked
            asked += 1
            if "table" in (case.path_parameters or {}):
                # An unknown table would end every question before it is asked.
                case.path_parameters["table"] = _KEPT["table"]
            case.call_and_validate(headers=headers, checks=[not_a_server_error])

        ask()
    assert asked > 200


def test_every_operation_is_described(target: ListeningServer) -> None:
    for path, verbs in target.app.openapi()["paths"].items():
        for verb, one in verbs.items():
            assert one["description"].endswith((".", "?")), (verb, path)
            assert {"403", "422"} <= set(one["responses"])

"""`crypsis serve` as a person starts and ends it, and a table that does not fit in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from crypsis.cli import run
from crypsis.files import PrivateFolder
from crypsis.web import GivenSource
from tests.web.conftest import Caller, running


def _start(folder: Path, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "crypsis", "serve", "--no-open", *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert process.stdout is not None
    address = process.stdout.readline().removeprefix("Open ").strip()
    return process, address


def test_started_and_ended(tmp_path: Path, people_csv: Path) -> None:
    process, address = _start(tmp_path, str(people_csv))
    base, _, token = address.partition("/?token=")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=base, headers=headers, timeout=60) as client:
        assert "people.csv" in client.get("/").text
        job = client.post("/api/v1/tables/given", json={"place": 0}).json()
        while job["state"] in ("waiting", "running"):
            time.sleep(0.1)
            job = client.get(f"/api/v1/jobs/{job['id']}").json()
        assert job["state"] == "done", job
    assert len(list(tmp_path.glob("crypsis-serve-*"))) == 1
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode in (0, -signal.SIGTERM, 130)
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
    assert token not in out + err
    assert "Zebedee" not in out + err


def test_killed_and_started_again(tmp_path: Path) -> None:
    """What a killed server leaves, the next one removes; what a living one has stays."""
    living = PrivateFolder("crypsis-serve-", tmp_path)
    code = (
        "import os, sys; from crypsis.files import PrivateFolder; "
        "made = PrivateFolder('crypsis-serve-', sys.argv[1]); "
        "(made.path / 'upload.csv').write_text('x'); print(made.path, flush=True); os._exit(9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    killed = Path(ended.stdout.strip())
    assert killed.is_dir()
    other = tmp_path / "crypsis-serve-mine"
    other.mkdir()  # of the same name, but no lock in it: not ours to remove
    following = PrivateFolder("crypsis-serve-", tmp_path)
    assert living.path.is_dir()
    assert not killed.exists()
    assert other.is_dir()
    for folder in (living, following):
        folder.remove()
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv"], "does not exist"),
        (["--upload-limit", "much"], "A size is written like"),
        (["--tables", "0"], "above zero"),
        (["--memory-limit", "1GB"], "--job-memory"),
        (["--port", "70000"], "cannot be used"),
    ],
)
def test_wrong_options(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", "--no-open", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.heavy
def test_a_gigabyte_is_opened_and_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    line = "{},{},{}," + "n" * 1_000 + "\n"
    block = "".join(line.format(20 + i % 60, i % 1_000, "fm"[i % 2]) for i in range(10_000))
    with path.open("w") as file:
        file.write("age,zip,sex,note\n")
        for _ in range(100):
            file.write(block)
    assert path.stat().st_size > 1_000_000_000
    given = (GivenSource(str(path), "large.csv"),)
    limits = {"job_bytes": 800_000_000, "folder": tmp_path}
    with running(given=given, **limits) as server, Caller(server) as caller:
        job = caller.done(caller.post("/api/v1/tables/given", json={"place": 0}))
        shown = caller.get(f"/api/v1/tables/{job['table']}").json()
        assert shown["rows"] == 1_000_000
        table = server.app.state.workspace.tables.get(job["table"])
        assert table.worker().memory_bytes() < 800_000_000
    path.unlink()

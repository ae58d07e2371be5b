"""Killed, out of room, interrupted, raced: inputs stay, and no half of a file takes a name."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis.cli import run
from crypsis.errors import OutputError, SourceError
from crypsis.files import PrivateFolder, replacing_file, replacing_files
from crypsis.files._folders import remove_abandoned
from tests.promises.commands import Running, start, until

ROWS = 4_000
ROLES = ["--id", "name", "--qi", "age", "--qi", "zip", "--sensitive", "disease"]
NOTES = {"safe.csv", "safe.csv.statement.md", "safe.csv.statement.json", "safe.csv.before-after.md"}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pd.DataFrame(
        {
            "name": [f"Planted-{i:05d}" for i in range(ROWS)],
            "age": rng.integers(18, 95, ROWS),
            "zip": rng.integers(100, 140, ROWS),
            "disease": rng.choice(["flu", "gout", "hiv"], ROWS),
        }
    ).to_csv(path, index=False)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with room for temporary files of its own, and one for keys."""
    for name in ("tmp", "out", "keys"):
        (tmp_path / name).mkdir()
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    return {"TMPDIR": str(place / "tmp"), "XDG_DATA_HOME": str(place / "keys")}


def anonymize(people: Path, place: Path, *more: str) -> list[str]:
    return [
        "anonymize",
        "--person",
        "each record",
        str(people),
        "-o",
        str(place / "out" / "safe.csv"),
        "--k",
        "5",
        *ROLES,
        *more,
    ]


def assess(people: Path, place: Path, *more: str) -> list[str]:
    out = str(place / "out" / "report.json")
    return ["assess", "--person", "each record", str(people), "-o", out, "--no-try", *ROLES, *more]


def left(place: Path) -> set[str]:
    """What is in the folder of results beside what was asked for, and among temporary files."""
    out = {path.name for path in (place / "out").iterdir()} - NOTES - {"report.json"}
    return out | {path.name for path in (place / "tmp").iterdir()}


def check_whole(place: Path) -> None:
    """Whatever has its final name is whole."""
    safe, told = place / "out" / "safe.csv", place / "out" / "safe.csv.statement.json"
    if safe.exists():
        frame = pd.read_csv(safe)
        assert list(frame.columns) == ["age", "zip", "disease"]
        assert frame.groupby(["age", "zip"], dropna=False).size().min() >= 5
        assert "Planted" not in safe.read_text()
    if told.exists():
        assert json.loads(told.read_text())
        assert safe.exists()
    report = place / "out" / "report.json"
    if report.exists():
        assert json.loads(report.read_text())
    for key in (place / "keys").rglob("*.key.json"):
        assert json.loads(key.read_text())["format"]


def killed_at_random(command: list[str], place: Path, moments: int, seed: int) -> int:
    """Kill the command so many times while it works; hands back how many runs were cut."""
    settings = environment(place)
    whole = start(command, place / "said", environment=settings)
    assert whole.wait() in (0, 1, 4), whole.err
    length = time.monotonic() - whole.began
    draw, cut = random.Random(seed), 0
    for _ in range(moments):
        running = start(command, place / "said", environment=settings)
        time.sleep(draw.uniform(0.0, length))
        running.kill()
        cut += running.wait() == -signal.SIGKILL
        check_whole(place)
    last = start(command, place / "said", environment=settings)
    assert last.wait() in (0, 1, 4), last.err
    check_whole(place)
    return cut


@pytest.mark.parametrize("verb", [anonymize, assess], ids=["anonymize", "assess"])
@pytest.mark.parametrize("moments", [3, pytest.param(50, marks=pytest.mark.heavy)])
def test_killed_at_random_moments(people: Path, place: Path, verb: object, moments: int) -> None:
    before = people.read_bytes()
    command = verb(people, place, "--force")  # type: ignore[operator]
    cut = killed_at_random(command, place, moments, seed=moments)
    assert cut >= moments // 5
    assert people.read_bytes() == before
    assert left(place) == set(), "the next run removes what was left"


def test_what_a_killed_run_left_is_found_and_removed(people: Path, place: Path) -> None:
    """Killed in the middle of writing, for certain: the folder of its unfinished file is there."""
    code = (
        "import os, signal, sys\n"
        "from crypsis.files import PrivateFolder, replacing_file\n"
        "spill = PrivateFolder('crypsis-spill-')\n"
        "with replacing_file(sys.argv[1]) as partial:\n"
        "    partial.write_text('half of')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    target = place / "out" / "safe.csv"
    done = subprocess.run([sys.executable, "-c", code, str(target)], env={**os.environ, **environment(place)})
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    found = [*(place / "out").iterdir(), *(place / "tmp").iterdir()]
    assert [path.name[:9] for path in found] == [".crypsis-", "crypsis-s"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)
    last = start(anonymize(people, place), place / "said", environment=environment(place))
    assert last.wait() == 0, last.err
    assert left(place) == set()
    check_whole(place)


def test_folders_in_use_are_left_alone(tmp_path: Path) -> None:
    mine = PrivateFolder("crypsis-test-", tmp_path)
    (mine.path / "page").write_text("x")
    assert remove_abandoned(tmp_path, "crypsis-test-") == []
    fresh = tmp_path / "crypsis-test-being-made"
    fresh.mkdir()
    assert remove_abandoned(tmp_path, "crypsis-test-") == []
    os.utime(fresh, (0, 0))
    assert remove_abandoned(tmp_path, "crypsis-test-") == [fresh]
    (tmp_path / "crypsis-test-link").symlink_to(mine.path)
    assert remove_abandoned(tmp_path, "crypsis-test-") == []
    mine.remove()
    assert not mine.path.exists()


def in_small_room(
    size: str, folder: Path, command: list[str], settings: dict[str, str]
) -> tuple[int, str, list[str]]:
    """Run a command where `folder` is a disk of that size; what it left there comes back too."""
    script = 'mount -t tmpfs -o size=$1 tmpfs "$2" && shift 2 && { "$@"; s=$?; ls -A "$0" >&3; exit $s; }'
    listed = folder.parent / "listed"
    words = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c", script, str(folder)]
    with listed.open("w") as names:
        done = subprocess.run(
            [
                "sh",
                "-c",
                'exec "$@" 3>&1 >/dev/null',
                "sh",
                *words,
                size,
                str(folder),
                sys.executable,
                "-m",
                "crypsis",
                *command,
            ],
            env={**os.environ, **settings},
            stdout=names,
            stderr=subprocess.PIPE,
            text=True,
        )
    return done.returncode, done.stderr, listed.read_text().split()


@pytest.mark.parametrize(
    "suffix",
    [".csv", ".sqlite", ".duckdb", ".dta", ".arrow", pytest.param(".parquet", marks=pytest.mark.heavy)],
)
def test_disk_full_while_the_release_is_written(place: Path, suffix: str) -> None:
    source = place / "wide.parquet"
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"age": rng.integers(0, 3, 60_000), "noise": rng.random(60_000)}), source)
    out = place / "out" / f"safe{suffix}"
    command = ["anonymize", "--person", "each record", str(source), "-o", str(out), "--k", "2", "--qi", "age"]
    command += ["--insensitive", "noise"]
    key = ["--key", str(place / "keys" / "key.json")]
    status, said, names = in_small_room("128k", place / "out", [*command, *key], environment(place))
    assert status == 2, said
    assert "disk is full" in said or "No space left" in said
    assert "Traceback" not in said
    assert "errno" not in said, "in the words of the system"
    assert names == []
    assert not (place / "keys" / "key.json").exists(), "no key without its release"


def test_files_that_may_not_grow(people: Path, place: Path) -> None:
    small = {resource.RLIMIT_FSIZE: 4_096}
    running = start(anonymize(people, place), place / "said", limits=small, environment=environment(place))
    assert running.wait() == 2, running.err
    assert "may not grow" in running.err or "File too large" in running.err
    assert "Traceback" not in running.err
    assert left(place) == set()
    assert {path.name for path in (place / "out").iterdir()} == set()


@pytest.fixture(scope="module")
def many_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.parquet"
    rng = np.random.default_rng(1)
    rows = 2_000_000
    pq.write_table(pa.table({"a": rng.permutation(rows), "b": rng.integers(0, 9, rows)}), path)
    return path


@pytest.mark.heavy
def test_disk_full_while_spilling(many_groups: Path, place: Path) -> None:
    command = ["scan", str(many_groups), "--memory-limit", "60MB", "--spill-folder", str(place / "out")]
    status, said, names = in_small_room("2m", place / "out", command, environment(place))
    assert status == 2, said
    assert "memory limit" in said or "disk" in said
    assert names == []


def test_a_memory_limit_that_is_hit(many_groups: Path, place: Path) -> None:
    command = ["scan", str(many_groups), "--memory-limit", "20MB"]
    running = start(command, place / "said", environment=environment(place))
    assert running.wait() == 2
    assert "--memory-limit" in running.err
    assert left(place) == set()


def test_memory_of_the_process_runs_out(people: Path, place: Path) -> None:
    """The operating system refuses. Native code may end the process; nothing half stays behind."""
    tight = {resource.RLIMIT_AS: 1_500_000_000}  # enough to load, too little for the engine
    settings = environment(place)
    running = start(anonymize(people, place), place / "said", limits=tight, environment=settings)
    status = running.wait()
    assert "Traceback" not in running.err
    if status == 2:
        assert "memory" in running.err.lower() or "cannot" in running.err
    check_whole(place)
    last = start(anonymize(people, place, "--force"), place / "said", environment=settings)
    assert last.wait() == 0, last.err
    assert left(place) == set()


def test_a_spill_folder_that_cannot_be_written(people: Path, place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o555)
    as_other = 65_534 if os.geteuid() == 0 else None
    for folder in (place, *place.parents):
        if folder == Path("/tmp"):
            break
        if as_other is not None:
            folder.chmod(0o755)
    readable = place / "people.csv"
    shutil.copy(people, readable)
    readable.chmod(0o644)
    said = place / "said"
    said.mkdir()
    said.chmod(0o777)
    command = ["scan", str(readable), "--spill-folder", str(closed)]
    running = start(command, said, environment={"HOME": str(place)}, user=as_other)
    assert running.wait() == 2, running.err
    assert "is not writable" in running.err
    running = start(["scan", str(readable)], said, environment={"TMPDIR": str(closed)}, user=as_other)
    assert running.wait() in (0, 2), running.err  # Python falls back on other folders
    assert "Traceback" not in running.err


def test_a_file_that_may_not_be_read(place: Path) -> None:
    for folder in (place, *place.parents):
        if folder == Path("/tmp"):
            break
        folder.chmod(0o755)
    secret = place / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    secret.chmod(0o000)
    said = place / "said"
    said.mkdir()
    said.chmod(0o777)
    as_other = 65_534 if os.geteuid() == 0 else None
    running = start(["scan", str(secret)], said, user=as_other)
    assert running.wait() == 2
    assert "could not be read (Permission denied)" in running.err


@pytest.mark.parametrize("verb", [anonymize, assess], ids=["anonymize", "assess"])
def test_interrupted(people: Path, place: Path, verb: object) -> None:
    command = verb(people, place)  # type: ignore[operator]
    running = start(command, place / "said", environment=environment(place))
    until(lambda: any((place / "tmp").glob("crypsis-spill-*")) or not running.process.is_alive())
    running.kill(signal.SIGINT)
    status = running.wait()
    assert status in (130, 0, 1, 4), running.err  # at the last moment it may have been done
    assert "Traceback" not in running.err
    assert left(place) == set()
    check_whole(place)


def test_nobody_reads_the_output(people: Path, place: Path) -> None:
    pipe = place / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    running: Running = start(
        ["scan", str(people), "--json"], place / "said", out=pipe, environment=environment(place)
    )
    time.sleep(0.05)
    os.close(reader)
    status = running.wait()
    assert status in (0, 2), running.err  # 0 if all was written before
    assert "Traceback" not in running.err
    assert "BrokenPipe" not in running.err
    assert left(place) == set()


def test_a_source_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "grows.parquet"
    pq.write_table(pa.table({"a": [1, 2, 2], "b": [1, 1, 1]}), path)
    release = cr.read(path, quasi_identifiers=["a"], person="each record")
    assert release.count == 3
    pq.write_table(pa.table({"a": [1, 2, 2, 3], "b": [1, 1, 1, 1]}), path)
    with pytest.raises(SourceError, match="changed while it was being read"):
        release.cells()
    with pytest.raises(OutputError, match="changed while it was being read"):
        release.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("reader", "limit"), [("arrow_reader._quotes_are_plain", None), ("duckdb_reader._typed_at_once", "1GB")]
)
def test_a_table_that_changes_while_it_is_split(
    reader: str, limit: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crypsis.tables.csv import arrow_reader, duckdb_reader

    path = tmp_path / "grows.csv"
    path.write_text("a,b\n" + '1,"2"\n' * 500)
    place, name = reader.split(".")
    module = {"duckdb_reader": duckdb_reader, "arrow_reader": arrow_reader}[place]
    original = getattr(module, name)

    def append(*given: object) -> object:
        with path.open("a") as file:
            file.write("3,4\n")
        return original(*given)

    monkeypatch.setattr(module, name, append)
    with pytest.raises(SourceError, match="changed while it was being read"):
        cr.read(path, memory_limit=limit)


def test_a_table_in_memory_may_change_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1,2\n1,3\n")
    release = cr.read(path)
    path.write_text("a,b\n9,9\n")
    assert release.cells(["a"]).counts.tolist() == [2]


def test_two_runs_write_the_same_output(people: Path, place: Path) -> None:
    """Without --force one wins and the other says so; the statement is the winner's."""
    settings = environment(place)
    commands = [anonymize(people, place, "--key", str(place / "keys" / f"{i}.json")) for i in (1, 2)]
    runs = [start(command, place / f"said{i}", environment=settings) for i, command in enumerate(commands)]
    statuses = sorted(running.wait() for running in runs)
    assert statuses == [0, 2], [running.err for running in runs]
    assert any("exists already" in running.err for running in runs)
    assert len(list((place / "keys").glob("*.json"))) == 1, "the other leaves no key"
    assert left(place) == set()
    check_whole(place)


def test_threads_race_for_one_name(tmp_path: Path) -> None:
    """Many writers at once: one wins without overwrite; with it files that belong together stay so."""
    main, note = tmp_path / "a.csv", tmp_path / "a.md"
    outcomes: list[str] = []
    gate = threading.Barrier(8)

    def write(number: int, overwrite: bool) -> None:
        gate.wait()
        try:
            with replacing_files([main, note], overwrite=overwrite) as partials:
                for partial in partials:
                    partial.write_text(str(number))
            outcomes.append("won")
        except OutputError:
            outcomes.append("lost")

    for overwrite, winners in ((False, 1), (True, 8), (True, 8)):
        outcomes.clear()
        threads = [threading.Thread(target=write, args=(i, overwrite)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count("won") == winners
        assert main.read_text() == note.read_text()
        assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "a.md"}


def test_a_source_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,zip\n" + "1,2\n" * 40)
    before = path.read_bytes()
    release = cr.read(path)
    (tmp_path / "other-name.csv").symlink_to(path)
    for name in ("data.csv", "other-name.csv"):
        with pytest.raises(OutputError, match="is being read"):
            release.write(tmp_path / name, overwrite=True)
    assert path.read_bytes() == before
    assert (
        run(["leak", str(path), "--target", "zip", "--given", "age", "--groups", str(path), "--force"]) == 2
    )
    assert path.read_bytes() == before


def test_an_error_inside_leaves_nothing(tmp_path: Path) -> None:
    def half(target: Path) -> None:
        with replacing_file(target) as partial:
            partial.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []

"""Files that mean harm: names that lead elsewhere, too much of everything, bombs, damage."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from crypsis.dataset import Dataset
from crypsis.policies import PRESETS
from crypsis.tables.paths import SUFFIXES
from crypsis.web import ListeningServer
from crypsis.web.forms import PolicyName
from crypsis.web.pages import POLICIES
from crypsis.web.uploads import ACCEPTED
from tests.web.conftest import Caller, running

UPLOAD = "/api/v1/tables/upload"


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ListeningServer]:
    """A server that allows little."""
    limits = {"upload_bytes": 200_000, "expanded_bytes": 1_000_000, "rows": 5_000, "columns": 40}
    with running(**limits, folder=tmp_path_factory.mktemp("tight"), tables=3) as started:
        yield started


@pytest.fixture
def asking(tight: ListeningServer) -> Iterator[Caller]:
    with Caller(tight) as caller:
        yield caller
        for table in caller.get("/api/v1/tables").json():  # of a test that failed
            caller.delete(f"/api/v1/tables/{table['id']}")


def _folder(server: ListeningServer) -> Path:
    path: Path = server.app.state.workspace.private.path
    return path


def _files(server: ListeningServer) -> list[Path]:
    found = [path for path in _folder(server).rglob("*") if path.is_file()]
    return [path for path in found if path.name != "lock"]


@pytest.mark.parametrize(
    "name",
    [
        "../../../tmp/evil.csv",
        "/etc/cron.d/evil.csv",
        "..\\..\\evil.csv",
        "a/../../evil.csv",
        "\u202eevil\x00\n.csv",
        "*.csv",
        "[a].csv",
        "-rf.csv",
        "." * 300 + ".csv",
    ],
)
def test_names_lead_nowhere(asking: Caller, tight: ListeningServer, name: str) -> None:
    table = asking.post("/api/v1/tables", json={"kind": "comparison"}).json()["id"]
    upload = f"/api/v1/tables/{table}/files/original/upload"
    shown = asking.post(upload, params={"name": name}, content=b"a,b\n1,2\n3,4\n").json()
    assert "/" not in shown["title"]
    assert [path.name for path in _files(tight)] == ["original.csv"]
    for path in _files(tight):
        assert path.resolve().is_relative_to(_folder(tight).resolve())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(_folder(tight).stat().st_mode) == 0o700
    assert asking.delete(f"/api/v1/tables/{table}").status_code == 204
    assert _files(tight) == []


@pytest.mark.parametrize("name", ["..", ".", "/", "\n"])
def test_names_that_are_none(asking: Caller, tight: ListeningServer, name: str) -> None:
    assert asking.post(UPLOAD, params={"name": name}, content=b"a\n1\n").status_code == 400
    assert _files(tight) == []


@pytest.mark.parametrize("name", ["x", "x.exe", "x.zip", "x.duckdb", "x.parquet.gz", "x.html"])
def test_kinds_that_are_not_taken(asking: Caller, name: str) -> None:
    answer = asking.post(UPLOAD, params={"name": name}, content=b"PK\x03\x04")
    assert answer.status_code == 415


def test_too_large_and_said_so(asking: Caller, tight: ListeningServer) -> None:
    answer = asking.post(UPLOAD, params={"name": "x.csv"}, content=b"a\n" + b"1\n" * 200_000)
    assert answer.status_code == 413
    assert _files(tight) == []
    assert asking.get("/api/v1/tables").json() == []


def test_too_large_and_not_said_so(asking: Caller, tight: ListeningServer) -> None:
    pieces = (b"1,2,3\n" * 1_000 for _ in range(100))
    answer = asking.post(UPLOAD, params={"name": "x.csv"}, content=pieces)
    assert answer.status_code == 413
    assert _files(tight) == []


def test_every_format_that_is_read_is_taken(asking: Caller, tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    data = Dataset.from_frame(table)
    contents = {}
    for name in ("x.feather", "x.dta", "x.sav"):
        data.write(tmp_path / name)
        contents[name] = (tmp_path / name).read_bytes()
    with pa.output_stream(str(tmp_path / "x"), compression="zstd") as file:
        file.write(b"a,b\n1,x\n2,y\n3,z\n")
    contents["x.csv.zst"] = (tmp_path / "x").read_bytes()
    for name, content in contents.items():
        job = asking.ended(asking.post(UPLOAD, params={"name": name}, content=content))
        assert job["state"] == "done", (name, job["error"])
        assert asking.get(f"/api/v1/tables/{job['table']}").json()["rows"] == 3
        asking.delete(f"/api/v1/tables/{job['table']}")
    assert {form for form in SUFFIXES if SUFFIXES[form][0] not in ACCEPTED} == {"duckdb"}
    assert set(get_args(PolicyName)) == set(PRESETS) == set(POLICIES)


@pytest.mark.parametrize("end", ["zst", "xz", "bz2", "lz4", "br"])
def test_other_bombs(asking: Caller, tight: ListeningServer, tmp_path: Path, end: str) -> None:
    text = b"a,b\n" + b"1,2\n" * 2_000_000
    if end == "xz":
        bomb = lzma.compress(text)
    else:
        codec = {"zst": "zstd", "br": "brotli"}.get(end, end)
        with pa.output_stream(str(tmp_path / "x"), compression=codec) as file:
            file.write(text)
        bomb = (tmp_path / "x").read_bytes()
    answer = asking.post(UPLOAD, params={"name": f"x.csv.{end}"}, content=bomb)
    assert answer.status_code == 413
    assert "Unpacked" in answer.json()["error"]
    assert asking.post(
        UPLOAD, params={"name": f"x.csv.{end}"}, content=bomb[: len(bomb) // 2]
    ).status_code in (400, 413)
    assert _files(tight) == []


def test_a_gzip_bomb(asking: Caller, tight: ListeningServer) -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000)
    assert len(bomb) < 200_000
    answer = asking.post(UPLOAD, params={"name": "x.csv.gz"}, content=bomb)
    assert answer.status_code == 413
    assert "Unpacked" in answer.json()["error"]
    assert _files(tight) == []
    damaged = asking.post(UPLOAD, params={"name": "x.csv.gz"}, content=gzip.compress(b"a,b\n1,2\n")[:-6])
    assert damaged.status_code == 400


def test_a_spreadsheet_bomb(asking: Caller) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b"0" * 50_000_000)
    answer = asking.post(UPLOAD, params={"name": "x.xlsx"}, content=buffer.getvalue())
    assert answer.status_code == 413


def test_rows_without_end_and_columns_without_end(asking: Caller) -> None:
    """A few bytes of Parquet hold many equal rows; a line of CSV holds many columns."""
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"a": pa.array([1] * 1_000_000, pa.int8())}), buffer)
    assert len(buffer.getvalue()) < 200_000
    job = asking.ended(asking.post(UPLOAD, params={"name": "x.parquet"}, content=buffer.getvalue()))
    assert job["state"] == "failed"
    assert "more than 5,000 rows" in job["error"]
    asking.delete(f"/api/v1/tables/{job['table']}")
    for width, status in ((3_000, 413), (60, 202)):
        wide = ",".join(f"c{i}" for i in range(width)) + "\n" + ",".join("1" * width) + "\n"
        answer = asking.post(UPLOAD, params={"name": "x.csv"}, content=wide.encode())
        assert answer.status_code == status
    job = asking.ended(answer)
    assert job["state"] == "failed"
    assert "40 are allowed" in job["error"]
    asking.delete(f"/api/v1/tables/{job['table']}")


def test_no_more_tables_than_allowed(asking: Caller) -> None:
    made = [asking.post("/api/v1/tables", json={}) for _ in range(4)]
    assert [one.status_code for one in made] == [201, 201, 201, 429]
    for one in made[:3]:
        asking.delete(f"/api/v1/tables/{one.json()['id']}")


def test_a_database_cannot_name_files_of_the_server(asking: Caller, tmp_path: Path) -> None:
    """A DuckDB file may hold a view on any file; under another name it is not read as one."""
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE VIEW people AS SELECT * FROM read_text('/etc/hostname')")
        base.execute("CHECKPOINT")
    body = path.read_bytes()[:190_000]
    for name in ("x.csv", "x.json"):
        job = asking.ended(asking.post(UPLOAD, params={"name": name}, content=body))
        assert job["state"] == "failed", name
        asking.delete(f"/api/v1/tables/{job['table']}")
    job = asking.ended(asking.post(UPLOAD, params={"name": "y.csv"}, content=b"a\n1\n2\n"))
    for reading in ({"query": "SELECT 1"}, {"format": "duckdb"}):
        answer = asking.put(f"/api/v1/tables/{job['table']}/reading", json=reading)
        assert answer.status_code == 422
    asking.delete(f"/api/v1/tables/{job['table']}")


def test_no_path_of_the_server_can_be_named(asking: Caller) -> None:
    assert asking.post("/api/v1/tables/given", json={"place": 0}).status_code == 404
    assert asking.post("/api/v1/tables/given", json={"path": "/etc/passwd"}).status_code == 422
    table = asking.post("/api/v1/tables", json={}).json()["id"]
    for name in ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "reidentification.key.json", "data-x.csv"):
        answer = asking.get(f"/api/v1/tables/{table}/downloads/{name}")
        assert answer.status_code == 404
    assert asking.get("/assets/..%2f..%2f__init__.py").status_code == 404
    asking.delete(f"/api/v1/tables/{table}")


def test_a_bad_file_is_told_without_its_content(asking: Caller) -> None:
    body = b'id,word\n1,"Zebedee\n2,x\n3,"' + b"Zebedee" * 20
    job = asking.ended(asking.post(UPLOAD, params={"name": "bad.csv"}, content=body))
    assert job["state"] == "failed"
    assert "Zebedee" not in job["error"]
    page = asking.get(f"/t/{job['table']}").text
    assert "could not be opened" in page
    assert "Zebedee" not in page
    asking.delete(f"/api/v1/tables/{job['table']}")

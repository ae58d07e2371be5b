"""Crafted files: what a file brings along neither decides, nor reads, nor writes anything."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import crypsis as cr
from crypsis.columns import roles
from crypsis.errors import CrypsisError, InputError, OutputError, SourceError, TooLargeError
from crypsis.hierarchies import Hierarchy
from crypsis.policies import load_policy
from crypsis.protection import Plan
from crypsis.protection._key import Key
from crypsis.pseudonyms import load_attack
from crypsis.report.charts.singling_out import class_sizes
from crypsis.report.figures import figure
from crypsis.web.forms import AnonymizeForm, GivenFile, NewTable
from tests.promises import mutants

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def _duckdb(path: Path, *statements: str) -> Path:
    base = duckdb.connect(str(path))
    base.execute("create table t as select range as id, range % 2 as b from range(500)")
    for one in statements:
        base.execute(one)
    base.close()
    return path


def _sqlite(path: Path, rows: int = 3, *statements: str) -> Path:
    base = sqlite3.connect(path)
    base.execute("create table t (a, b)")
    base.executemany("insert into t values (?, ?)", [(n, n % 2) for n in range(rows)])
    for one in statements:
        base.execute(one)
    base.commit()
    base.close()
    return path


@pytest.mark.parametrize(
    "macro",
    [
        "count_star() as 500",
        "sum(x) as 7",
        "min(x) as 1",
        '"+"(a, b) as 3',
        "duckdb_tables() as table select 1",
        "COUNT_STAR() as 500",
    ],
)
def test_functions_of_a_file_do_not_replace_ours(tmp_path: Path, macro: str) -> None:
    path = _duckdb(tmp_path / "evil.duckdb", f"create macro main.{macro}")
    with pytest.raises(SourceError, match="replace built-in") as caught:
        cr.assess(path, quasi_identifiers=["id"], insensitive=["b"], person="each record")
    assert caught.value.code == "shadowed-functions"
    plain = _duckdb(tmp_path / "plain.duckdb", "create macro main.mine(x) as x + 1")
    assert cr.singling_out.k_anonymity(cr.read(plain), "id") == 1
    assert [one.name for one in cr.read(plain).rows.contents()] == ["format:duckdb"]


def test_views_and_queries_of_a_database_read_nothing_else(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    path = _duckdb(
        tmp_path / "v.duckdb",
        f"create view v as select * from read_csv('{other}')",
        "create view w as select id + 1 as id, b from t",
    )
    queries = (
        f"select * from read_csv('{other}')",
        f"select * from read_text('{other}')",
        f"select * from '{other}'",
        "select * from v",
    )
    for given in ({"table": "v"}, *({"query": query} for query in queries)):
        with pytest.raises(SourceError):
            cr.read(path, **given)  # type: ignore[arg-type]
    assert cr.read(path, table="w").count == 500
    assert cr.read(path, query="select id, count(*) as n from t group by id").count == 500


def test_a_query_is_one_statement_that_reads(tmp_path: Path) -> None:
    paths = (_duckdb(tmp_path / "q.duckdb"), _sqlite(tmp_path / "q.sqlite"))
    target = tmp_path / "written.csv"
    for path in paths:
        before = path.read_bytes()
        for query in (
            "select 1; select 2",
            "drop table t",
            "insert into t values (1, 2)",
            f"copy t to '{target}'",
            f"select 1 as a; copy t to '{target}'",
            "pragma user_version",
            f"attach '{target}' as x",
            "with x as (delete from t returning *) select * from x",
            "select * into x from t",
            "set memory_limit = '1GB'",
            "",
            "select 1) as x; drop table t --",
        ):
            with pytest.raises(CrypsisError):
                cr.read(path, query=query)
        assert path.read_bytes() == before
        assert cr.read(path, query="select ';' as a, b from t; -- all").count in (3, 500)
    assert not target.exists()


_NAMES = ("w[1]", "x*", "q?", "[a-z]", "it's [b]")


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("form", ["parquet", "csv", "csv by the engine", "json", "remote"])
def test_a_path_is_that_one_file(tmp_path: Path, name: str, form: str) -> None:
    suffix = "parquet" if form == "remote" else form.split()[0]

    def write(path: Path, rows: int) -> None:
        table = pa.table({"a": list(range(rows)), "b": ["x"] * rows})
        if suffix == "parquet":
            pq.write_table(table, path)
        elif suffix == "csv":
            pyarrow.csv.write_csv(table, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))

    write(tmp_path / f"{name}.{suffix}", 10)
    for other in ("w1", "xx", "qa", "b", "it's b"):
        write(tmp_path / f"{other}.{suffix}", 90)
    path = str(tmp_path / f"{name}.{suffix}")
    source = f"file://{path}" if form == "remote" else path
    given: dict[str, Any] = {"memory_limit": "1GB"} if form == "csv by the engine" else {}
    assert cr.read(source, **given).count == 10
    safe = cr.read(path)
    written = safe.write(tmp_path / f"out {name}.parquet")
    assert cr.read(written).count == 10
    assert cr.read(str(tmp_path / f"*.{suffix}"), **given).count >= 460


def test_addresses_of_sqlite_files_are_escaped(tmp_path: Path) -> None:
    _sqlite(tmp_path / "ab.sqlite", 90)
    for name in ("a%62.sqlite", "h#x.sqlite", "q?mode=rwc.sqlite", "s p&c.sqlite"):
        path = _sqlite(tmp_path / name, 10)
        there = set(tmp_path.iterdir())
        assert cr.read(path, format="sqlite").count == 10
        assert set(tmp_path.iterdir()) == there


def _with_a_bad(what: str) -> pa.Array:
    """A column that Arrow takes as it is, and that points beyond its memory."""
    bounds = pa.array([0, 10**9, 1, 1, 1, 2], pa.int32()).buffers()[1]
    if what == "index of a dictionary":
        indices = pa.array([0, 1, 10**9, 1, 0], pa.int32())
        return pa.DictionaryArray.from_buffers(
            pa.dictionary(pa.int32(), pa.string()), 5, indices.buffers(), pa.array(["a", "b"])
        )
    if what == "offset of a text":
        return pa.Array.from_buffers(pa.string(), 5, [None, bounds, pa.py_buffer(b"abc")])
    if what == "text that is not UTF-8":
        bounds = pa.array([0, 1, 2, 3, 4, 5], pa.int32()).buffers()[1]
        return pa.Array.from_buffers(pa.string(), 5, [None, bounds, pa.py_buffer(b"\xff" * 5)])
    return pa.Array.from_buffers(
        pa.list_(pa.int64()), 5, [None, bounds], children=[pa.array([1, 2], pa.int64())]
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "what", ["index of a dictionary", "offset of a text", "offset of a list", "text that is not UTF-8"]
)
def test_a_damaged_arrow_file_is_a_sentence(tmp_path: Path, what: str, stream: bool) -> None:
    """In a process of its own, which the file may end."""
    table = pa.table({"a": [1, 2, 3, 4, 5], "b": _with_a_bad(what)})
    path = tmp_path / "t.arrow"
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, table.schema) as writer:
        writer.write_table(table)
    command = [sys.executable, "-m", "crypsis", "scan", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr[-300:]
    assert "'t.arrow' could not be read as an Arrow file, or is damaged" in " ".join(ended.stderr.split())


@pytest.mark.filterwarnings("ignore:Feather V1")
def test_feather_of_version_1_is_refused(tmp_path: Path) -> None:
    feather.write_feather(pa.table({"a": [1, 2]}), tmp_path / "t.feather", version=1)
    with pytest.raises(SourceError, match="Feather file of version 1"):
        cr.read(tmp_path / "t.feather")


_MUTANTS = 60
_LIMIT_KB = 12_000_000


@pytest.mark.heavy
@pytest.mark.parametrize("form", list(mutants.FORMATS))
def test_files_with_changed_bytes_are_read_or_refused(tmp_path: Path, form: str) -> None:
    """No process ends by a signal, and no error is an internal fault."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.promises.mutants",
        form,
        str(tmp_path),
        "0",
        str(_MUTANTS),
    ]
    limited = f'ulimit -v {_LIMIT_KB}; exec "$@"'
    ended = subprocess.run(
        ["bash", "-c", limited, "-", *command], capture_output=True, text=True, check=False, timeout=1200
    )
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, f"mutant {len(lines)} ended the process: {ended.stderr[-300:]}"
    assert len(lines) == _MUTANTS
    assert not [line for line in lines if "FAULT" in line]


@pytest.mark.parametrize(
    "address",
    [
        "dir:///",
        "zip://a.zip",
        "zip://",
        "github://",
        "ftp://",
        "ftp://host/t.csv",
        "git://x",
        "jupyter://x",
        "reference://",
        "local:///tmp/t.csv",
        "simplecache::s3://x/t.csv",
    ],
)
def test_addresses_that_are_not_documented_are_refused_by_name(address: str) -> None:
    kind = address.split("://")[0]
    with pytest.raises(SourceError, match=f"begin with {kind}:// are not read"):
        cr.read(address)


def test_names_of_users_and_whole_disks_are_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match="'~nobody-here.csv' does not exist"):
        cr.read("~nobody-here.csv")
    (tmp_path / "~nobody-here.csv").write_text("a,b\n1,2\n")
    assert cr.read("~nobody-here.csv").count == 1
    monkeypatch.setattr("crypsis.tables.paths._MAX_FOLDER_ENTRIES", 20)
    with pytest.raises(SourceError, match="has more than 20 files"):
        cr.read("/")


def test_a_table_with_too_many_columns_is_refused_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    for width in (10_001, 100_000):
        names, values = (",".join(f"{sign}{n}" for n in range(width)) for sign in ("c", ""))
        (tmp_path / "t.csv").write_text(f"{names}\n{values}\n{values}\n")
        with pytest.raises(SourceError, match=f"has {width:,} columns; at most 10,000 are read"):
            cr.read(tmp_path / "t.csv")
    assert time.monotonic() - began < 30


def test_what_cannot_be_read_is_not_called_a_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a":' * 3000 + "1" + "}" * 3000 + "\n")
    with pytest.raises(SourceError, match="nested too deeply"):
        cr.read(tmp_path / "t.jsonl")
    engine = duckdb.connect()
    engine.execute("set force_mbedtls_unsafe = 'true'")
    engine.execute("pragma add_parquet_key('k', '0123456789112345')")
    path = tmp_path / "t.parquet"
    engine.execute(f"copy (select 1 a) to '{path}' (encryption_config {{footer_key: 'k'}})")
    with pytest.raises(SourceError, match="is encrypted"):
        cr.read(path)
    views = [
        "create view cast_one as select 'secret'::int as a",
        "create view raise_one as select error('secret') as a",
        "create table gone (a int)",
        "create view lost as select * from gone",
        "drop table gone",
    ]
    path = _duckdb(tmp_path / "t.duckdb", *views)
    for view in ("cast_one", "raise_one", "lost"):
        with pytest.raises(SourceError, match=f"'{view}' could not be computed") as caught:
            cr.read(path, table=view)
        assert "secret" not in str(caught.value)
        assert "delimiter" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v")
def test_little_memory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for kilobytes in (400_000, 600_000):
        command = [sys.executable, "-m", "crypsis", "scan", str(tmp_path / "t.csv")]
        limited = ["bash", "-c", f'ulimit -v {kilobytes}; exec "$@"', "-", *command]
        ended = subprocess.run(limited, capture_output=True, text=True, check=False)
        assert ended.returncode in (0, 2), ended.stderr[-300:]
        assert ended.returncode == 0 or "Not enough memory" in ended.stderr


def test_control_characters_of_file_names_are_not_sent(tmp_path: Path) -> None:
    name = "x\x1b[31m\x07\x9b.csv"
    (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
    for arguments in (
        ["scan", str(tmp_path / name)],
        ["assess", str(tmp_path / name), "--qi", "a"],
        ["scan", str(tmp_path / name), "-o", str(tmp_path / f"{name}.json")],
        ["scan", str(tmp_path / name), "--roles", f"{name}.toml"],
    ):
        command = [sys.executable, "-m", "crypsis", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not CONTROL.search(ended.stdout + ended.stderr), arguments


_COMPUTED = {
    "view.duckdb": "create view r as select id, current_setting('lock_configuration') as b from t",
    "query of a view.duckdb": "create view v as select id, current_catalog() as b from t",
    "generated.duckdb": "create table r (id int, b varchar generated always as (current_catalog()))",
    "default.duckdb": "create table r (id int, b varchar default current_catalog())",
    "macro.duckdb": "create macro area(x) as current_catalog()",
    "view.sqlite": "create view r as select a as id, sqlite_version() as b from t",
    "generated.sqlite": "create table r (id int, b generated always as (hex(id)) virtual)",
    "stored.sqlite": "create table r (id int, b generated always as (id + 1) stored)",
    "default.sqlite": "create table r (id int, b default 'x')",
    "virtual.sqlite": "create virtual table r using fts5(id, b)",
}
_QUERIES = {
    "query of a view.duckdb": "select id, b from v",
    "macro.duckdb": "select id, area(id) as b from t",
}


@pytest.mark.parametrize("name", _COMPUTED)
def test_computed_values_are_never_safe_whatever_is_signed_off(tmp_path: Path, name: str) -> None:
    """Also where nothing is wrong with them: what a recipient gets is known once it is written."""
    path = (_duckdb if name.endswith("duckdb") else _sqlite)(tmp_path / name)
    base = (duckdb if name.endswith("duckdb") else sqlite3).connect(str(path))
    base.execute(_COMPUTED[name])
    if "create view" not in _COMPUTED[name] and name not in _QUERIES:
        for place in range(60):
            base.execute(f"insert into r (id) values ({place % 2})")
    base.commit()
    base.close()
    query = _QUERIES.get(name)
    data = cr.read(path, table=None if query else "r", query=query, insensitive=["id", "b"])
    signed = {content.name: "Checked." for content in data.rows.contents()}
    signed["computed:rows"] = "Checked."
    assessment = cr.assess(data.with_roles(data.roles, data.notes, signed), try_remedies=False)
    assert assessment.verdict.value != "safe"
    assert "container-contents" in [reason.code for reason in assessment.reasons]


def test_columns_that_are_computed_are_read_in_the_sealed_process(tmp_path: Path) -> None:
    path = _duckdb(tmp_path / "g.duckdb")
    with duckdb.connect(str(path)) as base:
        base.execute("create table r (id int, place varchar generated always as (current_catalog()))")
        base.execute("insert into r (id) values (1)")
        base.execute("create table plain as select * from r")
    assert cr.read(path, table="r").to_arrow()["place"].to_pylist() == ["g"]
    for table in ("t", "plain"):
        assert not cr.read(path, table=table).rows.computed
    assert not cr.read(_sqlite(tmp_path / "plain.sqlite")).rows.computed
    assert not cr.read(_duckdb(tmp_path / "q.duckdb"), query="select b from t").rows.computed


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("m.duckdb", "select md5(repeat(id::varchar || 'x', 20000000)) as a from t"),
        ("m.sqlite", "select length(group_concat(hex(zeroblob(200000000)))) as a from t"),
    ],
)
def test_a_view_takes_no_more_memory_than_it_may(tmp_path: Path, name: str, view: str) -> None:
    path = (_duckdb if name.endswith("duckdb") else _sqlite)(tmp_path / name)
    base = (duckdb if name.endswith("duckdb") else sqlite3).connect(str(path))
    base.execute(f"create view v as {view}")
    base.commit()
    base.close()
    program = (
        "import resource, sys, crypsis as cr\n"
        "from crypsis.errors import SourceError, TooLargeError\n"
        "try: cr.read(sys.argv[1], table='v', memory_limit='700MB')\n"
        "except (TooLargeError, SourceError): print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert 0 < int(ended.stdout) < 1_200_000


@pytest.mark.parametrize("name", ["e.duckdb", "e.sqlite"])
def test_a_view_that_does_not_end_is_stopped(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crypsis.tables.isolated.MAX_SECONDS", 8)
    path = (_duckdb if name.endswith("duckdb") else _sqlite)(tmp_path / name)
    base = (duckdb if name.endswith("duckdb") else sqlite3).connect(str(path))
    base.execute(
        "create view v as with recursive r(a) as (select 1 union all select a + 1 from r) "
        "select count(*) as a from r"
    )
    base.commit()
    base.close()
    began = time.monotonic()
    with pytest.raises(TooLargeError, match="takes longer than 8 seconds"):
        cr.read(path, table="v")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("broken_lines", [1, 30])
def test_a_text_with_broken_bytes_is_refused(tmp_path: Path, broken_lines: int) -> None:
    lines = [b"town", *["München".encode()] * 500]
    lines[100 : 100 + broken_lines] = [b"M\xfcnchen"] * broken_lines
    (tmp_path / "t.csv").write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(SourceError, match="line 101 is not in the encoding utf-8"):
        cr.read(tmp_path / "t.csv")


def test_an_endless_view_is_stopped_while_it_is_copied(tmp_path: Path) -> None:
    endless = "with recursive r(a) as (select 1 union all select a + 1 from r) select a, 1 as b from r"
    began = time.monotonic()
    path = _sqlite(tmp_path / "e.sqlite", 3, f"create view v as {endless}")
    with pytest.raises(TooLargeError, match="more than 200,000 rows"):
        cr.read(path, table="v", max_rows=200_000)
    base = _duckdb(tmp_path / "e.duckdb", "create view v as select * from range(100000000000) r(a)")
    with pytest.raises(TooLargeError, match="more than 200,000 rows"):
        cr.read(base, table="v", max_rows=200_000)
    assert time.monotonic() - began < 60
    with pytest.raises(TooLargeError):
        cr.read(base, table="t", max_rows=499)
    assert cr.read(base, table="t", max_rows=500).count == 500


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * 200_000) + " = 1",
        "x = {" + ".".join("a" * 200_000) + " = 1}",
        "[" + ".".join('"a"' for _ in range(200_000)) + "]",
        "x = " + "[" * 100_000,
        "x = " + "{a=" * 20_000,
        "a = 1\n" * 2_000_000,
    ],
    ids=["dotted key", "inline table", "header", "lists", "tables", "size"],
)
def test_documents_that_take_long_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d.toml"
    path.write_text(text)
    began = time.monotonic()
    readers: tuple[Callable[[Path], Any], ...] = (
        lambda p: roles.load(p, ["a"]),
        load_policy,
        Plan.load,
        load_attack,
        Hierarchy.read,
    )
    for read in readers:
        with pytest.raises(InputError):
            read(path)
    assert time.monotonic() - began < 30


def test_control_characters_of_names_are_not_sent(tmp_path: Path) -> None:
    age, disease, name = "a\x1b[31mge\x07", "dis\x1b]0;x\x07ease\x9b", "na\x1bme"
    rows = 120
    people = pa.table(
        {
            age: [30 + n % 3 for n in range(rows)],
            disease: ["fg"[n % 2] for n in range(rows)],
            name: ["x"] * rows,
        }
    )
    given = cr.Dataset.from_frame(
        people, quasi_identifiers=[age], sensitive=[disease], excluded=[name], person="each record"
    )
    found = cr.assess(given, name="r\x1b[1m")
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json(), str(cr.scan(given))):
        assert not CONTROL.search(text)
    made = cr.anonymize(given, k=3)
    made.write(tmp_path / "out.parquet")
    statement = made.statement
    for text in (statement.to_markdown(), str(made), str(made.loss)):
        assert not CONTROL.search(text)
    for path in tmp_path.glob("*.json"):
        assert not CONTROL.search(path.read_text())
    with pytest.raises(CrypsisError) as caught:
        cr.read(_sqlite(tmp_path / "c.sqlite", 1, 'create table "t\x1b[31m" (a)'))
    assert not CONTROL.search(str(caught.value))


def test_names_are_text_in_charts() -> None:
    """No name of a column is a field, an expression or an address of a chart."""
    evil = "datum['x'];alert(1)//\"}],\\"
    people = pa.table({evil: [n % 7 for n in range(50)]})
    found = cr.singling_out.equivalence_classes(people, evil)
    made = figure(class_sizes(found))

    def check(part: Any, key: str = "") -> None:
        if isinstance(part, dict):
            for name, value in part.items():
                check(value, name)
        elif isinstance(part, list):
            for value in part:
                check(value, key)
        elif isinstance(part, str) and key in (
            "expr",
            "signal",
            "update",
            "test",
            "field",
            "url",
            "href",
            "format",
            "calculate",
            "filter",
        ):
            assert "alert" not in part

    check(json.loads(made.specification))


def test_a_key_folder_open_to_everybody_is_refused(tmp_path: Path) -> None:
    key = Key(seed=1)
    for mode, refused in ((0o777, True), (0o757, True), (0o700, False), (0o1777, False), (0o755, False)):
        folder = tmp_path / f"m{mode:o}"
        folder.mkdir()
        folder.chmod(mode)
        if refused:
            with pytest.raises(OutputError, match="open to everybody"):
                key.save(folder / "key.json")
            assert not list(folder.iterdir())
        else:
            assert key.save(folder / "key.json").stat().st_mode & 0o777 == 0o600


def test_links_at_the_output_are_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim.csv"
    victim.write_text("keep\n")
    data = cr.Dataset.from_frame(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    link, hanging = tmp_path / "out.csv", tmp_path / "hanging.csv"
    link.symlink_to(victim)
    hanging.symlink_to(tmp_path / "created.csv")
    with pytest.raises(OutputError, match="exists"):
        data.write(link)
    data.write(link, overwrite=True)
    data.write(hanging, overwrite=True)
    assert victim.read_text() == "keep\n"
    assert not link.is_symlink()
    assert not hanging.is_symlink()
    assert not (tmp_path / "created.csv").exists()


def test_devices_and_pipes_are_never_replaced(tmp_path: Path) -> None:
    data = cr.Dataset.from_frame(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    pipe, link = tmp_path / "pipe.csv", tmp_path / "link.csv"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for place in (pipe, link):
        with pytest.raises(OutputError, match="is not a regular file"):
            data.write(place, overwrite=True)
    assert pipe.is_fifo()
    assert link.is_symlink()
    free = Path("/dev/crypsis-test-file.csv")  # nothing that would be missed if it were written
    with pytest.raises(OutputError, match="is not a regular file"):
        data.write(free)
    assert not free.exists()


def test_the_page_opens_no_addresses() -> None:
    """Files come by upload or by their place on the command line; no form has a path or a URL."""
    for form in (NewTable, GivenFile, AnonymizeForm):
        for given in ({"path": "http://169.254.169.254/"}, {"url": "file:///etc/passwd"}):
            with pytest.raises(ValueError, match="."):
                form.model_validate(given)
    with pytest.raises(ValueError, match="."):
        GivenFile.model_validate({"place": "http://169.254.169.254/"})
    assert AnonymizeForm(neutralize_formulas=True).neutralize_formulas


def test_a_small_file_with_large_values(tmp_path: Path) -> None:
    """Fifty kilobytes that stand for three gigabytes: one long text, of which each row is a copy."""
    path = tmp_path / "bomb.parquet"
    codes = pa.array([0] * 3_000, pa.int32())
    long = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))
    pq.write_table(pa.table({"a": long, "b": [n % 2 for n in range(3_000)]}), path, compression="zstd")
    assert path.stat().st_size < 60_000
    data = cr.read(path, memory_limit="500MB", quasi_identifiers=["b"], person="each record")
    assert data.count == 3_000
    assert data.rows.contents() == ()
    assert cr.singling_out.k_anonymity(data) == 1_500


def _workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    for row in [["age", "sex"], *[[30 + n % 2, "fm"[n % 2]] for n in range(60)]]:
        book.active.append(row)
    book.create_sheet("Legend").append(["codes"])
    book.properties.creator = "Jane Roe"
    book.save(path)
    return path


def test_contents_are_listed_until_they_are_signed_off(tmp_path: Path) -> None:
    path = _workbook(tmp_path / "b.xlsx")
    data = cr.read(path, quasi_identifiers=["age"], insensitive=["sex"], person="each record")
    found = [one.name for one in data.rows.contents()]
    assert found == ["format:excel"]
    told = cr.assess(data)
    assert told.verdict.value != "safe"
    assert [one.code for one in told.reasons].count("container-contents") == 1
    assert "Jane" not in told.to_json()
    signed = tmp_path / "roles.toml"
    lines = [
        "[roles]",
        'age = "quasi-identifier"',
        'sex = "insensitive"',
        "[container]",
        *(f'"{name}" = "Checked."' for name in found),
    ]
    signed.write_text("\n".join(lines))
    filed = roles.load(signed, data.names)
    after = cr.assess(data.with_roles(filed.roles, filed.notes, filed.container))
    assert "container-contents" not in [one.code for one in after.reasons]
    signed.write_text("\n".join([*lines[:4], '"format:excel" = " "']))
    with pytest.raises(InputError):
        roles.load(signed, data.names)


def test_a_release_holds_no_metadata(tmp_path: Path) -> None:
    """By its bytes: no unused category, no metadata of the file, of a column, or of pandas."""
    sex = pa.DictionaryArray.from_arrays(
        pa.array([n % 2 for n in range(80)], pa.int8()), pa.array(["f", "m", "UNUSED-NAME"])
    )
    field = pa.field("age", pa.int64(), metadata={"note": "COLUMN-NOTE"})
    schema = pa.schema([field, pa.field("sex", sex.type)], metadata={"owner": "FILE-OWNER"})
    table = pa.table([pa.array([30 + n % 2 for n in range(80)]), sex], schema=schema)
    pq.write_table(table, tmp_path / "in.parquet")
    owner = {"person": "each record", "person_reason": "A table made for this test."}
    file = tmp_path / "in.parquet"
    for source in (cr.read(file, **owner), cr.Dataset.from_frame(table, **owner)):
        data = source.with_roles({"age": "quasi-identifier", "sex": "quasi-identifier"})
        for name in ("out.parquet", "out.csv"):
            made = cr.anonymize(data, k=3)
            made.write(tmp_path / name, overwrite=True)
            content = (tmp_path / name).read_bytes()
            for word in (b"UNUSED", b"COLUMN-NOTE", b"FILE-OWNER", b"pandas"):
                assert word not in content
            assert cr.read(tmp_path / name).rows.contents() == ()


def test_records_that_are_dropped_count_as_unique() -> None:
    people = pa.table({"age": [30] * 50 + [None] * 4, "sex": ["f"] * 50 + list("abcd")})
    given = {"quasi_identifiers": ["age", "sex"], "missing": "drop", "person": "each record"}
    found = cr.assess(people, **given)  # type: ignore[arg-type]
    k = next(one for one in found.findings if one.measure == "singling_out.records_in_small_classes")
    assert (k.status.value, k.affected) == ("exceeded", 4)


def test_classes_are_those_of_the_texts_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    odd = ["NA,70", "?,70", ",70.0", ", 70"]
    path.write_text("country,size\n" + ",70\n" * 60 + "\n".join(odd) + "\n")
    found = cr.assess(path, quasi_identifiers=["country", "size"], person="each record")
    answer = found.answer("singling_out")
    assert answer is not None
    assert answer.results["equivalence_classes"].k == 1  # type: ignore[attr-defined]
    assert any("texts in the file" in note for note in answer.notes)
    path.write_text("country,size\n" + "NA,70.0\n" * 60)
    found = cr.assess(path, quasi_identifiers=["country", "size"], person="each record")
    answer = found.answer("singling_out")
    assert answer is not None
    assert answer.results["equivalence_classes"].k == 60  # type: ignore[attr-defined]


ODD_BITS = np.array([0x7FF8000000000001, 0x7FF8000000000002], np.uint64).view(np.float64)
"""Two NaN that differ in their bits."""


@pytest.mark.parametrize(
    "kind", ["arrow", "polars", "lazy", "duckdb", "dataset", "float32", "parquet", "feather"]
)
@pytest.mark.parametrize("values", [[0.0, -0.0], [None, float("nan")]], ids=["zero", "nan"])
def test_functions_and_verbs_count_the_same_classes(tmp_path: Path, kind: str, values: list[Any]) -> None:
    """What a recipient can tell apart is not one class, wherever the rows are."""
    table = pa.table({"x": values * 10, "ill": ["flu", "gout"] * 10})
    pq.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.arrow")
    sources: dict[str, Any] = {
        "arrow": table,
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
        "duckdb": duckdb.from_arrow(table),
        "dataset": ds.dataset(tmp_path / "t.parquet"),
        "float32": table.set_column(0, "x", table["x"].cast(pa.float32())),
        "parquet": tmp_path / "t.parquet",
        "feather": tmp_path / "t.arrow",
    }
    given = {"quasi_identifiers": ["x"], "sensitive": ["ill"]}
    data = sources[kind]
    answer = cr.assess(data, **given).answer("singling_out")
    assert answer is not None
    assert answer.results["equivalence_classes"].k == 10  # type: ignore[attr-defined]
    assert cr.singling_out.k_anonymity(data, **given) == 10
    assert cr.singling_out.uniqueness(data, **given).classes == 2
    assert cr.inference.l_diversity(data, **given).distinct == 1
    same = cr.Dataset.from_frame(table.slice(0, 1).take([0] * 20), **given)
    assert cr.singling_out.k_anonymity(same) == 20


def test_the_bits_of_nan_in_a_frame_are_counted() -> None:
    table = pa.table({"x": np.tile(ODD_BITS, 10), "ill": ["flu", "gout"] * 10})
    answer = cr.assess(table, quasi_identifiers=["x"], sensitive=["ill"]).answer("singling_out")
    assert answer is not None
    assert answer.results["equivalence_classes"].k == 10  # type: ignore[attr-defined]
    assert cr.singling_out.k_anonymity(table, "x") == 10
    plain = pa.table({"x": [float("nan")] * 20})
    assert cr.singling_out.k_anonymity(plain, "x") == 20


def test_functions_count_the_texts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("size\n" + "70\n70.0\n" * 10)
    assert cr.singling_out.k_anonymity(path, "size") == 10
    path.write_text("size\n" + "70.0\n" * 20)
    assert cr.singling_out.k_anonymity(path, "size") == 20


@pytest.mark.parametrize("values", [[0.0, -0.0], [None, float("nan")]])
def test_equal_numbers_that_a_file_distinguishes(tmp_path: Path, values: list[Any]) -> None:
    """The sign of a zero or the kind of a missing value says who has which disease, in a frame too."""
    table = pa.table({"x": values * 100, "ill": ["flu", "gout"] * 100})
    pq.write_table(table, tmp_path / "t.parquet")
    for data in (table, tmp_path / "t.parquet"):
        found = cr.assess(data, quasi_identifiers=["x"], sensitive=["ill"], person="each record")
        assert "inference.near_certain_values" in [one.measure for one in found.exceeded], data
        answer = found.answer("singling_out")
        assert answer is not None
        assert answer.results["equivalence_classes"].k == 100  # type: ignore[attr-defined]
        assert cr.singling_out.k_anonymity(data, quasi_identifiers=["x"]) == 100

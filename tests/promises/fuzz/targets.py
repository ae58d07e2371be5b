"""The parsers, each as a function of bytes, with well-formed bytes to begin from."""

from __future__ import annotations

import io
import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import crypsis as cr
from crypsis.columns.roles import load
from crypsis.hierarchies import Hierarchy
from crypsis.policies import load_policy
from crypsis.protection import Key, Plan
from crypsis.protection.masking import reverse_pseudonym
from tests.promises.fuzz import requests

Target = Callable[[bytes], None]


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="fuzz-")


def _file(name: str, data: bytes) -> Path:
    path = Path(_folder().name, name)
    path.write_bytes(data)
    return path


def _document(name: str, read: Callable[[Path], object]) -> Target:
    """A parser of a file; an error of ours is an answer, everything else is a finding."""

    def target(data: bytes) -> None:
        try:
            read(_file(name, data))
        except cr.CrypsisError:
            return

    return target


def _table(name: str) -> Target:
    """A reader: what it opens must answer the first questions or refuse them."""

    def read(path: Path) -> None:
        release = cr.read(path)
        assert release.count >= 1
        flat = [c.name for c in release.rows.columns if c.kind is not c.kind.NESTED]
        if flat:
            assert release.rows.tally(flat[:1]).rows == release.count

    return _document(name, read)


def _pseudonym(data: bytes) -> None:
    try:
        reverse_pseudonym(data.decode("latin-1"), "00" * 32)
    except cr.CrypsisError:
        return


def _web(data: bytes) -> None:
    from tests.promises.fuzz import web  # a whole server: opened when it is first asked

    web.target(data)


TARGETS: dict[str, Target] = {
    "csv": _table("data.csv"),
    "json": _table("data.jsonl"),
    "parquet": _table("data.parquet"),
    "excel": _table("data.xlsx"),
    "roles": _document("roles.toml", lambda path: load(path, ("age", "zip"))),
    "policy": _document("policy.toml", load_policy),
    "plan in JSON": _document("plan.json", Plan.load),
    "plan in TOML": _document("plan.toml", Plan.load),
    "hierarchy in CSV": _document("tree.csv", Hierarchy.read),
    "hierarchy in TOML": _document("tree.toml", Hierarchy.read),
    "key": _document("key.json", Key.load),
    "pseudonym": _pseudonym,
    "web forms": _web,
}
BLOWS: dict[str, Callable[[bytes, random.Random], bytes]] = {"web forms": requests.blown}
"""Where most blows at bytes would end at the first letter: blows that know the shape."""


def _parquet() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"age": [1, 2, 2], "zip": ["a", "b", None]}), stream)
    return stream.getvalue()


_POLICY = b"""name = "mine"\ntitle = "t"\njurisdiction = "j"\nsource = "s"\ndate = 2024-01-01
summary = "s"\n[[thresholds]]\nmeasure = "singling_out.k_anonymity"\nunit = "records"
at_least = 5\nwhy = "w"\n"""
_PLAN = {
    "requirements": {"k": 2},
    "columns": [
        {
            "name": "age",
            "values_after": 3,
            "step": {"method": "intervals", "upper": [3.0, 9.0], "labels": ["a", "b", "c"]},
        },
        {"name": "zip", "values_after": 1, "step": {"method": "prefix", "length": 2, "width": 5}},
        {"name": "born", "values_after": 1, "step": {"method": "date", "unit": "year"}},
    ],
}
SEEDS: dict[str, list[bytes]] = {
    "csv": [b"age,zip\n1,02138\n2,\n", b'a;b\r\n"x;y";2\r\n', b"\xef\xbb\xbfa\tb\n1\t2020-01-01\n"],
    "json": [b'{"a": 1, "b": [1, {"c": null}]}\n{"a": "x"}\n', b'[{"a": 1.5e3}]'],
    "parquet": [_parquet()],
    "excel": [b"PK\x03\x04" + bytes(26)],
    "roles": [b'[roles]\nage = "quasi-identifier"\n"zip" = "insensitive"\n'],
    "policy": [_POLICY],
    "plan in JSON": [json.dumps(_PLAN).encode()],
    "plan in TOML": [
        b'[requirements]\nk = 2\n[[columns]]\nname = "a"\nvalues_after = 1\nstep = {method = "keep"}\n'
    ],
    "hierarchy in CSV": [b"02138;021;*\n02139;021;*\n", b'"a, b",x\nc,x\n'],
    "hierarchy in TOML": [b'low = [1, 2]\n[high]\n"9s" = [9]\n"10s" = [10, 2020-01-01]\n'],
    "key": [b'{"format": "crypsis key 1", "seed": 5, "row_map": [0, 2], "pseudonyms": {}}'],
    "pseudonym": [b"ABCDEFGHIJKLMNOP234567"],
    "web forms": requests.SEEDS,
}

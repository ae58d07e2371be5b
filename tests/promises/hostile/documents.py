"""Roles, policies, plans, hierarchies, attacks and keys that somebody wrote wrongly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.promises.hostile.case import GOOD, SECRET, Case

_QI = ("--qi", "age", "--qi", "zip", "--sensitive", "disease")
_ROLES = '[roles]\nage = "quasi-identifier"\nzip = "quasi-identifier"\ndisease = "sensitive"\n'
_STEP = {"name": "age", "values_after": 1, "step": {"method": "keep"}}
_ZIP = {"name": "zip", "values_after": 1, "step": {"method": "keep"}}
_PLAN = {"requirements": {"k": 2}, "columns": [_STEP, _ZIP]}
_NEST = "a = " + "[" * 5_000 + "]" * 5_000


def _beside(
    name: str, flag: str, file_name: str, content: bytes | str, words: str | None, *command: str
) -> Case:
    """A good table, and a document beside it that is given with `flag`."""

    def make(folder: Path) -> Sequence[str]:
        (folder / "data.csv").write_text(GOOD)
        document = folder / file_name
        document.write_bytes(content.encode() if isinstance(content, str) else content)
        verb, *more = command or ("scan",)
        given = f"{flag.split('=')[1]}={document}" if "=" in flag else str(document)
        out = ["-o", str(folder / "out.csv"), "--key", str(folder / "key.json")]
        written = out if verb == "anonymize" else []
        return [verb, str(folder / "data.csv"), flag.split("=")[0], given, *written, *more]

    return Case(name, make, words)


def _roles(name: str, content: bytes | str, words: str | None) -> Case:
    return _beside(f"roles: {name}", "--roles", "roles.toml", content, words)


def _policy(name: str, content: bytes | str, words: str | None) -> Case:
    def make(folder: Path) -> Sequence[str]:
        path = folder / "rules.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return ["policy", "check", str(path)]

    return Case(f"policy: {name}", make, words)


def _plan(name: str, content: object, words: str | None, file_name: str = "plan.json") -> Case:
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    return _beside(
        f"plan: {name}", "--plan", file_name, text, words, "anonymize", "--person", "each record", *_QI
    )


def _hierarchy(name: str, content: bytes | str, words: str | None, file_name: str = "tree.csv") -> Case:
    return _beside(
        f"hierarchy: {name}",
        "--hierarchy=zip",
        file_name,
        content,
        words,
        "anonymize",
        "--person",
        "each record",
        "--k",
        "2",
        *_QI,
    )


def _attack(name: str, content: bytes | str, words: str | None, **beside: str) -> Case:
    def make(folder: Path) -> Sequence[str]:
        (folder / "data.csv").write_text(GOOD)
        for file_name, text in beside.items():
            (folder / f"{file_name}.csv").write_text(text)
        path = folder / "attack.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return ["assess", "--person", "each record", str(folder / "data.csv"), *_QI, "--attack", str(path)]

    return Case(f"attack: {name}", make, words)


def _changed(**fields: object) -> dict[str, object]:
    return {**_PLAN, **fields}


def _step(**fields: object) -> dict[str, object]:
    return _changed(columns=[{**_STEP, "step": fields}, _ZIP])


_RULES = """name = "mine"
title = "t"
jurisdiction = "j"
source = "s"
date = 2024-01-01
summary = "s"
[[thresholds]]
measure = "{measure}"
unit = "{unit}"
{limit}
why = "w"
"""
_GOOD_RULES = {"measure": "singling_out.k_anonymity", "unit": "records", "limit": "at_least = 5"}


def _rules(**changes: str) -> str:
    return _RULES.format(**{**_GOOD_RULES, **changes})


_MATRIX = 'kind = "matrix"\nmatrix = "beliefs.csv"\n'
_BELIEFS = "item,p,q\na,0.5,0.5\nb,0.5,0.5\n"

CASES: tuple[Case, ...] = (
    _roles("good", _ROLES, None),
    _roles("empty", "", "[roles]"),
    _roles("not TOML", "[roles\nage = 1", "not TOML"),
    _roles("not UTF-8", b"[roles]\nage = '\xff'", "UTF-8"),
    _roles("binary", bytes(range(256)), "roles.toml"),
    _roles("a role that is none", _ROLES.replace("sensitive", "secret"), "unknown role"),
    _roles("a role that is a number", _ROLES.replace('"sensitive"', "5"), "must be text"),
    _roles("a column that is not there", _ROLES + 'x = "insensitive"\n', "does not exist"),
    _beside(
        "roles: a column left out",
        "--roles",
        "roles.toml",
        _ROLES.rsplit("\n", 2)[0],
        "1 column is undecided: 'disease'",
        "anonymize",
        "--person",
        "each record",
        "--k",
        "2",
    ),
    _roles("a column twice", _ROLES + 'age = "insensitive"\n', "not TOML"),
    _roles("more than roles", _ROLES + "[more]\nx = 1\n", "other tables than [roles]"),
    _roles("nested 5,000 deep", _NEST, "roles.toml"),
    _roles("a date as a role", _ROLES.replace('"sensitive"', "2020-01-01"), "must be text"),
    _roles("a list of roles", 'roles = ["a"]', "[roles]"),
    _policy("good", _rules(), None),
    _policy("empty", "", "not a valid policy"),
    _policy("not TOML", "name = ", "not TOML"),
    _policy("not UTF-8", b"name = '\xff'", "is not UTF-8"),
    _policy("nested 5,000 deep", _NEST, "rules.toml"),
    _policy("a measure that is none", _rules(measure="luck"), "not a valid policy"),
    _policy("a unit that is wrong", _rules(unit="metres"), "measured in"),
    _policy("a limit below zero", _rules(limit="at_least = -5"), "out of the range"),
    _policy("no limit", _rules(limit=""), "threshold"),
    _policy("a limit that is not a number", _rules(limit="at_least = nan"), "not a valid policy"),
    _policy("a limit without end", _rules(limit="at_least = inf"), "not a valid policy"),
    _policy("a limit in words", _rules(limit='at_least = "five"'), "not a valid policy"),
    _policy("a key that means nothing", "extra = 1\n" + _rules(), "extra"),
    _policy("a name with a path", _rules().replace('"mine"', '"../x"'), "name"),
    _policy("a date that is none", _rules().replace("2024-01-01", '"soon"'), "date"),
    _policy("the same threshold twice", _rules() + _rules().split('summary = "s"\n')[1], "two thresholds"),
    _plan("good", _PLAN, None),
    _plan("empty", "", "not well formed"),
    _plan("not JSON", "{", "not well formed"),
    _plan("a list", [], "not a valid plan"),
    _plan("a number", 5, "not a valid plan"),
    _plan("null", None, "not a valid plan"),
    _plan("not UTF-8", b'{"a": "\xff"}', "not well formed"),
    _plan("nested 100,000 deep", "[" * 100_000, "plan.json"),
    _plan("TOML nested 5,000 deep", _NEST, "plan.toml", "plan.toml"),
    _plan("an unknown field", _changed(x=1), "not a valid plan"),
    _plan("k of zero", _changed(requirements={"k": 0}), "not a valid plan"),
    _plan("k of a half", _changed(requirements={"k": 1.5}), "not a valid plan"),
    _plan("k that is huge", _changed(requirements={"k": 10**30}), "not a valid plan: requirements.k"),
    _plan("no columns", _changed(columns=[]), "does not cover the quasi-identifiers"),
    _plan("a column twice", _changed(columns=[_STEP, _STEP, _ZIP]), "twice"),
    _plan("a column that is not there", _changed(columns=[{**_STEP, "name": "x"}, _ZIP]), "does not exist"),
    _plan("a column planned and removed", _changed(removed=["age"]), "age"),
    _plan(
        "a quasi-identifier left out", _changed(columns=[_STEP]), "does not cover the quasi-identifier 'zip'"
    ),
    _plan("a method that is none", _step(method="magic"), "not a valid plan"),
    _plan(
        "intervals that fall",
        _step(method="intervals", upper=[5, 3], labels=["a", "b", "c"]),
        "not a valid plan",
    ),
    _plan("intervals without labels", _step(method="intervals", upper=[5], labels=[]), "not a valid plan"),
    _plan(
        "intervals with NaN",
        '{"requirements": {"k": 2}, "columns": [{"name": "age", '
        '"values_after": 1, "step": {"method": "intervals", "upper": [NaN], '
        '"labels": ["a", "b"]}}, {"name": "zip", "values_after": 1, '
        '"step": {"method": "keep"}}]}',
        "not a valid plan",
    ),
    _plan("intervals without a bound", _step(method="intervals", upper=[], labels=["all"]), None),
    _plan("dates from numbers", _step(method="date", unit="year"), "Make a new plan"),
    _plan(
        "intervals from text",
        _changed(
            columns=[_STEP, {**_ZIP, "step": {"method": "intervals", "upper": [5], "labels": ["a", "b"]}}]
        ),
        "zip",
    ),
    _plan("a version to come", _changed(format=99), "not a valid plan: format"),
    _hierarchy("good", "02138;021;*\n02139;021;*\n", None),
    _hierarchy("empty", "", "empty"),
    _hierarchy("blank", "\n \n", "empty"),
    _hierarchy("not UTF-8", b"\xff;x\n", "utf-8"),
    _hierarchy("ragged", "02138;021;*\n02139;*\n", "hierarchy"),
    _hierarchy("a value twice", "02138;a;*\n02138;b;*\n02139;a;*\n", "repeat a value"),
    _hierarchy("no tree", "02138;a;b\n02139;a;c\n", "not a tree"),
    _hierarchy("a value left out", "02138;021;*\n", "not in its hierarchy"),
    _hierarchy("an open quote", '02138;"021;*\n02139;021;*\n', "hierarchy"),
    _hierarchy("a huge field", "02138;" + "x" * 200_000 + ";*\n02139;y;*\n", None),
    _hierarchy("NUL bytes", b"02138;\x00;*\n02139;\x00;*\n", None),
    _hierarchy("TOML", "a = ['02138', '02139']\n", None, "tree.toml"),
    _hierarchy("TOML that is broken", "a = [", "is not valid TOML", "tree.toml"),
    _hierarchy("TOML nested 5,000 deep", _NEST, "tree.toml", "tree.toml"),
    _hierarchy(
        "TOML with tables 1,500 deep",
        "[" + ".".join(["a"] * 1_500) + "]\nb = ['02138']\n",
        "tree.toml",
        "tree.toml",
    ),
    _hierarchy("TOML of nothing", "", "hierarchy", "tree.toml"),
    _attack("good", _MATRIX, None, beliefs=_BELIEFS),
    _attack("empty", "", "is not an attack"),
    _attack("not TOML", "kind = ", "not TOML"),
    _attack("a kind that is none", 'kind = "magic"', "is not an attack"),
    _attack("nested 5,000 deep", _NEST, "attack.toml"),
    _attack("a table that is not there", _MATRIX, "does not exist"),
    _attack("a matrix of text", _MATRIX, "number", beliefs=f"item,p,q\na,x,{SECRET}\nb,z,w\n"),
    _attack("a matrix that is not square", _MATRIX, "", beliefs="item,p,q\na,1,0\n"),
    _attack("a matrix below zero", _MATRIX, "", beliefs="item,p,q\na,-1,1\nb,1,1\n"),
    _attack("a matrix with gaps", _MATRIX, "", beliefs="item,p,q\na,,1\nb,1,1\n"),
    _attack("a matrix without any matching", _MATRIX, "", beliefs="item,p,q\na,1,0\nb,1,0\n"),
    _attack("a path out of the folder", 'kind = "matrix"\nmatrix = "/dev/zero"\n', "not a regular file"),
)

"""Requests to begin from, and blows at them that leave most of a request well-formed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from crypsis.web import forms

_ASKED: dict[bytes, dict[str, Any]] = {
    b"POST /api/v1/tables/{release}/assess": {
        "policy": "wp216",
        "population": 1000,
        "accept_guesses": True,
        "seed": 1,
    },
    b"POST /api/v1/tables/{release}/causes": {
        "question": "singling_out",
        "columns": ["age", "zip"],
        "class_size": 5,
        "reveal": False,
    },
    b"POST /t/{release}/causes": {"question": "inference", "columns": ["ill"]},
    b"POST /api/v1/tables/{release}/preview": {
        "options": {"k": 3, "weights": {"age": 2.0}, "methods": {"zip": "prefix"}, "suppression": 0.1}
    },
    b"POST /api/v1/tables/{release}/what-if": {
        "k": 3,
        "levels": {"zip": 1},
        "population": 9000,
        "beta": 0.05,
        "weights": {"age": 1.5},
    },
    b"POST /t/{release}/what-if": {"k": 2, "levels": {}},
    b"POST /api/v1/tables/{release}/curve": {"k": 3, "levels": {"age": 1}},
    b"POST /api/v1/tables/{release}/plan": {
        "options": {
            "k": 3,
            "diversity": 2,
            "closeness": 0.9,
            "top_code": {"age": 50.0},
            "representative": "median",
        },
        "levels": {"age": 1},
    },
    b"POST /t/{release}/plan": {"options": {"k": 4, "population": 100000, "beta": 0.1}},
    b"POST /api/v1/tables/{release}/hierarchy": {"column": "zip", "build": "prefixes", "steps": [4, 2]},
    b"POST /api/v1/tables/{release}/anonymize": {
        "options": {"k": 2, "suppression": 0.5},
        "masks": {"name": {"method": "pseudonym"}, "pay": {"method": "noise", "amount": 0.5}},
        "form": "csv",
        "recoding": "full-domain",
        "seed": 3,
    },
    b"PUT /api/v1/tables/{release}/roles": {"roles": {"age": "quasi-identifier"}, "accept": True},
    b"PUT /api/v1/tables/{release}/reading": {
        "delimiter": ",",
        "encoding": "utf-8",
        "missing_markers": ["", "?"],
        "types": {"zip": "text"},
    },
    b"POST /api/v1/tables": {"kind": "attack", "title": "mine"},
    b"POST /api/v1/tables/given": {"place": 0},
    b"POST /api/v1/tables/{release}/files/original/given": {"place": 0},
    b"POST /api/v1/tables/{release}/key": {"confirm": True},
    b"POST /api/v1/tables/{comparison}/compare": {
        "on": "name",
        "columns": ["age", "pay"],
        "acceptable": 0.1,
        "seed": 2,
    },
    b"POST /api/v1/tables/{subject}/verify": {
        "record": {"age": "30", "zip": "10101", "born": "1970-02-11"},
        "permutation_only": True,
    },
    b"POST /api/v1/tables/{attack}/attack": {
        "kind": "frequencies",
        "error": 0.1,
        "min_degree": 0.5,
        "max_cracks": 1.0,
    },
}
_MORE = [
    b'POST /api/v1/tables/{attack}/attack\n{"kind": "join", "on": {"item": 0.0}, "item": "item", "pseudonym": "person"}\n\nGET /t/{attack}',
    b'POST /api/v1/tables/{comparison}/compare\n{"frequency": true}\n\nGET /api/v1/tables/{comparison}/found\n\nGET /t/{comparison}',
    b"POST /api/v1/tables/{release}/anonymize\n{}\n\nGET /t/{release}/release\n\nGET /api/v1/tables/{release}/downloads/release.csv",
    b"POST /api/v1/tables/{release}/assess\n{}\n\nGET /t/{release}/verdict\n\nGET /api/v1/tables/{release}/assessment",
    b'POST /api/v1/tables/{release}/hierarchy\n{"column": "age", "build": "intervals", "steps": [5, 20]}\n\nPOST /api/v1/tables/{release}/plan\n{"options": {"k": 2}}',
    b"POST /api/v1/tables/upload?name=people.csv\na,b\n1,2\n3,4\n",
    b"POST /api/v1/tables/{release}/files/hierarchy/upload?name=tree.csv\n10100;101\n10101;101\n",
    b"GET /t/{release}/columns\n\nGET /t/{release}/protect\n\nGET /api/v1/jobs\n\nGET /api/openapi.json",
    b"DELETE /api/v1/tables/{subject}\n\nGET /t/{subject}/record",
]
SEEDS = [line + b"\n" + json.dumps(form).encode() for line, form in _ASKED.items()] + _MORE

_FORMS: dict[str, type[forms.Form]] = {
    "assess": forms.AssessForm,
    "causes": forms.CausesForm,
    "what-if": forms.WhatIfForm,
    "curve": forms.CurveForm,
    "anonymize": forms.AnonymizeForm,
    "hierarchy": forms.HierarchyForm,
    "compare": forms.CompareForm,
    "verify": forms.SubjectForm,
    "attack": forms.AttackForm,
    "options": forms.PlanOptionsForm,
    "reading": forms.ReadForm,
}
COLUMNS = ("name", "age", "zip", "born", "ill", "pay", "item", "person")
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    3.5,
    -0.0,
    1e-320,
    1e308,
    float("inf"),
    float("nan"),
    2**31,
    2**63,
    10**40,
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "\u202e",
    "x" * 3_000,
    "../../x",
    "/etc/passwd",
    "..",
    "C:\\x",
    "a/b",
    "=1+1",
    "'; --",
    '"',
    "\n",
    "%s",
    "{0}",
    "{{7*7}}",
    "<b>",
    "nan",
    "1e999",
    "0x10",
    "9" * 40,
    "2020-02-30",
    "Age",
    "AGE",
    "é",
    [],
    {},
    [[]],
    [None],
    [1, "a"],
    {"": 0},
    {"age": None},
    {"age": {}},
    ["age", "age"],
)
_PATHS = (
    "..",
    "%2e%2e",
    "%00",
    "%ff",
    "release",
    "owner.key.json",
    "..%2f..%2fetc%2fpasswd",
    "{release}",
    "{attack}",
    "0",
    "x" * 300,
)


_FEW = [
    {},
    {"age": 1},
    {"zip": 2, "age": 9999},
    {"born": 3},
    {"ill": 1},
    {"nobody": 1},
    {"pay": 0.5},
    {"name": 1},
]
_COLUMN = [*COLUMNS, "nobody", "Age", ""]
FITTING: dict[str, list[Any]] = {
    **dict.fromkeys(("person", "weight", "on", "column", "item", "pseudonym"), _COLUMN),
    **dict.fromkeys(("levels", "weights", "top_code"), _FEW),
    "on": [*_COLUMN, *_FEW, {"item": 0, "share": 1e300}],
    "columns": [
        ["age"],
        ["age", "age"],
        ["zip", "ill", "nobody"],
        ["ill"],
        ["name"],
        ["born", "pay"],
        [*COLUMNS],
    ],
    "k": [1, 2, 3, 59, 60, 61, 10**9],
    "class_size": [1, 2, 60, 10**9],
    "population": [1, 59, 60, 61, 1000, 10**12, None],
    "release_k": [1, 2, 30, 10**9, None],
    "diversity": [1, 2, 3, 10**9],
    "closeness": [0, 1e-300, 0.3, 1],
    "best_guess": [1e-9, 0.5, 1],
    "beta": [1e-300, 0.05, 0.9999999],
    "suppression": [0, 1e-9, 0.5, 1],
    "error": [0, 1e-300, 0.999999],
    "acceptable": [0, 0.5, 1],
    "min_degree": [0, 0.5, 1],
    "max_cracks": [0, 0.5, 10**9],
    "seed": [0, 2**63 - 1],
    "steps": [[], [1], [5, 20], [20, 5], [10**9] * 40, [3, 3]],
    "methods": [
        {name: how}
        for name in COLUMNS
        for how in ("keep", "intervals", "date", "prefix", "frequent", "suppress")
    ],
    "masks": [
        {name: {"method": how, "amount": much}}
        for name in COLUMNS
        for how in get_args(forms.MaskForm.model_fields["method"].annotation)
        for much in (None, -1, 0, 1e-300, 0.5, 2, 3.7, 100, 1e308)
    ],
    "record": [
        {},
        {"age": "30"},
        {"age": "x"},
        {"nobody": "1"},
        {"born": "1970-01-01", "pay": "nan"},
        {"pay": "1e999"},
        {"age": "9" * 40},
        {"zip": " ", "ill": "quinsy"},
        {"name": "\x00", "ill": "\ud800"},
        {"born": "0000-99-99"},
        {"age": "-0"},
    ],
    "roles": [{name: role} for name in COLUMNS for role in get_args(forms.RoleName)],
    "delimiter": list(',;\t|"\n\r\\a 1\x00é'),
    "encoding": ["utf-8", "utf-16", "latin-1", "cp037", "xx", "", "rot13", "base64", "idna", "\x00"],
    "names": [["a"], ["a", "a"], [""], [*COLUMNS], ["a", "b", "c", "d", "e", "f"], ["x\x00"] * 6],
    "missing_markers": [[""], ["20"], ["\x00"], ["quinsy", "scrofula"]],
    "types": [
        {name: how} for name in (*COLUMNS, "nobody") for how in ("text", "integer", "number", "date", "time")
    ],
    "sheet": ["x"],
    "table": ["people", "x; drop table y"],
    "title": ["", "../../x", "\x00", "<b>"],
}


def _words() -> Iterator[str]:
    """Every word that a form knows: its fields and the names it chooses from."""
    for form in forms.Form.__subclasses__():
        for name, field in form.model_fields.items():
            yield name
            yield from _choices(field.annotation)
    yield from ("utf-16", "latin-1", "xx", "text", "date", ";", "\t")


def _choices(kind: Any) -> Iterator[str]:
    if str(get_origin(kind)).endswith("Literal"):
        yield from (one for one in get_args(kind) if isinstance(one, str))
    else:
        for inner in get_args(kind):
            yield from _choices(inner)


WORDS = sorted({*_words(), *COLUMNS})


def blown(seed: bytes, draw: random.Random) -> bytes:
    """A request after a few blows at its form, its path, or, now and then, its bytes."""
    requests = seed.split(b"\n\n")
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(requests))
        line, _, body = requests[place].partition(b"\n")
        if draw.random() < 0.15:
            line = _led_astray(line, draw)
        try:
            form = json.loads(body)
        except ValueError:
            form = None
        if isinstance(form, dict):
            (_fitted if draw.random() < 0.7 else _strike)(form, line, draw)
            body = json.dumps(form).encode()
        elif body:
            cut = draw.randrange(len(body))
            body = body[:cut] + json.dumps(draw.choice(HOSTILE)).encode() + body[cut:]
        if draw.random() < 0.05:
            body = body[: draw.randrange(len(body) + 1)]
        requests[place] = line + b"\n" + body
    return b"\n\n".join(requests)


def _led_astray(line: bytes, draw: random.Random) -> bytes:
    parts = line.split(b"/")
    place = draw.randrange(1, len(parts)) if len(parts) > 1 else 0
    parts[place] = draw.choice(_PATHS).encode()
    return b"/".join(parts)


def _fitted(form: dict[str, Any], line: bytes, draw: random.Random) -> None:
    """Give one field of this form a value of its own kind: an edge, or a column of another kind."""
    name = line.rsplit(b"/", 1)[-1].decode("utf-8", "replace")
    if name in ("preview", "plan", "anonymize") and (name != "anonymize" or draw.random() < 0.5):
        if not isinstance(form.get("options"), dict):
            form["options"] = {}
        form, name = form["options"], "options"
    fields = _FORMS[name].model_fields if name in _FORMS else dict.fromkeys(form)
    field = draw.choice(sorted(fields) or ["k"])
    known = fields.get(field)
    choices = [] if known is None else list(_choices(known.annotation)) or [True, False]
    value = draw.choice(FITTING.get(field) or choices or list(HOSTILE))
    mixed = isinstance(value, dict) and isinstance(form.get(field), dict) and draw.random() < 0.5
    form[field] = {**form[field], **value} if mixed else value


def _strike(form: dict[str, Any], line: bytes, draw: random.Random) -> None:
    """Change one thing of a form: a value, a key, something more, something less."""
    inside = [form]
    for one in inside:
        inside += [value for value in one.values() if isinstance(value, dict)]
    here = draw.choice(inside)
    keys = list(here)
    kind = draw.randrange(5)
    if kind == 0 and keys:
        del here[draw.choice(keys)]
    elif kind == 1:
        here[draw.choice(WORDS)] = draw.choice((*HOSTILE, *WORDS))
    elif kind == 2 and keys:
        here[draw.choice((*WORDS, "../x", "\x00", "", "Zip"))] = here.pop(draw.choice(keys))
    elif keys:
        key = draw.choice(keys)
        value = here[key]
        if isinstance(value, list) and draw.random() < 0.5:
            here[key] = [*value, draw.choice((*HOSTILE, *WORDS))]
        elif isinstance(value, int | float) and not isinstance(value, bool) and draw.random() < 0.5:
            here[key] = draw.choice((value * 10, value / 7, -value, value + 1, 10 ** draw.randrange(20)))
        else:
            here[key] = draw.choice((*HOSTILE, *WORDS))

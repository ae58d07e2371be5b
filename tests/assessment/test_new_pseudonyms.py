"""Identifiers that became new pseudonyms link nothing, unless they were computed from the identifier."""

from __future__ import annotations

import base64
import codecs
import hashlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import crypsis as cr
from crypsis.assessment._questions._new_pseudonyms import new_pseudonyms
from crypsis.dataset import ColumnNote, Dataset
from crypsis.policies.findings import Verdict
from crypsis.protection.masking import pseudonym

ROWS = 1_000
DRAW = np.random.default_rng(5)
IDS = DRAW.permutation(np.arange(500_000, 500_000 + 7 * ROWS, 7))
NAMES = np.array([f"{'anna bob carla'.split()[i % 3]} {DRAW.integers(10**6)}" for i in range(ROWS)])
AGES, ILL = DRAW.integers(2, 9, ROWS) * 10, DRAW.choice(["flu", "gout", "none"], ROWS)
KEY = "5a" * 32
DRAWN: dict[str, Callable[[], Any]] = {
    "drawn": lambda: DRAW.permutation(ROWS) + 10**6,
    "random texts": lambda: [DRAW.bytes(8).hex() for _ in range(ROWS)],
    "keyed": lambda: [pseudonym(str(one), KEY) for one in IDS],
}
COMPUTED: dict[str, Callable[[str], Any]] = {
    "shifted": lambda one: int(one) + 10**6,
    "scaled and turned": lambda one: -3 * int(one),
    "within": lambda one: f"P-{one}-x",
    "reversed": lambda one: f"{one[::-1]}0",
    "digits replaced": lambda one: one.translate(str.maketrans("0123456789", "7301592846")),
    "MD5": lambda one: hashlib.md5(one.encode(), usedforsecurity=False).hexdigest(),
    "part of SHA-1": lambda one: hashlib.sha1(one.encode(), usedforsecurity=False).hexdigest()[9:20],
    "SHA-256 in Base64": lambda one: base64.b64encode(hashlib.sha256(one.encode()).digest()).decode(),
    "CRC": lambda one: f"{zlib.crc32(one.encode()):08X}",
}


def tables(before: Any, after: Any) -> tuple[Dataset, Dataset, list[int]]:
    """An original, a release with these pseudonyms in another order, and whose each record is."""
    order = DRAW.permutation(ROWS)
    table = pa.table({"case": pa.array(before), "age": AGES, "ill": ILL})
    roles: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    changed = table.set_column(0, "case", pa.array(after)).take(pa.array(order))
    note = ColumnNote(sign_off="Drawn at random.", override="Drawn at random.")
    released = Dataset.from_frame(changed, insensitive=["case"], **roles, person="each record")
    original = Dataset.from_frame(table, identifiers=["case"], **roles, person="each record")
    return original, released.with_roles(released.roles, {"case": note}), order.tolist()


def computed(way: str) -> list[Any]:
    return [COMPUTED[way](str(one)) for one in IDS]


@pytest.mark.parametrize("way", DRAWN)
def test_what_was_drawn_links_nothing(way: str) -> None:
    original, released, order = tables(IDS, DRAWN[way]())
    assert new_pseudonyms(original, released, order) == ("case",)
    assert new_pseudonyms(original, released, None) == ()  # whose they are is not known
    assert new_pseudonyms(original, released, [-1] * ROWS) == ()


@pytest.mark.parametrize("way", COMPUTED)
def test_what_was_computed_is_found(way: str) -> None:
    assert new_pseudonyms(*tables(IDS, computed(way))) == ()


def test_numbers_in_the_order_of_the_original_and_replaced_letters() -> None:
    assert new_pseudonyms(*tables(IDS, np.arange(ROWS) + 10**6)) == ()
    assert new_pseudonyms(*tables(NAMES, [codecs.encode(one, "rot13") for one in NAMES])) == ()


def test_the_verdict() -> None:
    original, released, order = tables(IDS, DRAWN["drawn"]())
    found = cr.assess(released, original, row_map=order)
    assert found.verdict is Verdict.SAFE
    assert any("'case' has new pseudonyms" in note for note in found.answer("linkage").notes)
    original, released, order = tables(IDS, computed("MD5"))
    assert cr.assess(released, original, row_map=order).verdict is not Verdict.SAFE


def test_squares_and_numbers_with_decimals_are_no_pseudonyms() -> None:
    far = (2 * (IDS - IDS.min()) - np.ptp(IDS) + 1) ** 2 + 10**7  # in no order, nor against it
    assert new_pseudonyms(*tables(IDS, far)) == ()
    assert new_pseudonyms(*tables(IDS, DRAW.permutation(ROWS) + 0.5)) == ()

"""Attacks on pseudonyms from two files: what an attacker knows, and what would be released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crypsis import pseudonyms as ps
from crypsis.errors import InputError, ParameterError
from crypsis.report.charts.pseudonyms import exposed_items
from crypsis.report.figures import figure
from crypsis.report.json import to_json
from crypsis.results import Estimate, Number
from crypsis.web.operations._figures import figure_view
from crypsis.web.operations._session import TableSession


def attack(
    session: TableSession,
    *,
    kind: str,
    known: dict[str, Any] | None = None,
    released: dict[str, Any],
    truth: dict[str, Any] | None = None,
    on: dict[str, float] | None = None,
    item: str | None = None,
    pseudonym: str | None = None,
    same_rows: bool = False,
    error: float | None = None,
    min_degree: float | None = None,
    max_cracks: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Attack by join on shared columns, or by how often pseudonyms occur."""
    with session.engine:
        if kind == "join":
            belief = _join(session, known, released, truth, on or {}, item, pseudonym, same_rows)
        else:
            belief = by_frequency(session, released, known, truth, error)
        anonymity = ps.anonymity(belief, seed=seed)
    decision = None
    if min_degree is not None or max_cracks is not None:
        decision = ps.decide(anonymity, min_degree=min_degree, max_cracks=max_cracks)
    outcome = ps.AttackOutcome(kind, anonymity, decision)
    (session.folder / "attack.json").write_text(to_json("attack", outcome), encoding="utf-8")
    drawn = [figure(exposed_items(anonymity))] if anonymity.most_exposed else []
    return {
        "size": anonymity.size,
        "possible_pairs": anonymity.possible_pairs,
        "superfluous_pairs": anonymity.superfluous_pairs,
        "degree": _number(anonymity.degree),
        "expected_cracks": None if anonymity.expected_cracks is None else _number(anonymity.expected_cracks),
        "exposed": [pair.to_dict() for pair in anonymity.most_exposed],
        "decision": None if decision is None else decision.to_dict(),
        "figures": [figure_view(figure) for figure in drawn],
    }


def _number(number: Number) -> str:
    return str(number) if isinstance(number, Estimate) else f"{float(number):.4g}"


def _join(
    session: TableSession,
    known_file: dict[str, Any] | None,
    released: dict[str, Any],
    truth: dict[str, Any] | None,
    on: dict[str, float],
    item: str | None,
    pseudonym: str | None,
    same_rows: bool,
) -> ps.Belief:
    if known_file is None:
        raise InputError("A join needs what the attacker knows: a table with names.")
    if not on:
        raise ParameterError("Name at least one column that both files share.")
    people, records = session.release(known_file).to_arrow(), session.release(released).to_arrow()
    real: Any = "rows" if same_rows else None
    if truth is not None:
        table = session.release(truth).to_arrow()
        if table.num_columns < 2:
            raise InputError("The truth needs two columns: item and pseudonym.")
        pairs = zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True)
        real = dict(pairs)
    return ps.join_attack(people, records, on, item=item, pseudonym=pseudonym, truth=real)


def by_frequency(
    session: TableSession,
    released: dict[str, Any],
    known: dict[str, Any] | None = None,
    truth: dict[str, Any] | None = None,
    error: float | None = None,
) -> ps.Belief:
    """Through an attack file, which says the same to `crypsis assess --attack`."""
    lines = ['kind = "frequencies"', f"transactions = {_quoted(released)}"]
    if known is not None:
        width = len(session.release(known).names)
        lines.append(f"{'ranges' if width >= 3 else 'expected'} = {_quoted(known)}")
    elif error is not None:
        lines.append(f"error = {error!r}")
    else:
        raise InputError(
            "The intruder's knowledge is missing: provide a table (item, share, or item, lowest, "
            "highest), or the relative error of every share."
        )
    if truth is not None:
        lines.append(f"truth = {_quoted(truth)}")
    path = session.folder / "attack.toml"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return ps.load_attack(path)


def _quoted(file: dict[str, Any]) -> str:
    return json.dumps(str(Path(file["path"]).absolute()))

"""Attacks on pseudonyms in the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown
from crypsis.results import Estimate, Number

if TYPE_CHECKING:
    from crypsis.pseudonyms import Anonymity, AttackOutcome, Block, Decision

_COLOURS = {"release": "green", "do not release": "red", "cannot tell": "yellow"}


def attack_view(outcome: AttackOutcome, title: str, *, reveal: bool = False) -> RenderableType:
    """What an attack leaves, who is exposed most, and whether to release."""
    found = outcome.anonymity
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {found.size:,} items, {found.possible_pairs:,} possible pairs "
            f"({found.superfluous_pairs:,} in no one-to-one assignment)",
        ),
        "",
        _numbers(found),
    ]
    if found.most_exposed:
        parts += ["", Text("Exposed most", "bold"), _exposed(found, reveal)]
    parts += ["", Text("How it was computed", "bold"), *_methods(found.blocks)]
    if outcome.decision is not None:
        parts += ["", _verdict(outcome.decision)]
    return Group(*parts)


def _numbers(found: Anonymity) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column()
    table.add_row("degree of anonymity", _number(found.degree) + "  (1 is full, 0 is none)")
    if found.expected_cracks is not None:
        table.add_row(
            "expected cracks", f"{_number(found.expected_cracks)}  of {found.size:,} items"
        )
    if found.heuristic is not None:
        table.add_row("heuristic H", f"{found.heuristic:.4g}  (errs either way: not to decide on)")
    return table


def _exposed(found: Anonymity, reveal: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("item")
    table.add_column("probability", justify="right")
    table.add_column("possible pseudonyms", justify="right")
    for risk in found.most_exposed:
        name = shown(str(risk.item)) if reveal and risk.item is not None else None
        table.add_row(
            name or f"row {risk.position + 1}", f"{risk.probability:.4f}", f"{risk.candidates:,}"
        )
    return table


def _methods(blocks: tuple[Block, ...]) -> list[Text]:
    kinds = Counter((block.method, block.where) for block in blocks)
    lines = []
    for (method, where), number in sorted(kinds.items()):
        sizes = [b.size for b in blocks if (b.method, b.where) == (method, where)]
        noun = "block" if number == 1 else "blocks"
        place = "" if where == "processor" else f" on {where}"
        text = f"- {method}{place}: {number:,} {noun}, the largest of {max(sizes):,} items"
        lines.append(Text(text))
    for block in blocks:
        drawn = block.convergence
        if drawn is not None:
            state = "converged" if drawn.converged else "NOT converged"
            lines.append(
                Text(
                    f"- {block.size:,} items: {drawn.draws:,} matchings drawn, R-hat "
                    f"{drawn.r_hat:.3f}, worth {drawn.effective_draws:,.0f}, {state}"
                )
            )
    return lines


def _verdict(decision: Decision) -> Group:
    verdict = decision.verdict.value
    head = Text.assemble(("Verdict: ", "bold"), (verdict, f"bold {_COLOURS[verdict]}"))
    return Group(head, *(Text(f"- {reason}") for reason in decision.reasons))


def _number(number: Number) -> str:
    return str(number) if isinstance(number, Estimate) else f"{float(number):.4g}"

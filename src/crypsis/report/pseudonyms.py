"""An attack on pseudonyms in the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crypsis.report.terminal import shown
from crypsis.results import number_text

if TYPE_CHECKING:
    from crypsis.pseudonyms import Anonymity, AttackOutcome, Block

_COLORS = {"safe": "green", "not safe": "red", "cannot tell": "yellow"}


def attack_view(outcome: AttackOutcome, title: str, *, reveal: bool = False) -> RenderableType:
    """The anonymity that an attack leaves, the items exposed most, and the verdict."""
    anonymity = outcome.anonymity
    parts: list[RenderableType] = [
        Text.assemble(
            (title, "bold"),
            f": {anonymity.size:,} items, {anonymity.possible_pairs:,} possible pairs "
            f"({anonymity.superfluous_pairs:,} in no perfect matching)",
        ),
        "",
        _numbers(anonymity),
    ]
    if anonymity.most_exposed:
        parts += ["", Text("Exposed most", "bold"), _exposed(anonymity, reveal)]
    parts += ["", Text("How it was computed", "bold"), *_methods(anonymity.blocks)]
    if outcome.decision is not None:
        color = _COLORS[outcome.decision.verdict]
        parts += [
            "",
            Text.assemble(("Verdict: ", "bold"), (outcome.decision.verdict, f"bold {color}")),
            *(Text(f"- {reason}") for reason in outcome.decision.reasons),
        ]
    return Group(*parts)


def _numbers(anonymity: Anonymity) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column()
    table.add_row("degree of anonymity", f"{number_text(anonymity.degree)}  (1 is full, 0 is none)")
    if anonymity.expected_cracks is not None:
        cracks = number_text(anonymity.expected_cracks)
        table.add_row("expected cracks", f"{cracks}  of {anonymity.size:,} items")
    if anonymity.resolved_by_pairs is not None:
        resolved = number_text(anonymity.resolved_by_pairs, ".3g")
        table.add_row("resolved by pairs", f"{resolved}  or more, by how often items occur together")
    if anonymity.heuristic is not None:
        table.add_row("heuristic H", f"{anonymity.heuristic:.4g}  (errs either way; not used in the verdict)")
    return table


def _exposed(anonymity: Anonymity, reveal: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("item")
    table.add_column("probability", justify="right")
    table.add_column("possible pseudonyms", justify="right")
    for risk in anonymity.most_exposed:
        name = shown(str(risk.item)) if reveal and risk.item is not None else None
        table.add_row(name or f"row {risk.position + 1}", f"{risk.probability:.4f}", f"{risk.candidates:,}")
    return table


def _methods(blocks: tuple[Block, ...]) -> list[Text]:
    kinds = Counter((block.method, block.where) for block in blocks)
    lines = []
    for (method, where), number in sorted(kinds.items()):
        sizes = [b.size for b in blocks if (b.method, b.where) == (method, where)]
        noun = "block" if number == 1 else "blocks"
        device = "" if where == "processor" else f" on {where}"
        text = f"- {method}{device}: {number:,} {noun}, the largest of {max(sizes):,} items"
        lines.append(Text(text))
    for block in blocks:
        drawn = block.convergence
        if drawn is not None:
            state = "converged" if drawn.converged else "NOT converged"
            bethe = drawn.bethe_cracks
            check = "" if bethe is None else f"; Bethe marginals give {bethe:.4g} cracks"
            lines.append(
                Text(
                    f"- {block.size:,} items: {drawn.draws:,} matchings drawn, R-hat "
                    f"{drawn.r_hat:.3f}, {drawn.effective_draws:,.0f} effective, {state}{check}"
                )
            )
    return lines

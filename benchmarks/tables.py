"""The tables: written from what is recorded, between markers, never typed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import environments, scaling, tasks, verbs
from benchmarks.measure import RESULTS, ROOT, Comparison, recorded

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "benchmarks.md"
SLOWER_THAN_LIMIT = 1.5
_STARTING = (
    "starting Python and loading libraries, a second at any size; an assessment also sketches "
    "every column and holds each answer against a policy"
)


def seconds(value: float) -> str:
    """Three digits, in the unit that suits."""
    if value < 0.9995:
        return f"{value * 1000:.3g} ms"
    return f"{value:.3g} s" if value < 999.5 else f"{value:,.0f} s"


def times(one: Comparison) -> str:
    """How many times faster or slower than theirs."""
    least = "> " if one.stopped else ""
    if abs(one.ratio - 1) < 0.05:
        return "as fast"
    if one.ratio <= 1:
        factor = 1 / one.ratio
        return f"{least}{factor:,.0f}x faster" if factor >= 10 else f"{least}{factor:.2g}x faster"
    return f"{one.ratio:.2g}x slower"


def equal(one: Comparison) -> str:
    """Whether the answers are the same, and what else is to be said of them."""
    if one.stopped:
        return "stopped"
    if one.equal:
        return "yes"
    return f"no: {one.note}" if one.note else "no"


def row(one: Comparison) -> str:
    """A line of the full table."""
    least = "> " if one.stopped else ""
    peak = "" if one.stopped else f"{one.theirs_peak_mb:,.0f}"
    theirs = f"{one.theirs_is} {one.theirs_version}".strip()
    state = "warm" if one.warm else "cold"
    cells = [
        one.task,
        one.size,
        theirs,
        seconds(one.ours_seconds),
        f"{least}{seconds(one.theirs_seconds)}",
        times(one),
        equal(one),
        f"{one.ours_peak_mb:,.0f} / {peak or '?'}",
        f"{state}, {one.runs}",
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def full(comparisons: Sequence[Comparison]) -> str:
    """Every row, and why where crypsis is more than 1.5 times slower than the limit."""
    lines = [
        "| task | size | beside | crypsis | theirs | crypsis is | same answer | peak MB, ours / "
        "theirs | state, runs |",
        "| --- | --- | --- | ---: | ---: | --- | --- | ---: | --- |",
        *(row(one) for one in comparisons),
    ]
    slow = [one for one in comparisons if one.limit and one.ratio > SLOWER_THAN_LIMIT]
    if slow:
        lines += ["", "Slower than the limit by more than 1.5 times, and why:", ""]
        lines += [f"- {one.task}, {one.size} ({times(one)}): {one.why}." for one in slow]
    return "\n".join(lines)


def short(comparisons: Sequence[Comparison]) -> str:
    """One row a task and peer for the README: the largest size that both finished.

    Where the answers differ, it says what each is worth. Queries that return a number and nothing else
    are in the full table; here only the worst.
    """
    chosen: dict[tuple[str, str], Comparison] = {}
    for one in comparisons:
        if not one.stopped and not one.limit:
            chosen[one.task, one.theirs_is] = one
    lines = [
        "| task | size | crypsis | beside | | answers, crypsis / beside |",
        "| --- | --- | ---: | ---: | --- | --- |",
    ]
    for one in chosen.values():
        theirs = f"{one.theirs_is} {seconds(one.theirs_seconds)}"
        answers = "the same" if one.equal else one.note or "differ"
        lines.append(
            f"| {one.task} | {one.size} | {seconds(one.ours_seconds)} | {theirs} | {times(one)} | {answers} |"
        )
    slow = max((one for one in comparisons if one.limit), key=lambda one: one.ratio, default=None)
    if slow is not None and slow.ratio > 1:
        where = f"{slow.task}, {slow.size}"
        lines += [
            "",
            "Beside a bare routine that returns one number (DuckDB, pandas) "
            f"crypsis can be slower, at worst {slow.ratio:.0f} times ({where}); "
            "docs/benchmarks.md has all rows, and why.",
        ]
    return "\n".join(lines)


def broken(comparisons: Sequence[Comparison]) -> list[str]:
    """What must hold and does not: never slower than a peer, and a reason beside the limit."""
    found = []
    for one in comparisons:
        if one.limit and one.ratio > SLOWER_THAN_LIMIT and not one.why:
            found.append(f"{one.key}: {one.ratio:.2f} times the limit, and no reason is given")
        if not one.limit and one.equal and one.ratio > 1:
            found.append(f"{one.key}: slower than a peer with the same answer ({one.ratio:.2f})")
    return found


def filled(text: str, name: str, content: str) -> str:
    """The text with what is between the markers of that name replaced; as it was without them."""
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = text.partition(opening)
    _, ended, after = rest.partition(closing)
    if not found or not ended:
        return text
    return f"{before}{opening}\n\n{content}\n\n{closing}{after}"


def fill(path: Path, parts: dict[str, str]) -> bool:
    """Fill the marked places of a file; whether it had any."""
    if not path.exists():
        return False
    text = before = path.read_text(encoding="utf-8")
    for name, content in parts.items():
        text = filled(text, name, content)
    if text != before:
        path.write_text(text, encoding="utf-8")
    return any(f"<!-- {name} -->" in before for name in parts)


def everything() -> list[Comparison]:
    """All that is recorded, in the order of the tasks; `scale` is beside DuckDB, the limit."""
    found = [one for module in tasks.MODULES for one in recorded(module).values()]
    whole = recorded("scale").values()
    return found + [replace(one, limit=True, why=one.why or _STARTING) for one in whole]


def measured_on() -> str:
    """One sentence on the machine and the day."""
    heads = [
        json.loads((RESULTS / f"{module}.json").read_text(encoding="utf-8"))
        for module in tasks.MODULES
        if (RESULTS / f"{module}.json").exists()
    ]
    if not heads:
        return "Nothing is recorded yet."
    days = sorted({head["date"] for head in heads})
    machines = sorted({head["machine"] for head in heads})
    besides = sorted({head["conditions"] for head in heads if "conditions" in head})
    when = " to ".join(dict.fromkeys((days[0], days[-1])))
    return f"Measured on {when}: {'; '.join([*machines, *besides])}."


def left_out() -> str:
    """The peers that were looked for and are not in the table."""
    return "\n".join(f"- {name}: {why}." for name, why in environments.TRIED.items())


def main() -> list[str]:
    """Write all tables and charts; return what must hold and does not."""
    found = everything()
    scaling.draw()
    fill(README, {"benchmarks": f"{short(found)}\n\n{measured_on()}"})
    fill(
        PAGE,
        {
            "benchmarks": f"{measured_on()}\n\n{full(found)}",
            "tried": left_out(),
            "scaling": scaling.summary(),
            "verbs": verbs.table(),
        },
    )
    return broken(found)

"""The pictures of the four questions, drawn from the same small tables that the pages work through.

They are SVG inside the page, so they take its colours, light or dark, and need no script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from html import escape
from pathlib import Path

import numpy as np

from crypsis import linkage, pseudonyms

PEOPLE = ((31, "F"), (34, "F"), (36, "M"), (52, "M"), (55, "M"), (58, "F"), (33, "F"), (57, "M"))
WARDS = {"young": ("flu", "flu", "flu", "gout"), "old": ("gout", "gout", "flu", "cold")}
ORIGINAL = (10, 20, 30, 40, 50)
MASKED = (12, 33, 28, 45, 49)
ITEMS = ("Brad", "Claudia", "Mike", "Susan")
CODES = ("a", "b", "c", "d")
POSSIBLE = ((0, 1, 1, 1), (0, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1))
TRUTH: dict[Hashable, Hashable] = {"Brad": "d", "Claudia": "b", "Mike": "c", "Susan": "a"}


def _svg(width: int, height: int, title: str, meaning: str, parts: list[str]) -> str:
    return "\n".join(
        [
            '<div class="picture-frame">',
            f'<svg class="picture" viewBox="0 0 {width} {height}" role="img" '
            f'style="max-width:{width}px" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(meaning)}</desc>",
            *parts,
            "</svg>",
            "</div>",
            "",
        ]
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _dot(x: float, y: float, kind: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="9" class="{kind}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>'


def singling_out() -> str:
    """The same eight people by year of age, and by decade."""
    parts = []

    def panel(left: float, title: str, bands: list[str], band: Callable[[int], str]) -> None:
        classes = Counter((band(age), sex) for age, sex in PEOPLE)
        step = 270 / len(bands)
        parts.append(_text(left + 160, 22, title, "strong"))
        for row, sex in enumerate("FM"):
            parts.append(_text(left + 12, 81 + 80 * row, sex))
        for place, name in enumerate(bands):
            x = left + 35 + step * (place + 0.5)
            parts.append(_text(x, 205, name, "small"))
            for row, sex in enumerate("FM"):
                size = classes[name, sex]
                y = 76 + 80 * row
                edge = min(step - 4, 120)
                parts.append(
                    f'<rect x="{x - edge / 2:g}" y="{y - 36}" width="{edge:g}" height="72" rx="6" '
                    'class="cell"/>'
                )
                for one in range(size):
                    parts.append(_dot(x + 24 * (one - (size - 1) / 2), y, "alone" if size == 1 else "dot"))

    panel(0, "age in years: all alone", [str(a) for a in sorted({a for a, _ in PEOPLE})], str)
    panel(340, "age in decades: classes", ["30-39", "50-59"], lambda age: f"{age // 10}0-{age // 10}9")
    return _svg(
        660,
        220,
        "Eight people in cells of age and sex",
        "By year of age everyone is alone in a cell; by decade six people are in classes of three "
        "and two stay alone.",
        parts,
    )


def inference() -> str:
    """Shares of diseases in all rows and in each group."""
    every = [one for ward in WARDS.values() for one in ward]
    bars = {"everyone": every, **{name: list(ward) for name, ward in WARDS.items()}}
    parts = []
    for row, (name, values) in enumerate(bars.items()):
        y = 30 + 62 * row
        parts.append(_text(92, y + 24, name, "strong", "end"))
        x = 104.0
        for disease, count in Counter(values).most_common():
            width = 440 * count / len(values)
            best = count == max(Counter(values).values()) and x == 104.0
            parts.append(
                f'<rect x="{x:g}" y="{y}" width="{width - 3:g}" height="36" rx="4" '
                f'class="{"alone" if best else "dot"}"/>'
            )
            parts.append(_text(x + width / 2, y + 23, f"{disease} {count}/{len(values)}", "on"))
            x += width
        share = max(Counter(values).values()) / len(values)
        parts.append(_text(556, y + 24, f"best guess right: {share:.0%}", "", "start"))
    return _svg(
        720,
        220,
        "What a group adds to a guess",
        "Without the release a guess is right for half of the people, in the young group for three quarters.",
        parts,
    )


def linkage_picture() -> str:
    """Values in order, originals on the left, masked on the right, and who became what."""
    parts = [_text(150, 22, "original", "strong"), _text(430, 22, "masked", "strong")]
    parts.append(_text(590, 22, "reverse-mapped", "strong"))
    back = linkage.reverse_map({"x": list(ORIGINAL)}, {"x": list(MASKED)})["x"]
    places = {value: 55 + 40 * rank for rank, value in enumerate(sorted(ORIGINAL))}
    order = np.argsort(np.argsort(MASKED))
    for number, (value, masked, mapped) in enumerate(zip(ORIGINAL, MASKED, back, strict=True)):
        y, z = places[value], 55 + 40 * int(order[number])
        kind = "edge" if y == z else "edge true"
        parts += [_text(140, y + 5, f"person {number + 1}: {value}", "", "end")]
        parts += [_line(155, y, 410, z, kind), _dot(155, y, "dot"), _dot(410, z, "dot")]
        parts += [_text(428, z + 5, str(masked), "", "start"), _text(590, z + 5, str(int(mapped)))]
    parts += [_text(140, 45 + 40 * len(ORIGINAL), "largest at the bottom", "small", "end")]
    return _svg(
        680,
        250,
        "Masking is a permutation plus noise",
        "Of five values two changed places; the rest of the change moves no rank.",
        parts,
    )


def pseudonyms_picture() -> str:
    """Items and pseudonyms, the pairs that are possible, and the truth."""
    belief = pseudonyms.Belief(POSSIBLE, items=ITEMS, pseudonyms=CODES, truth=TRUTH)
    right = np.asarray(pseudonyms.crack_probabilities(belief))
    parts = [_text(150, 22, "people", "strong"), _text(420, 22, "pseudonyms", "strong")]
    for truth in (False, True):
        for i, item in enumerate(ITEMS):
            for j, code in enumerate(CODES):
                if POSSIBLE[i][j] and (TRUTH[item] == code) is truth:
                    kind = "edge true" if truth else "edge"
                    parts.append(_line(160, 55 + 45 * i, 410, 55 + 45 * j, kind))
    for i, item in enumerate(ITEMS):
        parts += [_dot(160, 55 + 45 * i, "dot"), _text(142, 60 + 45 * i, item, "", "end")]
        parts += [_dot(410, 55 + 45 * i, "dot"), _text(430, 60 + 45 * i, CODES[i], "", "start")]
        parts += [_text(480, 60 + 45 * i, f"{item} found: {right[i]:.2f}", "small", "start")]
    return _svg(
        640,
        225,
        "Which pseudonym is whose?",
        "Brad and Claudia cannot be a; all other pairs are possible; thick lines are the truth.",
        parts,
    )


FIGURES: dict[str, Callable[[], str]] = {
    "singling_out": singling_out,
    "inference": inference,
    "linkage": linkage_picture,
    "pseudonyms": pseudonyms_picture,
}


def write(folder: Path) -> None:
    """Draw them all."""
    folder.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(draw(), encoding="utf-8")

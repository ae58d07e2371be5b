"""Masking methods on the CASC reference files: correct links and information loss.

Writes benchmarks/results/linkage_casc.json, and the tables and charts of the documentation page
`docs/linkage_casc.md`. The masking methods are small plain versions, for comparison only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from benchmarks import measure
from crypsis import linkage

Floats = NDArray[np.float64]
Generator = np.random.Generator
DOCS = Path(__file__).parents[2] / "docs"
ASSIGN_UP_TO = 2_000
FILES: dict[str, tuple[str, list[str] | None]] = {
    "Census": ("CASCrefmicrodata.csv", None),
    "EIA": (
        "EIA.csv",
        [
            "RESREVENUE",
            "RESSALES",
            "COMREVENUE",
            "COMSALES",
            "INDREVENUE",
            "INDSALES",
            "OTHREVENUE",
            "OTHRSALES",
            "TOTREVENUE",
            "TOTSALES",
        ],
    ),
    "Tarragona": ("Tarragona.csv", None),
}


def noise(x: Floats, strength: float, rng: Generator) -> Floats:
    """Independent normal noise of `strength` standard deviations, which needs no other record."""
    return np.asarray(x + strength * x.std(axis=0) * rng.normal(size=x.shape))


def rank_swapping(x: Floats, strength: float, rng: Generator) -> Floats:
    """Each value changes place with one at most `strength` of the records away in rank."""
    n = len(x)
    reach = max(1, int(strength * n))
    y = x.copy()
    for j in range(x.shape[1]):
        order = np.argsort(x[:, j], kind="stable")
        free = np.ones(n, dtype=bool)
        for i in range(n):
            if not free[i]:
                continue
            near = np.flatnonzero(free[i + 1 : i + 1 + reach]) + i + 1
            if len(near):
                k = int(rng.choice(near))
                y[order[i], j], y[order[k], j] = x[order[k], j], x[order[i], j]
                free[k] = False
            free[i] = False
    return y


def microaggregation(x: Floats, strength: float, rng: Generator) -> Floats:
    """MDAV: groups of `strength` similar records, each replaced by its group's mean. No dice."""
    del rng
    k = int(strength)
    z = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    left = np.arange(len(x))
    y = np.empty_like(x)

    def take(centre: Floats) -> None:
        nonlocal left
        nearest = np.argsort(((z[left] - centre) ** 2).sum(axis=1), kind="stable")[:k]
        group = left[nearest]
        y[group] = x[group].mean(axis=0)
        left = np.delete(left, nearest)

    while len(left) >= 3 * k:
        far = left[((z[left] - z[left].mean(axis=0)) ** 2).sum(axis=1).argmax()]
        take(z[far])
        further = left[((z[left] - z[far]) ** 2).sum(axis=1).argmax()]
        take(z[further])
    if len(left) >= 2 * k:
        far = left[((z[left] - z[left].mean(axis=0)) ** 2).sum(axis=1).argmax()]
        take(z[far])
    y[left] = x[left].mean(axis=0)
    return y


def shuffling(x: Floats, strength: float, rng: Generator) -> Floats:
    """Values put into the order of fresh normal scores with the same correlations.

    `strength` is the share of fresh variance: 1 forgets who had what and keeps the correlations.
    """
    scores = ndtri((rankdata(x, axis=0) - 0.5) / len(x))
    correlation = np.corrcoef(scores, rowvar=False)
    fresh = rng.multivariate_normal(np.zeros(x.shape[1]), correlation, size=len(x), method="eigh")
    wanted = np.sqrt(1 - strength) * scores + np.sqrt(strength) * fresh
    return np.asarray(linkage.reverse_map(x, wanted))


Mask = Callable[[Floats, float, Generator], Floats]
METHODS: dict[str, tuple[Mask, Sequence[float]]] = {
    "noise": (noise, (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)),
    "rank swapping": (rank_swapping, (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)),
    "microaggregation": (microaggregation, (3, 5, 10, 25, 50)),
    "shuffling": (shuffling, (0.001, 0.01, 0.05, 0.2, 0.5, 1.0)),
}


@dataclass(frozen=True)
class Point:
    """One masked file: what it gives away (links) and what it loses."""

    file: str
    method: str
    strength: float
    risk: float
    low: float
    high: float
    by_values: float
    one_to_one: float | None
    chance: float
    verdict: str
    paper_verdict: str
    rank_correlation: float
    moved_share: float
    loss: float
    marginal_loss: float


def loss_of_correlations(x: Floats, y: Floats) -> float:
    """Mean absolute change of the rank correlations between columns."""
    one, other = (np.corrcoef(rankdata(v, axis=0), rowvar=False) for v in (x, y))
    return float(np.abs(one - other)[np.triu_indices(x.shape[1], 1)].mean())


def loss_of_marginals(x: Floats, y: Floats) -> float:
    """Mean distance between sorted columns, in standard deviations."""
    return float((np.abs(np.sort(x, axis=0) - np.sort(y, axis=0)).mean(axis=0) / x.std(axis=0)).mean())


def evaluate(file: str, method: str, strength: float, x: Floats) -> Point:
    mask, _ = METHODS[method]
    y = mask(x, strength, np.random.default_rng(2016))
    checked = linkage.verify_links(x, y, ties="average")
    by_values = linkage.link(x, y, distance="value")
    together = linkage.assign(x, y, ties="average") if len(x) <= ASSIGN_UP_TO else None
    steps = linkage.decompose_noise(x, y)
    privacy = linkage.permuted_privacy(x, y, d=len(x) // 100, v=0)
    if checked.correct_share is None or by_values.correct_share is None:
        raise RuntimeError("the rows are aligned, so the shares of correct links are known")
    return Point(
        file=file,
        method=method,
        strength=strength,
        risk=checked.correct_share.value,
        low=checked.correct_share.low,
        high=checked.correct_share.high,
        by_values=by_values.correct_share.value,
        one_to_one=None
        if together is None or together.correct_share is None
        else together.correct_share.value,
        chance=checked.chance,
        verdict=checked.verdict,
        paper_verdict=checked.paper_verdict,
        rank_correlation=float(np.mean([step.rank_correlation or 0.0 for step in steps])),
        moved_share=privacy.share,
        loss=loss_of_correlations(x, y),
        marginal_loss=loss_of_marginals(x, y),
    )


@dataclass(frozen=True)
class EqualUtility:
    """Local noise beside a global method whose strength was tuned to the same loss."""

    file: str
    noise: float
    loss: float
    local_risk: float
    swapping: float
    swapping_risk: float
    shuffling: float
    shuffling_risk: float


def equal_utility(file: str, x: Floats, strength: float) -> EqualUtility:
    """Find the strength of the global methods that loses as much as local noise does."""
    masked = noise(x, strength, np.random.default_rng(2016))
    loss = loss_of_correlations(x, masked)
    swap, swap_risk = _tuned(x, rank_swapping, loss, 0.002, 1.0)
    shuffle, shuffle_risk = _tuned(x, shuffling, loss, 1e-4, 1.0)
    return EqualUtility(file, strength, loss, _risk(x, masked), swap, swap_risk, shuffle, shuffle_risk)


def _tuned(x: Floats, mask: Mask, loss: float, low: float, high: float) -> tuple[float, float]:
    for _ in range(14):  # bisection on a logarithmic scale; the loss grows with the strength
        middle = float(np.sqrt(low * high))
        if loss_of_correlations(x, mask(x, middle, np.random.default_rng(2016))) < loss:
            low = middle
        else:
            high = middle
    strength = float(np.sqrt(low * high))
    return strength, _risk(x, mask(x, strength, np.random.default_rng(2016)))


def _risk(x: Floats, y: Floats) -> float:
    right = linkage.link(x, y, ties="average").correct_share
    return 0.0 if right is None else right.value


def read(name: str) -> Floats:
    import pyarrow.csv

    file, columns = FILES[name]
    table = pyarrow.csv.read_csv(measure.DATA / "casc" / file)
    names = columns or table.column_names
    return np.column_stack([table[c].to_numpy().astype(np.float64) for c in names])


HEAD = (
    "method",
    "strength",
    "correct links (99 %)",
    "by values",
    "one to one",
    "rank correlation",
    "moved 1 %",
    "loss of correlations",
    "loss of marginals",
    "verdict (paper's test)",
)
EQUAL_HEAD = (
    "file",
    "local noise",
    "loss",
    "correct links",
    "rank swapping",
    "correct links",
    "shuffling",
    "correct links",
)


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def tables(points: Sequence[Point], equal: Sequence[EqualUtility]) -> Iterator[str]:
    """The results in MyST, one section a file."""
    for file in FILES:
        yield f"## {file}\n"
        yield f"```{{image}} _static/linkage_casc_{file.lower()}.svg"
        yield f":alt: Correct links against loss of correlations, {file}\n```\n"
        yield line(HEAD)
        yield line(["---"] * len(HEAD))
        yield from (line(_cells(point)) for point in points if point.file == file)
        yield ""
    yield "## Local noise and global masking at equal loss of correlations\n"
    yield line(EQUAL_HEAD)
    yield line(["---"] * len(EQUAL_HEAD))
    for e in equal:
        yield line(
            [
                e.file,
                f"{e.noise:g}",
                f"{e.loss:.4f}",
                f"{e.local_risk:.1%}",
                f"{e.swapping:.3g}",
                f"{e.swapping_risk:.1%}",
                f"{e.shuffling:.3g}",
                f"{e.shuffling_risk:.1%}",
            ]
        )


def _cells(p: Point) -> list[str]:
    return [
        p.method,
        f"{p.strength:g}",
        f"{p.risk:.1%} ({p.low:.1%} to {p.high:.1%})",
        f"{p.by_values:.1%}",
        "-" if p.one_to_one is None else f"{p.one_to_one:.1%}",
        f"{p.rank_correlation:.3f}",
        f"{p.moved_share:.1%}",
        f"{p.loss:.4f}",
        f"{p.marginal_loss:.4f}",
        f"{p.verdict} ({p.paper_verdict})",
    ]


def risk_utility(points: Sequence[dict[str, Any]], *, title: str) -> Any:
    """Maskings by information loss and correct links.

    Each point has `method`, `strength`, `order`, `loss` and `risk` (shares), and the `low` and
    `high` end of the risk's interval.
    """
    methods = list(dict.fromkeys(point["method"] for point in points))
    legend = alt.Legend(title=None, orient="top", columns=3, labelLimit=220)
    colors = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#7F7F7F"]
    shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
    color = alt.Color(
        "method:N", scale=alt.Scale(domain=methods, range=colors[: len(methods)]), legend=legend
    )
    base = alt.Chart(alt.InlineData(values=list(points))).encode(
        x=alt.X("loss:Q", title="information loss (mean change of correlations)"),
        color=color,
        tooltip=[
            "method:N",
            "strength:N",
            alt.Tooltip("loss:Q", format=".4f"),
            alt.Tooltip("risk:Q", format=".2%"),
        ],
    )
    y = alt.Y("risk:Q", title="correct links", axis=alt.Axis(format="%"))
    shape = alt.Shape(
        "method:N", scale=alt.Scale(domain=methods, range=shapes[: len(methods)]), legend=legend
    )
    marks = base.mark_point(filled=True, size=80, opacity=1).encode(y=y, shape=shape)
    lines = base.mark_line(strokeWidth=1, opacity=0.5).encode(y=y, order="order:Q")
    spans = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q"), y2="high:Q")
    layers = alt.layer(lines, spans, marks)
    return layers.properties(title=alt.TitleParams(title, anchor="start"), width=460, height=320)


def chart(file: str, points: Sequence[Point]) -> str:
    drawn: list[dict[str, Any]] = [
        {**asdict(p), "strength": f"{p.strength:g}", "order": i}
        for i, p in enumerate(points)
        if p.file == file
    ]
    title = f"{file}: correct links against loss"
    return str(vl_convert.vegalite_to_svg(risk_utility(drawn, title=title).to_json()))


def main() -> None:
    points, equal = [], []
    for file in FILES:
        x = read(file)
        for method, (_, strengths) in METHODS.items():
            for strength in strengths:
                points.append(evaluate(file, method, strength, x))
                p = points[-1]
                print(
                    f"{file}, {method} {strength:g}: {p.risk:.1%} right, loss {p.loss:.4f}, "
                    f"{p.verdict} ({p.paper_verdict})",
                    flush=True,
                )
        equal += [equal_utility(file, x, strength) for strength in (0.05, 0.25, 1.0)]
        (DOCS / "_static").mkdir(parents=True, exist_ok=True)
        (DOCS / "_static" / f"linkage_casc_{file.lower()}.svg").write_text(chart(file, points))
    (DOCS / "linkage_casc_results.txt").write_text("\n".join(tables(points, equal)) + "\n")
    content = {"points": [asdict(p) for p in points], "equal_utility": [asdict(e) for e in equal]}
    measure.RESULTS.mkdir(exist_ok=True)
    (measure.RESULTS / "linkage_casc.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()

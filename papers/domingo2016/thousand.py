"""Table 6 and Figs. 2 and 3 of domingo2016: a thousand random records, masked much and little.

The records are not printed, only how they were drawn. So they are drawn again, a hundred times
where a table of numbers is to be compared: each printed share has to lie among ours.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from crypsis import linkage
from crypsis.report.charts import linkage as charts
from papers.charts import titled
from papers.comparison import NOTHING, claim, critique, number, same, underivable
from papers.domingo2016 import printed
from papers.results import ComparedValue, Drawn, RunSettings, Values, paper_item

_DRAWS = 100
_WHY = (
    "The thousand records are random and not printed. In brackets the range over a hundred draws; "
    "the printed share has to lie in it."
)


def _files(noise: tuple[float, float, float], seed: int) -> tuple[printed.Floats, printed.Floats]:
    rng = np.random.default_rng((2016, seed))
    x = rng.normal(printed.MEANS, printed.DEVIATIONS, size=(1000, 3))
    return x, x + rng.normal(0, noise, size=x.shape)


@cache
def _checked(noise: tuple[float, float, float]) -> linkage.LinkVerification:
    return linkage.verify_links(*_files(noise, 0), seed=1)


@cache
def _shares() -> tuple[printed.Floats, printed.Floats]:
    """Shares of X and of A at the distances 0 to 14 and beyond, a row for each draw."""
    originals: list[printed.Floats] = []
    random_shares: list[printed.Floats] = []
    for seed in range(_DRAWS):
        null = linkage.verify_links(*_files(printed.SMALL_NOISE, seed), seed=seed).independent
        for found, distances in ((originals, null.distances), (random_shares, null.null_distances)):
            near = np.minimum(distances, 15).astype(int)
            found.append(np.bincount(near, minlength=16) / len(near))
    return np.array(originals), np.array(random_shares)


@paper_item("Table 6", "Distances of the match, 1,000 records with little noise")
def table_6(_: RunSettings) -> Values:
    cells: list[ComparedValue] = []
    for group, place, found in zip(("X", "A"), (1, 2), _shares(), strict=True):
        for k, line in enumerate(printed.TABLE_6):
            low, high = float(found[:, k].min()), float(found[:, k].max())
            inside = low <= float(line[place]) <= high
            text = f"{found[:, k].mean():.4f} ({low:.4f} to {high:.4f})"
            name = f"d = {k}" if k < 15 else "d >= 15"
            cells.append(
                underivable(name, line[place], text, group=group, note=_WHY)
                if inside
                else same(name, line[place], text, group=group)
            )
    return (*cells, *_within_five())


def _within_five() -> list[ComparedValue]:
    """What the paper reads into the share of random records within distance 5."""
    near = sum(float(line[2]) for line in printed.TABLE_6[:6])
    closed = float(linkage.random_match_probability(1000, 3, [5])[0])
    by_size = [linkage.random_match_probability(n, 3, [5])[0] for n in (100, 1000, 10_000)]
    by_columns = [linkage.random_match_probability(1000, m, [5])[0] for m in (2, 3, 4)]
    return [
        number("P(d <= 5 | random), summed", "0.0011", near, group="the text"),
        underivable(
            "the same, expected in closed form",
            "0.0011",
            closed,
            group="the text",
            within=(0.0005, 0.0025),
            note="The paper's is the share among 10,000 draws; the closed form is exact for "
            "independent columns.",
        ),
        critique(
            "P(random | d <= 5), if nine links of ten are random",
            "0.0011",
            _random_if_near(0.9),
            correct="0.0104",
            group="the text",
            note="0.0011 is how often a random record finds a match within distance 5. The text "
            "reads it as the probability that a match within distance 5 is random. That depends on "
            "how many links are random at all: from the printed shares it is "
            f"{_random_if_near(0.5):.4f} if half of them are, and {_random_if_near(0.9):.4f} if "
            "nine of ten are.",
        ),
        _at_zero(),
        claim(
            "distances of random records",
            "grow with the records",
            by_size[0] > by_size[1] > by_size[2],
            "P(d <= 5) " + ", ".join(f"{p:.2g}" for p in by_size),
            group="the text",
        ),
        claim(
            "distances of random records ",
            "grow with the columns",
            by_columns[0] > by_columns[1] > by_columns[2],
            "P(d <= 5) " + ", ".join(f"{p:.2g}" for p in by_columns),
            group="the text",
        ),
    ]


def _at_zero() -> ComparedValue:
    """Whether every match at distance 0 is right, in the first of the hundred draws."""
    right = every = 0
    for seed in range(10):
        found = linkage.link(*_files(printed.SMALL_NOISE, seed), seed=seed)
        near = np.flatnonzero(found.distances == 0)
        every += len(near)
        right += sum(found.matches[row].tolist() == [row] for row in near.tolist())
    text = f"{right} of {every}, ten draws"
    return claim("a match at distance 0", "must be a correct match", right == every, text, group="the text")


def _random_if_near(share: float) -> float:
    """P(random | d <= 5) from the printed table, by Bayes' rule, if that share is random."""
    random_shares = share * sum(float(line[2]) for line in printed.TABLE_6[:6])
    originals = (1 - share) * sum(float(line[1]) for line in printed.TABLE_6[:6])
    return random_shares / (random_shares + originals)


@paper_item(
    "Figure 2", "1,000 records, noise of half a standard deviation", figure="two curves over the distance"
)
def figure_2(_: RunSettings) -> Drawn:
    found = _checked(printed.LARGE_NOISE)
    null, right = found.independent, found.correct_share
    times = float(right or 0) / found.chance
    cells = (
        claim(
            "the two curves",
            "indistinguishable",
            null.hellinger < 0.15 and null.discoveries == 0,
            f"Hellinger distance {null.hellinger:.3f}, no link too near",
        ),
        same("random records", 10_000, null.records),
        same("the matches, by the paper's test", "at random", printed.said(found.paper_verdict)),
        critique(
            "the masking, when right links are counted",
            "at random",
            found.verdict,
            correct="not safe",
            note="The distance does not separate right links from wrong ones, but the nearest "
            f"record is the right one {times:.0f} times as often as a blind guess would be. The "
            "test asks whether the intruder can be sure of one link, not whether they learn.",
        ),
    )
    return cells, lambda: _curves(null, "much noise (Fig. 2)")


@paper_item(
    "Figure 3",
    "1,000 records, noise of a two-hundredth of a standard deviation",
    figure="two curves over the distance",
)
def figure_3(_: RunSettings) -> Drawn:
    found = _checked(printed.SMALL_NOISE)
    null = found.independent
    cells = (
        claim(
            "the two curves",
            "very little overlap",
            null.hellinger > 0.9,
            f"Hellinger distance {null.hellinger:.3f}",
        ),
        same(
            "the matches, by the paper's test", "very likely to be correct", printed.said(found.paper_verdict)
        ),
        same("the matches, by ours", "very likely to be correct", printed.said(found.verdict)),
    )
    return cells, lambda: _curves(null, "little noise (Fig. 3)")


@paper_item("Section 5.2", "The test on columns that depend on each other")
def dependent_columns(_: RunSettings) -> Values:
    rng = np.random.default_rng(52)
    spread = np.full((3, 3), 0.9) + 0.1 * np.eye(3)
    x = rng.multivariate_normal(np.zeros(3), spread, size=1000)
    unrelated = rng.multivariate_normal(np.zeros(3), spread, size=1000)
    found = linkage.verify_links(x, unrelated, seed=5)
    return (
        critique(
            "an unrelated file, correlation 0.9, by the paper's test",
            NOTHING,
            printed.said(found.paper_verdict),
            correct="very likely to be correct",
            note="The masked file has nothing to do with the originals, so that no link means "
            "anything; yet originals match nearer than records drawn column by column, because "
            "those lie where no real record does. A null that keeps the dependence is needed; "
            f"against it the same file is {found.verdict}.",
        ),
    )


def _curves(null: linkage.NullComparison, what: str) -> object:

    return titled(charts.match_distances(null), f"Match distances, 1,000 records, {what}")

"""How often intervals cover: many populations, many samples of each, and the share that is right.

python -m benchmarks.studies.coverage [runs]

Writes benchmarks/results/coverage_study.json and the tables of `docs/singling_out.md`; its status
is 1 if an interval that is stated as 95 % covers less than 90 % anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import data, measure
from benchmarks.tables import fill
from crypsis import read
from crypsis.pseudonyms import doubly_stochastic, edge_probabilities
from crypsis.results import Estimate
from crypsis.singling_out._models import pitman_uniques, slide_negative_binomial_uniques, zayatz_uniques
from crypsis.singling_out._population_bounds import SampledClasses, unique_people
from papers.bagai2017.attack_graphs import heuristic_error

Ints = NDArray[np.int64]
Draw = np.random.Generator
PAGE = measure.ROOT / "docs" / "singling_out.md"
FRACTIONS = (0.01, 0.05, 0.3, 0.7)
PEOPLE = 30_000
RUNS = 100
SEEDS = 10
LEAST = 0.9
MODELLED = 15
MODELS = {
    "pitman": pitman_uniques,
    "zayatz": zayatz_uniques,
    "slide_negative_binomial": slide_negative_binomial_uniques,
}


@dataclass(frozen=True)
class Coverage:
    """How often the interval had the true share of unique people, and where its ends were."""

    population: str
    fraction: float
    runs: int
    truth: float
    covered: float
    below: float
    low: float
    high: float
    models: dict[str, float | None]


def multinomial(weights: Any, draw: Draw) -> Ints:
    """A class for each weight, people assigned to them at random."""
    return draw.multinomial(PEOPLE, np.asarray(weights) / np.sum(weights))


def pitman(draw: Draw, theta: float = 80.0, alpha: float = 0.5) -> Ints:
    """The restaurant process with two parameters, person by person."""
    sizes, tables = [1], np.zeros(PEOPLE, dtype=np.int64)
    chances = draw.random((PEOPLE, 2))
    for person in range(1, PEOPLE):
        if chances[person, 0] < (theta + alpha * len(sizes)) / (theta + person):
            tables[person] = len(sizes)
            sizes.append(1)
            continue
        table = tables[int(chances[person, 1] * person)]
        while draw.random() < alpha / sizes[table]:
            table = tables[draw.integers(person)]
        tables[person] = table
        sizes[table] += 1
    return np.array(sizes)


def counted(path: str, columns: list[str]) -> Ints:
    """The class sizes of a real table."""
    return read(path).cells(columns).class_sizes


POPULATIONS: dict[str, Callable[[Draw], Ints]] = {
    "uniform, 20 people a class": lambda draw: multinomial(np.ones(PEOPLE // 20), draw),
    "uniform, 3 people a class": lambda draw: multinomial(np.ones(PEOPLE // 3), draw),
    "Zipf": lambda draw: multinomial(1 / np.arange(1, PEOPLE // 3), draw),
    "lognormal, sigma 2": lambda draw: multinomial(np.exp(2 * draw.normal(size=PEOPLE // 5)), draw),
    "geometric": lambda draw: np.bincount(draw.geometric(0.01, PEOPLE)),
    "Pitman's own, theta 80, alpha 0.5": pitman,
    "slide negative binomial's own": lambda draw: 1 + draw.negative_binomial(0.6, 0.08, PEOPLE // 8),
    "100 classes, and 0.3 % unique": lambda _: np.repeat([PEOPLE // 100 - 1, 1], [100, 100]),
    "20 people a class, and 1 % unique": lambda draw: np.append(
        multinomial(np.ones(PEOPLE // 20), draw), np.ones(PEOPLE // 100, np.int64)
    ),
    "pairs": lambda _: np.full(PEOPLE // 2, 2),
    "half pairs, half unique": lambda _: np.repeat([2, 1], [PEOPLE // 4, PEOPLE // 2]),
    "Adult, 4 columns": lambda _: counted(data.adult(), data.FOUR),
    "Adult, 8 columns": lambda _: counted(data.adult(), data.EIGHT),
    "diabetes130, 6 columns": lambda _: counted(
        data.diabetes(),
        ["race", "gender", "age", "time_in_hospital", "num_lab_procedures", "num_medications"],
    ),
}


def covers(name: str, sizes: Ints, fraction: float, runs: int, draw: Draw) -> Coverage:
    """Samples of one population; the models are fitted to the first of them."""
    sizes = sizes[sizes > 0]
    people, truth = int(sizes.sum()), float((sizes == 1).sum() / sizes.sum())
    lows, highs = np.empty(runs), np.empty(runs)
    points: dict[str, list[float]] = {model: [] for model in MODELS}
    for run in range(runs):
        sample = draw.multivariate_hypergeometric(sizes, int(fraction * people), method="marginals")
        size, number = np.unique(sample[sample > 0], return_counts=True)
        found = unique_people([SampledClasses(size, number, float(people))])
        lows[run], highs[run] = found.least / people, found.largest / people
        if run < MODELLED:
            for model, uniques in MODELS.items():
                if (fit := uniques(size, number, float(people))) is not None:
                    points[model].append(fit.uniques / people)
    return Coverage(
        name,
        fraction,
        runs,
        truth,
        float(((lows <= truth) & (truth <= highs)).mean()),
        float((highs < truth).mean()),
        float(np.median(lows)),
        float(np.median(highs)),
        {model: float(np.median(values)) if values else None for model, values in points.items()},
    )


def covers_heuristic_error(runs: int, draw: Draw, size: int = 9) -> float:
    """How often the interval of the sampled NMAPE (bagai2017) has the NMAPE over all t! truths."""
    every = np.array(list(permutations(range(size))))
    covered = 0
    for _ in range(runs):
        matrix = draw.random((size, size)) ** (8 * draw.random())
        edges = edge_probabilities(matrix, method="exact").probabilities
        difference = doubly_stochastic(matrix).matrix - edges
        truth = np.abs(difference[np.arange(size), every].sum(axis=1)).mean() / size * 100
        for seed in range(SEEDS):
            found = heuristic_error(matrix, seed=seed)
            assert isinstance(found, Estimate)
            covered += found.low <= truth <= found.high
    return covered / (runs * SEEDS)


def percent(share: float | None) -> str:
    """A share in per cent, with two digits."""
    if share is None:
        return "none"
    if 0 < share < 1e-5:
        return "under 0.001 %"
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def table(found: list[Coverage]) -> str:
    """One line a population and sampling fraction."""
    lines = [
        "| population | sample | unique | covered | interval (medians) | Pitman | Zayatz | slide "
        "negative binomial |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for one in found:
        cells = [
            one.population,
            percent(one.fraction),
            percent(one.truth),
            percent(one.covered),
            f"{percent(one.low)} to {percent(one.high)}",
            *(percent(one.models[model]) for model in MODELS),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def written(study: dict[str, Any]) -> str:
    """The table, and the sentence that sums it up."""
    found = [Coverage(**one) for one in study["population_uniqueness"]]
    worst = min(one.covered for one in found)
    unsafe = max(one.below for one in found)
    nmape = study["sampled_nmape"]
    return (
        f"{found[0].runs} samples of each; the least coverage is {percent(worst)}, and the interval "
        f"was below the truth in at most {percent(unsafe)} of the samples of any line. The interval "
        f"of the sampled NMAPE of bagai2017 (t = {nmape['t']}) covers in "
        f"{100 * nmape['covered']:.1f} % of {nmape['runs']:,} runs.\n\n"
        f"{table(found)}"
    )


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    found = []
    for place, (name, population) in enumerate(POPULATIONS.items()):
        sizes = population(np.random.default_rng((2026, place)))
        for fraction in FRACTIONS:
            draw = np.random.default_rng((2027, place, int(1000 * fraction)))
            found.append(covers(name, sizes, fraction, runs, draw))
            print(found[-1], flush=True)
    heuristic = covers_heuristic_error(2 * runs, np.random.default_rng(9))
    print("sampled NMAPE, t = 9:", heuristic)
    study = {
        "population_uniqueness": [asdict(one) for one in found],
        "sampled_nmape": {"t": 9, "runs": 2 * runs * SEEDS, "covered": heuristic},
    }
    measure.write("coverage_study", study)
    fill(PAGE, {"coverage": written(study)})
    return 1 if min(heuristic, *(one.covered for one in found)) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())

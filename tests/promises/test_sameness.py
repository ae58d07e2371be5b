"""The same numbers for one thread and two, for every size of batch, and where digits cancel."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crypsis as cr
from crypsis import linkage as lk
from crypsis import protection as an
from crypsis import pseudonyms as ps
from crypsis import utility as ut
from crypsis.results import Result
from crypsis.tables.duckdb import backend as duck
from crypsis.tables.sampling import quantiles, sample

ROWS = 60_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(8)
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    table = pa.table(
        {
            "age": rng.integers(0, 90, ROWS),
            "zip": rng.integers(0, 300, ROWS),
            "job": rng.integers(0, 12, ROWS),
            "disease": rng.zipf(1.6, ROWS) % 40,
            "weight": rng.lognormal(3, 1, ROWS),
        }
    )
    pq.write_table(table, path, row_group_size=10_000)
    return path


def opened(path: Path, threads: int) -> cr.Dataset:
    release = cr.read(
        path, quasi_identifiers=["age", "zip"], sensitive=["disease"], weight="weight", population=10_000_000
    )
    release.rows.backend.connection.execute(f"SET threads = {threads}")  # type: ignore[attr-defined]
    return release


def by_rows(release: cr.Dataset) -> dict[str, Any]:
    """Everything that is asked of rows."""
    return {
        "uniqueness": cr.singling_out.uniqueness(release),
        "equivalence classes": cr.singling_out.equivalence_classes(release),
        "individual risk": cr.singling_out.individual_risk(release),
        "population": cr.singling_out.population_uniqueness(release, weight=None),
        "leakage": cr.inference.leakage(release, "disease", ["age"]),
        "attribute disclosure": cr.inference.attribute_disclosure(release),
        "sample": sample(release.rows, 50, seed=3, names=["age", "zip"]).to_pydict(),
        "quantiles": {
            k: v.to_pylist() for k, v in quantiles(release.rows, ["age", "weight"], [0.1, 0.5]).items()
        },
    }


def plain(value: Any) -> Any:
    """A result as plain numbers, its arrays included."""
    if isinstance(value, Result):
        return plain(value.to_dict(reveal=True))
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def same(first: Any, second: Any, tolerance: float, where: str = "") -> None:
    """Equal everywhere, or within `tolerance`; bit by bit where that is zero."""
    assert type(first) is type(second), where
    if isinstance(first, dict):
        assert first.keys() == second.keys(), where
        for key in first:
            same(first[key], second[key], tolerance, f"{where}/{key}")
    elif isinstance(first, list):
        assert len(first) == len(second), where
        for place, (a, b) in enumerate(zip(first, second, strict=True)):
            same(a, b, tolerance, f"{where}/{place}")
    elif isinstance(first, float):
        alike = first == second or (math.isnan(first) and math.isnan(second))
        near = abs(first - second) <= tolerance * max(1.0, abs(first), abs(second))
        assert alike or near, f"{where}: {first!r} and {second!r}"
    else:
        assert first == second, where


@pytest.fixture(scope="module")
def by_two(large: Path) -> dict[str, Any]:
    """Everything by two threads, in batches of the usual size."""
    found: dict[str, Any] = plain(by_rows(opened(large, 2)))
    return found


def test_one_thread_and_two_in_the_engine(large: Path, by_two: dict[str, Any]) -> None:
    same(plain(by_rows(opened(large, 1))), by_two, 0.0)


def test_sums_of_weights_are_those_of_whole_numbers(large: Path) -> None:
    """Fractions are added as if nothing were rounded before the end, in whatever order."""
    wanted: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    table = pq.read_table(large)
    for age, zip_, weight in zip(*(table[n].to_pylist() for n in ("age", "zip", "weight")), strict=True):
        wanted[age, zip_] += Fraction(weight)
    for threads in (1, 2):
        cells = opened(large, threads).cells(["age", "zip"], weighted=True)
        ages, zips = (v.take(pa.array(c)).to_pylist() for v, c in zip(cells.values, cells.codes, strict=True))
        assert cells.weights is not None
        for age, zip_, found in zip(ages, zips, cells.weights.tolist(), strict=True):
            assert found == pytest.approx(float(wanted[age, zip_]), rel=4.5e-16)


def by_kernels() -> dict[str, Any]:
    """Everything that runs on several threads outside the engine."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 50, (3_000, 3)).astype(float)
    y = x + rng.integers(-3, 4, x.shape)
    matrix = rng.random((18, 18))
    table = pa.table({name: rng.integers(0, 9, 20_000) for name in "abcdef"})
    belief = ps.Belief(matrix, truth=np.arange(18))
    return {
        "link": lk.link(x, y),
        "frontier": lk.permuted_privacy(x, y, d=1, v=1),
        "permanent": ps.permanent(matrix),
        "edges": ps.edge_probabilities(belief).probabilities,
        "cracks": ps.crack_distribution(belief).probabilities,
        "search": cr.singling_out.find_quasi_identifiers(table, 0.3, max_columns=3),
        "mdav": an.mask(
            table.slice(0, 400).select(["a", "b"]), {("a", "b"): an.masking.Mdav(k=5)}, seed=1
        ).frame.to_pydict(),
        "cluster": an.cluster(x[:, 0], 7).labels,
    }


def test_one_thread_and_two_in_the_kernels() -> None:
    most = numba.get_num_threads()
    found = []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found.append(plain(by_kernels()))
    finally:
        numba.set_num_threads(most)
    same(*found, 0.0)


@pytest.mark.parametrize(
    "batch", [2_048, *(pytest.param(n, marks=pytest.mark.heavy) for n in (1, 100, 50_000, 10**7))]
)
def test_every_size_of_batch(
    large: Path, by_two: dict[str, Any], monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(duck, "_BATCH_ROWS", batch)
    same(by_two, plain(by_rows(opened(large, 2))), 1e-12)


def test_the_order_of_rows_changes_nothing(large: Path) -> None:
    table = pq.read_table(large)
    order = np.random.default_rng(0).permutation(ROWS)
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["disease"]}
    measures: tuple[Callable[..., Any], ...] = (
        cr.singling_out.equivalence_classes,
        cr.inference.attribute_disclosure,
    )
    for measure in measures:
        first = plain(measure(cr.Dataset.from_frame(table, **roles)))
        again = plain(measure(cr.Dataset.from_frame(table.take(order), **roles)))
        for found in (first, again):  # which of several equally bad groups is named is no number
            for key in ("smallest", "smallest_class", "worst", "columns"):
                found.pop(key, None)
        same(first, again, 1e-12)


# Where digits cancel.

SHIFT = 2.0**33


def test_clusters_of_large_numbers_that_differ_little() -> None:
    values = np.array([0, 1, 1.5, 7, 7.25, 9, 20, 21.5])
    for cost in ("center", "median", "squares", "cellular"):
        near, far = an.cluster(values, 2, cost=cost), an.cluster(values + SHIFT, 2, cost=cost)
        assert near.labels.tolist() == far.labels.tolist()
        assert far.cost == pytest.approx(near.cost, rel=1e-9)


def test_means_and_correlations_of_large_numbers_that_differ_little() -> None:
    rng = np.random.default_rng(3)
    x = rng.integers(0, 64, (50, 2)) / 8
    y = x + rng.integers(-4, 5, x.shape) / 8
    assert ut.correlation_change(x + SHIFT, y + SHIFT) == pytest.approx(
        ut.correlation_change(x, y), rel=1e-12
    )
    assert ut.il1s(x + SHIFT, y + SHIFT) == pytest.approx(ut.il1s(x, y), rel=1e-12)
    first = ut.normalized_error(x[:, 0], y[:, 0]).error
    assert ut.normalized_error(x[:, 0] + SHIFT, y[:, 0] + SHIFT).error == pytest.approx(first, rel=1e-12)


def test_permanents_that_nearly_cancel() -> None:
    """Ryser's and Glynn's formulas subtract: with weights from 1 to 1e-14 little is left."""
    rng = np.random.default_rng(6)
    for size in (3, 5, 7):
        matrix = 10.0 ** rng.uniform(-14, 0, (size, size))
        exact = sum(
            math.prod(Fraction(matrix[i, j]) for i, j in enumerate(p)) for p in permutations(range(size))
        )
        assert ps.permanent(matrix) == pytest.approx(float(exact), rel=1e-9)


def test_entropies_of_nearly_certain_values() -> None:
    counts = [10**15, 1]
    rows = sum(counts)
    wanted = -math.log1p(-1 / rows) / math.log(2) * counts[0] / rows + math.log2(rows) / rows
    from crypsis.counting.distributions import entropy_bits

    assert entropy_bits(counts) == pytest.approx(wanted, rel=1e-12)


def test_information_of_nearly_independent_columns() -> None:
    """Mutual information is a small difference of large entropies."""
    pairs = [(a, b) for a in range(20) for b in range(20) for _ in range(50)] + [(0, 0)]
    frame = pd.DataFrame(pairs, columns=["a", "b"])
    found = cr.inference.leakage(frame, "b", ["a"]).mutual_information
    n = Fraction(len(pairs))
    joint = {(a, b): Fraction(51 if (a, b) == (0, 0) else 50) / n for a in range(20) for b in range(20)}
    side = [sum(joint[a, b] for b in range(20)) for a in range(20)]
    wanted = math.fsum(
        float(p) * math.log1p(float(p / (side[a] * side[b]) - 1)) for (a, b), p in joint.items()
    )
    assert found == pytest.approx(wanted / math.log(2), rel=1e-6, abs=1e-13)

"""k, l and t of a frame in memory, and k of many sets of columns: pyCANON and pandas."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from benchmarks import data
from benchmarks.measure import Contender, Task

SETS = 100


def k_ours(path: str, columns: list[str]) -> Callable[[], Any]:
    """k, with all class sizes and the risk from three intruders, which come with it."""
    import pandas as pd

    from crypsis.singling_out import equivalence_classes

    frame = pd.read_csv(path)
    return lambda: equivalence_classes(frame, quasi_identifiers=columns).k


def k_pandas(path: str, columns: list[str]) -> Callable[[], Any]:
    import pandas as pd

    frame = pd.read_csv(path)
    return lambda: int(frame.groupby(columns, sort=False, dropna=False).size().min())


def klt_ours(path: str, columns: list[str]) -> Callable[[], Any]:
    """k, l and t, with the worst class for each and five measures more."""
    import pandas as pd

    from crypsis.inference import attribute_disclosure

    frame = pd.read_csv(path)

    def call() -> list[float]:
        found = attribute_disclosure(frame, quasi_identifiers=columns, sensitive=["income"])
        return [found.k, found.distinct_l, found.t]

    return call


def subsets_ours(path: str) -> Callable[[], Any]:
    """Unique rows summed over all 1,023 sets of ten columns, the scan for the cells included."""
    import pandas as pd

    import crypsis as cr
    from crypsis.counting.partitions import count_column_sets

    frame = pd.read_csv(path)

    def call() -> int:
        cells = cr.Dataset.from_frame(frame).cells(data.TEN)
        return sum(int(subset.singletons) for subset in count_column_sets(cells))

    return call


def subsets_pandas(path: str) -> Callable[[], Any]:
    import pandas as pd

    frame = pd.read_csv(path)[data.TEN]

    def call() -> int:
        total = 0
        for size in range(1, len(data.TEN) + 1):
            for names in itertools.combinations(data.TEN, size):
                groups = frame.groupby(list(names), sort=False, dropna=False)
                total += int((groups.size() == 1).sum())
        return total

    return call


def k_of_sets_ours(path: str, sets: list[list[str]]) -> Callable[[], Any]:
    """k of 100 sets of columns; all 1,023 are counted on the way."""
    import pandas as pd

    import crypsis as cr
    from crypsis.counting.partitions import count_column_sets

    frame = pd.read_csv(path)

    def call() -> list[int]:
        cells = cr.Dataset.from_frame(frame).cells(data.TEN)
        smallest = {subset.columns: subset.smallest for subset in count_column_sets(cells)}
        return [smallest[tuple(columns)] for columns in sets]

    return call


def some_sets() -> list[list[str]]:
    """100 of the 1,023 sets of ten columns, always the same."""
    sizes = range(1, len(data.TEN) + 1)
    every = [list(names) for size in sizes for names in itertools.combinations(data.TEN, size)]
    return random.Random(0).sample(every, SETS)


def _ours(function: str) -> Contender:
    return Contender("crypsis", __name__, function)


def _pycanon(function: str) -> Contender:
    return Contender("pyCANON", "benchmarks.peers.pycanon_peer", function, "pycanon")


PANDAS_K = Contender("pandas groupby", __name__, "k_pandas")
PANDAS_SUBSETS = Contender("pandas groupby", __name__, "subsets_pandas")
_ALL_CROWDS = (
    "all columns of the frame are taken over and checked, and with k come all class sizes, "
    "the risk from three intruders and the smallest class; a hundredth of a second"
)
ADULT, MILLION = "Adult, 32,561 rows", "Adult scaled to 10^6 rows"

TASKS = (
    Task(
        "k of 8 quasi-identifiers",
        ADULT,
        _ours("k_ours"),
        _pycanon("k"),
        lambda: [data.adult(), data.EIGHT],
        warm=True,
        quick=True,
    ),
    Task(
        "k of 8 quasi-identifiers",
        MILLION,
        _ours("k_ours"),
        _pycanon("k"),
        lambda: [data.adult_million(), data.EIGHT],
        patience=300,
    ),
    Task(
        "k of 8 quasi-identifiers",
        ADULT,
        _ours("k_ours"),
        PANDAS_K,
        lambda: [data.adult(), data.EIGHT],
        warm=True,
        limit=True,
        why=_ALL_CROWDS,
    ),
    Task(
        "k of 8 quasi-identifiers",
        MILLION,
        _ours("k_ours"),
        PANDAS_K,
        lambda: [data.adult_million(), data.EIGHT],
        warm=True,
        limit=True,
        why=_ALL_CROWDS,
    ),
    Task(
        "k, l and t of 8 quasi-identifiers",
        ADULT,
        _ours("klt_ours"),
        _pycanon("klt"),
        lambda: [data.adult(), data.EIGHT],
        patience=300,
    ),
    Task(
        "k, l and t of 4 quasi-identifiers",
        ADULT,
        _ours("klt_ours"),
        _pycanon("klt"),
        lambda: [data.adult(), data.FOUR],
        quick=True,
    ),
    Task(
        "k, l and t of 4 quasi-identifiers",
        MILLION,
        _ours("klt_ours"),
        _pycanon("klt"),
        lambda: [data.adult_million(), data.FOUR],
        patience=60,
    ),
    Task(
        "k of 100 sets of columns",
        ADULT,
        _ours("k_of_sets_ours"),
        _pycanon("k_of_sets"),
        lambda: [data.adult(), some_sets()],
        patience=60,
    ),
    Task(
        "unique rows in 1,023 sets of 10 columns",
        ADULT,
        _ours("subsets_ours"),
        PANDAS_SUBSETS,
        lambda: [data.adult()],
        warm=True,
    ),
)

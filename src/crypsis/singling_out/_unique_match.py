"""The probability that a unique match is correct, by the design of the sample and without a model."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from crypsis.array_types import Flags, Floats, Ints
from crypsis.counting.cells import Cells
from crypsis.counting.grouping import group
from crypsis.counting.match_probability import check_weights
from crypsis.dataset import Data, Dataset, as_seen, takes_roles
from crypsis.errors import ParameterError, RoleError
from crypsis.options import Columns, Roles
from crypsis.results import Estimate, Result
from crypsis.scientific import special
from crypsis.singling_out._class_sizes import quasi_identifiers
from crypsis.singling_out._risk import refuse_wildcards

_JACKKNIFE_GROUPS = 50
"""Groups of clusters at most, each omitted once."""
_MIN_GROUPS = 2
"""With fewer groups the interval is from 0 to 1."""


class UniqueMatch(Result):
    """The probability that a match with a sample unique is correct."""

    columns: tuple[str, ...]
    records: int
    sample_uniques: int
    """The records that are unique in the sample."""
    probability: Estimate | None
    """The share of the people who match a sample unique that are the right one; None where no record
    is unique."""
    people: float
    """The people of the population who match a sample unique, these included: the sum of F."""
    expected: float
    """The correct ones among as many matches as there are sample uniques, each of these people equally
    likely to be matched. An intruder who picks one of F people for each sample unique has the sum of
    1/F correct ones: never fewer, and more if some F are smaller than others."""
    design: str
    """What of the design was used."""


@takes_roles()
def unique_match_risk(
    data: Data, columns: Columns | None = None, *, confidence: float = 0.95, **roles: Unpack[Roles]
) -> UniqueMatch:
    """Estimate the probability that a match with a sample unique is correct.

    Parameters
    ----------
    data : Dataset, frame or path
        The data: a sample of the population.
    columns : str or sequence of str, optional
        The columns; by default the quasi-identifiers.
    confidence : float
        The confidence of the interval.
    **roles
        See `crypsis.read`. `weight` is the column of the weights, one over the probability that the
        record was drawn; without it the weights are `population` over the number of records.
        `cluster` and `stratum` are those of the sample.

    Returns
    -------
    UniqueMatch
        The probability with its interval.

    Notes
    -----
    It is the number of sample uniques over the number of people of the population who match one (the
    sum of F), which is less than the mean of 1/F over the sample uniques if these differ; a sum of 1/F
    has no unbiased estimate without a model: `individual_risk` and `loglinear_risk` have one. The
    number of people need not be modeled: a class in which two records of different clusters were drawn would
    have been a sample unique if one of the two clusters had not been, and weights show how often that
    happens. So the people who match sample uniques, besides these, are estimated without bias by the
    sum of w - 1 over the records of the other cluster, over all classes in exactly two clusters (each
    record is a cluster of its own where no cluster is named). That is data intrusion simulation for
    samples with unequal probabilities; it assumes that clusters are drawn independently and all their
    members are taken. Where members are drawn in a cluster, the probability is too high rather than
    too low.

    The interval is by the delta method where records were drawn; where clusters were, by a jackknife
    that leaves out groups of clusters, each with clusters of all strata.

    References
    ----------
    Skinner & Elliot (2002), A measure of disclosure risk for microdata. Skinner & Carter (2003),
    Estimation of a measure of disclosure risk for survey microdata under unequal probability
    sampling. Kott (2001), The delete-a-group jackknife.

    Examples
    --------
    >>> import pyarrow as pa
    >>> survey = pa.table({"age": [30, 30, 41, 52], "w": [3.0, 3.0, 3.0, 5.0]})
    >>> found = unique_match_risk(survey, ["age"], weight="w")
    >>> found.sample_uniques, round(float(found.probability), 3)  # 2 / (2 + 2 + 2)
    (2, 0.333)
    """
    dataset = as_seen(data, columns, **roles)
    if not 0 < confidence < 1:
        raise ParameterError(
            f"Parameter 'confidence' must be between 0 and 1; {confidence} was given.", parameter="confidence"
        )
    names = quasi_identifiers(dataset, columns)
    refuse_wildcards(dataset.cells(names))
    sample = _Sample(dataset, names)
    uniques, other_matches = sample.matches()
    once, more = float(uniques.sum()), float(other_matches.sum())
    design = ", ".join(
        word
        for word, used in (
            ("weights", dataset.weight is not None),
            ("clusters", dataset.cluster is not None),
            ("strata", dataset.cluster is not None and dataset.stratum is not None),
        )
        if used
    )
    estimate = None
    if once:
        share = once / (once + more)
        low, high = (
            sample.jackknife(confidence)
            if dataset.cluster is not None
            else _by_classes(once, other_matches, sample, confidence)
        )
        estimate = Estimate(
            share,
            min(low, share),
            max(high, share),
            confidence,
            "data intrusion simulation",
            "the clusters are drawn independently"
            if dataset.cluster
            else "the records are drawn independently",
        )
    return UniqueMatch(
        names,
        sample.records,
        round(once),
        estimate,
        once + more if once else 0.0,
        0.0 if estimate is None else once * float(estimate),
        design or "simple random sample",
    )


class _Sample:
    """The records by class and cluster, each with its weight."""

    def __init__(self, dataset: Dataset, names: tuple[str, ...]) -> None:
        extra = [name for name in (dataset.stratum, dataset.cluster) if name is not None]
        extra = extra if dataset.cluster is not None else []
        finer = self._cells(dataset, (*names, *(n for n in extra if n not in names)))
        first, self.member = group(finer.codes[: len(names)], finer.domains[: len(names)])
        self.counts = finer.counts.astype(np.float64)
        self.weights = self._weights(dataset, finer)
        kept = finer.class_sizes > 0
        self.counts, self.weights = self.counts * kept, self.weights * kept
        self.classes, self.records = first.size, round(float(self.counts.sum()))
        self.clusters: Ints = np.arange(self.counts.size)
        if extra:
            positions = [finer.columns.index(name) for name in extra]
            _, self.clusters = group(
                tuple(finer.codes[p] for p in positions), tuple(finer.domains[p] for p in positions)
            )
        self.alone = not extra

    @staticmethod
    def _cells(dataset: Dataset, names: tuple[str, ...]) -> Cells:
        if dataset.weight is None:
            return dataset.cells(names)
        weighted = dataset.cells(names, weighted=True)
        check_weights(weighted)
        return weighted

    @staticmethod
    def _weights(dataset: Dataset, cells: Cells) -> Floats:
        if dataset.weight is not None:
            return np.asarray(cells.weights, np.float64)
        people = dataset.population
        people = people.count if isinstance(people, Dataset) else people
        if people is None:
            raise RoleError(
                "The probability of a unique match needs the weights or the size of the population.",
                code="no-weights",
                hint="Set {weight} or {population}.",
            )
        return cells.counts * float(people) / max(1, int(cells.counts.sum()))

    def matches(self, keep: Flags | None = None, scale: float = 1.0) -> tuple[Floats, Floats]:
        """For each class whether it is a sample unique, and the others who match one in its place."""
        kept = slice(None) if keep is None else keep
        member, counts = self.member[kept], self.counts[kept]
        weights = scale * self.weights[kept]
        sizes = np.bincount(member, counts, minlength=self.classes)
        total = np.bincount(member, weights, minlength=self.classes)
        if self.alone:  # each record is a cluster, whose weights only enter as a sum
            return (sizes == 1).astype(float), np.where(sizes == 2, total - sizes, 0.0)
        parts = np.bincount(member[counts > 0], minlength=self.classes)
        single = np.bincount(member[counts == 1], minlength=self.classes)
        unique_weights = np.bincount(member[counts == 1], weights[counts == 1], minlength=self.classes)
        # Of two clusters, one with a single record of the class: the people of the other one count.
        both = (total - sizes) * (single == 2) + ((total - unique_weights) - (sizes - 1)) * (single == 1)
        return (sizes == 1).astype(float), np.where(parts == 2, both, 0.0)

    def pairs(self) -> float:
        """The ordered pairs of others who match a sample unique, from classes of three records."""
        sizes = np.bincount(self.member, self.counts, minlength=self.classes)
        total = np.bincount(self.member, self.weights, minlength=self.classes)
        return float((6 * ((total - sizes)[sizes == 3] / 3) ** 2).sum())

    def jackknife(self, confidence: float) -> tuple[float, float]:
        """The interval from the estimates without each group of clusters."""
        clusters = int(self.clusters.max(initial=-1)) + 1
        groups = min(_JACKKNIFE_GROUPS, clusters)
        if groups < _MIN_GROUPS:
            return 0.0, 1.0
        estimates = []
        for omitted in range(groups):
            keep = self.clusters % groups != omitted
            uniques, other_matches = self.matches(keep, groups / (groups - 1))
            once = max(float(uniques.sum()), 0.5)
            estimates.append(float(special.logit(min(once / (once + float(other_matches.sum())), 1 - 1e-9))))
        uniques, other_matches = self.matches()
        once = float(uniques.sum())
        center = float(special.logit(min(once / (once + float(other_matches.sum())), 1 - 1e-9)))
        spread = np.sqrt((groups - 1) / groups * ((np.array(estimates) - np.mean(estimates)) ** 2).sum())
        reach = float(special.stdtrit(groups - 1, (1 + confidence) / 2)) * float(spread)
        return float(special.expit(center - reach)), float(special.expit(center + reach))


def _by_classes(
    once: float, other_matches: Floats, sample: _Sample, confidence: float
) -> tuple[float, float]:
    """The interval by the delta method: classes are drawn independently of each other.

    On the scale of the logit, log(once / more). The number of others who match is random, too: its
    second moment is estimated as the first one is. If no class has two records, so many as would be
    missed with the probability (1 - confidence) / 2 are counted.
    """
    more = float(other_matches.sum())
    if more <= 0:
        each = 2 * (float(sample.weights.sum()) / sample.records - 1)
        unseen = -float(np.log((1 - confidence) / 2)) * max(each, 0.0)
        return once / (once + unseen), 1.0
    random = max(more + sample.pairs() - more**2 / once, more)
    variance = (random + float((other_matches**2).sum())) / more**2
    reach = float(special.stdtrit(1e9, (1 + confidence) / 2)) * np.sqrt(variance)
    center = np.log(once / more)
    return float(special.expit(center - reach)), float(special.expit(center + reach))

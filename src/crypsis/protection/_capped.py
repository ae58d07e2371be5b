"""At most so many records of a person: the others are dropped before anything is recoded."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.random import SeedSequence

from crypsis.array_types import Ints
from crypsis.dataset import Dataset
from crypsis.errors import ParameterError, RoleError, TooLargeError
from crypsis.protection._anonymized import Anonymized
from crypsis.protection._statement import Method
from crypsis.tables import open_frame

_CAPS_STREAM = 1_003
"""The place of the records that are dropped among the streams of a seed."""
_DROPPED_SHARES = (0.02, 0.1, 0.25, 0.5)
"""The shares of records that a search drops at most."""


@dataclass(frozen=True, eq=False)
class Capped:
    """A dataset with at most `most` records of a person, drawn at random, and which these are."""

    data: Dataset
    original: Dataset
    most: int
    kept: Ints

    @property
    def dropped(self) -> int:
        """How many records were dropped."""
        return self.original.count - self.data.count

    def on_original(self, anonymized: Anonymized) -> Anonymized:
        """A release of the remaining records as one of all: its rows, losses and methods."""
        rows = (
            self.kept if anonymized.key.row_map is None else self.kept[np.array(anonymized.key.row_map, int)]
        )
        before, records = anonymized.loss, self.original.count
        ncp = None if before.ncp is None else (before.ncp * self.data.count + self.dropped) / records
        loss = replace(before, records=records, dropped_records=self.dropped, ncp=ncp)
        if loss.links_kept is not None:
            links = _links(self.original)
            loss = replace(
                loss,
                links_kept=loss.links_kept * _links(self.data) / max(1, links),
                records_per_person=records / max(1, records - links),
            )
        how = f"at most {self.most:,} records of a person, drawn at random; the others are dropped"
        new = Method(self.original.person or "", "records dropped", how, {"records": self.most})
        plan = anonymized.plan
        if plan is not None:
            requirements = plan.requirements.model_copy(update={"max_records": self.most})
            plan = plan.model_copy(update={"requirements": requirements})
        return replace(
            anonymized,
            plan=plan,
            loss=loss,
            methods=(*anonymized.methods, new),
            original=self.original,
            key=replace(anonymized.key, row_map=tuple(rows.tolist())),
        )


def capped(data: Dataset, most: int, seed: int | None) -> Capped:
    """The dataset with at most so many records of a person."""
    if most < 1:
        raise ParameterError(
            f"Parameter 'max_records' must be at least 1; {most} was given.", parameter="max_records"
        )
    owner = _owners(data)
    random = np.random.default_rng(SeedSequence(seed, spawn_key=(_CAPS_STREAM,)))
    order = np.lexsort((random.random(owner.size), owner))
    person = owner[order]
    start = np.flatnonzero(np.concatenate([[True], person[1:] != person[:-1]]))
    at = np.arange(person.size) - np.repeat(start, np.diff(np.append(start, person.size)))
    kept = np.sort(order[at < most])
    rows = open_frame(data.to_arrow().take(pa.array(kept)))
    return Capped(replace(data, rows=rows), data, most, kept)


def caps_to_try(data: Dataset) -> list[int]:
    """Numbers of records of a person at which a few, and at most half, of all records are dropped."""
    sizes = np.bincount(_owners(data))
    sizes = sizes[sizes > 0]
    most = np.arange(1, int(sizes.max(initial=1)) + 1)
    left = np.minimum(sizes[:, None], most[None, :]).sum(axis=0) / max(1, int(sizes.sum()))
    caps = [int(most[np.argmax(left >= 1 - share)]) for share in _DROPPED_SHARES]
    return [cap for cap in dict.fromkeys(caps) if cap < most[-1]]


def _owners(data: Dataset) -> Ints:
    """The person of each record; records without one are alone."""
    if data.person is None:
        raise RoleError(
            "Records of a person are dropped, and whose they are is not known.",
            code="no-person",
            hint="Set {person}.",
        )
    if not data.rows.local:
        raise TooLargeError(
            "Records of a person are dropped in memory only, and there are too many.", code="too-many-rows"
        )
    coded = data.to_arrow([data.person])[data.person].combine_chunks().dictionary_encode()
    owner = np.array(coded.indices.fill_null(-1), np.int64)
    nobody = np.flatnonzero(owner < 0)
    owner[nobody] = len(coded.dictionary) + np.arange(nobody.size)
    return owner


def _links(data: Dataset) -> int:
    """The links from a record of a person to their next one."""
    owner = _owners(data)
    return int(owner.size - np.unique(owner).size)

"""The attackers: what they know, what they look up, how often they are right.

Only NumPy, pandas and scikit-learn, nothing of crypsis. In every frame the index is the person, which
the attacker does not see: it is the ground truth that claims are compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def _keys(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    texts = [frame[name].astype(object).where(frame[name].notna(), "").map(repr) for name in columns]
    joined = texts[0].str.cat(texts[1:], sep="|") if len(texts) > 1 else texts[0]
    return joined.set_axis(frame.index)


def singled_out(release: pd.DataFrame, known: pd.DataFrame, columns: Sequence[str]) -> float:
    """The share of the known people with exactly one matching record, which is their own."""
    there = _keys(release, columns)
    once = there[~there.duplicated(keep=False)]
    owner = pd.Series(once.index, index=once.to_numpy())
    claimed = _keys(known, columns).map(owner)
    return float((claimed.to_numpy() == known.index.to_numpy()).mean())


def learned(
    release: pd.DataFrame, known: pd.DataFrame, columns: Sequence[str], attribute: str, certainty: float = 0.9
) -> float:
    """The share of the known people whose value is claimed, rightly, from the records that match.

    The attacker claims a value if at least `certainty` of the matching records have it.
    """
    groups = release.groupby(_keys(release, columns).to_numpy())[attribute]
    share = groups.agg(lambda values: values.value_counts(normalize=True, dropna=False).iloc[0])
    value = groups.agg(lambda values: values.value_counts(normalize=True, dropna=False).index[0])
    claims = value[share >= certainty]
    claimed = _keys(known, columns).map(claims)
    return float((claimed.to_numpy() == known[attribute].to_numpy()).mean())


def predicted(features: pd.DataFrame, attribute: pd.Series) -> float:
    """The accuracy, on people it has not seen, of a model of the attribute (a forest)."""
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.model_selection import cross_val_score
    from sklearn.preprocessing import OrdinalEncoder

    coded = OrdinalEncoder().fit_transform(features.astype(str))
    model = ExtraTreesClassifier(30, random_state=0)
    return float(cross_val_score(model, coded, attribute.astype(str), cv=3).mean())


def commonest(attribute: pd.Series) -> float:
    """The accuracy of guessing the most frequent value."""
    return float(attribute.value_counts(normalize=True).iloc[0])


def equal(claimed: Any, true: Any, within: float = 0.0) -> float:
    """The share of claims that are true, numbers within `within`."""
    one, two = np.asarray(claimed), np.asarray(true)
    if len(one) != len(two):
        return 0.0
    if one.dtype.kind in "if" and two.dtype.kind in "if":
        return float((np.abs(one - two) <= within).mean())
    return float((one.astype(str) == two.astype(str)).mean())


def found_in(path: Path, wanted: Iterable[str]) -> float:
    """The share of the wanted texts that are somewhere in the bytes of a file or folder."""
    files = [path] if path.is_file() else [one for one in sorted(path.rglob("*")) if one.is_file()]
    held = b"\n".join(one.read_bytes() for one in files)
    held += "\n".join(str(one.relative_to(path.parent)) for one in files).encode()
    texts = list(wanted)
    return sum(text.encode() in held for text in texts) / len(texts)


def found_among(cells: Iterable[Any], wanted: Iterable[str]) -> float:
    """The share of the wanted texts that are in some cell."""
    held = "\n".join(str(cell) for cell in cells)
    texts = list(wanted)
    return sum(text in held for text in texts) / len(texts)

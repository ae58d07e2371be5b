"""A scikit-learn transformer: training data that is k-anonymous, new data generalized alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from crypsis.errors import ParameterError, unknown_columns
from crypsis.protection import Plan, anonymize


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalize quasi-identifiers so that the data it is fitted to meets the requirements.

    All values of a column are on one level (full-domain recoding) and no record is suppressed, so
    rows stay as many and in their order. New data are generalized to the same levels; a value that
    the level has no label for is missing. What `fit_transform` returns meets the requirements, was
    measured, and may be released; what `transform` returns of other data is for a model, was not
    measured, and is not a release.

    Parameters
    ----------
    k : int
        The smallest equivalence class.
    quasi_identifiers : sequence of str, optional
        The columns to generalize; by default all that have no other role.
    identifiers : sequence of str
        Direct identifiers; they are removed.
    sensitive : sequence of str
        Sensitive attributes, which stay as they are.
    insensitive : sequence of str
        Columns that stay as they are.
    person : str, optional
        "each record" where each is of another person, or the column that identifies the person. It is
        asked: without it nothing is fitted.
    person_reason : str, optional
        Why each record is of one person, where the records indicate otherwise.
    diversity : int, optional
        Distinct l-diversity of the sensitive attributes.
    closeness : float, optional
        t-closeness of the sensitive attributes.
    hierarchies : mapping of str to Hierarchy, optional
        The hierarchy of each column; by default one for its type.

    Attributes
    ----------
    plan_ : Plan
        The requirements, and the columns.
    steps_ : dict
        How each quasi-identifier is recoded.
    measured_ : Measured
        What the data it was fitted to meets.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 41, 44], "visits": [1, 2, 1, 5]})
    >>> roles = {"quasi_identifiers": ["age"], "insensitive": ["visits"], "person": "each record"}
    >>> made = Anonymizer(k=2, **roles)
    >>> made.fit_transform(people)["age"].to_pylist()
    ['<=31', '<=31', '>=32', '>=32']
    >>> made.transform(pa.table({"age": [29, 60], "visits": [0, 0]}))["age"].to_pylist()
    ['<=31', '>=32']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        quasi_identifiers: Sequence[str] | None = None,
        identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        insensitive: Sequence[str] = (),
        person: str | None = None,
        person_reason: str | None = None,
        diversity: int | None = None,
        closeness: float | None = None,
        hierarchies: Mapping[str, Any] | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.identifiers = identifiers
        self.sensitive = sensitive
        self.insensitive = insensitive
        self.person = person
        self.person_reason = person_reason
        self.diversity = diversity
        self.closeness = closeness
        self.hierarchies = hierarchies

    def fit(self, X: Any, y: Any = None) -> Anonymizer:  # noqa: N803 - scikit-learn's name
        """Find the levels of the quasi-identifiers.

        Parameters
        ----------
        X : frame
            The data, as a pandas, Polars or Arrow frame.
        y : object
            Not used.

        Returns
        -------
        Anonymizer
        """
        frame = _frame(X)
        others = (*self.identifiers, *self.sensitive, *self.insensitive)
        known = self.quasi_identifiers
        if known is None:
            known = [name for name in frame.columns if name not in others]
        plain = X.reset_index(drop=True) if hasattr(X, "reset_index") else X  # it is not a column
        made = anonymize(
            plain, k=self.k, recoding="full-domain", suppression=0.0, shuffle=False,
            diversity=self.diversity, closeness=self.closeness, hierarchies=self.hierarchies,
            identifiers=list(self.identifiers), quasi_identifiers=list(known),
            sensitive=list(self.sensitive), insensitive=list(self.insensitive),
            person=self.person, person_reason=self.person_reason,
        )  # fmt: skip
        plan: Plan = made.plan  # type: ignore[assignment]
        self.plan_, self.measured_ = plan, made.measured
        released = _frame(made.frame)
        self.steps_ = {
            one.name: _step(one, frame[one.name].to_list(), released[one.name].to_list())
            for one in plan.columns
        }
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        self.n_features_in_ = len(frame.columns)
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Generalize the quasi-identifiers to the levels that were found.

        Parameters
        ----------
        X : frame
            Data with the same columns.

        Returns
        -------
        frame
            Of the same kind, without the direct identifiers.
        """
        check_is_fitted(self, "steps_")
        frame = _frame(X)
        names = list(self.feature_names_in_)
        if any(name not in frame.columns for name in names):
            raise unknown_columns(names, frame.columns)
        kept = frame.select([name for name in names if name not in self.plan_.removed])
        new = [
            nw.new_series(name, _labels(step, frame[name].to_list()), backend=frame.implementation)
            for name, step in self.steps_.items()
        ]
        made = nw.to_native(kept.with_columns(*new) if new else kept)
        index = getattr(X, "index", None)
        return made.set_axis(index) if hasattr(made, "set_axis") and index is not None else made

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that `transform` returns."""
        check_is_fitted(self, "steps_")
        kept = [name for name in self.feature_names_in_ if name not in self.plan_.removed]
        return np.asarray(kept, dtype=object)


def _frame(data: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(data, eager_only=True)
    except TypeError:
        raise ParameterError(
            "The data must be a frame with named columns (pandas, Polars or Arrow): roles refer "
            "to names.",
            parameter="X",
        ) from None


def _step(column: Any, values: list[Any], labels: list[Any]) -> Any:
    """The finest step of a plan that gives every value the label that it got."""
    for step in (column.step, *column.coarser):
        if _labels(step, values) == [None if _missing(one) else one for one in labels]:
            return step
    return None  # everything is suppressed


def _labels(step: Any, values: list[Any]) -> list[Any]:
    if step is None:
        return [None] * len(values)
    return [None if _missing(one) else step.label(one) for one in values]


def _missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA of pandas is neither equal nor unequal
        return True

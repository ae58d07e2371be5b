"""A scikit-learn transformer: training data that is k-anonymous, new data generalized alike."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from crypsis.errors import ParameterError, RequirementsNotMetError, unknown_columns
from crypsis.hierarchies.labels import as_text
from crypsis.protection import Anonymized, Plan, anonymize


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Generalize quasi-identifiers so that the data it is fitted to meets the requirements.

    Each value of a column has one label, whatever the record (full-subtree recoding), and rows stay as
    many and in their order. A few records that would cost a column for everybody (a missing or rare
    value) lose their quasi-identifiers instead: at most the share `suppression`, and as many as a
    class needs. If a column is empty all the same, a warning names it. New data get the same labels; a
    value that has none is missing. What `fit_transform` returns meets the requirements, was measured,
    and may be released; what `transform` returns is for a model, was not measured, and is not a
    release.

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
    suppression : float
        The share of records that may lose their quasi-identifiers before a column is empty.

    Attributes
    ----------
    plan_ : Plan
        The requirements, and the columns.
    steps_ : dict
        How each quasi-identifier is recoded.
    measured_ : Measured
        What the data it was fitted to meets.
    loss_ : InformationLoss
        What was lost of the data it was fitted to, besides the values in `emptied_`.
    emptied_ : int
        How many records lost their quasi-identifiers.

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
        suppression: float = 0.05,
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
        self.suppression = suppression

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
        self._released(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:  # noqa: N803
        """Generalize the data it is fitted to: what meets the requirements.

        Parameters
        ----------
        X : frame
            The data, as a pandas, Polars or Arrow frame.
        y, **_ : object
            Not used.

        Returns
        -------
        frame
            Of the same kind, without the direct identifiers.
        """
        released = self._released(X)
        return self._filled(X, {name: released[name].to_list() for name in self.steps_})

    def _released(self, X: Any) -> nw.DataFrame[Any]:  # noqa: N803
        """Find the labels, and the release of the data."""
        frame = _frame(X)
        other_columns = (*self.identifiers, *self.sensitive, *self.insensitive)
        quasi_identifiers = self.quasi_identifiers
        if quasi_identifiers is None:
            quasi_identifiers = [name for name in frame.columns if name not in other_columns]
        anonymized, emptied = self._anonymized(frame, list(quasi_identifiers))
        plan: Plan = anonymized.plan  # type: ignore[assignment]
        self.plan_, self.measured_, self.loss_, self.emptied_ = (
            plan,
            anonymized.measured,
            anonymized.loss,
            len(emptied),
        )
        released = _frame(anonymized.frame)
        kept = np.setdiff1d(np.arange(len(frame)), emptied)
        self.steps_ = {
            column.name: _labeled(
                (column.step, *column.coarser),
                frame[column.name][kept].to_list(),
                released[column.name][kept].to_list(),
            )
            for column in plan.columns
        }
        label_rows = zip(
            *(step.labels(frame[name].to_list()) for name, step in self.steps_.items()), strict=True
        )
        labels = list(label_rows)
        # Who has the labels of a record that was emptied, and of no other, is not told apart from it.
        self._lost = {labels[row] for row in emptied} - {labels[row] for row in kept}
        empty = _empty(frame, anonymized, list(self.steps_))
        if empty:
            warnings.warn(
                f"All values of {', '.join(map(repr, empty))} are suppressed: coarser values do not "
                "meet the requirements. Use fewer quasi-identifiers, hierarchies, a smaller k or a "
                "larger share of 'suppression'.",
                stacklevel=3,
            )
        self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
        self.n_features_in_ = len(frame.columns)
        return released

    def _anonymized(
        self, frame: nw.DataFrame[Any], quasi_identifiers: list[str]
    ) -> tuple[Anonymized, Sequence[int]]:
        """The release with the smaller loss: as it is, or with a few records suppressed first."""
        whole = self._recoded(nw.to_native(frame), quasi_identifiers, 0.0)
        if not self.suppression or not _empty(frame, whole, quasi_identifiers):
            return whole, ()
        try:
            first = self._recoded(nw.to_native(frame), quasi_identifiers, self.suppression)
            emptied = _emptied(first, len(frame), quasi_identifiers, self.k)
            with_suppression = self._recoded(
                _without(frame, quasi_identifiers, emptied), quasi_identifiers, 0.0
            )
        except RequirementsNotMetError:
            return whole, ()
        share = len(emptied) / len(frame)
        better = _ncp(with_suppression) + share < _ncp(whole)
        return (with_suppression, emptied) if better else (whole, ())

    def _recoded(self, native: Any, quasi_identifiers: list[str], suppression: float) -> Anonymized:
        plain = native.reset_index(drop=True) if hasattr(native, "reset_index") else native
        return anonymize(
            plain,
            k=self.k,
            recoding="subtree",
            suppression=suppression,
            shuffle=False,
            diversity=self.diversity,
            closeness=self.closeness,
            hierarchies=self.hierarchies,
            identifiers=list(self.identifiers),
            quasi_identifiers=quasi_identifiers,
            sensitive=list(self.sensitive),
            insensitive=list(self.insensitive),
            person=self.person,
            person_reason=self.person_reason,
        )

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Give the quasi-identifiers the labels that were found.

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
        labels = {name: step.labels(frame[name].to_list()) for name, step in self.steps_.items()}
        rows = zip(*labels.values(), strict=True)
        lost = [row for row, values in enumerate(rows) if values in self._lost]
        for column in labels.values():
            for row in lost:
                column[row] = None
        return self._filled(X, labels)

    def _filled(self, X: Any, labels: Mapping[str, list[Any]]) -> Any:  # noqa: N803
        """The frame without direct identifiers, its quasi-identifiers with these labels."""
        frame = _frame(X)
        removed = self.plan_.removed
        kept = frame.select([name for name in self.feature_names_in_ if name not in removed])
        new = [nw.new_series(name, values, backend=frame.implementation) for name, values in labels.items()]
        transformed = nw.to_native(kept.with_columns(*new) if new else kept)
        index = getattr(X, "index", None)
        return (
            transformed.set_axis(index)
            if hasattr(transformed, "set_axis") and index is not None
            else transformed
        )

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
            "The data must be a frame with named columns (pandas, Polars or Arrow): roles refer to names.",
            parameter="X",
        ) from None


@dataclass(frozen=True)
class ColumnLabels:
    """The label of every value of a column: that of the finest step which was released."""

    steps: Sequence[Any]
    released: frozenset[Any]
    """The labels that occur in the release."""
    text: bool
    """Whether they are texts."""

    def labels(self, values: Sequence[Any]) -> list[Any]:
        """The labels of some values; missing where no step has one that was released."""
        label_of = {value: self._label(value) for value in values if not _missing(value)}
        return [None if _missing(value) else label_of[value] for value in values]

    def _label(self, value: Any) -> Any:
        for step in self.steps:
            label = step.label(value)
            label = as_text(label) if self.text and not isinstance(label, str) else label
            if label in self.released:
                return label
        return None


def _labeled(steps: Sequence[Any], values: list[Any], labels: list[Any]) -> ColumnLabels:
    """The steps by which every value has the label that it got; none where it lost all labels."""
    released = frozenset(label for label in labels if not _missing(label))
    column_labels = ColumnLabels(steps, released, all(isinstance(label, str) for label in released))
    if column_labels.labels(values) != [None if _missing(label) else label for label in labels]:
        return ColumnLabels((), frozenset(), False)
    return column_labels


def _emptied(release: Anonymized, records: int, quasi_identifiers: Sequence[str], k: int) -> list[int]:
    """The records that are not in a release, and its smallest classes until they are a class."""
    rows = range(records) if release.key.row_map is None else release.key.row_map
    emptied = sorted(set(range(records)) - set(rows))
    if not emptied:
        return []
    columns = [_frame(release.frame)[name].to_list() for name in quasi_identifiers]
    classes = [
        tuple(None if _missing(value) else value for value in row) for row in zip(*columns, strict=True)
    ]
    for smallest, _ in reversed(Counter(classes).most_common()):
        if len(emptied) >= k:
            break
        emptied += [row for row, label in zip(rows, classes, strict=True) if label == smallest]
    return emptied


def _without(frame: nw.DataFrame[Any], quasi_identifiers: Sequence[str], emptied: Sequence[int]) -> pa.Table:
    """The rows, without the quasi-identifiers of some of them."""
    table = frame.to_arrow().select(range(len(frame.columns)))  # an index is not a column
    lost = np.zeros(table.num_rows, bool)
    lost[list(emptied)] = True
    for name in quasi_identifiers:
        column = table[name]
        position = table.column_names.index(name)
        table = table.set_column(position, name, pc.if_else(pa.array(lost), None, column))
    return table


def _ncp(release: Anonymized) -> float:
    """The information loss; one that could not be measured counts as all of it."""
    return 1.0 if release.loss.ncp is None else release.loss.ncp


def _empty(frame: nw.DataFrame[Any], anonymized: Anonymized, names: Sequence[str]) -> list[str]:
    """The columns that have values, and none in the release."""
    released = _frame(anonymized.frame)
    return [
        name
        for name in names
        if all(map(_missing, released[name].to_list())) and not all(map(_missing, frame[name].to_list()))
    ]


def _missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA of pandas is neither equal nor unequal
        return True

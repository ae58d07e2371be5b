"""The dossier of a release: its assessment, what was changed, and the digest of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from crypsis.assessment.result import Assessment
from crypsis.dataset import Data, Dataset, as_dataset
from crypsis.errors import InputError, ParameterError, TooLargeError
from crypsis.files import digest
from crypsis.options import MissingValues
from crypsis.protection import Method, Statement, released_values
from crypsis.report.dossier import APART, NOT_RELEASED, SYNTHETIC, UNCHANGED, Dossier, ReleasedColumn
from crypsis.report.wording import Phrasing, plural
from crypsis.results import percent_text
from crypsis.tables import Kind
from crypsis.utility import ColumnChange, column_changes

_MAX_EXAMPLES = 3
"""So many examples of a column are shown, its most frequent values in the release."""
_MIN_EXAMPLE_RECORDS = 10
"""A value in fewer records of the release is no example."""
_MAX_COUNTED_VALUES = 100_000
"""A column with more values has no examples."""


def make_dossier(
    assessment: Assessment,
    data: Data = None,
    original: Data = None,
    *,
    file: str | Path | None = None,
    statement: Statement | str | Path | None = None,
    title: str = "",
    purpose: str = "",
    recipient: str = "",
    author: str = "",
    date: str = "",
    conditions: Sequence[str] = (),
    examples: bool = True,
    phrasing: Phrasing | None = None,
) -> Dossier:
    """Make the document that goes with a release, from its assessment and what is known of it.

    Parameters
    ----------
    assessment : Assessment
        The assessment of the release.
    data : Dataset, frame or path, optional
        The release, for frequent values of its columns.
    original : Dataset, frame or path, optional
        What it was made from: how many values of each column are left.
    file : str or Path, optional
        The released file, for its digest. The statement next to it is used if it is of this file.
    statement : Statement, str or Path, optional
        How the release was made; by default the one next to `file`.
    title, purpose, recipient, author, date : str
        What the first page has; what is empty is a line to be filled in, the date that of the
        assessment.
    conditions : sequence of str
        The conditions of use that the recipient accepts.
    examples : bool
        Whether frequent values of the release are shown: those of ten records or more.
    phrasing : Phrasing, optional
        How remedies and options are worded; by default as Python calls.

    Returns
    -------
    Dossier
        `write` writes it as `.html`, `.pdf` or `.docx`.

    Raises
    ------
    ParameterError
        If a statement is given that is not of this file.

    Notes
    -----
    Values of the original are not in it, and values of the release only where the original or its
    statement shows that it is a release.

    Examples
    --------
    >>> import crypsis as cr, pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 41, 44] * 5})
    >>> safe = cr.anonymize(people, k=10, quasi_identifiers=["age"], person="each record")
    >>> dossier = make_dossier(cr.assess(safe.data), safe.data, people, purpose="Teaching")
    >>> dossier.columns[0].examples, "Teaching" in dossier.to_html()
    (('<=31', '>=32'), True)
    """
    path = None if file is None or not Path(file).is_file() else Path(file)
    sha256 = None if path is None else digest(path)
    file_statement = _statement_of(path, sha256, statement)
    release = None if data is None else as_dataset(data)
    changes: dict[str, ColumnChange] = {}
    before = None if original is None else as_dataset(original)
    if before is not None and release is not None:
        try:
            changes = {column.column: column for column in column_changes(before, release).columns}
        except (InputError, TooLargeError):
            changes = {}
    has_original = file_statement is not None or before is not None
    columns = tuple(_columns(assessment, release if examples else None, before, file_statement, changes))
    return Dossier(
        assessment,
        title,
        purpose,
        recipient,
        author,
        date,
        tuple(conditions),
        assessment.name if path is None else path.name,
        sha256,
        columns if has_original else (),
        () if file_statement is None else tuple(_losses(file_statement)),
        () if file_statement is None else tuple(_methods(file_statement)),
        phrasing or Phrasing(),
    )


def _statement_of(
    path: Path | None, sha256: str | None, statement: Statement | str | Path | None
) -> Statement | None:
    """The statement that was given, or the one next to the file, if it is of this file."""
    if isinstance(statement, Statement):
        return statement
    if statement is not None:
        loaded = Statement.load(statement)
        if sha256 is not None and loaded.sha256 is not None and loaded.sha256 != sha256:
            raise ParameterError(
                "The statement is of another file: its digest differs.", parameter="statement"
            )
        return loaded
    if path is None:
        return None
    statement_path = Statement.paths(path)[1]
    if not statement_path.is_file():
        return None
    try:
        loaded = Statement.load(statement_path)
    except InputError:
        return None
    return loaded if loaded.sha256 == sha256 else None


def _columns(
    assessment: Assessment,
    release: Dataset | None,
    original: Dataset | None,
    statement: Statement | None,
    changes: Mapping[str, ColumnChange],
) -> Iterator[ReleasedColumn]:
    """Every column of the original and of the release, with what was done with it."""
    methods: dict[str, list[Method]] = {}
    for method in () if statement is None else statement.methods:
        for name in method.columns or (method.column,):
            methods.setdefault(name, []).append(method)
    levels = {} if statement is None else released_values(statement.methods, statement.records_after)
    roles = {column.column: column.role for column in assessment.columns}
    names = list(roles) if release is None else list(release.names)
    for name in names:
        if roles.get(name) in ("identifier", "excluded") and name not in methods:
            shown: tuple[str, ...] = ()
        else:
            shown = () if release is None else _frequent(release, name)
        change = changes.get(name)
        text = levels.get(name, "").removeprefix(f"{name} ")
        if assessment.answer("synthetic") is not None and statement is None:
            text = SYNTHETIC
        yield ReleasedColumn(
            name,
            roles.get(name, ""),
            text or _described(methods.get(name, []), change, statement),
            shown,
            None if change is None else change.values_before,
            None if change is None else change.values_after,
            _kept(change),
        )
    file_of = (
        {} if statement is None else {name: file.file for file in statement.apart for name in file.columns}
    )
    for name, file in file_of.items():
        yield ReleasedColumn(name, "sensitive", APART if file is None else f"{APART}, in {file}")
    gone = () if original is None else tuple(n for n in original.names if n not in names)
    removed = dict.fromkeys(
        (
            *gone,
            *(
                name
                for name, method in methods.items()
                if any(method.method == "removed" for method in method)
            ),
        )
    )
    for name in removed:
        if name not in names and name not in file_of:
            role = "" if original is None or name not in original.roles else original.roles[name].value
            yield ReleasedColumn(name, role, NOT_RELEASED)


def _described(methods: Sequence[Method], change: ColumnChange | None, statement: Statement | None) -> str:
    """What was done with a column: by the statement, else by its values before and after."""
    done = [method for method in methods if method.method not in ("keep",)]
    if done:
        return "; ".join(dict.fromkeys(method.description or method.method for method in done))
    # Where records are left out, shares differ in columns that nobody changed.
    if statement is not None or change is None or change.distance == 0:
        return UNCHANGED
    return "changed"


def _kept(change: ColumnChange | None) -> float | None:
    """The share of the entropy that is left; None of a column with one value."""
    if change is None or not change.entropy_before_bits or change.entropy_after_bits is None:
        return None
    return min(1.0, change.entropy_after_bits / change.entropy_before_bits)


def _frequent(release: Dataset, name: str) -> tuple[str, ...]:
    """The most frequent values of a column, each in ten records or more."""
    if release.rows.column(name).kind is Kind.NESTED or release.missing is MissingValues.WILDCARD:
        return ()
    try:
        if release.rows.tally([name]).distinct > _MAX_COUNTED_VALUES:
            return ()
        cells = release.cells([name])
    except (InputError, TooLargeError):
        return ()
    counts = np.asarray(cells.counts)
    values = cells.values[0].to_pylist()
    chosen: list[str] = []
    for position in np.argsort(-counts, kind="stable")[: _MAX_EXAMPLES + 1].tolist():
        value = values[int(cells.codes[0][position])]
        if counts[position] >= _MIN_EXAMPLE_RECORDS and value is not None and len(chosen) < _MAX_EXAMPLES:
            chosen.append(str(value))
    return tuple(chosen)


def _losses(statement: Statement) -> Iterator[str]:
    """What a release loses, in sentences."""
    loss = statement.information_loss
    first = f"{statement.records_after:,} of {plural(statement.records_before, 'record')} are released"
    if loss.ncp is not None:
        first += (
            f"; the quasi-identifiers lose {percent_text(loss.ncp)} of their precision "
            "(information loss, NCP)"
        )
    yield f"{first}."
    if loss.suppressed_values:
        yield f"{plural(loss.suppressed_values, 'value')} are suppressed."
    for name, lost in loss.changed_sensitive.items():
        yield f"The sensitive attribute {name} loses {percent_text(lost)} of its precision."
    for use, share in loss.preserved.items():
        yield f"{percent_text(share)} of the information for {use} is left."
    if loss.links_kept is not None:
        yield f"{percent_text(loss.links_kept)} of the links between a person's records are left."


def _methods(statement: Statement) -> Iterator[str]:
    """How the release was made, for the annex."""
    same: dict[str, list[str]] = {}
    for method in statement.methods:
        same.setdefault(method.description or method.method, []).append(method.column)
    yield from (f"{', '.join(names)}: {text}" for text, names in same.items())
    requirements = statement.requirements.model_dump(mode="json", exclude_none=True)
    if "k" in requirements:
        required, measured = requirements["k"], statement.measured.k
        yield f"Required: k-anonymity with k = {required:,}; measured in the file: k = {measured:,}."
    yield from (
        f"Required: {meaning}, {bound}; measured in the file: {measured}."
        for meaning, bound, measured in statement.compared()
        if bound and not meaning.startswith("k-anonymity: ")
    )
    order = "random" if statement.row_order == "random" else "that of the original"
    yield f"The order of the records is {order}."

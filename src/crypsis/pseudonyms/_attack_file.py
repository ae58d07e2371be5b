"""An attack on pseudonyms as a file: what the intruder knows, and the truth to count cracks.

    kind = "frequencies"              # or "join" or "matrix"
    transactions = "baskets.csv"      # one transaction a line, pseudonyms between commas
    truth = "truth.csv"               # a table: item, pseudonym; or "names"
    ranges = "ranges.csv"             # a table: item, lowest, highest share; or one of
    expected = "expected.csv"         # a table: item, expected share
    error = 0.05                      # every share is known to this relative error

The file belongs to the owner: the truth identifies the items. Paths are relative to the file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from crypsis import dataset
from crypsis.documents import Document
from crypsis.errors import InputError, ParameterError, SourceError
from crypsis.files import read_toml
from crypsis.pseudonyms._belief import Belief
from crypsis.pseudonyms._frequencies import frequencies, frequency_attack, probabilistic_frequency_attack
from crypsis.pseudonyms._joins import join_attack, probabilistic_join_attack

Reader: TypeAlias = Callable[[str], "dataset.Dataset"]


class _Attack(Document):
    truth: str | None = None
    """A table: item, pseudonym; "names" where both are named alike; "rows" where both have the same
    order. Known to the owner alone."""
    negligible: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Pairs with a smaller probability are ruled out; for probabilistic attacks."""


class FrequencyAttack(_Attack):
    """An intruder who knows how frequent items are."""

    kind: Literal["frequencies"]
    """Which attack."""
    transactions: str
    """A text file: one transaction a line, pseudonyms between separators."""
    ranges: str | None = None
    """A table: item, lowest and highest share. One of ranges, expected and error is needed."""
    expected: str | None = None
    """A table: item, expected share."""
    error: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Every share is known to this relative error."""
    experience: Annotated[float, Field(gt=0)] | None = None
    """With expected: from how many transactions the intruder learned it."""
    separator: str = ","
    """The text between pseudonyms."""


class JoinAttack(_Attack):
    """An intruder who joins a table with names to the release."""

    kind: Literal["join"]
    """Which attack."""
    known: str
    """A table with names."""
    released: str
    """The release."""
    on: list[str] | dict[str, float]
    """The shared columns, or each shared column with the tolerance of its numbers."""
    item: str | None = None
    """The column of the known table with the names."""
    pseudonym: str | None = None
    """The column of the release with the pseudonyms."""
    agreement: Annotated[float, Field(gt=0, lt=1)] | None = None
    """For a probabilistic attack: how often a shared column agrees for the same person."""


class MatrixAttack(_Attack):
    """An intruder whose belief matrix is given, pair by pair."""

    kind: Literal["matrix"]
    """Which attack."""
    matrix: str
    """A table of likelihoods: items down, pseudonyms across, the items in the first column."""


_FORM: TypeAdapter[FrequencyAttack | JoinAttack | MatrixAttack] = TypeAdapter(
    Annotated[FrequencyAttack | JoinAttack | MatrixAttack, Field(discriminator="kind")]
)


def load_attack(attack: str | Path | Mapping[str, Any], *, read: Reader | None = None) -> Belief:
    """The belief of the intruder that an attack file describes.

    Parameters
    ----------
    attack : path or dict
        A TOML file whose `kind` is "frequencies", "join" or "matrix", or the same keys as a dict.
        Paths in a file are relative to it.
    read : callable, optional
        How the tables of joins and matrices are read; by default `crypsis.read`.

    Returns
    -------
    Belief
        With the truth, if the attack gives it.

    Raises
    ------
    SourceError
        If a file cannot be read or is not an attack.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "beliefs.csv")
    ...     _ = path.write_text(chr(10).join(["item,a,b", "Ann,0.9,0.1", "Bob,0.1,0.9"]))
    ...     load_attack({"kind": "matrix", "matrix": str(path)})
    Belief(2 items, 4 possible pairs, probabilistic, without the truth)
    """
    folder = Path() if isinstance(attack, Mapping) else Path(attack).parent
    form = _parsed(attack)
    read = read or dataset.read
    if isinstance(form, FrequencyAttack):
        return _frequency_belief(form, folder)
    if isinstance(form, JoinAttack):
        return _join_belief(form, folder, read)
    return _matrix_belief(form, folder, read)


def _parsed(attack: str | Path | Mapping[str, Any]) -> FrequencyAttack | JoinAttack | MatrixAttack:
    if isinstance(attack, Mapping):
        try:
            return _FORM.validate_python({k: v for k, v in attack.items() if v is not None})
        except ValidationError as error:
            raise ParameterError(f"The attack is not valid: {_first_fault(error)}.") from None
    source = Path(attack)
    try:
        return _FORM.validate_python(read_toml(source, "attack", dict))
    except ValidationError as error:
        raise SourceError(
            f"{source.name!r} is not an attack: {_first_fault(error)}.", code="not-an-attack"
        ) from None


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_input=False)[0]
    where = ".".join(map(str, first["loc"][1:]))  # the first part repeats the kind
    return f"{where or 'kind'}: {first['msg']}"


def _frequency_belief(attack: FrequencyAttack, folder: Path) -> Belief:
    ways = [way for way in (attack.ranges, attack.expected, attack.error) if way is not None]
    if len(ways) != 1:
        raise ParameterError(
            "A frequency attack needs the shares that the intruder expects, in one way.",
            hint="Set {ranges}, {expected} or {error}.",
        )
    if attack.expected is None and (attack.experience is not None or attack.negligible):
        raise ParameterError(
            "Parameters 'experience' and 'negligible' apply to expected shares only.",
            hint="Set {expected}, or neither of them.",
        )
    observed = frequencies(_transactions(folder / attack.transactions, attack.separator))
    truth = _truth(attack.truth, folder, text=True)
    if attack.expected is not None:
        rows = _table(folder / attack.expected, 2)
        shares: dict[Hashable, float] = {str(item): _number(share) for item, share in rows}
        return probabilistic_frequency_attack(
            observed, shares, experience=attack.experience, negligible=attack.negligible, truth=truth
        )
    bounds: dict[Hashable, tuple[float, float]]
    if attack.ranges is not None:
        rows = _table(folder / attack.ranges, 3)
        bounds = {str(item): (_number(low), _number(high)) for item, low, high in rows}
    else:
        error = attack.error or 0.0
        pairs = zip(observed.pseudonyms, observed.shares.tolist(), strict=True)
        bounds = {name: (share * (1 - error), share * (1 + error)) for name, share in pairs}
    return frequency_attack(observed, bounds, truth=truth)


def _join_belief(attack: JoinAttack, folder: Path, read: Reader) -> Belief:
    named_table, released = (
        read(source if "://" in source else str(folder / source)).to_arrow()
        for source in (attack.known, attack.released)
    )
    labels: dict[str, Any] = {
        "item": attack.item,
        "pseudonym": attack.pseudonym,
        "truth": _truth(attack.truth, folder),
    }
    if attack.agreement is not None:
        return probabilistic_join_attack(
            named_table,
            released,
            attack.on,
            agreement=attack.agreement,
            negligible=attack.negligible,
            **labels,
        )
    if attack.negligible:
        raise ParameterError(
            "Parameter 'negligible' applies to a probabilistic join only.", hint="Set {agreement}."
        )
    return join_attack(named_table, released, attack.on, **labels)


def _matrix_belief(attack: MatrixAttack, folder: Path, read: Reader) -> Belief:
    source = attack.matrix
    table = read(source if "://" in source else str(folder / source)).to_arrow()
    names = table.column_names[1:]
    items = [str(value) for value in table.column(0).to_pylist()]
    columns = [
        [float("nan") if value is None else value for value in table.column(name).to_pylist()]
        for name in names
    ]
    truth = _truth(attack.truth, folder, text=True)
    if isinstance(truth, str):
        truth = dict(zip(items, names if truth == "rows" else items, strict=False))
    cells = [list(row) for row in zip(*columns, strict=True)]
    return Belief(cells, truth=truth, items=items, pseudonyms=names)


def _transactions(path: Path, separator: str) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{path.name!r} cannot be read as UTF-8 text.") from None
    return [[name.strip() for name in line.split(separator) if name.strip()] for line in lines]


def _truth(truth: str | None, folder: Path, *, text: bool = False) -> Any:
    """The pairs of a table, labels as text where asked; "names" and "rows" as they are."""
    if truth is None or truth in ("names", "rows"):
        return truth
    pairs = _table(folder / truth, 2)
    return {str(a): str(b) for a, b in pairs} if text else dict(pairs)


def _table(path: Path, width: int) -> list[tuple[Any, ...]]:
    table = dataset.read(str(path)).to_arrow()
    if table.num_columns < width:
        raise InputError(f"{path.name!r} needs at least {width} columns.")
    return list(zip(*(table.column(k).to_pylist() for k in range(width)), strict=True))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError("A share in the table is missing or not a number.") from None

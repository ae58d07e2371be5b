"""An attack on pseudonyms, written down: what the attacker knows, and the truth to hold it against.

    kind = "frequencies"              # or "matrix"
    transactions = "baskets.csv"      # one basket a line, pseudonyms with commas between
    truth = "truth.csv"               # a table: item, pseudonym; or "names"
    ranges = "ranges.csv"             # a table: item, lowest, highest share; or one of
    expected = "expected.csv"         # a table: item, expected share
    error = 0.05                      # every share is known to this relative error

    kind = "matrix"
    matrix = "beliefs.csv"            # items down, pseudonyms across, items in the first column

The file belongs to the owner: the truth is the key to the pseudonyms. Paths are relative to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crypsis.errors import InputError, ParameterError, SourceError
from crypsis.release import read

if TYPE_CHECKING:
    from crypsis.pseudonyms import Belief


class FrequencyAttack(BaseModel):
    """An attacker who knows how frequent items are."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    kind: Literal["frequencies"]
    """Which attack."""
    transactions: str
    """A text file: one basket a line, pseudonyms between separators."""
    ranges: str | None = None
    """A table: item, lowest and highest share. One of ranges, expected and error is needed."""
    expected: str | None = None
    """A table: item, expected share."""
    error: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Every share is known to this relative error."""
    experience: Annotated[float, Field(gt=0)] | None = None
    """With expected: from how many transactions the attacker learned it."""
    separator: str = ","
    """What separates pseudonyms."""
    truth: str | None = None
    """A table: item, pseudonym; or "names" where both are called the same. The owner's alone."""


class MatrixAttack(BaseModel):
    """An attacker whose beliefs are written down, pair by pair."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    kind: Literal["matrix"]
    """Which attack."""
    matrix: str
    """A table of likelihoods: items down, pseudonyms across, the items in the first column."""
    truth: str | None = None
    """A table: item, pseudonym; or "names" where both are called the same. The owner's alone."""


_FORM: TypeAdapter[FrequencyAttack | MatrixAttack] = TypeAdapter(
    Annotated[FrequencyAttack | MatrixAttack, Field(discriminator="kind")]
)


def load_attack(path: str | Path) -> Belief:
    """The belief that an attack file describes."""
    source = Path(path)
    try:
        attack = _FORM.validate_python(tomllib.loads(source.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise SourceError(f"{source.name!r} cannot be read ({error.strerror}).") from None
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "kind"
        raise SourceError(f"{source.name!r} is no attack: {where}: {first['msg']}.") from None
    except RecursionError:
        raise SourceError(f"{source.name!r} is nested too deeply to be an attack.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SourceError(f"{source.name!r} is not TOML: {error}.") from None
    if isinstance(attack, MatrixAttack):
        return _matrix(attack, source.parent)
    return _frequencies(attack, source.parent)


def _frequencies(attack: FrequencyAttack, folder: Path) -> Belief:
    from crypsis import pseudonyms as ps

    given = [one for one in (attack.ranges, attack.expected, attack.error) if one is not None]
    if len(given) != 1:
        raise ParameterError("An attack has one of ranges, expected or error.")
    observed = ps.frequencies(_baskets(folder / attack.transactions, attack.separator))
    truth: Any = _truth(attack.truth, folder)
    if attack.expected is not None:
        rows = _table(folder / attack.expected, 2)
        shares: dict[Hashable, float] = {str(item): _number(share) for item, share in rows}
        return ps.probabilistic_frequency_attack(
            observed, shares, experience=attack.experience, truth=truth
        )
    if attack.experience is not None:
        raise ParameterError("experience goes with expected.")
    bounds: dict[Hashable, tuple[float, float]]
    if attack.ranges is not None:
        rows = _table(folder / attack.ranges, 3)
        bounds = {str(item): (_number(low), _number(high)) for item, low, high in rows}
    else:
        error = attack.error or 0.0
        pairs = zip(observed.pseudonyms, observed.shares.tolist(), strict=True)
        bounds = {str(name): (share * (1 - error), share * (1 + error)) for name, share in pairs}
    return ps.frequency_attack(observed, bounds, truth=truth)


def _matrix(attack: MatrixAttack, folder: Path) -> Belief:
    from crypsis import pseudonyms as ps

    table = read(folder / attack.matrix).to_arrow()
    names = table.column_names[1:]
    items = [str(value) for value in table.column(0).to_pylist()]
    columns = [
        [float("nan") if value is None else value for value in table.column(name).to_pylist()]
        for name in names
    ]
    truth: Any = _truth(attack.truth, folder)
    if truth == "names":
        truth = {item: item for item in items}
    cells = [list(row) for row in zip(*columns, strict=True)]
    return ps.Belief(cells, truth=truth, items=items, pseudonyms=names)


def _baskets(path: Path, separator: str) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{path.name!r} cannot be read as UTF-8 text.") from None
    return [[name.strip() for name in line.split(separator) if name.strip()] for line in lines]


def _truth(given: str | None, folder: Path) -> dict[str, str] | str | None:
    if given is None or given == "names":
        return given
    return {str(item): str(pseudonym) for item, pseudonym in _table(folder / given, 2)}


def _table(path: Path, width: int) -> list[tuple[Any, ...]]:
    table = read(path).to_arrow()
    if table.num_columns < width:
        raise InputError(f"{path.name!r} needs at least {width} columns.")
    return list(zip(*(table.column(k).to_pylist() for k in range(width)), strict=True))


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError("A share in the table is missing or not a number.") from None

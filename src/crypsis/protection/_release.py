"""The release as a file: written, read back and measured before it gets its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import narwhals.stable.v2 as nw

from crypsis.dataset import Dataset
from crypsis.errors import OutputError, RequirementsNotMetError
from crypsis.files import digest
from crypsis.hierarchies import Hierarchy
from crypsis.protection._apart import apart_path
from crypsis.protection._measured import Measured, check, measure
from crypsis.protection._requirements import PrivacyRequirements
from crypsis.protection._statement import Statement
from crypsis.tables import FileForm, Kind, Rows, form_for, read_back, replacing, without_formulas, write_file

_OF_PEOPLE = (
    "k",
    "people",
    "people_risk",
    "population",
    "unicity",
    "inferred",
    "average_risk",
    "combination_k",
    "journalist_risk",
)
_COUNTED_BEFORE = ("k", "average_risk", "combinations", "journalist_risk")
"""The requirements that do not depend on sensitive values."""
_BY_TEXTS = ("k", "each_column", "average_risk", "combinations", "combination_k")
"""The requirements that need no types."""


def write_release(
    data: Dataset,
    path: str | Path,
    statement: Callable[[Measured], Statement] | None,
    columns: Sequence[str],
    requirements: PrivacyRequirements,
    measured: Measured | None,
    *,
    overwrite: bool = False,
    neutralize_formulas: bool = False,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    like: FileForm | None = None,
    apart: Sequence[Dataset] = (),
    persons: Dataset | None = None,
) -> Measured:
    """Write rows and statement together if the file meets the requirements; what it measures.

    `columns` are the quasi-identifiers that were recoded, none if the release was only masked;
    `hierarchies` are those of `measure`; `like` is the form of the original, which the file has
    where its name does not ask for another; `apart` are attributes in files of their own; `persons`
    are the rows with the column of their people, where people are counted and it is known.
    """
    form = form_for(path, like)
    if "://" in str(path) and statement is not None:
        raise OutputError(
            "The statement is a local file next to the release, which is written to a remote place.",
            hint="Set {statement=False} and write the statement to its own file.",
        )
    if "://" in str(path) and apart:
        raise OutputError(
            "Attributes that are released apart are local files next to the release, which is "
            "written to a remote place.",
            hint="Write the release to a file of this machine.",
        )
    rows = without_formulas(data.rows, form) if neutralize_formulas else data.rows
    notes = () if statement is None else Statement.paths(path)
    paths = [apart_path(path, number) for number in range(1, len(apart) + 1)]
    with replacing(rows, [path, *paths, *notes], overwrite=overwrite) as (partial, *partials):
        write_file(rows, partial, form)
        files, partials = partials[: len(apart)], partials[len(apart) :]
        for dataset, file in zip(apart, files, strict=True):
            written_rows = without_formulas(dataset.rows, form) if neutralize_formulas else dataset.rows
            write_file(written_rows, file, form)
        names = dict(zip(data.names, rows.names, strict=True))
        if columns:
            back = read_back(data.rows, partial, form, rows.names)
            file_measured = _measure_file(
                data, back, form, names, columns, requirements, measured, hierarchies, persons
            )
        else:
            file_measured = measured or measure(data, (), requirements)
        if statement is not None:
            document = statement(file_measured)
            if Path(partial).is_file():
                about = {"file": Path(path).name, "sha256": digest(partial)}
                document = document.model_copy(update=about)
                document = document.model_copy(
                    update={
                        "apart": tuple(
                            replace(apart_file, file=path.name, sha256=digest(written))
                            for apart_file, path, written in zip(document.apart, paths, files, strict=True)
                        )
                    }
                )
            for note, text in zip(partials, (document.to_markdown(), document.to_json()), strict=True):
                Path(note).write_text(text, encoding="utf-8")
    return file_measured


def _measure_file(
    data: Dataset,
    back: Rows,
    form: FileForm,
    names: Mapping[str, str],
    columns: Sequence[str],
    requirements: PrivacyRequirements,
    measured: Measured | None,
    hierarchies: Mapping[str, Hierarchy] | None,
    persons: Dataset | None,
) -> Measured:
    """What the file itself meets, counted in it; `names` has its names of the columns.

    A CSV file has no types, so class sizes are counted by its texts, and the sensitive columns in
    the rows, where their types are known.
    """
    written = [names[name] for name in columns]
    if requirements.people or requirements.journalist_risk is not None:
        return _with_people(data, back, written, columns, requirements, measured, hierarchies, persons)
    if form.typed:
        file = Dataset(back, data.roles, population=data.population)
        file_measured = measure(file, written, requirements, hierarchies=hierarchies)
        check(file_measured, requirements)
        return file_measured
    file = Dataset(back)
    sizes = PrivacyRequirements(**{name: getattr(requirements, name) for name in _BY_TEXTS})
    counted = measure(file, written, sizes)
    check(counted, sizes)
    if measured is None and not requirements.about_sensitive and not requirements.about_population:
        if requirements.population is None:
            return counted
        return replace(counted, population=measure(file, written, requirements).population)
    file_measured = measured or measure(data, columns, requirements, hierarchies=hierarchies)
    if any(data.rows.column(name).kind is Kind.TEXT for name in data.sensitive):
        as_csv = replace(data, rows=_empty_texts_missing(data))
        file_measured = measure(as_csv, columns, requirements, hierarchies=hierarchies)
    check(file_measured, requirements)
    return file_measured


def _with_people(
    data: Dataset,
    back: Rows,
    written: Sequence[str],
    columns: Sequence[str],
    requirements: PrivacyRequirements,
    measured: Measured | None,
    hierarchies: Mapping[str, Hierarchy] | None,
    persons: Dataset | None,
) -> Measured:
    """What was measured with what is not in the file, if its classes are the same.

    Whose records they are, the weights and the population are not in it.
    """
    counted = measure(Dataset(back), written, PrivacyRequirements())
    if measured is None or counted.rows != measured.rows or counted.classes > measured.classes:
        raise RequirementsNotMetError(
            "The file distinguishes other equivalence classes than those that were measured, "
            "so it is not written.",
            code="people-not-known",
        )
    texts = any(data.rows.column(name).kind is Kind.TEXT for name in data.sensitive)
    if texts and requirements.about_sensitive and requirements.people and persons is None:
        raise RequirementsNotMetError(
            "Whose records are in the file is not known, so what it shows of people could not be "
            "measured in it.",
            code="people-not-known",
            hint="Write a typed format, such as Parquet.",
        )
    if texts:
        values = requirements.model_copy(update=dict.fromkeys(_COUNTED_BEFORE))
        whose = persons if requirements.people and persons is not None else data
        as_csv = replace(whose, rows=_empty_texts_missing(whose))
        again = measure(as_csv, columns, values, as_csv, hierarchies)
        same = {name: getattr(measured, name) for name in _OF_PEOPLE}
        measured = replace(again, **same)
    check(measured, requirements)
    return measured


def _empty_texts_missing(data: Dataset) -> Rows:
    """The rows with empty sensitive texts as missing: a CSV file does not distinguish the two."""
    rows = data.rows
    parts = []
    for column in rows.columns:
        cell = nw.col(column.inner)
        if column.name in data.sensitive and column.kind is Kind.TEXT:
            cell = nw.when(cell.cast(nw.String) != "").then(cell).alias(column.inner)
        parts.append(cell)
    return rows.derive(rows.columns, lambda frame: frame.select(*parts))

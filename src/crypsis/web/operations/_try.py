"""What a release would be: made by the real search in memory, of a sample where the table is large."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crypsis import protection as an
from crypsis.dataset import Dataset
from crypsis.errors import InputError, RequirementsNotMetError, TooLargeError
from crypsis.tables import open_frame
from crypsis.tables.sampling import sample
from crypsis.web.operations._anonymize import choices_text, masks_of
from crypsis.web.operations._notation import ValueNotation
from crypsis.web.operations._plan import (
    asked_options,
    of_people,
    remaining,
    unchanged,
    with_population,
    without_excluded,
)
from crypsis.web.operations._session import TableSession
from crypsis.web.wording import page_option

_MAX_TRIED_RECORDS = 4_000
"""Of more records a sample is released to see what is left of each column."""
_MAX_EXPLORED_RECORDS = 2_000
"""Of more records a sample is released in each of the alternatives."""
_MAX_EXAMPLES = 3
"""Values of a released column that are shown: the most frequent."""


def _part(session: TableSession, release: Dataset, most: int) -> tuple[Dataset, bool]:
    """The table, or a sample of its records, the same each time; and whether it is one."""
    if release.count <= most:
        return release, False
    drawn = session.samples.setdefault(release.rows, {})
    if most not in drawn:
        names = list(release.names)
        drawn[most] = open_frame(sample(release.rows, most, seed=0, names=names))
    return replace(release, rows=drawn[most]), True


def _released(
    session: TableSession, file: dict[str, Any], roles: dict[str, str], options: dict[str, Any], most: int
) -> tuple[Dataset, bool]:
    release = session.release(
        file,
        without_excluded(roles, options),
        person=options.get("person"),
        weight=options.get("weight"),
        household=options.get("household"),
    )
    return _part(session, with_population(session, release, options), most)


def try_release(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
    levels: dict[str, int],
    masks: dict[str, dict[str, Any]],
    recoding: an.RecodingKind,
) -> dict[str, Any]:
    """What recipients would get: what is left of each column, with examples of its values.

    A release of the same choices is drawn with the same seed.
    """
    with session.engine:
        part, sampled = _released(session, file, roles, options, _MAX_TRIED_RECORDS)
        body: dict[str, Any] = {"rows": part.count, "sampled": sampled, "failure": ""}
        choices = choices_text(file, options, hierarchies, levels, masks, recoding)
        try:
            anonymized = an.anonymize(
                part,
                **asked_options(options, hierarchies),
                **of_people(options),
                methods={**(options.get("methods") or {}), **masks_of(masks)},
                levels=levels,
                recoding=recoding,
                shuffle=False,
            )
            session.tried = choices, anonymized.key.seed
        except (RequirementsNotMetError, InputError, TooLargeError) as error:
            return {**body, "failure": error.text(page_option), "released": [], "unchanged": []}
        released, notation = remaining(anonymized), ValueNotation.of(session.release(file))
        for column in released:
            column["examples"] = _examples(anonymized.data, column["column"], notation)
    return {
        **body,
        "released": released,
        "unchanged": unchanged(anonymized),
        "loss": anonymized.loss.ncp,
        "separation": anonymized.loss.separation,
        "suppressed": anonymized.loss.suppressed_records,
        "released_rows": anonymized.loss.released_records,
        "smallest": None if anonymized.measured is None else anonymized.measured.k,
    }


def _examples(data: Dataset, column: str, notation: ValueNotation) -> list[str]:
    """The most frequent values of a released column."""
    if column not in data.names:
        return []
    cells = data.cells([column])
    first = sorted(zip(cells.counts.tolist(), cells.codes[0].tolist(), strict=True), reverse=True)
    shown = [cells.values[0][code].as_py() for _, code in first[: _MAX_EXAMPLES + 1]]
    texts = [notation.text(column, value)[:40] for value in shown if value is not None]
    return texts[:_MAX_EXAMPLES]


def explore(
    session: TableSession,
    *,
    file: dict[str, Any],
    roles: dict[str, str],
    options: dict[str, Any],
    hierarchies: dict[str, str],
) -> dict[str, Any]:
    """Releases by several sizes of classes and recodings, each made and measured."""
    with session.engine:
        part, sampled = _released(session, file, roles, options, _MAX_EXPLORED_RECORDS)
        plan_options = asked_options(options, hierarchies)
        exploration = an.explore(part, methods=options.get("methods") or {}, **plan_options)
    best = set(map(id, exploration.pareto))
    return {
        "rows": part.count,
        "sampled": sampled,
        "k": options["k"],
        "alternatives": [
            {**alternative.to_dict(), "best": id(alternative) in best}
            for alternative in exploration.alternatives
        ],
    }

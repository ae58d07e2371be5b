"""What crypsis says: its public interface, and the only place here where crypsis is imported."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

import crypsis as cr
from crypsis.cli import run

STATUS = {0: "safe", 1: "not safe", 2: "refused", 4: "cannot tell"}


def assessed(data: Any, **options: Any) -> str:
    """The verdict of `crypsis.assess` on a frame or file; "refused" if it raises a CrypsisError."""
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data, preserve_index=False)
    if "earlier" in options:
        tables = [pa.Table.from_pandas(one, preserve_index=False) for one in options["earlier"]]
        options["earlier"] = tables
    try:
        return cr.assess(data, **declared(data, options)).verdict.value
    except cr.CrypsisError:
        return "refused"


def declared(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options, with what the owner says of records that no column says the person of."""
    return options if isinstance(data, cr.Dataset) else {"person": "each record", **options}


def with_person(data: pd.DataFrame, person: str) -> Any:
    """The frame as an original that says whose records these are."""
    return cr.Dataset.from_frame(pa.Table.from_pandas(data, preserve_index=False), person=person)


def assessed_together(
    one: pd.DataFrame, other: pd.DataFrame, known: Any, other_known: Any, *, signed_off: str
) -> str:
    """The verdict on a file that is released together with another one."""
    note = cr.dataset.ColumnNote(sign_off="Internal clock of the ward; nobody outside knows it.")

    def file(table: pd.DataFrame, names: Any) -> Any:
        rest = [signed_off] if signed_off in table.columns else []
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        data = cr.Dataset.from_frame(arrow, quasi_identifiers=names, insensitive=rest, person="each record")
        return data.with_roles(data.roles, dict.fromkeys(rest, note))

    return assessed(file(one, known), together=file(other, other_known))


def assessed_files(one: pd.DataFrame, other: pd.DataFrame, roles: Any, other_roles: Any) -> str:
    """The verdict on a file that is released together with another one, each with its known columns
    and its sensitive attributes."""
    first, second = (
        cr.Dataset.from_frame(
            pa.Table.from_pandas(table, preserve_index=False),
            quasi_identifiers=known,
            sensitive=sensitive,
            person="each record",
        )
        for table, (known, sensitive) in ((one, roles), (other, other_roles))
    )
    return assessed(first, together=second)


def believed(matrix: Any, truth: Any = None, **options: Any) -> str:
    """The verdict on a release with a belief about its pseudonyms."""
    belief = cr.pseudonyms.Belief(matrix) if truth is None else cr.pseudonyms.Belief(matrix, truth=truth)
    return assessed(belief=belief, **options)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def verdict(self) -> str:
        """The status as a verdict."""
        return STATUS.get(self.status, f"status {self.status}")


def command(*words: str | Path) -> Ended:
    """Run `crypsis WORDS` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run([str(word) for word in words])
    return Ended(status, out.getvalue(), err.getvalue())


def clean_copy(path: Path, *words: str) -> Path:
    """The clean copy of a file, in its format; the file itself if none is written."""
    copy = path.parent / "clean" / path.name
    copy.parent.mkdir()
    ended = command("rewrite", path, "-o", copy, *words)
    return copy if ended.status == 0 else path


def anonymized(data: Any, **options: Any) -> pd.DataFrame | None:
    """What `crypsis.anonymize` hands over; None if it refuses.

    The index is the original row of each record, from the re-identification key: the ground truth.
    """
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data, preserve_index=False)
    try:
        made = cr.anonymize(data, **declared(data, options))
    except cr.CrypsisError:
        return None
    frame = made.frame.to_pandas()
    return frame if made.key.row_map is None else frame.set_axis(list(made.key.row_map))


def released(path: Path, key: Path | None = None) -> pd.DataFrame | None:
    """A file as a recipient reads it: every cell of a CSV file is text; None if there is none."""
    if not path.exists():
        return None
    if path.suffix == ".parquet":
        made = pyarrow.parquet.read_table(path).to_pandas()
    else:
        made = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = None if key is None else cr.protection.Key.load(key).row_map
    return made if rows is None else made.set_axis(list(rows))


def flags(**roles: Sequence[str]) -> list[str]:
    """Roles as options of the command line."""
    names = {
        "identifiers": "--id",
        "quasi_identifiers": "--qi",
        "sensitive": "--sensitive",
        "insensitive": "--insensitive",
        "excluded": "--exclude",
    }
    return [word for role, columns in roles.items() for one in columns for word in (names[role], one)]


def people_of_the_demo(folder: Path, rows: int) -> Any:
    """The files of the demonstration."""
    from crypsis.demo import write_demo

    return write_demo(folder, rows=rows)


def anonymized_dataset(data: pd.DataFrame, **options: Any) -> Any:
    """What `crypsis.anonymize` hands over, with its roles, its key and its original."""
    table = pa.Table.from_pandas(data, preserve_index=False)
    return cr.anonymize(table, **declared(table, options))


def answered(policy: str) -> dict[str, str]:
    """The owner's answers to the checklist of a policy."""
    items = cr.policies.load_policy(policy).checklist
    return {one.item: "yes: verified by the privacy officer" for one in items}


def assessed_dataset(made: Any, *, policy: str, original: bool) -> str:
    """The verdict on what `anonymized_dataset` made, beside the original if wanted."""
    more = {"original": made.original, "row_map": made.key.row_map} if original else {}
    found = cr.assess(made.data, policy=policy, answers=answered(policy), **more)
    if found.verdict.value != "safe":
        print(found)
    return found.verdict.value


SAFE_HARBOR_ANSWERS = "[answers]\n" + "\n".join(
    f'"{item}" = "{answer}"' for item, answer in answered("hipaa-safe-harbor").items()
)
"""The owner's answers to what a program cannot verify, as part of a roles file."""


def verified(original: Any, masked: Any, controls: Any) -> str:
    """The verdict of a comparison without true matches, with people who are not in the file."""
    found = cr.linkage.compare(original, masked, controls=controls, row_map="unknown")
    return str(found.verdict)


def attacked_by_frequency(baskets: Sequence[Sequence[str]], **options: Any) -> str:
    """The verdict on a release with transactions of pseudonyms whose frequencies say nothing."""
    ranges = {item: (0.0, 1.0) for basket in baskets for item in basket}
    return assessed(belief=cr.pseudonyms.frequency_attack(baskets, ranges, truth="names"), **options)

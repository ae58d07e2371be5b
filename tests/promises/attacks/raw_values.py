"""Raw values: what differs in the file, although it means the same to the reader of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.promises.attacks.attackers import singled_out
from tests.promises.attacks.judge import command, flags, released
from tests.promises.attacks.people import ROLES, plain
from tests.promises.attacks.scenario import Draw, Scenarios, Trial

SCENARIOS = Scenarios("What is in the file")
scenario = SCENARIOS.add


def _file(
    folder: Path,
    column: str,
    usual: str,
    odd: list[str],
    *options: str,
    rows: int = 600,
    role: str = "quasi_identifiers",
    control: bool = True,
) -> Trial:
    """A CSV file in which one column has one text, and few people another text that means the same."""
    release = plain(rows).assign(**{column: usual})
    release.to_csv(folder / "control.csv", index=False)
    place = np.linspace(0, rows - 1, len(odd)).astype(int)
    release.loc[place, column] = odd
    release.to_csv(folder / "data.csv", index=False)
    there = released(folder / "data.csv")
    assert there is not None
    roles = {name: [*columns, *([column] if name == role else [])] for name, columns in ROLES.items()}
    words = [*flags(**roles), *options]
    return Trial(
        singled_out(there, there.iloc[place], ["age", "sex", column]),
        command("assess", "--person", "each record", folder / "data.csv", "--no-try", *words).verdict,
        control=command(
            "assess", "--person", "each record", folder / "control.csv", "--no-try", *words
        ).verdict
        if control
        else None,
    )


@scenario("knows who is from Namibia, who refused and who did not know")
def markers_of_missing_values_differ(draw: Draw, folder: Path) -> Trial:
    """A country that is NA (Namibia), NULL, ? or N/A for one person each, and else empty."""
    return _file(folder, "country", "", ["NA", "NULL", "?", "N/A"])


@scenario("reads the text of the file")
def seventy_and_seventy_point_zero(draw: Draw, folder: Path) -> Trial:
    """A weight of 70 for all people, written 70.0 for one and 070 for another."""
    return _file(folder, "weight_class", "70", ["70.0", "070"])


@scenario("reads the text of the file")
def trailing_blanks(draw: Draw, folder: Path) -> Trial:
    """A region called north, with blanks behind it for three people."""
    return _file(folder, "region", "north", ["north ", "north  ", " north"])


@scenario("reads the text of the file")
def numbers_in_other_notations(draw: Draw, folder: Path) -> Trial:
    """A number of 1000, written 1e3, +1000 and 1000. for one person each."""
    return _file(folder, "size", "1000", ["1e3", "+1000", "1000."])


@scenario("reads the text of the file")
def dates_in_other_notations(draw: Draw, folder: Path) -> Trial:
    """A date, written with a time of midnight for one person."""
    return _file(folder, "enrolled", "2020-01-01", ["2020-01-01 00:00:00"])


@scenario("reads the text of the file")
def leading_zeros(draw: Draw, folder: Path) -> Trial:
    """A ward of 1, written 01 and 001 for one person each."""
    return _file(folder, "ward", "1", ["01", "001"])


@scenario("reads the text of the file")
def upper_and_lower_case(draw: Draw, folder: Path) -> Trial:
    """A region called north, in capitals for one person."""
    return _file(folder, "region", "north", ["NORTH"])


@scenario("reads the text of the file")
def characters_that_are_not_seen(draw: Draw, folder: Path) -> Trial:
    """A region called north, with a no-break space, a zero-width space or a soft hyphen for one each."""
    return _file(folder, "region", "north", ["north\u00a0", "north\u200b", "nor\u00adth"])


@scenario("reads the text of the file")
def own_markers_of_missing_values(draw: Draw, folder: Path) -> Trial:
    """Answers refused and unknown, of one person each, which are read as missing on request."""
    return _file(
        folder,
        "answer",
        "",
        ["refused", "unknown"],
        "--missing-marker",
        "",
        "--missing-marker",
        "refused",
        "--missing-marker",
        "unknown",
    )


@scenario("knows who gave no answer")
def records_with_missing_values_dropped(draw: Draw, folder: Path) -> Trial:
    """Forty people with a region of their own and no age, in a file of which such records are not counted."""
    extra = pd.DataFrame(
        {"age": "", "sex": [f"x{n}" for n in range(40)], "disease": ["flu", "gout", "asthma", "none"] * 10}
    )
    pd.concat([plain(600), extra]).to_csv(folder / "data.csv", index=False)
    there = released(folder / "data.csv")
    assert there is not None
    words = [*flags(**ROLES), "--missing", "drop"]
    return Trial(
        singled_out(there, there.iloc[600:], ["age", "sex"]),
        command("assess", "--person", "each record", folder / "data.csv", "--no-try", *words).verdict,
    )


@scenario("reads the text of the file")
def notations_in_an_insensitive_column(draw: Draw, folder: Path) -> Trial:
    """A constant column of no interest, written in a notation of its own for each of 200 people."""
    odd = ["7" + "." + "0" * n for n in range(1, 201)]
    release = plain(600).assign(batch="7")
    release.loc[: len(odd) - 1, "batch"] = odd
    release.to_csv(folder / "data.csv", index=False)
    there = released(folder / "data.csv")
    assert there is not None
    words = flags(**ROLES, insensitive=["batch"])
    return Trial(
        singled_out(there, there.iloc[: len(odd)], ["batch"]),
        command("assess", "--person", "each record", folder / "data.csv", "--no-try", *words).verdict,
    )


@scenario("reads the text of the file")
def what_anonymize_writes_is_judged_as_text(draw: Draw, folder: Path) -> Trial:
    """A file in which one person's ward is written 01; anonymize with k = 5."""
    release = plain(600).assign(ward="1")
    release.loc[7, "ward"] = "01"
    release.to_csv(folder / "data.csv", index=False)
    roles = {**ROLES, "quasi_identifiers": [*ROLES["quasi_identifiers"], "ward"]}
    ended = command(
        "anonymize",
        "--person",
        "each record",
        folder / "data.csv",
        "-o",
        folder / "out.csv",
        "--k",
        "5",
        "--key",
        folder / "key.json",
        *flags(**roles),
    )
    there, made = released(folder / "data.csv"), released(folder / "out.csv", folder / "key.json")
    assert there is not None
    known = ["age", "sex", "ward"]
    success = singled_out(there, there.loc[[7]], known)
    if made is None:
        return Trial(success, ended.verdict)
    return Trial(success, "changed", after=singled_out(made, there.loc[[7]], known))

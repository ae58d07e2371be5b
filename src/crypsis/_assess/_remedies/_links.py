"""Findings about links: swap values by rank, further and further, until links are chance."""

from __future__ import annotations

from crypsis._assess._questions import ask_linkage
from crypsis._assess._remedies._setting import Setting, line, seen
from crypsis.engine import Kind
from crypsis.errors import InputError, TooLarge
from crypsis.policy import hold
from crypsis.release import Release
from crypsis.results import Finding, Remedy, Status

_FURTHER = (5, 10, 20, 40, 80)
_TRIED_UP_TO = 50_000
_NUMBERS = (Kind.INTEGER, Kind.NUMBER)
_TEXT = "Mask the original more strongly: swap values with others near them in rank."


def masked(finding: Finding, setting: Setting, *, tried: bool) -> Remedy:
    """Rank swapping of the original's numbers, as far as it takes where it may be tried."""
    before = setting.original
    if before is None:
        return Remedy(_TEXT, None)
    names = [name for name in finding.columns if before.rows.column(name).kind in _NUMBERS]
    if not names:
        return Remedy("Leave out or coarsen the columns that link.", None)
    if not tried or before.count > _TRIED_UP_TO:
        return Remedy(_TEXT, _command(setting, names, _FURTHER[2]))
    for percent in _FURTHER:
        after = _after(finding, setting, before, names, percent)
        if after is None:
            told = "Tried: it could not be measured after."
            return Remedy(_TEXT, _command(setting, names, percent), True, None, told)
        lost = f"Values move by up to {percent} % of the ranks."
        remedy = seen(_TEXT, _command(setting, names, percent), finding, after, lost)
        if after.status is Status.WITHIN:
            break
    return remedy


def _after(
    finding: Finding, setting: Setting, before: Release, names: list[str], percent: int
) -> Finding | None:
    """The same finding once the original's columns are swapped so far."""
    from crypsis.anonymize import RankSwap, mask

    methods: dict[str | tuple[str, ...], RankSwap] = {n: RankSwap(percent=percent) for n in names}
    try:
        made = mask(before, methods, seed=setting.seed).release
        narrow = (
            Release.from_frame(made.to_arrow(names)),
            Release.from_frame(before.to_arrow(names)),
        )
        asked = ask_linkage(*narrow, setting.policy, None, setting.seed)
    except (InputError, TooLarge):
        return None
    found = hold(setting.policy, asked.measured)
    return next((one for one in found if one.measure == finding.measure), None)


def _command(setting: Setting, names: list[str], percent: int) -> str:
    words = ["crypsis", "anonymize", *setting.original_source, "--k", "1"]
    for name in names:
        words += ["--qi", name, "--method", f"{name}=rank-swap:{percent}"]
    return line([*words, "-o", "masked.parquet"])

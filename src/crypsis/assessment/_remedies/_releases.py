"""What to do about releases that disclose more together than one by one."""

from __future__ import annotations

from crypsis.policies.findings import Finding, Remedy

_ALIKE = (
    "Recode the quasi-identifiers into the labels of the earlier release, or into coarser ones that "
    "each contain several of them: classes that are nested do not intersect."
)
_DIFFERENCE = (
    "Release people who were added or removed together with enough others like them, or wait until "
    "there are; keep records that changed as they were."
)
_ANEW = "Draw the pseudonyms anew, exclude these columns, or sign them off with the reason."


def releases_remedy(finding: Finding) -> Remedy:
    """The remedy by the measure; none of them is tried, because they concern several files."""
    if finding.measure == "releases.reused_pseudonyms":
        return Remedy("exclude_columns", _ANEW, {"columns": finding.columns})
    text = _DIFFERENCE if finding.measure == "releases.small_differences" else _ALIKE
    return Remedy("recode", text)

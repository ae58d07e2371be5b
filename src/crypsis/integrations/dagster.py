"""A Dagster asset check: the asset is safe to release."""

from __future__ import annotations

from typing import Any, Unpack

from dagster import AssetCheckResult, AssetChecksDefinition, MetadataValue, asset_check

from crypsis.integrations._release import ReleaseOptions, assess_release, explanation, is_safe


def build_release_check(
    asset: Any, *, blocking: bool = True, **options: Unpack[ReleaseOptions]
) -> AssetChecksDefinition:
    """An asset check that fails unless the verdict on the asset is "safe".

    Parameters
    ----------
    asset : AssetsDefinition, AssetKey or str
        The asset: a frame, or the path of a file.
    blocking : bool
        Whether assets that need this one wait for the check.
    **options
        The options of `crypsis.assess`, or `roles_file`.

    Returns
    -------
    AssetChecksDefinition

    Examples
    --------
    >>> check = build_release_check(patients, roles_file="roles.toml")  # doctest: +SKIP
    """

    @asset_check(asset=asset, name="safe_to_release", blocking=blocking)  # type: ignore[untyped-decorator]
    def safe_to_release(asset: Any) -> AssetCheckResult:
        assessment = assess_release(asset, **options)
        return AssetCheckResult(
            passed=is_safe(assessment),
            description=explanation(assessment),
            metadata={
                "verdict": assessment.verdict.value,
                "policy": str(assessment.policy["name"]),
                "report": MetadataValue.md(assessment.to_markdown()),
            },
        )

    return safe_to_release

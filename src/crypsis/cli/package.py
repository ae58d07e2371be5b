"""`crypsis package`: the release, its statement and its dossier in one zip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options as o
from crypsis.cli.commands import Application
from crypsis.cli.dossier import DossierOptions

if TYPE_CHECKING:
    from crypsis.assessment import Assessment
    from crypsis.dataset import Dataset
    from crypsis.protection import Anonymized

app = Application(help="Packages: a release, its statement and its dossier in one zip.", no_args_is_help=True)


@app.callback()
def _packages() -> None:
    """Packages: a release, its statement and its dossier in one zip."""


@app.command("check")
def check(
    package: Annotated[Path, typer.Argument(show_default=False, help="The package: a .zip file.")],
    as_json: o.AsJson = False,
) -> None:
    """Check that every file of a package is the one of its manifest.

    The exit status is 0 if it is, and 1 if a file was changed, added or removed.

    Example: [bold]crypsis package check release.zip[/bold]
    """
    from crypsis.assessment import check_package
    from crypsis.cli.console import console
    from crypsis.report.json import to_json
    from crypsis.report.wording import plural

    package_check = check_package(package)
    if as_json:
        typer.echo(to_json("package check", package_check))
    else:
        screen, manifest = console(), package_check.manifest
        for file in manifest.files:
            screen.print(f"{file.part:<12}  {file.name}", markup=False)
            if file.part == "release":
                screen.print(f"{'':<12}  SHA-256 {file.sha256}", markup=False, soft_wrap=True)
        screen.print(manifest.explanation, markup=False)
        for problem in package_check.problems:
            screen.print(f"✗ {problem}", markup=False)
        if package_check.valid:
            count = plural(len(manifest.files), "file")
            screen.print(f"✓ {count}, each as in the manifest.", markup=False)
    if not package_check.valid:
        raise typer.Exit(1)


def pack(
    package: Path,
    release: Path,
    anonymized: Anonymized,
    original: Dataset,
    policy: str,
    about: DossierOptions,
    *,
    force: bool,
) -> Assessment:
    """Assess the file that was written, and pack it with its statement and its dossier."""
    from crypsis.assessment import assess, make_dossier, write_package
    from crypsis.cli.wording import cli_option
    from crypsis.report.wording import Phrasing

    data, rows = _written(release, anonymized), anonymized.key.row_map
    has_links = rows is None or len(rows) > 0  # else nobody knows which record is whose
    assessment = assess(
        data,
        original if has_links else None,
        policy=policy,
        row_map=rows or None,
        name=release.name,
        together=list(anonymized.apart) or None,
    )
    words = Phrasing(cli_option, lambda remedy: None)  # the release is made again, not repaired
    dossier = make_dossier(assessment, data, original, file=release, phrasing=words, **about.keywords())
    write_package(package, release, dossier, overwrite=force)
    return assessment


def _written(release: Path, anonymized: Anonymized) -> Dataset:
    """The released file, with the roles of the data that it was written from."""
    from crypsis.dataset import read

    data = read(release, missing=anonymized.data.missing.value)
    names = dict(zip(anonymized.data.names, data.names, strict=True))
    roles = {names[name]: role for name, role in anonymized.data.roles.items() if name in names}
    notes = {names[name]: note for name, note in anonymized.data.notes.items() if name in names}
    units: dict[str, Any] = {
        unit: names[column]
        for unit in ("person", "household", "weight", "stratum", "cluster")
        if (column := getattr(anonymized.data, unit)) in names
    }
    decided = data.with_roles(roles, notes)
    stated = {name: getattr(anonymized.data, name) for name in ("absent", "each_record", "person_reason")}
    return replace(decided, population=anonymized.data.population, **stated, **units)

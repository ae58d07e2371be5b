"""`crypsis serve`: the page for people who do not write Python, on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from crypsis.cli import options as o

_LIMITS = "Limits"


def _limit(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, rich_help_panel=_LIMITS)


@o.opens
def serve(
    opening: o.Opening,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Files that the page may open where they are; everything else is uploaded.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="A free one by default.", min=0)] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    upload_limit: Annotated[str, _limit("--upload-limit", "The largest upload.")] = "1GB",
    row_limit: Annotated[int, _limit("--row-limit", "The most rows of a table.")] = 200_000_000,
    tables: Annotated[int, _limit("--tables", "The most tables open at once.")] = 12,
    jobs: Annotated[int, _limit("--jobs", "The most jobs running at once.")] = 2,
    job_memory: Annotated[str, _limit("--job-memory", "The most memory of a table.")] = "4GB",
    job_seconds: Annotated[float, _limit("--job-seconds", "The longest job.")] = 3_600.0,
    idle_minutes: Annotated[
        float, _limit("--idle-minutes", "Close a table that nobody looked at for so long.")
    ] = 60.0,
) -> None:
    """Open a page on this machine that leads from a file to a safe release.

    It answers on loopback only, to who has the address that is printed. Uploads lie in a private
    folder and are removed when it ends.

    Example: [bold]crypsis serve patients.csv[/bold]
    """
    from crypsis.errors import MissingPart, ParameterError

    if opening.memory_limit is not None:
        raise ParameterError("The memory of each table is limited with --job-memory.")
    try:
        from crypsis import web
    except ModuleNotFoundError:
        raise MissingPart("The page needs: pip install 'crypsis[web]'") from None
    given = tuple(_given(source, opening) for source in data or ())
    settings = web.Settings(
        given=given,
        upload_bytes=web.size_of(upload_limit),
        expanded_bytes=10 * web.size_of(upload_limit),
        rows=row_limit,
        tables=tables,
        jobs=jobs,
        job_bytes=web.size_of(job_memory),
        job_seconds=job_seconds,
        idle_seconds=60 * idle_minutes,
        folder=opening.spill_folder,
    )
    web.serve(settings, port=port, say=_say, show=show)


def _say(address: str) -> None:
    typer.echo(f"Open {address}")
    typer.echo("Whoever has this address may use the page. Ctrl-C ends it and removes uploads.")


def _given(source: str, opening: o.Opening) -> Any:
    """A source by the absolute name of its file, with how it is read and what was decided."""
    from crypsis.errors import SourceError
    from crypsis.web import Given

    path = source
    if "://" not in source:
        place = Path(source).expanduser().absolute()
        if not place.exists() and not any(mark in source for mark in "*?["):
            raise SourceError(f"There is no file {source!r}.")
        path = str(place)
    decided: dict[str, str] = {}
    if opening.roles or opening.identifiers or opening.quasi_identifiers or opening.sensitive:
        decided = {name: role.value for name, role in opening.release(path).roles.items()}
    return Given(path, o.title(source), opening.reading(), decided)

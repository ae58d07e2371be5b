"""`crypsis serve`: the page for people who do not write Python, on this machine alone."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from crypsis.cli import options as o

_LIMITS = "Limits"


def _limit(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, rich_help_panel=_LIMITS)


@o.takes_data
def serve(
    options: o.DataOptions,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Files that the page may open in place; all others are uploaded.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="The port; a free one by default.", min=0)] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    upload_limit: Annotated[str, _limit("--upload-limit", "The largest upload.")] = "1GB",
    row_limit: Annotated[int, _limit("--row-limit", "The largest number of rows of a table.")] = 200_000_000,
    tables: Annotated[int, _limit("--tables", "The largest number of open tables.")] = 12,
    jobs: Annotated[int, _limit("--jobs", "The largest number of running jobs.")] = 2,
    job_memory: Annotated[str, _limit("--job-memory", "The largest memory of a table.")] = "4GB",
    job_disk: Annotated[str, _limit("--job-disk", "The largest disk use of a table.")] = "50GB",
    job_seconds: Annotated[float, _limit("--job-seconds", "The longest time of a job.")] = 3_600.0,
    idle_minutes: Annotated[
        float, _limit("--idle-minutes", "Close a table that was not used for so long.")
    ] = 60.0,
) -> None:
    """Open a page on this machine that leads from a file to a safe release.

    The server listens on loopback only, and only the printed address opens it. Uploads are stored
    in a private folder and removed when it ends.

    Example: [bold]crypsis serve patients.csv[/bold]
    """
    from crypsis.errors import ParameterError
    from crypsis.extras import import_extra

    if options.engine.memory_limit is not None:
        raise ParameterError("The memory of a table has its own limit.", hint="Set {job_memory}.")
    for module in ("fastapi", "uvicorn"):
        import_extra(module, "The page")
    from crypsis import web

    sources = tuple(_given(source, options) for source in data or ())
    settings = web.Settings(
        given=sources,
        upload_bytes=web.size_of(upload_limit),
        expanded_bytes=10 * web.size_of(upload_limit),
        rows=row_limit,
        tables=tables,
        jobs=jobs,
        job_bytes=web.size_of(job_memory),
        disk_bytes=web.size_of(job_disk),
        job_seconds=job_seconds,
        idle_seconds=60 * idle_minutes,
        folder=options.engine.spill_folder,
    )
    web.serve(settings, port=port, say=_print_address, show=show)


def _print_address(address: str) -> None:
    typer.echo(f"Open {address}")
    typer.echo("Whoever has this address may use the page. Ctrl-C ends it and removes uploads.")


def _given(source: str, options: o.DataOptions) -> Any:
    """A source by its absolute path, with reading options and decided roles."""
    from crypsis.errors import SourceError
    from crypsis.tables.paths import expanded
    from crypsis.web import GivenSource

    path = source
    if "://" not in source:
        file = expanded(source).absolute()
        if not file.exists() and not any(mark in source for mark in "*?["):
            raise SourceError(f"File {source!r} does not exist.")
        path = str(file)
    decided: dict[str, str] = {}
    if options.roles_file or options.roles:
        decided = {name: role.value for name, role in options.dataset(path).roles.items()}
    return GivenSource(path, o.title(source), options.reading_keywords(), decided)

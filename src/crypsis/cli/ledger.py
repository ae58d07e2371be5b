"""`crypsis ledger`: what was released, to whom, under which policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options as o
from crypsis.cli.commands import Application

app = Application(help="The ledger of releases of the same people.", no_args_is_help=True)
_File = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger, a .toml file.")]


@app.command("add")
def add(
    ledger: _File,
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The released file.")],
    recipient: Annotated[str, typer.Option("--to", help="Who received it.")],
    name: Annotated[str, typer.Option("--name", help="What to call it; default: its file.")] = "",
    report: Annotated[
        Path | None, typer.Option("--report", help="Its assessment as .json: the policy and the verdict.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="Its re-identification key: digests of the seed and keys.")
    ] = None,
) -> None:
    """Add a release to the ledger, which is written anew; the first one begins it.

    Example: [bold]crypsis ledger add ledger.toml release.csv --to "University of Z"[/bold]
    """
    from crypsis.errors import ParameterError
    from crypsis.protection import Key
    from crypsis.releases import Ledger
    from crypsis.report.wording import plural

    if ledger.suffix.lower() != ".toml":
        raise ParameterError(f"{ledger.name!r} is not a valid ledger; its name ends in .toml.")
    ledger_before = Ledger.load(ledger) if ledger.exists() else Ledger()
    release_key = Key() if key is None else Key.load(key)
    keys = tuple(release_key.pseudonyms.values())
    reused = ledger_before.reusing(release_key.seed, keys)
    ledger_after = ledger_before.added(
        release,
        ledger.absolute().parent,
        recipient=recipient,
        name=name,
        policy="" if report is None else _judged(report),
        seed=release_key.seed,
        pseudonym_keys=keys,
    )
    ledger_after.save(ledger)
    typer.echo(f"{ledger}: {plural(len(ledger_after.releases), 'release')}")
    if reused:
        typer.echo(f"The seed or the key of the pseudonyms was used before: {', '.join(reused)}.")


@app.command("list")
def list_releases(ledger: _File, as_json: o.AsJson = False) -> None:
    """List the releases, and whether their files are there and unchanged.

    Example: [bold]crypsis ledger list ledger.toml[/bold]
    """
    import json

    from rich.table import Table

    from crypsis.cli.console import console
    from crypsis.releases import Ledger, check_ledger
    from crypsis.report.terminal import shown

    ledger_file, checked = Ledger.load(ledger), check_ledger(ledger)
    states = {**dict.fromkeys(checked.missing, "missing"), **dict.fromkeys(checked.changed, "another file")}
    if as_json:
        rows = [
            {**release.model_dump(mode="json"), "state": states.get(release.name, "unchanged")}
            for release in ledger_file.releases
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("release", "date", "recipient", "records", "policy", "file"):
        table.add_column(head, overflow="fold", no_wrap=head == "date")
    for release in ledger_file.releases:
        table.add_row(
            shown(release.name, 40),
            str(release.released),
            shown(release.recipient, 40),
            f"{release.records:,}",
            shown(release.policy, 60),
            states.get(release.name, "unchanged"),
        )
    console().print(table)


def _judged(report: Path) -> str:
    """The policy and the verdict of an assessment that was written as JSON."""
    import json

    from crypsis.errors import SourceError

    try:
        result = json.loads(report.read_text(encoding="utf-8"))["result"]
        return f"{result['policy']['name']} ({result['policy']['date']}): {result['verdict']}"
    except OSError as error:
        raise SourceError(f"{str(report)!r} cannot be read ({error.strerror}).") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise SourceError(f"{str(report)!r} is not an assessment as JSON.") from None

"""`crypsis schema`: the JSON Schemas of files and results."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    of: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="roles, policy or plan; or the command whose JSON it describes, such as assess.",
        ),
    ],
) -> None:
    """Print the JSON Schema of a file that you write, or of the JSON that a command writes.

    Editors complete roles, policies and plans with it.

    Example: [bold]crypsis schema policy > policy.schema.json[/bold]
    """
    import json

    from crypsis.schemas import schema as schema_of

    typer.echo(json.dumps(schema_of(of), indent=2, ensure_ascii=False))

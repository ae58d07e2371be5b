"""`crypsis compile`: the kernels of the ordinary commands, compiled ahead of the first of them."""

from __future__ import annotations

import time
from typing import Any

import typer


def compile_kernels() -> None:
    """Compile now what the first assess, anonymize and compare would otherwise compile.

    The kernels are compiled for this processor by Numba and kept in its cache: next to the installed
    package, or where NUMBA_CACHE_DIR says. Run it once after installing, as the same user, or in the
    recipe of a container. What only some options need is still compiled when it is first used.

    Example: [bold]crypsis compile[/bold]
    """
    from crypsis.cli.console import shown_progress
    from crypsis.demo import write_demo
    from crypsis.files import PrivateFolder

    start = time.perf_counter()
    folder = PrivateFolder("crypsis-compile-")
    try:
        files = write_demo(folder.path / "demo", rows=_ROWS, seed=1)
        with shown_progress():
            _run(str(files.original), str(files.masked))
    finally:
        folder.remove()
    typer.echo(f"The kernels are compiled ({time.perf_counter() - start:.0f} s).")


_ROWS = 2_000
_REQUIRED: tuple[dict[str, Any], ...] = ({}, {"closeness": 0.5}, {"excess": 0.3})
_ROLES: dict[str, Any] = {
    "identifiers": ["name", "ssn"],
    "quasi_identifiers": ["birth_date", "zip", "sex", "occupation"],
    "sensitive": ["disease"],
    "excluded": ["income"],
}


def _run(original: str, masked: str) -> None:
    """The ordinary ways through the commands, on invented people."""
    import crypsis as cr

    data = cr.read(original, **_ROLES)
    cr.scan(data)
    for required in _REQUIRED:
        made = cr.anonymize(data, k=5, seed=1, **required)
    cr.assess(made.data)
    cr.compare(data, cr.read(masked))

"""`crypsis compile`: the kernels of the ordinary commands, compiled ahead of the first of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pyarrow as pa

    from crypsis.dataset import Dataset
    from crypsis.demo import DemoFiles


def compile_kernels() -> None:
    """Compile now what the first demo, scan, assess, anonymize and compare would otherwise compile.

    The kernels are compiled for this processor by Numba and kept in its cache: next to the installed
    package, or where NUMBA_CACHE_DIR says. Run it once after installing, as the same user, or in the
    recipe of a container. What only some options need is still compiled when it is first used, and
    what came compiled with the package is not compiled again.

    Example: [bold]crypsis compile[/bold]
    """
    from crypsis.cli.console import shown_progress
    from crypsis.demo import write_demo
    from crypsis.files import PrivateFolder

    start = time.perf_counter()
    folder = PrivateFolder("crypsis-compile-")
    try:
        files = write_demo(folder.path / "demo", rows=_DEMO_ROWS, seed=1)
        with shown_progress():
            _run(files)
            _count()
    finally:
        folder.remove()
    typer.echo(f"The kernels are compiled ({time.perf_counter() - start:.0f} s).")


_DEMO_ROWS = 2_000
"""So many invented people are anonymized and assessed."""
_FEW_ROWS = 60
"""So many of them are anonymized as a small table, which is searched in more ways."""
_REQUIRED: tuple[dict[str, Any], ...] = ({}, {"closeness": 0.5}, {"excess": 0.3})
_ROLES: dict[str, Any] = {
    "identifiers": ["name", "ssn"],
    "quasi_identifiers": ["birth_date", "zip", "sex", "occupation"],
    "sensitive": ["disease"],
    "excluded": ["income"],
    "person": "each record",
}


def _run(files: DemoFiles) -> None:
    """The ordinary ways through the commands, on invented people."""
    import crypsis as cr
    from crypsis.protection.masking import rank_swap
    from crypsis.pseudonyms import load_attack

    data, masked = cr.read(files.original, **_ROLES), cr.read(files.masked)
    cr.scan(data)
    few = cr.Dataset.from_frame(data.to_arrow()[:_FEW_ROWS], **_ROLES)
    for required in _REQUIRED:
        cr.anonymize(few, k=2, seed=1, **required)
        anonymized = cr.anonymize(data, k=5, seed=1, **required)
    cr.assess(anonymized.data)
    cr.assess(_visits(few.to_arrow()))
    cr.assess(masked, data, load_attack(files.attack), seed=1)
    cr.compare(data, masked)
    rank_swap(data, ["income"], percent=5, seed=1)  # which a larger assessment tries as a remedy


def _visits(people: pa.Table) -> Dataset:
    """Two records of each person."""
    import numpy as np
    import pyarrow as pa

    import crypsis as cr

    persons = pa.array(np.tile(np.arange(people.num_rows), 2))
    visits = pa.concat_tables([people, people]).append_column("person", persons)
    return cr.Dataset.from_frame(visits, **{**_ROLES, "person": "person"})


def _count() -> None:
    """The kernels that count, for codes of one, two and four bytes."""
    import numpy as np
    import pyarrow as pa

    from crypsis.counting.cells import Cells
    from crypsis.counting.partitions import CodeTable, Partition

    for size in (100, 1_000, 70_000):
        codes = np.arange(size, dtype=np.int32)
        values = pa.array(codes), pa.array(["one"])
        cells = Cells(("many", "one"), (codes, 0 * codes), values, np.ones(size, np.int64))
        whole = Partition.coarsest(CodeTable(cells))
        whole.tally(np.arange(2))
        whole.squares(0)
        whole.refine(0).statistics()

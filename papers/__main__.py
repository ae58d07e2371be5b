"""`python -m papers`, which is `make papers`: the four papers, computed again.

The exit status is 0, or 1 if a value differs without an explanation, or 2 for a wrong input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import papers
from crypsis import progress
from crypsis.errors import CrypsisError, OutputError, ParameterError
from crypsis.files import replacing_file
from crypsis.report.json import to_json
from papers.pages import write_pages
from papers.report import reproduction_markdown, reproduction_view, summary_view


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute papers again as the arguments say, and show or write them."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options)
    except CrypsisError as error:
        message = error.text(lambda name, _: f"--{name.replace('_', '-')}")
        print(f"papers: {message}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m papers",
        description="Compute the tables, figures and theorems of the papers again, next to the "
        "printed values. Each value is equal, equal after rounding, an erratum of the paper or a "
        "critique of ours (a note says which), or not derivable from what it prints. If any "
        "differs without an explanation the exit status is 1.",
        epilog="Example: python -m papers lodha2007 --figures figures",
    )
    parser.add_argument("paper", nargs="?", help=f"{', '.join(papers.PAPERS)}; all by default")
    parser.add_argument("--figures", type=Path, help="draw every figure into this folder")
    parser.add_argument("--pages", type=Path, help="write a page for each paper, with its figures")
    parser.add_argument("--data", type=Path, help="the folder of the real data (CRYPSIS_DATA)")
    parser.add_argument("--rows", type=int, help="itpr2019, Fig. 6: the largest number of rows")
    parser.add_argument("--all", action="store_true", help="every value of columns that agree")
    parser.add_argument("--output", "-o", type=Path, help="write it as .json or .md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--force", action="store_true", help="overwrite an existing output")
    return parser


def _run(options: argparse.Namespace) -> int:
    _check_output(options.output, force=options.force)
    if options.rows is not None and options.paper not in (None, "itpr2019"):
        raise ParameterError("--rows applies to Fig. 6 of itpr2019 only.")
    names = papers.PAPERS if options.paper is None else (options.paper,)
    more = {} if options.rows is None else {"max_rows": options.rows}
    drawn: list[Path] = []
    with progress.bars():
        reproductions = papers.Reproductions(
            tuple(papers.paper(name, data=options.data, **more) for name in names)
        )
        if options.figures is not None:
            for reproduction in reproductions.papers:
                drawn += papers.save_figures(reproduction, options.figures)
        if options.pages is not None:
            write_pages(reproductions.papers, options.pages)
    if options.output is not None:
        _write(reproductions, options.output, everything=options.all)
    if options.json:
        print(to_json("papers", reproductions))
    else:
        _show(reproductions, everything=options.all)
        if drawn:
            print(f"{len(drawn)} figures are in {options.figures}.")
    return int(reproductions.differs)


def _check_output(output: Path | None, *, force: bool) -> None:
    """Refuse an output before the work rather than after it."""
    if output is None:
        return
    if output.suffix.lower() not in (".json", ".md"):
        raise OutputError(f"{output.name!r} is not a valid output; use .json or .md.")
    if output.exists() and not force:
        raise OutputError(f"{str(output)!r} exists already; --force replaces it.")


def _write(reproductions: papers.Reproductions, output: Path, *, everything: bool) -> None:
    if output.suffix.lower() == ".md":
        pages = [reproduction_markdown(p, everything=everything) for p in reproductions.papers]
        text = "\n".join(pages)
    else:
        text = to_json("papers", reproductions) + "\n"
    with replacing_file(output, overwrite=True) as partial:
        partial.write_text(text, encoding="utf-8")


def _show(reproductions: papers.Reproductions, *, everything: bool) -> None:
    screen = Console(highlight=False)
    for reproduction in reproductions.papers:
        screen.print(reproduction_view(reproduction, everything=everything), crop=False)
        screen.print()
    if len(reproductions.papers) > 1:
        screen.print(summary_view(reproductions.papers))


if __name__ == "__main__":
    sys.exit(main())

"""Pages that run: what a reader would type is typed, and what is shown is held against what comes.

In a page, a `console` block holds commands after `$ ` with what they print below; a `pycon` block
is a session of Python with its answers; a `python` block just runs; and a block with a caption is
a file of that name. `...` stands for anything. `python -m tests.docs.pages PAGE` runs a page and
writes the answers into it, for the author to read and to shorten.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import crypsis

FENCE = re.compile(r"^(`{3,}|:{3,})(.*)$")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its caption, its lines and where they begin."""

    language: str
    caption: str | None
    lines: tuple[str, ...]
    first: int

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page in their order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opened = FENCE.match(lines[number])
        number += 1
        if not opened or opened[1].startswith(":"):
            continue
        first = number
        while lines[number].strip() != opened[1]:
            number += 1
        inside = lines[first:number]
        number += 1
        language = opened[2].strip().removeprefix("{code-block}").strip()
        caption = None
        while inside and re.match(r":\w+:", inside[0]):
            if inside[0].startswith(":caption:"):
                caption = inside[0].removeprefix(":caption:").strip()
            inside = inside[1:]
            first += 1
        yield Block(language, caption, tuple(inside), first)


def commands(block: Block) -> Iterator[tuple[int, int, str, str]]:
    """Of a console block: the first and last line of each command, itself, and what it prints."""
    number = 0
    while number < len(block.lines):
        start = number
        typed = block.lines[number].removeprefix("$ ")
        assert block.lines[number].startswith("$ "), f"line {block.first + number}: no command"
        while typed.endswith("\\"):
            number += 1
            typed += "\n" + block.lines[number].removeprefix("> ")
        number += 1
        shown = number
        while number < len(block.lines) and not block.lines[number].startswith("$ "):
            number += 1
        yield start, shown, typed, "\n".join(block.lines[shown:number])


class Shell:
    """A shell in a folder: the program of this environment, plain text, eighty columns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        programs = str(Path(sys.executable).parent)
        self.environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONPATH": str(Path(crypsis.__file__).parents[1]),
            "XDG_DATA_HOME": str(folder / ".home"),
        }

    def __call__(self, typed: str) -> str:
        """What a command prints; `$?` holds the status of the one before."""
        ended = subprocess.run(
            ["bash", "-c", f"(exit {self.status}); {typed}"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        self.status = ended.returncode
        return ended.stdout


def run(
    page: Path,
    folder: Path,
    told: Callable[[Block, str, str, str], None],
    held: Callable[[str], None] | None = None,
) -> None:
    """Run a page in a folder; `told` gets each command with what the page and what it shows."""
    shell = Shell(folder)
    names: dict[str, Any] = {"__name__": "__page__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks(page):
            if block.caption:
                (folder / block.caption).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for _, _, typed, shown in commands(block):
                    told(block, typed, shown, shell(typed))
            elif block.language == "python":
                place = f"{page.name}, line {block.first + 1}"
                exec(compile(block.text, place, "exec"), names)
            elif block.language == "pycon":
                session(block, page, names, held)
    finally:
        os.chdir(before)


def session(
    block: Block, page: Path, names: dict[str, Any], held: Callable[[str], None] | None = None
) -> None:
    """A session of Python, held against what it shows; `held` gets what differs, else it fails."""
    parsed = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.first)
    failed: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(parsed, out=failed.append, clear_globs=False)
    names.update(parsed.globs)
    if held is not None:
        held("".join(failed))
    else:
        assert not failed, "".join(failed)


def check(block: Block, typed: str, shown: str, printed: str) -> None:
    """What a command printed is what the page shows."""
    example = doctest.Example(typed, shown + "\n" if shown else "")
    checker = doctest.OutputChecker()
    if not checker.check_output(example.want, printed, FLAGS):
        told = checker.output_difference(example, printed, FLAGS)
        raise AssertionError(f"line {block.first + 1}: $ {typed}\n{told}")


def fill(page: Path) -> None:
    """Run the page and write what each command printed below it; sessions are printed."""
    lines = page.read_text(encoding="utf-8").splitlines()
    printed: list[tuple[Block, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        casc = Path(os.environ.get("CRYPSIS_DATA", "../shared/data"), "casc").resolve()
        if casc.exists():
            (Path(folder) / "casc").symlink_to(casc)
        run(page, Path(folder), lambda block, typed, _, out: printed.append((block, typed, out)), print)
    answers = iter(printed)
    edits = []
    for block in blocks(page):
        if block.language == "console" and not block.caption:
            for _, shown, _, old in commands(block):
                end = shown + (len(old.split("\n")) if old else 0)
                new = [line.rstrip() for line in next(answers)[2].rstrip().splitlines()]
                edits.append((block.first + shown, block.first + end, new))
    for start, end, new in reversed(edits):
        lines[start:end] = new
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name).resolve())

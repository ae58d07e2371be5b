"""The pre-commit hook: every data file that is committed is assessed.

The roles of `data/visits.csv` are in `data/visits.roles.toml`, or in `data/roles.toml`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from crypsis.errors import CrypsisError, SourceError

_STATUSES = {"safe": 0, "not safe": 1, "cannot tell": 4}


def main(arguments: Sequence[str] | None = None) -> int:
    """Assess files; the status is 0 only if each of them is safe, else the worst of them.

    Parameters
    ----------
    arguments : sequence of str, optional
        `--policy POLICY`, then files; by default those of the command line.

    Returns
    -------
    int
        0 safe, 1 not safe, 2 a file or its roles cannot be read, 4 cannot tell.
    """
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="crypsis-assess", description="Assess the data files of a commit.")
    parser.add_argument("--policy", default="default", help="a preset or a .toml file")
    parser.add_argument("files", nargs="*")
    arguments_parsed = parser.parse_args(
        [_file_or_option(text) for text in (sys.argv[1:] if arguments is None else arguments)]
    )
    return max((_status(Path(file), arguments_parsed.policy) for file in arguments_parsed.files), default=0)


def _file_or_option(text: str) -> str:
    """An argument; a file of the commit that is called like an option is a file all the same."""
    return f"./{text}" if text.startswith("-") and Path(text).is_file() else text


def _status(file: Path, policy: str) -> int:
    from crypsis.integrations._release import assess_release, explanation, is_safe

    try:
        assessment = assess_release(str(file), roles_file=_roles(file), policy=policy, name=file.name)
    except CrypsisError as error:
        sys.stderr.write(f"{file}: {error}\n")
        return 2
    sys.stdout.write(f"{file}: {explanation(assessment)}\n")
    return 0 if is_safe(assessment) else _STATUSES.get(assessment.verdict.value, 4) or 4


def _roles(file: Path) -> Path:
    """The roles file of a data file: its own, or that of its folder."""
    for path in (file.with_name(f"{file.stem}.roles.toml"), file.with_name("roles.toml")):
        if path.is_file():
            return path
    raise SourceError(
        f"There is neither {file.stem}.roles.toml nor roles.toml beside it.",
        hint="Run: crypsis scan FILE --save FILE.roles.toml",
    )


if __name__ == "__main__":
    sys.exit(main())

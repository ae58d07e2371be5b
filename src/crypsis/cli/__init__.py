"""The command line: one module a verb, and one place that turns every end into an exit status.

0 done, and "safe" where a verdict was asked; 1 not safe; 2 usage, input or environment; 3 an
internal fault; 4 cannot tell; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from crypsis.cli.memory import lacks_memory, memory_shortage

DONE = 0
NOT_SAFE = 1
BAD_INPUT = 2
FAULT = 3
CANNOT_TELL = 4
INTERRUPTED = 130
"""128 and the number of the signal SIGINT, as shells have it."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNWRITTEN = "Standard output could not be written ({})."


def main() -> None:
    """Run the command that was typed and leave with its status."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command; every way it can end has its status."""
    try:
        if list(arguments) == ["--version"]:  # asked by scripts, and needs none of what follows
            from crypsis.cli.version import version_text

            print(version_text())
            return _flushed(DONE)
        shortage = memory_shortage()
        if shortage is not None:
            return _error(shortage, BAD_INPUT)
        return _flushed(_run(arguments))
    except OSError as error:  # of the line above: no library is loaded
        return _flushed(_not_written(error))
    except KeyboardInterrupt:  # also while the libraries are loaded
        return _error("Interrupted.", INTERRUPTED)


def _run(arguments: Sequence[str]) -> int:
    from typer import TyperException

    from crypsis.cli.app import application
    from crypsis.errors import CancelledError, CrypsisError

    try:
        app = application(arguments[0] if arguments else None)
        status = int(app(list(arguments), standalone_mode=False) or DONE)
    except CancelledError:
        status = INTERRUPTED
    except TyperException as error:
        error.show()  # type: ignore[attr-defined]
        return BAD_INPUT
    except CrypsisError as error:
        from crypsis.cli.wording import cli_option

        return _error(error.text(cli_option), BAD_INPUT)
    except ModuleNotFoundError as error:
        return _missing(error)
    except SystemExit as end:  # how Typer ends --install-completion, and when the output is closed
        return BAD_INPUT if end.code else DONE
    except Exception as error:  # noqa: BLE001 - the last resort, and it must not show data
        if lacks_memory(error):
            return _error("Not enough memory. Use fewer columns, or set --memory-limit.", BAD_INPUT)
        if isinstance(error, OSError) and error.errno in _FULL:  # a file of a library, as a cache
            return _not_written(error)
        return _fault(error)
    return _error("Interrupted.", status) if status == INTERRUPTED else status


def _not_written(error: OSError) -> int:
    """The error that names what is full: standard output, if it takes no further line, or a disk."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return _error(_UNWRITTEN.format(error.strerror), BAD_INPUT)
    return _error(
        f"A temporary file could not be written ({error.strerror}). Free space on the disk, or set "
        "TMPDIR and NUMBA_CACHE_DIR to folders with space.",
        BAD_INPUT,
    )


def _flushed(status: int) -> int:
    """The status, or another one if what was printed cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would try it again at its end, and leave with a status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE and status != BAD_INPUT:
            return _error(_UNWRITTEN.format(error.strerror), BAD_INPUT)
    return status


def _missing(error: ModuleNotFoundError) -> int:
    """A library of an extra that is not installed; any other one is our fault."""
    from crypsis.extras import MODULES, missing_extra

    module = (error.name or "").split(".")[0]
    if module not in MODULES:
        return _fault(error)
    return _error(str(missing_extra(module, "This command")), BAD_INPUT)


def _error(message: str, status: int) -> int:
    try:
        from rich.console import Console

        Console(stderr=True, highlight=False).print(_without_control(message), markup=False, soft_wrap=True)
    except MemoryError:  # not even that much is left
        sys.stderr.write(f"{message}\n")
    return status


def _without_control(message: str) -> str:
    """A message without what a terminal would obey, such as in the name of a file."""
    return "".join(sign if sign == "\n" or sign.isprintable() else "\ufffd" for sign in message)


def _fault(error: Exception) -> int:
    """An error that is ours: where it happened, but not its text, which may quote the data."""
    import traceback

    if os.environ.get("CRYPSIS_DEBUG") == "1":
        traceback.print_exception(error)
        return FAULT
    last = traceback.extract_tb(error.__traceback__)[-1]
    location = f"{os.path.basename(last.filename)}:{last.lineno}"  # noqa: PTH119
    return _error(
        f"An internal fault ({type(error).__name__} at {location}). Please report it. With "
        "CRYPSIS_DEBUG=1 the full trace is shown; it may contain data values.",
        FAULT,
    )

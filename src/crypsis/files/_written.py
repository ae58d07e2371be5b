"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crypsis.errors import OutputError
from crypsis.files._folders import PrivateFolder, locks
from crypsis.files._sources import is_read

_PREFIX = ".crypsis-writing-"
_OTHERS_WRITE = 0o022
_DEVICES = Path("/dev")
_COMPLETE = ("_SUCCESS", "_delta_log")
"""What is in the folders that are a table: Spark writes the first when they are complete."""


@contextmanager
def replacing_file(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A private path to write to; the file takes its place when the block ends without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing_file(Path(folder, "roles.toml")) as partial:
    ...         _ = partial.write_text("[roles]")
    ...     [file.name for file in Path(folder).iterdir()]
    ['roles.toml']
    """
    with replacing_files([path], overwrite=overwrite) as (partial,):
        yield partial


@contextmanager
def replacing_files(paths: Sequence[str | Path], *, overwrite: bool = False) -> Iterator[tuple[Path, ...]]:
    """Several files of one folder that belong together, the main one first.

    They are written in a private folder next to their places, flushed to disk, and then take their
    places while no other run does so; files of two runs are never mixed. A file that is being read
    is never replaced. Only the owner may write to them.
    """
    targets = [Path(path) for path in paths]
    for target in targets:
        _check_place(target, overwrite)
    first = targets[0]
    try:
        folder = PrivateFolder(_PREFIX, first.parent)
    except OSError as error:
        raise _cannot(first, error) from None
    partials = tuple(folder.path / target.name for target in targets)
    try:
        yield partials
        for partial in partials:
            _settle(partial)
        with _alone(first.parent):
            _take_places(partials, targets, overwrite)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise _cannot(first, error) from None
    finally:
        folder.remove()


def _kind(target: Path) -> int:
    """The mode of what is there, 0 of nothing: asked once, for another run may replace it."""
    try:
        return target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return 0


def _check_place(target: Path, overwrite: bool) -> None:
    try:
        home, kind = target.parent.is_dir(), _kind(target)
        folder, exists = stat.S_ISDIR(kind), kind != 0
        device = exists and not folder and not stat.S_ISREG(kind)
        device = device or target.parent.resolve() == _DEVICES
    except OSError as error:
        raise _cannot(target, error) from None
    if not home:
        raise OutputError(
            f"Folder {str(target.parent)!r} does not exist.", code="no-folder", hint="Create it first."
        )
    if folder and not any((target / mark).exists() for mark in _COMPLETE):
        raise OutputError(f"{str(target)!r} is a folder, not a file.")
    if device:  # a name would be taken from all other programs
        raise OutputError(f"{str(target)!r} is not a regular file.", hint="Write to another file.")
    if exists and is_read(target):
        raise OutputError(f"{str(target)!r} is being read.", hint="Write to another file.")
    if exists and not overwrite:
        raise OutputError(f"{str(target)!r} exists already.", code="exists", hint="Set {overwrite=True}.")


def _settle(partial: Path) -> None:
    """The bytes on the disk before the name, and no right to write for others."""
    if partial.is_dir():
        return
    handle = os.open(partial, os.O_RDONLY)
    try:
        os.fsync(handle)
        partial.chmod(partial.stat().st_mode & ~_OTHERS_WRITE)
    finally:
        os.close(handle)


def _take_places(partials: Sequence[Path], targets: Sequence[Path], overwrite: bool) -> None:
    for target in targets:
        _check_place(target, overwrite)
    for target in targets[1:]:  # rather none for a moment than one of another run
        target.unlink(missing_ok=True)
    for partial, target in zip(partials, targets, strict=True):
        _take_place(partial, target)


def _take_place(partial: Path, target: Path) -> None:
    """Move to where it belongs; a folder that stands there is first moved away."""
    if not target.is_dir():
        os.replace(partial, target)  # noqa: PTH105 - says what it does to a file that exists
        return
    old = target.rename(partial.with_name(".replaced"))
    try:
        partial.rename(target)
    except OSError:
        old.rename(target)
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One run at a time puts files into a folder, where the folder can be locked."""
    if locks is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network folders know no locks
            locks.flock(handle, locks.LOCK_EX)
        yield
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _cannot(target: Path, error: OSError) -> OutputError:
    reason = os.strerror(error.errno) if error.errno else error.strerror or type(error).__name__
    return OutputError(f"{str(target)!r} could not be written ({reason}).")

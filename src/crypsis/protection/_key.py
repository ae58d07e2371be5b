"""The re-identification key: the seed, the keys of pseudonyms, the original of each released row.

It reverses a release, so only its owner may read it, and by default it is not written to the
folder of the release.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.errors import OutputError, SourceError
from crypsis.files import replacing_file

_FORMAT = "crypsis key 1"


@dataclass(frozen=True, repr=False)
class Key:
    """The re-identification key of a release, which must not be published.

    `row_map[i]` is the original row of released row i, counted from 0. It is None if all rows are
    released in their order, and empty if it was not kept.
    """

    seed: int | None = None
    row_map: tuple[int, ...] | None = None
    pseudonyms: Mapping[str, str] = field(default_factory=dict)
    """The key of each pseudonymized column, in hexadecimal."""

    def __repr__(self) -> str:
        return "Key(...)"  # never in a log or a notebook by accident

    def save(self, path: str | Path | None = None, *, name: str = "release", overwrite: bool = False) -> Path:
        """Write the key, readable by its owner only; by default to the user's own data folder."""
        with self.saved(path, name=name, overwrite=overwrite) as target:
            return target

    @contextmanager
    def saved(
        self, path: str | Path | None = None, *, name: str = "release", overwrite: bool = False
    ) -> Iterator[Path]:
        """Write the key, and give it its name only if the block ends without an error.

        So no release is written without its key because the disk is full, and no key of an earlier
        release is overwritten for one that failed.
        """
        target = _default_path(name) if path is None else Path(path)
        _check_folder(target.parent)
        fields = {
            "format": _FORMAT,
            "seed": self.seed,
            "row_map": None if self.row_map is None else list(self.row_map),
            "pseudonyms": dict(self.pseudonyms),
        }
        with replacing_file(target, overwrite=overwrite) as partial:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(json.dumps(fields))  # at once: piece by piece it takes twenty times as long
            yield target

    @classmethod
    def load(cls, path: str | Path) -> Key:
        """Read a key file."""
        source = Path(path)
        try:
            fields: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
        except OSError as error:
            raise SourceError(f"{str(source)!r} could not be read ({error.strerror}).") from None
        except (ValueError, RecursionError):
            fields = {}
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
            raise SourceError(f"{str(source)!r} is not a re-identification key.", code="not-a-key") from None
        seed, rows, keys = (fields.get(name) for name in ("seed", "row_map", "pseudonyms"))
        if not (
            (seed is None or type(seed) is int)
            and (rows is None or (isinstance(rows, list) and all(type(row) is int for row in rows)))
            and isinstance(keys, dict)
            and all(isinstance(key, str) for key in keys.values())
        ):
            raise SourceError(
                f"{str(source)!r} is not a complete re-identification key; a part of it was changed.",
                code="not-a-key",
            )
        return cls(seed, None if rows is None else tuple(rows), keys)


def _check_folder(folder: Path) -> None:
    """Refuse a folder in which everybody may replace the key or put one of their own."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return  # writing reports it
    if os.name == "posix" and mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise OutputError(
            f"The folder of the re-identification key, {str(folder)!r}, is open to everybody: any "
            "user of the machine could replace the key.",
            code="open-folder",
            hint="Remove the right of others to write (chmod o-w), or set {key} to another folder.",
        )


def _default_path(name: str) -> Path:
    """A new file in the user's own data folder."""
    base = os.environ.get("XDG_DATA_HOME")
    folder = Path(base or Path.home() / ".local" / "share") / "crypsis" / "keys"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise OutputError(
            f"The folder of keys {str(folder)!r} could not be created ({error.strerror}).",
            hint="Set {key} to a file.",
        ) from None
    return folder / f"{name}-{secrets.token_hex(4)}.key.json"


def fresh_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(128)

"""The owner's key: the seed, the keys of pseudonyms, and which original each released row is.

It is the one file that undoes a release, so only its owner may read it, and by default it does not
lie beside the release.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crypsis.errors import OutputError, SourceError
from crypsis.files import written_whole

_FORMAT = "crypsis key 1"


@dataclass(frozen=True, repr=False)
class Key:
    """What must not be published. `row_map[i]` is the original row of released row i, from 0.

    `row_map` is None where all rows are there in their order, and empty where it was not kept.
    """

    seed: int | None = None
    row_map: tuple[int, ...] | None = None
    pseudonyms: Mapping[str, str] = field(default_factory=dict)
    """For each pseudonymized column its secret key, in hexadecimal."""

    def __repr__(self) -> str:
        return "Key(...)"  # never in a log or a notebook by accident

    def save(
        self, path: str | Path | None = None, *, name: str = "release", overwrite: bool = False
    ) -> Path:
        """Write the key, readable by its owner only; without a path into the user's own folder."""
        with self.saved(path, name=name, overwrite=overwrite) as target:
            return target

    @contextmanager
    def saved(
        self, path: str | Path | None = None, *, name: str = "release", overwrite: bool = False
    ) -> Iterator[Path]:
        """Write the key, and let it take its place when what is done inside ended well.

        So no release stands without its key because there was no room for it, and no key of an
        earlier release is lost to one that failed.
        """
        if path is None:
            folder = default_folder()
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise OutputError(
                    f"The folder of keys {str(folder)!r} cannot be made ({error.strerror}); name a "
                    "file for the key (--key)."
                ) from None
            target = folder / f"{name}-{secrets.token_hex(4)}.key.json"
        else:
            target = Path(path)
        fields = {
            "format": _FORMAT,
            "seed": self.seed,
            "row_map": None if self.row_map is None else list(self.row_map),
            "pseudonyms": dict(self.pseudonyms),
        }
        with written_whole(target, overwrite=overwrite) as partial:
            handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(fields, file)
            yield target

    @classmethod
    def load(cls, path: str | Path) -> Key:
        """Read a key file."""
        source = Path(path)
        try:
            fields: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
        except OSError as error:
            raise SourceError(f"{str(source)!r} cannot be read ({error.strerror}).") from None
        except (ValueError, RecursionError):
            raise SourceError(f"{str(source)!r} is no key file.") from None
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
            raise SourceError(f"{str(source)!r} is no key file of this version.")
        seed, rows, keys = (fields.get(name) for name in ("seed", "row_map", "pseudonyms"))
        if not (
            (seed is None or type(seed) is int)
            and (rows is None or (isinstance(rows, list) and all(type(row) is int for row in rows)))
            and isinstance(keys, dict)
            and all(isinstance(key, str) for key in keys.values())
        ):
            raise SourceError(f"{str(source)!r} is no whole key file; something in it was changed.")
        return cls(seed, None if rows is None else tuple(rows), keys)


def default_folder() -> Path:
    """Where keys go when nobody says: the user's own data folder."""
    base = os.environ.get("XDG_DATA_HOME")
    return Path(base or Path.home() / ".local" / "share") / "crypsis" / "keys"


def fresh_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(128)

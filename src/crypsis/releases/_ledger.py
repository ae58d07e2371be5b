"""The ledger of releases: what was released, to whom, under which policy; digests, no data values."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from crypsis.dataset import read
from crypsis.documents import Document
from crypsis.errors import InputError
from crypsis.files import digest, read_toml, replacing_file, to_toml
from crypsis.results import Result

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class LedgerEntry(Document):
    """One release: its file by name and digest, its recipient, its policy."""

    name: Annotated[str, Field(min_length=1)]
    """What the release is called."""
    file: Annotated[str, Field(min_length=1)]
    """The file, relative to the folder of the ledger; kept as long as later releases are made."""
    sha256: _Digest
    """The digest of the file, so that another file is not taken for it."""
    records: Annotated[int, Field(ge=0)]
    """The number of its records."""
    columns: tuple[str, ...]
    """The names of its columns."""
    released: date
    """When it was released."""
    recipient: Annotated[str, Field(min_length=1)]
    """Who received it."""
    policy: str = ""
    """The policy it was judged by, and the verdict."""
    seed: _Digest | None = None
    """A digest of the seed of its masking, with the salt of the ledger."""
    pseudonym_keys: tuple[_Digest, ...] = ()
    """Digests of the keys of its pseudonyms, with the salt of the ledger."""


class Ledger(Document):
    r"""All releases of the same people, the first one first.

    The owner keeps it, with the released files. It has no data value and no seed; a digest of a
    short seed can be found by trying, so it is not published.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ages.csv").write_text("age\n30\n41\n")
    ...     ledger = Ledger().added(Path(folder, "ages.csv"), folder, recipient="a university")
    ...     ledger.save(Path(folder, "ledger.toml"))
    ...     Ledger.load(Path(folder, "ledger.toml")).releases[0].records
    2
    """

    format: Literal["crypsis ledger 1"] = "crypsis ledger 1"
    salt: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] = Field(
        default_factory=lambda: secrets.token_hex(16)
    )
    """Random, so that digests of seeds cannot be compared with those of other ledgers."""
    releases: tuple[LedgerEntry, ...] = ()
    """The releases."""

    @classmethod
    def load(cls, path: str | Path) -> Ledger:
        """Read a ledger; every mistake in it is named."""
        return read_toml(Path(path), "ledger", cls.model_validate)

    def save(self, path: str | Path) -> None:
        """Write the ledger, completely or not at all."""
        fields = self.model_dump(mode="json", exclude_none=True)
        fields["releases"] = [entry | {"released": str(entry["released"])} for entry in fields["releases"]]
        with replacing_file(path, overwrite=True) as partial:
            partial.write_text(to_toml(fields), encoding="utf-8")

    def added(
        self,
        release: str | Path,
        folder: str | Path,
        *,
        recipient: str,
        name: str = "",
        policy: str = "",
        released: date | None = None,
        seed: int | None = None,
        pseudonym_keys: Sequence[str] = (),
    ) -> Ledger:
        """The ledger with one release more; `folder` is where the ledger is kept."""
        path = Path(release)
        data = read(path)
        entry = LedgerEntry(
            name=name or path.name,
            file=_relative(path, Path(folder)),
            sha256=digest(path),
            records=data.count,
            columns=data.names,
            released=released or datetime.now(UTC).date(),
            recipient=recipient,
            policy=policy,
            seed=None if seed is None else self._salted(str(seed)),
            pseudonym_keys=tuple(map(self._salted, pseudonym_keys)),
        )
        if any(release.name == entry.name for release in self.releases):
            raise InputError(
                f"The ledger has a release of the name {entry.name!r} already.", hint="Set {name}."
            )
        return self.model_copy(update={"releases": (*self.releases, entry)})

    def _salted(self, text: str) -> str:
        return hmac.new(bytes.fromhex(self.salt), text.encode(), hashlib.sha256).hexdigest()

    def reusing(self, seed: int | None, pseudonym_keys: Sequence[str]) -> tuple[str, ...]:
        """The names of releases made with this seed or one of these keys of pseudonyms."""
        seed_digest = None if seed is None else self._salted(str(seed))
        keys = set(map(self._salted, pseudonym_keys))
        return tuple(
            release.name
            for release in self.releases
            if (seed_digest is not None and release.seed == seed_digest) or keys & set(release.pseudonym_keys)
        )


class LedgerCheck(Result):
    """The releases of a ledger, as their files are now."""

    files: tuple[str, ...]
    """The files of the earlier releases that are there and unchanged."""
    missing: tuple[str, ...]
    """The names of releases whose file is gone, so that nothing can be counted."""
    changed: tuple[str, ...]
    """The names of releases whose file is another one."""
    reused: tuple[str, ...]
    """The names of releases made with the same seed or key of pseudonyms."""


def check_ledger(
    ledger: str | Path,
    release: str | Path | None = None,
    *,
    seed: int | None = None,
    pseudonym_keys: Sequence[str] = (),
) -> LedgerCheck:
    r"""Find the releases of a ledger, and whether a seed or a key of pseudonyms was used before.

    Parameters
    ----------
    ledger : str or Path
        The ledger.
    release : str or Path, optional
        The release that is assessed: where it is in the ledger itself, it is not an earlier one.
    seed : int, optional
        The seed of its masking, from its re-identification key.
    pseudonym_keys : sequence of str
        The keys of its pseudonyms, from its re-identification key.

    Returns
    -------
    LedgerCheck

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "ages.csv")
    ...     _ = file.write_text("age\n30\n41\n")
    ...     Ledger().added(file, folder, recipient="all", seed=7).save(Path(folder, "ledger.toml"))
    ...     file.unlink()
    ...     found = check_ledger(Path(folder, "ledger.toml"), seed=7)
    >>> found.missing, found.reused
    (('ages.csv',), ('ages.csv',))
    """
    recorded = Ledger.load(ledger)
    file_digest = None if release is None or not Path(release).is_file() else digest(release)
    earlier = [release for release in recorded.releases if release.sha256 != file_digest]
    places = {release.name: Path(ledger).parent / release.file for release in earlier}
    present = [earlier_release for earlier_release in earlier if places[earlier_release.name].is_file()]
    unchanged = [release for release in present if digest(places[release.name]) == release.sha256]
    mine = {release.name for release in recorded.releases} - {
        earlier_release.name for earlier_release in earlier
    }
    return LedgerCheck(
        tuple(str(places[release.name]) for release in unchanged),
        tuple(absent.name for absent in earlier if absent not in present),
        tuple(replaced.name for replaced in present if replaced not in unchanged),
        tuple(name for name in recorded.reusing(seed, pseudonym_keys) if name not in mine),
    )


def _relative(path: Path, folder: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return str(path.resolve())

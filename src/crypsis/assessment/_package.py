"""A package: the release, its statement and its dossier in one zip, with a manifest of digests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from crypsis import __version__
from crypsis.documents import Document
from crypsis.errors import MissingDependencyError, OutputError, ParameterError, SourceError
from crypsis.files import digest, replacing_file
from crypsis.protection import Statement
from crypsis.report.dossier import Dossier
from crypsis.report.dossier.pdf import pdf_document
from crypsis.report.explanation import explanation
from crypsis.report.json import assessment_json
from crypsis.results import Result

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
PROGRAMS = "for programs"
_BLOCK_BYTES = 1 << 20
"""Files are read in blocks of so many bytes."""
_MAX_LIST_BYTES = 1 << 20
"""No more of the manifest, or of the list of digests, of a package is read."""
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of all files in a package: equal content gives an equal package."""


class PackagedFile(Document):
    """A file of a package, with its digest."""

    name: str
    part: Literal["release", "apart", "statement", "dossier", "for programs"]
    bytes: int
    sha256: str


class Manifest(Document):
    """What is in a package: whose it is, the verdict, and every file with its digest."""

    format: Literal["crypsis package 1"] = "crypsis package 1"
    made_with: str = f"crypsis {__version__}"
    title: str = ""
    purpose: str = ""
    recipient: str = ""
    author: str = ""
    date: str = ""
    policy: str
    verdict: str
    explanation: str
    """The verdict in one sentence about people."""
    files: tuple[PackagedFile, ...]


class PackageCheck(Result):
    """Whether a package has the files of its manifest, and no others."""

    manifest: Manifest
    problems: tuple[str, ...]
    """What differs; empty if every file is the one of the manifest."""

    @property
    def valid(self) -> bool:
        """Whether nothing differs."""
        return not self.problems


def write_package(
    path: str | Path, release: str | Path, dossier: Dossier, *, overwrite: bool = False
) -> Manifest:
    """Write the release, its statement and its dossier as one zip with a manifest.

    Parameters
    ----------
    path : str or Path
        The package: a .zip file.
    release : str or Path
        The released file; the statement next to it is packed if it is of this file, and with it the
        files of attributes that are released apart.
    dossier : Dossier
        Its dossier, as HTML and, where Chromium or WeasyPrint is there, as PDF.
    overwrite : bool
        Whether an existing package is replaced.

    Returns
    -------
    Manifest
        What is in it.

    Raises
    ------
    ParameterError
        If the dossier is about another file.

    Notes
    -----
    What programs read, the statement and the assessment as JSON, is in a folder of its own. The
    re-identification key is never in a package.

    Examples
    --------
    >>> import crypsis as cr, os, pyarrow as pa, tempfile
    >>> from crypsis.assessment import check_package, make_dossier, write_package
    >>> people = pa.table({"age": [30, 31, 41, 44] * 5})
    >>> folder = tempfile.mkdtemp()
    >>> file, package = os.path.join(folder, "safe.csv"), os.path.join(folder, "safe.zip")
    >>> safe = cr.anonymize(people, k=10, quasi_identifiers=["age"], person="each record")
    >>> safe = safe.write(file)
    >>> made = write_package(package, file, make_dossier(cr.assess(safe.data), file=file))
    >>> check_package(package).valid, made.files[0].name
    (True, 'safe.csv')
    """
    target, source = Path(path), Path(release)
    if target.suffix.lower() != ".zip":
        raise OutputError(f"A package is a .zip file; {target.name!r} was given.")
    if not source.is_file():
        raise ParameterError("A package has one released file, not a folder.", parameter="release")
    if dossier.sha256 != digest(source):
        raise ParameterError("The dossier is about another file.", parameter="dossier")
    assessment = dossier.assessment
    with (
        replacing_file(target, overwrite=overwrite) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        files = [_pack(archive, source.name, source, "release")]
        for name, content, part in _contents(source, dossier):
            files.append(_pack(archive, name, content, part))
        manifest = Manifest(
            title=dossier.title,
            purpose=dossier.purpose,
            recipient=dossier.recipient,
            author=dossier.author,
            date=dossier.date or assessment.made[:10],
            policy=f"{assessment.policy['title']} ({assessment.policy['date']})",
            verdict=assessment.verdict.value,
            explanation=explanation(assessment),
            files=tuple(files),
        )
        text = json.dumps(manifest.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
        files.append(_pack(archive, MANIFEST, text.encode(), "for programs"))
        sums = _sums({file.name: file.sha256 for file in files})
        _pack(archive, SUMS, sums.encode(), "for programs")
    return manifest


def check_package(path: str | Path) -> PackageCheck:
    """Check that a package has the files of its manifest, byte for byte, and no others.

    Parameters
    ----------
    path : str or Path
        The package.

    Returns
    -------
    PackageCheck
        With the problems, if there are any.

    Raises
    ------
    SourceError
        If it is not a package.

    Notes
    -----
    Digests show that nothing was changed by accident or on the way. Whoever can replace the complete
    package can write another manifest: compare the digest of the release with that of the signed
    dossier.

    Examples
    --------
    >>> check_package("none.zip")
    Traceback (most recent call last):
    ...
    crypsis.errors.SourceError: 'none.zip' cannot be read (No such file or directory).
    """
    source = Path(path)
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _manifest(archive, source)
            return PackageCheck(manifest, tuple(_problems(archive, manifest)))
    except OSError as error:
        raise SourceError(f"{str(source)!r} cannot be read ({error.strerror}).") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        raise SourceError(f"{source.name!r} is not a valid zip file.", code="not-a-package") from None


def _contents(source: Path, dossier: Dossier) -> Iterator[tuple[str, bytes | Path, str]]:
    """The other files of a package: their names, contents and parts."""
    page = dossier.to_html()
    yield "dossier.html", page.encode(), "dossier"
    with contextlib.suppress(MissingDependencyError, OutputError):  # any browser can print the page
        yield "dossier.pdf", pdf_document(page), "dossier"
    markdown, data = Statement.paths(source)
    statement = Statement.load(data) if data.is_file() else None
    if statement is not None and statement.sha256 == dossier.sha256:
        for separate_file in statement.apart:
            file = source.with_name(separate_file.file or "")
            if not file.is_file() or digest(file) != separate_file.sha256:
                raise ParameterError(
                    "A file of attributes that are released apart is not that of the statement.",
                    parameter="release",
                    hint="Make the release again.",
                )
            yield file.name, file, "apart"
        if markdown.is_file():
            yield markdown.name, markdown.read_bytes(), "statement"
        yield f"{PROGRAMS}/{data.name}", data.read_bytes(), "for programs"
    yield f"{PROGRAMS}/assessment.json", assessment_json(dossier.assessment).encode(), "for programs"


def _pack(archive: zipfile.ZipFile, name: str, content: bytes | Path, part: str) -> PackagedFile:
    """Add a file to the archive, a large one block by block."""
    entry = zipfile.ZipInfo(name, _ENTRY_TIME)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    hasher, size = hashlib.sha256(), 0
    with archive.open(entry, "w", force_zip64=True) as out:
        for block in _blocks(content):
            out.write(block)
            hasher.update(block)
            size += len(block)
    return PackagedFile.model_validate(
        {"name": name, "part": part, "bytes": size, "sha256": hasher.hexdigest()}
    )


def _blocks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with content.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


def _sums(digests: Mapping[str, str]) -> str:
    """The digest of each file as `sha256sum -c` reads them."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def _manifest(archive: zipfile.ZipFile, source: Path) -> Manifest:
    try:
        with archive.open(MANIFEST) as file:
            return Manifest.model_validate_json(file.read(_MAX_LIST_BYTES))
    except (KeyError, ValidationError, ValueError):
        raise SourceError(
            f"{source.name!r} is not a package of a release: it has no valid {MANIFEST}.",
            code="not-a-package",
        ) from None


def _problems(archive: zipfile.ZipFile, manifest: Manifest) -> Iterator[str]:
    """What differs between the manifest and the files."""
    filenames = [entry.filename for entry in archive.infolist()]
    listed = [file.name for file in manifest.files]
    for name in sorted({name for name in filenames if filenames.count(name) > 1}):
        yield f"{name!r} is in the package more than once."
    for name in sorted(set(filenames) - {*listed, MANIFEST, SUMS}):
        yield f"{name!r} is not in the manifest."
    for listed_file in manifest.files:
        if listed_file.name not in filenames:
            yield f"{listed_file.name!r} is missing."
        elif not _is_same(archive, listed_file):
            yield f"{listed_file.name!r} was changed: its digest is not that of the manifest."
    digests = {file.name: file.sha256 for file in manifest.files}
    digests[MANIFEST] = hashlib.sha256(archive.read(MANIFEST)).hexdigest()
    if SUMS not in filenames:
        yield f"{SUMS!r} is missing."
    elif archive.getinfo(SUMS).file_size > _MAX_LIST_BYTES or archive.read(SUMS) != _sums(digests).encode():
        yield f"{SUMS!r} was changed: its digests are not those of the files."
    release = [file for file in manifest.files if file.part == "release"]
    if len(release) != 1:
        yield f"The manifest has {len(release)} released files instead of one."


def _is_same(archive: zipfile.ZipFile, packaged_file: PackagedFile) -> bool:
    """Whether a file has the size and the digest of the manifest; no more than that is read."""
    hasher, size = hashlib.sha256(), 0
    try:
        with archive.open(packaged_file.name) as file:
            while block := file.read(_BLOCK_BYTES):
                hasher.update(block)
                size += len(block)
                if size > packaged_file.bytes:
                    return False
    except zipfile.BadZipFile:
        return False
    return size == packaged_file.bytes and hasher.hexdigest() == packaged_file.sha256

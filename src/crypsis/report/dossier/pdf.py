"""HTML as PDF: printed by Chromium where it is installed, else by WeasyPrint."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from crypsis.errors import MissingDependencyError, OutputError

_PROGRAMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
_MAX_SECONDS = 120
"""A browser that has not written the PDF by then is ended."""


def check_pdf() -> None:
    """Refuse a PDF before the work, if nothing here can print one."""
    if _chromium() is None:
        _weasyprint()


def pdf_document(page: str) -> bytes:
    """A page of our own as PDF.

    Parameters
    ----------
    page : str
        The HTML; it refers to no other file.
    """
    program = _chromium()
    if program is not None:
        return _printed(program, page)
    content: bytes = _weasyprint().HTML(string=page, url_fetcher=_refused).write_pdf()
    return content


def _chromium() -> str | None:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    return program or next((path for path in _PLACES if Path(path).is_file()), None)


def _weasyprint() -> Any:
    try:
        with redirect_stdout(StringIO()):  # where it prints what it misses
            import weasyprint
    except OSError:
        raise MissingDependencyError(
            "The package weasyprint is installed, but Pango is not, a library of the system with "
            "which it prints PDF.",
            hint="Install Pango (on Debian: apt install libpango-1.0-0 libpangoft2-1.0-0), Chromium, "
            "Chrome or Edge, or write HTML and print it from a browser.",
        ) from None
    except ImportError:
        raise MissingDependencyError(
            "PDF is printed by Chromium (or Chrome, or Edge) or by the package weasyprint, and none "
            "of them is installed.",
            hint="Install one of them (pip install 'crypsis[pdf]'), or write HTML and print it from "
            "a browser.",
        ) from None
    return weasyprint


def _refused(url: str, *_: Any, **__: Any) -> Any:
    raise ValueError("a dossier refers to no other file")


def _printed(program: str, page: str) -> bytes:
    """The page, printed by a browser with a profile of its own, which is removed."""
    with tempfile.TemporaryDirectory(prefix="crypsis-pdf-") as name:
        folder = Path(name)
        source, target = folder / "dossier.html", folder / "dossier.pdf"
        source.write_text(page, encoding="utf-8")
        as_root = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
        command = [
            program,
            "--headless=new",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={folder / 'profile'}",
            "--no-pdf-header-footer",
            *as_root,
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_MAX_SECONDS)  # noqa: S603
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise OutputError(
                "The browser could not print the dossier as PDF.",
                hint="Write HTML and print it from a browser.",
            ) from None

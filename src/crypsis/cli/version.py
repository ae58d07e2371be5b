"""What `crypsis --version` shows; it loads no library."""

from __future__ import annotations

from crypsis import __version__


def version_text() -> str:
    """The name and the version."""
    return f"crypsis {__version__}"

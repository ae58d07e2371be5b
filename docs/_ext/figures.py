"""Figures, drawn by code."""

from pathlib import Path


def write(folder: Path) -> None:
    folder.mkdir(exist_ok=True)

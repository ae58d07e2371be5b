"""Hostile and broken inputs, each made by code, with what must come of it."""

from tests.promises.hostile import documents, encodings, files, frames, options, tables
from tests.promises.hostile.case import SECRET, Case

CASES: tuple[Case, ...] = (*tables.CASES, *encodings.CASES, *files.CASES, *documents.CASES, *options.CASES)
FRAMES = frames.CASES

__all__ = ["CASES", "FRAMES", "SECRET", "Case"]

"""The rows of the table: each module has its TASKS, ours and theirs on the same data."""

from __future__ import annotations

from importlib import import_module

from benchmarks.measure import Task

MODULES = ("anonymity", "cells", "leakage", "linkage", "permanents", "enforcement")


def tasks(module: str) -> tuple[Task, ...]:
    """The tasks of one module."""
    found: tuple[Task, ...] = import_module(f"benchmarks.tasks.{module}").TASKS
    return found

"""Synthetic people and the files of the demonstration."""

from crypsis.demo._files import DemoFiles, write_demo
from crypsis.demo._people import people, write_people

__all__ = ["DemoFiles", "people", "write_demo", "write_people"]

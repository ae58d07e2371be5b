"""Files that appear whole or not at all, private folders, and sources that must not change."""

from crypsis.files._digest import digest
from crypsis.files._folders import PrivateFolder
from crypsis.files._names import release_stem
from crypsis.files._sources import Sources
from crypsis.files._toml import parse_toml, read_toml
from crypsis.files._toml_text import to_toml
from crypsis.files._written import replacing_file, replacing_files

__all__ = [
    "PrivateFolder",
    "Sources",
    "digest",
    "parse_toml",
    "read_toml",
    "release_stem",
    "replacing_file",
    "replacing_files",
    "to_toml",
]

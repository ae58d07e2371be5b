"""What a file contains besides the table that is read from it: everything a recipient gets."""

from crypsis.tables.contents._content import Content
from crypsis.tables.contents._list import list_contents, list_titles

__all__ = ["Content", "list_contents", "list_titles"]

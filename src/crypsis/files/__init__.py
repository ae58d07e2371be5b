"""Files that appear whole or not at all, private folders, and sources that must not change."""

from crypsis.files._folders import PrivateFolder
from crypsis.files._forms import form_of
from crypsis.files._sources import Sources
from crypsis.files._written import written_together, written_whole

__all__ = ["PrivateFolder", "Sources", "form_of", "written_together", "written_whole"]

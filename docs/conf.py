"""How the documentation is built."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

import figures  # noqa: E402 - beside this file
import reference  # noqa: E402

reference.write(DOCS / "reference")
figures.write(DOCS / "_figures")
reference.write_schemas(DOCS / "_extra" / "schemas")

project = "crypsis"
author = "the crypsis authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml", "docstrings"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "crypsis"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["crypsis.css"]
html_search_scorer = "_static/search_scores.js"
smartquotes = False
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
exclude_patterns = ["_build", "_ext", "_figures", "_extra"]
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
toc_object_entries = False
nitpicky = False

"""How the documentation is built."""

project = "crypsis"
author = "the crypsis authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "crypsis"
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
nitpicky = False

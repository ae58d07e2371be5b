"""Formulas as MathML: browsers draw it themselves, so the pages need no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _primed(formula: str) -> str:
    """A prime stands beside its letter; as a superscript browsers raise it twice."""
    return formula.replace("'", "\N{PRIME}")


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(_primed(node.astext())))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{convert(_primed(node.astext()), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The four questions, each asked of a release whose columns all have a role."""

from crypsis._assess._questions._asked import Asked, guarded, percent, unanswered
from crypsis._assess._questions._inference import WITHOUT, ask_inference, categories
from crypsis._assess._questions._linkage import ask_linkage
from crypsis._assess._questions._pseudonyms import ask_pseudonyms
from crypsis._assess._questions._singling_out import ask_singling_out

__all__ = [
    "WITHOUT",
    "Asked",
    "ask_inference",
    "ask_linkage",
    "ask_pseudonyms",
    "ask_singling_out",
    "categories",
    "guarded",
    "percent",
    "unanswered",
]

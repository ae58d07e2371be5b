"""The four questions, each asked of a release whose columns all have a role."""

from crypsis._assess._questions._asked import Asked, guarded, unanswered
from crypsis._assess._questions._inference import ask_inference
from crypsis._assess._questions._linkage import ask_linkage
from crypsis._assess._questions._pseudonyms import ask_pseudonyms
from crypsis._assess._questions._singling_out import ask_singling_out

__all__ = [
    "Asked",
    "ask_inference",
    "ask_linkage",
    "ask_pseudonyms",
    "ask_singling_out",
    "guarded",
    "unanswered",
]

"""Every table, figure and theorem of the four papers, computed again with the public functions.

>>> from crypsis import reproduce
>>> reproduce.PAPERS
('bagai2017', 'domingo2016', 'itpr2019', 'lodha2007')
"""

from crypsis.reproduce._figures import save_figures
from crypsis.reproduce._papers import PAPERS, paper
from crypsis.reproduce._results import (
    Agreement,
    ComparedValue,
    PaperItem,
    Reproduction,
    Reproductions,
)

__all__ = [
    "PAPERS",
    "Agreement",
    "ComparedValue",
    "PaperItem",
    "Reproduction",
    "Reproductions",
    "paper",
    "save_figures",
]

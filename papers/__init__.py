"""Every table, figure and theorem of the four papers, computed again with the public functions.

>>> import papers
>>> papers.PAPERS
('bagai2017', 'domingo2016', 'itpr2019', 'lodha2007')
"""

from papers.compute import PAPERS, paper
from papers.figures import save_figures
from papers.results import Agreement, ComparedValue, PaperItem, Reproduction, Reproductions

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

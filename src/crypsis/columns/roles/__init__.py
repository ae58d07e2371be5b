"""The roles of columns: guessed, and decided by a person in a roles file.

A guess is not a decision: it has a reason and a confidence, and `save` writes it to a file for a
person to check. What the evidence does not show is undecided, and so is a weak guess in that file.
A decision that contradicts strong evidence needs a written reason (`contradictions`).
"""

from crypsis.columns.roles._file import DecidedRoles, decided_roles, load, load_answers
from crypsis.columns.roles._guess import contradictions, guess, linking_columns
from crypsis.columns.roles._identifier_search import identifier_in, visible
from crypsis.columns.roles._metadata import as_document
from crypsis.columns.roles._milder_roles import stricter_role
from crypsis.columns.roles._records_of_people import copies, linking_values, panel
from crypsis.columns.roles._rules import CONFIDENT, Guess
from crypsis.columns.roles._saved_file import save
from crypsis.columns.roles._words import Hipaa

__all__ = [
    "CONFIDENT",
    "DecidedRoles",
    "Guess",
    "Hipaa",
    "as_document",
    "contradictions",
    "copies",
    "decided_roles",
    "guess",
    "identifier_in",
    "linking_columns",
    "linking_values",
    "load",
    "load_answers",
    "panel",
    "save",
    "stricter_role",
    "visible",
]

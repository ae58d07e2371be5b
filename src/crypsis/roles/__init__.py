"""What each column seems to be, and the file in which a person decides what it is.

A guess is never a decision: it carries its reason and a confidence, and `save` writes it down for a
person to edit. Where the evidence is thin the more dangerous role is preferred.
"""

from crypsis.roles._file import load, save
from crypsis.roles._guess import Guess, guess
from crypsis.roles._words import Hipaa

__all__ = ["Guess", "Hipaa", "guess", "load", "save"]

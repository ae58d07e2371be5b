"""Our own sentences as a page says them: without the options of the command line and of Python."""

from __future__ import annotations

import re

# "... (--original FILE)", "... (columns=...)", "... with --population"
_IN_BRACKETS = re.compile(r"\s*\((?:[a-z_]+=|--)[^()]*(?:\([^()]*\)[^()]*)?\)")
_WITH_OPTION = re.compile(r",? (?:with|by|in) --[a-z-]+(?: or [^.;]*)?")
_COMMANDS = re.compile(r" Decide them: crypsis [^.]*\.toml[^.]*\.toml[^.]*\.toml\.")


def for_page(text: str) -> str:
    """A sentence without words that only a command line or a program can use.

    >>> for_page("Not asked: the original is needed (--original FILE).")
    'Not asked: the original is needed.'
    >>> for_page("The population is not known; give its size or its table with --population.")
    'The population is not known; give its size or its table.'
    """
    shorter = _COMMANDS.sub(" Decide them on the page of columns.", text)
    return _WITH_OPTION.sub("", _IN_BRACKETS.sub("", shorter))

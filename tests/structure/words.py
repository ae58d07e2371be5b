"""The vocabulary of the project: words that no user-facing text and no name in the code uses.

The words on the right of the vocabulary are replaced by those of statistical disclosure control.
An exception names the file, the text around the word and the reason.
"""

from __future__ import annotations

import re

# What must not be said -> what is said instead.
NEVER = {
    r"\bcrowds?\b|\bcrowded\b": "equivalence class, class",
    r"(?<!cannot )(?<!cannot\n)\btells?\b|\btold\b|\btelling\b": "show, state, report, identify",
    r"\bmend(s|ed|ing)?\b": "fix, correct",
    r"\bstrangers?\b": "random records, people not in the file",
    r"\bwithstands?\b|\bwithstood\b": "meets, resists",
    r"\bleaves? the house\b|\bhouse\b(?!hold)": "is released; dataset",
    r"\bof no role\b|\bno role\b": "insensitive or undecided",
    r"\bpicked out\b|\bpick(s|ing)? out\b": "singled out",
    r"\bless exactly\b": "generalized",
    r"\bleft empty\b|\bempties\b|\bemptied\b": "suppressed",
    r"\b(the|of|in) variety\b|\bvariety (is )?lost\b": "information loss",
    r"\bstill tells?\b": "entropy",
    r"\bpromises?\b|\bpromised\b": "requirement",
    r"\boutside the policy\b|\bwithin the policy\b": "threshold exceeded, met",
    r"\b(he|his|him|himself|she|hers|herself)\b": "they, their",
    r"\bsomebody('s)?\b|\bwho looks for everyone\b": "an intruder; marketer",
    r"\blined up\b": "aligned",
    r"\byour key\b|\bundoes\b|\bowner's key\b": "re-identification key",
    r"\bwhat separates\b|\bmeans nothing\b": "delimiter, missing-value marker",
    r"\bthere can be no\b": "is not a valid",
    r"\bsay (which|how|what|where|whether|overwrite|header|engine|so)\b": "set, use, provide",
    r"\bsecrets?\b": "sensitive attribute, sensitive value",
    r"\bdesks?\b|\bcrews?\b": "session, workers",
    r"\bdemands?\b": "requirements",
    r"\bbreak(s)? a threshold\b|\bthresholds? (is|are) broken\b": "exceeds",
}

# (file, text around the word, reason)
EXCEPTIONS: list[tuple[str, str, str]] = [
    ("columns/vocabulary/column_names.toml", "house number", "a phrase in column names"),
    ("columns/vocabulary/column_names.toml", "pin, secret, api key", "a phrase in column names"),
    ("web/security.py", "The secrets of one server", "tokens and cookies are cryptographic secrets"),
    ("README.md", "crowds (OLA)", "the name of a peer package"),
    ("benchmarks.md", "crowds (OLA)", "the name of a peer package"),
    ("web/static/ask.js", "new Promise(", "a class of JavaScript"),
]

# Parts of names: functions, classes, parameters, modules.
NAME_PARTS = {
    "tell",
    "tells",
    "told",
    "look",
    "looks",
    "looked",
    "hold",
    "holds",
    "held",
    "stand",
    "stands",
    "house",
    "desk",
    "crew",
    "crowd",
    "crowds",
    "beside",
    "whole",
    "mend",
    "mended",
    "stranger",
    "strangers",
    "promise",
    "promised",
    "promises",
    "utils",
    "helpers",
    "misc",
    "common",
}
NAME_EXCEPTIONS: dict[str, str] = {}

# Modules whose names end in -ing and are nouns of the field.
NOUNS = {
    "counting",
    "grouping",
    "masking",
    "recoding",
    "sampling",
    "scaling",
    "matching",
    "rounding",
    "singling",
    "wording",
    "reverse_mapping",
    "mapping",
    "building",
    "settings",
}


def faults(text: str, where: str) -> list[str]:
    """The words in a text that are never said, with what is said instead."""
    found = []
    for pattern, instead in NEVER.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            around = text[max(0, match.start() - 60) : match.end() + 60]
            if not any(file in where and part in around for file, part, _ in EXCEPTIONS):
                near = " ".join(text[max(0, match.start() - 30) : match.end() + 30].split())
                found.append(f"{where}: ...{near}... ({match[0]!r}: say {instead})")
    return found


def name_faults(name: str) -> set[str]:
    """The parts of a name that are never used."""
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")
    return set() if name in NAME_EXCEPTIONS else set(parts) & NAME_PARTS

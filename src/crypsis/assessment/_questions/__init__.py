"""The four questions, one module each: from a request to measurements, results and a headline."""

from crypsis.assessment._questions._everything_else import (
    NEAR_CERTAIN,
    SMALL,
    UNIQUE,
    as_known,
    known_insensitive,
)
from crypsis.assessment._questions._histories import INFERRED, UNICITY
from crypsis.assessment._questions._inference import ask_inference
from crypsis.assessment._questions._linkage import (
    LINKS,
    ask_linkage,
    check_record_numbers,
    without_signed_off,
)
from crypsis.assessment._questions._outcome import QuestionOutcome, not_evaluated
from crypsis.assessment._questions._pseudonyms import ask_pseudonyms
from crypsis.assessment._questions._releases import ask_releases, check_earlier
from crypsis.assessment._questions._singling_out import ask_singling_out
from crypsis.assessment._questions._synthetic import ask_synthetic, check_synthetic, not_of_synthetic
from crypsis.assessment._questions._together import CLASS_SIZES, other_files, together_reasons
from crypsis.assessment._questions._values import PRESENCE

__all__ = [
    "CLASS_SIZES",
    "INFERRED",
    "LINKS",
    "NEAR_CERTAIN",
    "PRESENCE",
    "SMALL",
    "UNICITY",
    "UNIQUE",
    "QuestionOutcome",
    "as_known",
    "ask_inference",
    "ask_linkage",
    "ask_pseudonyms",
    "ask_releases",
    "ask_singling_out",
    "ask_synthetic",
    "check_earlier",
    "check_record_numbers",
    "check_synthetic",
    "known_insensitive",
    "not_evaluated",
    "not_of_synthetic",
    "other_files",
    "together_reasons",
    "without_signed_off",
]

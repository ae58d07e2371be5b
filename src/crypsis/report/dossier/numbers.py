"""The numbers behind each question, for the annex."""

from __future__ import annotations

from typing import Any

from crypsis.policies.assessed import Answer
from crypsis.report.dossier.blocks import Block, Facts, Grid
from crypsis.report.wording import capitalized, visible
from crypsis.results import Estimate, number_text, percent_text

_KEY_NUMBERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "singling_out": (
        ("equivalence_classes", "k", "k-anonymity (k)"),
        ("equivalence_classes", "classes", "equivalence classes"),
        ("equivalence_classes", "average_size", "average class size"),
        ("equivalence_classes", "risk.prosecutor.maximum", "prosecutor risk, highest"),
        ("equivalence_classes", "risk.prosecutor.average", "prosecutor risk, average"),
        ("equivalence_classes", "risk.prosecutor.share_above", "records at a risk above 20 %"),
        ("equivalence_classes", "risk.journalist.maximum", "journalist risk, highest"),
        ("equivalence_classes", "risk.journalist.average", "journalist risk, average"),
        ("equivalence_classes", "risk.journalist.share_above", "records at a journalist risk above 20 %"),
        ("equivalence_classes", "risk.marketer.average", "marketer risk, average"),
        ("individual_risk", "maximum", "individual risk, highest"),
        ("individual_risk", "average", "individual risk, average"),
        ("individual_risk", "expected", "expected re-identifications"),
        ("unique_match", "probability", "probability that a unique match is correct"),
        ("unique_match", "people", "people of the population who match a sample unique, by the design"),
        ("household_risk", "households", "households"),
        ("household_risk", "maximum", "household risk, highest"),
        ("household_risk", "average", "household risk, average"),
        ("household_risk", "share_above", "households at a risk above 20 %"),
        ("suda", "special_uniques", "special uniques (SUDA)"),
        ("suda", "maximum", "SUDA score, highest"),
        ("suda", "dis_maximum", "DIS-SUDA score, highest"),
        ("presence", "k_map", "k-map (k)"),
        ("presence", "high", "delta-presence (delta)"),
        ("unicity", "people", "people whose records are linked"),
        ("histories", "k", "k-anonymity of whole histories (k)"),
        ("histories", "unique_share", "people with a history of their own"),
        ("quasi_identifiers", "rows", "records searched for quasi-identifiers"),
        ("loglinear_risk", "uniqueness", "population uniqueness, log-linear model"),
        ("loglinear_risk", "correct_matches", "expected correct matches with sample uniques"),
        ("population", "best", "population uniqueness"),
        ("population", "chosen", "population model"),
    ),
    "linkage": (
        ("suite", "method", "intruder with the most correct links"),
        ("suite", "sure_share", "fraction of correct links"),
        ("suite", "chance", "fraction of correct links by chance"),
        ("suite", "records", "original records"),
    ),
    "pseudonyms": (
        ("anonymity", "size", "items"),
        ("anonymity", "degree", "degree of anonymity (Delta)"),
        ("anonymity", "expected_cracks", "expected cracks (Psi)"),
        ("anonymity", "possible_pairs", "possible pairs"),
        ("anonymity", "superfluous_pairs", "pairs in no perfect matching"),
    ),
}
_SHARES = ("risk", "fraction", "probability", "uniqueness", "history of their own")
_SHOWN_COLUMN_SETS = 10
"""So many sets of columns that single people out are shown."""


def numbers(answer: Answer) -> list[Block]:
    """The key numbers of a question, its sets of columns, and what is inferred."""
    results: Any = answer.results
    pairs = []
    for name, path, label in _KEY_NUMBERS.get(answer.question, ()):
        value: Any = results.get(name)
        for part in path.split("."):
            value = None if value is None else getattr(value, part, None)
        value = value() if callable(value) else value
        if value is not None:
            pairs.append((capitalized(label), _text(value, label)))
    blocks: list[Block] = [Facts(tuple(pairs))] if pairs else []
    sets: Any = results.get("quasi_identifiers")
    if sets is not None and sets.found:
        rows = tuple(
            (
                visible(", ".join(column_set.columns), 200),
                f"{column_set.distinct:,}",
                f"{column_set.singletons:,}",
                percent_text(column_set.unique_fraction),
            )
            for column_set in sets.found[:_SHOWN_COLUMN_SETS]
        )
        together = ("Columns that single people out together", "Classes", "Unique records", "Share")
        blocks.append(Grid(together, rows, (1, 2, 3)))
    leaks = [result for name, result in results.items() if name.startswith("leakage")]
    if leaks:
        head = (
            "Sensitive attribute",
            "Best guess without the release",
            "Average",
            "Worst class",
            "Records in it",
            "ITPR",
            "ITPR, shuffled",
        )
        blocks.append(Grid(head, tuple(map(_leakage, leaks)), (1, 2, 3, 4, 5, 6)))
    return blocks


def _leakage(leakage: Any) -> tuple[str, ...]:
    guess = leakage.best_guess
    size = "–" if guess.worst_class is None else number_text(guess.worst_class.group.size, ",")
    shares = (percent_text(value) for value in (guess.prior, guess.average, guess.worst))
    itpr = ("–" if v is None else number_text(v, ".3f") for v in (leakage.itpr, leakage.itpr_shuffled))
    return (visible(leakage.target, 40), *shares, size, *itpr)


def _text(value: Any, label: str) -> str:
    if not isinstance(value, str) and any(word in label for word in _SHARES):
        return percent_text(value)  # as in the sentences about it
    if isinstance(value, Estimate | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{float(value):.4g}"

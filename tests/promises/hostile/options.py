"""Options out of their range, contradicting or meaningless, on a good table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.promises.hostile.case import GOOD, Case

_QI = ("--person", "each record", "--qi", "age", "--qi", "zip", "--sensitive", "disease")


def _on(name: str, words: str | None, verb: str, *more: str) -> Case:
    def make(folder: Path) -> Sequence[str]:
        (folder / "data.csv").write_text(GOOD * 1 + GOOD.split("\n", 1)[1] * 5)
        words_given = [word.replace("FOLDER", str(folder)) for word in more]
        written = ["-o", str(folder / "out.csv"), "--key", str(folder / "key.json")]
        out = written if verb == "anonymize" and "-o" not in more else []
        return [verb, str(folder / "data.csv"), *out, *words_given]

    return Case(f"option: {name}", make, words)


CASES: tuple[Case, ...] = (
    _on("an unknown column", "does not exist", "assess", "--qi", "agee"),
    _on("a column in two roles", "has two roles", "scan", "--qi", "age", "--id", "age"),
    _on("a column named twice", "has two roles", "scan", "--qi", "age", "--qi", "age"),
    _on("an empty column name", "does not exist", "scan", "--qi", ""),
    _on("a policy that is none", "neither a preset", "assess", *_QI, "--policy", "luck"),
    _on("a policy file that is not there", "cannot be read", "assess", "--policy", "no.toml"),
    _on("a population of zero", "population", "assess", *_QI, "--population", "0"),
    _on("a population below the rows", None, "assess", *_QI, "--population", "3"),
    _on("a population of a googol", None, "assess", *_QI, "--population", "1" + "0" * 100),
    _on("a population below zero", "at least 1", "assess", *_QI, "--population", "-5"),
    _on("a seed below zero", "seed", "assess", *_QI, "--seed", "-1"),
    _on("a seed that is huge", None, "assess", *_QI, "--seed", str(2**200)),
    _on("a seed in words", "--seed", "assess", *_QI, "--seed", "x"),
    _on("a person that is not there", "does not exist", "assess", *_QI[2:], "--person", "x"),
    _on("a weight that is text", "weight", "assess", *_QI, "--weight", "disease"),
    _on("a weight of fractions", None, "assess", *_QI, "--weight", "age"),
    _on("an original that is not there", "does not exist", "assess", *_QI, "--original", "no.csv"),
    _on("both forms of output", "one form", "assess", *_QI, "--json", "--md"),
    _on("a report of another kind", "end in .html or .md or .json", "assess", *_QI, "-o", "FOLDER/x.exe"),
    _on("a report into no folder", "does not exist", "assess", *_QI, "-o", "FOLDER/no/x.html"),
    _on("a report over a folder", "", "assess", *_QI, "--force", "-o", "FOLDER"),
    _on("a memory limit that is none", "Memory limit", "scan", "--memory-limit", "much"),
    _on("a memory limit of SQL", "Memory limit", "scan", "--memory-limit", "1GB'; --"),
    _on("a memory limit of nothing", "memory", "scan", "--memory-limit", "1kB"),
    _on("a spill folder that is none", "Spill folder", "scan", "--spill-folder", "FOLDER/no"),
    _on("a spill folder that is a file", "Spill folder", "scan", "--spill-folder", "FOLDER/data.csv"),
    _on("a delimiter of two characters", "one character", "scan", "--delimiter", "ab"),
    _on("a delimiter that is a quote", "delimiter", "scan", "--delimiter", '"'),
    _on("a delimiter that is a line break", "delimiter", "scan", "--delimiter", "\n"),
    _on("a delimiter beyond ASCII", None, "scan", "--delimiter", "é"),
    _on("a delimiter that is a NUL", "delimiter", "scan", "--delimiter", "\0"),
    _on("a type that is none", "is not known", "scan", "--type", "age=complex"),
    _on("a type of no column", "does not exist", "scan", "--type", "x=text"),
    _on("a type without a column", "COLUMN=TYPE", "scan", "--type", "text"),
    _on("names too few", "names were given", "scan", "--names", "a,b"),
    _on("names twice the same", "More than one", "scan", "--names", "a,a,b"),
    _on("names that are empty", None, "scan", "--names", ",,"),
    _on("a format that is none", "is not known", "scan", "--format", "tape"),
    _on("another format than it is", "data.csv", "scan", "--format", "parquet"),
    _on("SQLite's format", "is not a SQLite file", "scan", "--format", "sqlite"),
    _on("an option of another format", "does not apply", "scan", "--sheet", "one"),
    _on("missing values counted otherwise", "must be one of", "scan", "--missing", "maybe"),
    _on("a marker with a quote", None, "scan", "--missing-marker", "'"),
    _on("a marker that is a pattern", None, "scan", "--missing-marker", ".*"),
    _on("a marker of a NUL", None, "scan", "--missing-marker", "x\0y"),
    _on("an alpha beyond one", "alpha", "scan", "--population", "1000", "--alpha", "2"),
    _on("an alpha that is no number", "alpha", "scan", "--population", "1000", "--alpha", "nan"),
    _on(
        "no quasi-identifiers",
        "No column is a quasi-identifier",
        "anonymize",
        "--k",
        "2",
        "--person",
        "each record",
        "--exclude",
        "age",
        "--exclude",
        "zip",
        "--sensitive",
        "disease",
    ),
    _on("k of zero", "k", "anonymize", *_QI, "--k", "0"),
    _on("k below zero", "k", "anonymize", *_QI, "--k", "-3"),
    _on("k beyond the rows", "only", "anonymize", *_QI, "--k", "1000000"),
    _on("k of 30 digits", "k", "anonymize", *_QI, "--k", "9" * 30),
    _on("a beta of one", "beta", "anonymize", *_QI, "--k", "2", "--population", "1000", "--beta", "1"),
    _on(
        "a beta that is no number",
        "beta",
        "anonymize",
        *_QI,
        "--k",
        "2",
        "--population",
        "1000",
        "--beta",
        "nan",
    ),
    _on("suppression beyond one", "suppression", "anonymize", *_QI, "--k", "2", "--suppression", "1.5"),
    _on("diversity beyond the values", "", "anonymize", *_QI, "--k", "2", "--diversity", "99"),
    _on("closeness below zero", "closeness", "anonymize", *_QI, "--k", "2", "--closeness", "-1"),
    _on(
        "a weight below zero", "A weight must be", "anonymize", *_QI, "--k", "2", "--column-weight", "age=-1"
    ),
    _on("a weight that is no number", "number", "anonymize", *_QI, "--k", "2", "--column-weight", "age=x"),
    _on("a weight of NaN", "A weight must be", "anonymize", *_QI, "--k", "2", "--column-weight", "age=nan"),
    _on(
        "a method that is none",
        "is not a recoding method",
        "anonymize",
        *_QI,
        "--k",
        "2",
        "--method",
        "age=magic",
    ),
    _on("noise without a number", "noise", "anonymize", *_QI, "--k", "2", "--method", "age=noise"),
    _on("noise of NaN", "noise", "anonymize", *_QI, "--k", "2", "--method", "age=noise:nan"),
    _on("noise without end", "noise", "anonymize", *_QI, "--k", "2", "--method", "age=noise:inf"),
    _on("noise on text", "", "anonymize", *_QI, "--k", "2", "--method", "disease=noise:1"),
    _on(
        "a swap beyond all ranks", "rank-swap", "anonymize", *_QI, "--k", "2", "--method", "age=rank-swap:101"
    ),
    _on("rounding to zero", "round", "anonymize", *_QI, "--k", "2", "--method", "age=round:0"),
    _on("a top that is no number", "top", "anonymize", *_QI, "--k", "2", "--method", "age=top:x"),
    _on(
        "a release over its own source",
        "is being read",
        "anonymize",
        *_QI,
        "--k",
        "2",
        "--force",
        "-o",
        "FOLDER/data.csv",
        "--key",
        "FOLDER/key.json",
    ),
    _on("a release of another kind", ".parquet", "anonymize", *_QI, "--k", "2", "-o", "FOLDER/x.exe"),
    _on("a release into no folder", "does not exist", "anonymize", *_QI, "--k", "2", "-o", "FOLDER/no/x.csv"),
    _on(
        "a key over the release",
        "",
        "anonymize",
        *_QI,
        "--k",
        "2",
        "-o",
        "FOLDER/x.csv",
        "--key",
        "FOLDER/x.csv",
    ),
    _on("a target that is not there", "does not exist", "leak", "--target", "x", "--given", "age"),
    _on("a target that is given too", "", "leak", "--target", "age", "--given", "age"),
    _on("a release compared with a table of other columns", "", "compare", "FOLDER/no.csv"),
)

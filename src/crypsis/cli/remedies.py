"""How the command line words an assessment: options as flags, remedies as commands that run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crypsis.cli.options import DataOptions
from crypsis.cli.wording import cli_option
from crypsis.errors import ColumnError
from crypsis.options import EACH_RECORD

if TYPE_CHECKING:
    from crypsis.assessment.result import Assessment
    from crypsis.policies.findings import Remedy
    from crypsis.protection import Anonymized
    from crypsis.report.wording import Phrasing


def phrasing(
    assessment: Assessment,
    data: str,
    options: DataOptions | None = None,
    *,
    original: str | None = None,
    original_names: Sequence[str] = (),
    attack: Path | None = None,
    population: str | None = None,
) -> Phrasing:
    """The wording of an assessment of these files, read with these options."""
    from crypsis.report.wording import CLEAN_COPY, Phrasing

    reading: Sequence[str] = () if options is None else options.words
    guessed = {column.column for column in assessment.guessed}

    def file(source: str) -> str:
        return _free("roles.toml" if source == data else "original-roles.toml")

    def decided(excluded: Iterable[str]) -> bool:
        """Whether the roles that were given leave none to be guessed; a file is corrected instead."""
        if options is None or options.roles_file is not None:
            return options is not None
        return any(options.roles.values()) and guessed <= {*excluded}

    def prepared(source: str, names: Iterable[str]) -> str:
        role_words = () if options is None else _role_words(options, names)
        return _line("crypsis", "scan", _source(source), *reading, *role_words, "--save", file(source))

    def anonymize(source: str, parameters: Any, names: Sequence[str], output: str) -> str:
        """The command; roles as they were given, without those of columns that are excluded."""
        excluded = parameters.get("excluded", ())
        roles = ["--roles", file(source)]
        if decided(excluded) and options is not None:
            roles = _role_words(options, {*names} - {*excluded})
        words = [_source(source), *_of_recoding(reading), *roles]
        for name in excluded:
            words += [cli_option("excluded", None), name]
        for name, value in parameters.items():
            if name == "apart":
                words += [word for element in value for word in (cli_option(name, None), element)]
            elif name not in ("excluded", "methods"):
                words += [cli_option(name, None), value if isinstance(value, str) else f"{value:g}"]
        about_people = {"k_map", "presence", "journalist_risk"} & {*parameters}
        if population is not None and about_people and not population.isdecimal():
            words += [cli_option("population", None), population]
        for name, method in parameters.get("methods", {}).items():
            words += [cli_option("methods", None), f"{name}={method}"]
        if not all(word.isprintable() for word in words):
            return ""  # a name that cannot be typed
        before = f"{prepared(source, names)}\n# Correct {file(source)}, then:\n"
        before = "" if decided(excluded) else before
        return before + _line("crypsis", "anonymize", *words, "-o", _free(output))

    def command(remedy: Remedy) -> str | None:
        parameters = remedy.parameters
        names = [column.column for column in assessment.columns]
        if remedy.action == "anonymize":
            kind = f"-{parameters['recoding']}" if "recoding" in parameters else ""
            return anonymize(data, parameters, names, f"anonymous{kind}.parquet") or None
        if remedy.action == "rank_swap" and original is not None:
            swap = f"rank-swap:{parameters['percent']}"
            options_of = {"excluded": parameters["excluded"], "k": 1}
            options_of["methods"] = dict.fromkeys(parameters["columns"], swap)
            return anonymize(original, options_of, original_names, "masked.parquet") or None
        if remedy.action == "suppress_items" and parameters and attack is not None:
            limit = str(parameters["limit"])
            return _line("crypsis", "attack", "file", str(attack), "--limit", limit, "--reveal")
        return None

    scan = prepared(data, [column.column for column in assessment.columns])
    decide = f"Run `{scan}`, correct the file, and add --roles {file(data)}."
    if options is not None and options.roles_file is not None:
        decide = f"Decide in {options.roles_file} what they are."
    rewrite = _line(
        "crypsis", "rewrite", _source(data), *_of_rewriting(reading), "-o", _free("clean.parquet")
    )
    hints = {reason.code: reason.hint.replace(CLEAN_COPY, rewrite) for reason in assessment.reasons}
    copied = {code: hint for code, hint in hints.items() if rewrite in hint and rewrite.isprintable()}
    return Phrasing(cli_option, command, {"undecided-columns": decide, **copied})


def assessment_of(release: str, anonymized: Anonymized, options: DataOptions, table: str) -> str:
    """The command that assesses a release which lacks columns of its roles file; else empty."""
    names, before = anonymized.data.names, anonymized.original.roles
    if any(role is not before.get(name) for name, role in anonymized.data.roles.items()):
        return ""  # pseudonyms are no identifiers: their role is to be decided
    from crypsis.columns import roles

    words = _role_words(options, names)
    gone: Sequence[str] = ()
    if options.roles_file is not None:
        try:
            roles.load(options.roles_file, names, table)
        except ColumnError as error:
            gone = error.parameters["columns"]
    for name in gone:
        words += [cli_option("excluded", None), name]
    for path in anonymized.apart_paths(release):
        words += [cli_option("together", None), str(path)]
    return _line("crypsis", "assess", release, *words) if gone or anonymized.apart else ""


def _of_recoding(words: Sequence[str]) -> list[str]:
    """The reading options without the reading of missing values, of which a recoding has one."""
    flag = cli_option("missing", None)
    position = words.index(flag) if flag in words else len(words)
    return [*words[:position], *words[position + 2 :]]


def _of_rewriting(words: Sequence[str]) -> list[str]:
    """The reading options that rewriting has: no reading of missing values, no Spark."""
    others = {cli_option(name, None) for name in ("missing", "engine", "master")}
    return [word for i, word in enumerate(words) if not others & {*words[max(i - 1, 0) : i + 1]}]


def _role_words(options: DataOptions, names: Iterable[str]) -> list[str]:
    """The roles as they were given, of these columns."""
    words = [] if options.roles_file is None else ["--roles", str(options.roles_file)]
    released = {*names}
    for name, columns in options.roles.items():
        for column in columns:  # type: ignore[attr-defined]
            if column in released:
                words += [cli_option(name, None), column]
    for name, column in options.units.items():
        if column in released or (name, column) == ("person", EACH_RECORD):
            words += [cli_option(name, None), column]
    return words


def _free(name: str) -> str:
    """A file name that is not taken yet, so that the command does not have to overwrite."""
    path, number = Path(name), 2
    while path.exists():
        path = Path(f"{Path(name).stem}-{number}{Path(name).suffix}")
        number += 1
    return str(path)


def _source(data: str) -> str:
    """A file as it was given; a database with its options and without its password."""
    if "://" not in data:
        return data
    from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

    parts = urlsplit(data)
    user = f"{parts.username}@" if parts.username else ""
    host = parts.netloc.rpartition("@")[2]
    kept = [pair for pair in parse_qsl(parts.query) if "pass" not in pair[0].lower()]
    return urlunsplit((parts.scheme, user + host, parts.path, urlencode(kept), ""))


def _line(*words: str) -> str:
    return " ".join(map(shlex.quote, words))

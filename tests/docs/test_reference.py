"""Nothing that people can use is undocumented: names, options, settings, keys, errors, statuses."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path

import pytest

from crypsis.options import Columns
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
pytest.importorskip("latex2mathml", reason="the documentation's own parts are not installed")

import figures
import reference
import reference_cli
import reference_files
from docstrings import translate, written_defaults


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


@pytest.mark.parametrize("name", reference.public_modules())
def test_every_public_name_says_what_it_is(name: str, pages: dict[str, str]) -> None:
    module = importlib.import_module(name)
    assert inspect.getdoc(module), f"{name} has no docstring"
    page = pages[f"{name}.md"]
    for one in reference.public_names(module):
        thing = getattr(module, one)
        assert f":: {name}.{one}\n" in page
        if inspect.isclass(thing) or inspect.isroutine(thing):
            assert reference.first_line(thing), f"{name}.{one} has no docstring"
        else:
            assert reference.value_meaning(name, one), f"{name}.{one}: no string below it"
        if inspect.isclass(thing):
            silent = [member for member in own_members(thing) if not documented(thing, member)]
            assert not silent, f"{name}.{one}: {silent} without a docstring"


def own_members(kind: type) -> list[str]:
    methods = (property, classmethod, staticmethod)
    return [
        name
        for name, thing in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(thing) or isinstance(thing, methods))
    ]


def documented(kind: type, member: str) -> bool:
    return bool(inspect.getdoc(getattr(kind, member)))


def test_a_new_module_is_public_or_listed_as_internal() -> None:
    there = {path.stem for path in (ROOT / "src" / "crypsis").iterdir() if path.suffix != ".toml"}
    public = {name.split(".")[1] for name in reference.public_modules() if "." in name}
    rest = {name for name in there - public if not name.startswith(("_", "py"))}
    assert rest <= reference.INTERNAL, sorted(rest - reference.INTERNAL)


def test_every_module_in_a_list_of_names_has_its_page() -> None:
    modules = reference.public_modules()
    for name in modules:
        module = importlib.import_module(name)
        named = [getattr(module, one) for one in getattr(module, "__all__", ())]
        inside = {one.__name__ for one in named if inspect.ismodule(one)}
        assert inside <= set(modules)


def test_a_name_of_crypsis_is_described_once(pages: dict[str, str]) -> None:
    assert ".. autoclass:: crypsis.Dataset\n" in pages["crypsis.md"]
    assert ".. autoclass:: crypsis.dataset.Dataset\n" not in pages["crypsis.dataset.md"]
    assert "See :py:obj:`crypsis.Dataset`." in pages["crypsis.dataset.md"]


def test_signatures_show_the_roles_and_the_defaults_of_the_source() -> None:
    from crypsis import scan
    from crypsis.demo import people

    assert written_defaults(people) == {"rows": "50_000", "seed": "SEED"}
    assert written_defaults(scan) == {"limit": "10", "exact": "False", "seed": "0"}
    shown = inspect.signature(scan).parameters
    assert shown["identifiers"].annotation == Columns | None
    assert shown["person"].annotation == str | None


def test_every_option_says_what_it_does(pages: dict[str, str]) -> None:
    page = pages["command.md"]
    for typed, command in reference_cli.commands():
        assert f"## `{typed}`\n" in page
        assert command.help, f"{typed} has no help"
        for parameter in command.params:
            spelled = reference_cli.spelled(parameter)
            assert parameter.help, f"{typed}: {spelled} has no help"
            assert f"| {spelled} |" in page


def test_every_verb_shows_an_example() -> None:
    for typed, command in reference_cli.commands():
        if not getattr(command, "commands", None):
            assert "Example:" in command.help, typed


def test_every_environment_variable_is_a_setting(pages: dict[str, str]) -> None:
    settings = set(reference_files.SETTINGS)
    assert reference_files.variables_read("src") <= settings
    assert settings <= reference_files.variables_read("src", "tests")
    assert all(f"| `{name}` |" in pages["settings.md"] for name in reference_files.SETTINGS)


def test_every_key_of_every_file_is_explained(pages: dict[str, str]) -> None:
    for title, keys in reference_files.file_keys().items():
        section = pages["files.md"].split(f"\n## {title}\n")[1].split("\n## ")[0]
        for key, meaning in keys.items():
            assert meaning, f"{title}: {key} is not explained"
            assert f"| `{key}` |" in section


def test_every_schema_is_published(pages: dict[str, str], tmp_path: Path) -> None:
    from crypsis.schemas import SCHEMAS

    reference.write_schemas(tmp_path)
    for name in SCHEMAS:
        assert f"../schemas/{name}.schema.json" in pages["schemas.md"]
        assert json.loads((tmp_path / f"{name}.schema.json").read_text(encoding="utf-8"))


def test_every_error_and_every_status_is_listed(pages: dict[str, str]) -> None:
    from crypsis import cli

    for error in reference_files.errors():
        assert vars(error).get("__doc__"), error.__name__
        assert f"| `{error.__name__}` |" in pages["errors.md"]
    statuses = {name for name, value in vars(cli).items() if name.isupper() and isinstance(value, int)}
    assert statuses == set(reference_files.STATUSES)
    assert all(f"| {getattr(cli, name)} |" in pages["statuses.md"] for name in statuses)


def test_figures_come_out_the_same_twice(tmp_path: Path) -> None:
    for name, draw in figures.FIGURES.items():
        assert draw() == draw()
        assert f"_figures/{name}.svg" in (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_figures_show_what_the_pages_work_out() -> None:
    """The tables in the pictures are those of the worked examples."""
    page = (ROOT / "docs" / "singling_out.md").read_text(encoding="utf-8")
    assert f">>> age = {[age for age, _ in figures.PEOPLE]}" in page
    page = (ROOT / "docs" / "linkage.md").read_text(encoding="utf-8")
    assert f'{{"x": {list(figures.ORIGINAL)}}}' in page
    assert f'{{"x": {list(figures.MASKED)}}}' in page
    page = (ROOT / "docs" / "pseudonyms.md").read_text(encoding="utf-8")
    assert f">>> possible = {[list(row) for row in figures.POSSIBLE]}" in page


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["the value of `k`"], ["the value of ``k``"]),
        (["1 - |Y| min p(y)"], ["1 - \\|Y\\| min p(y)"]),
        ([">>> a * b", "`c`"], [">>> a * b", "`c`"]),
        (["Tree:", "", "    a", "    └ b"], ["Tree:", "", "::", "", "    a", "    └ b"]),
    ],
)
def test_docstrings_are_plain_text(given: list[str], told: list[str]) -> None:
    assert translate(given) == told


def test_files_of_the_project_are_there() -> None:
    for name in ("LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"):
        assert (ROOT / name).stat().st_size > 500
    assert (ROOT / "docs" / "images" / "report.png").stat().st_size < 200_000


def test_the_citation_is_of_this_version() -> None:
    import crypsis

    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {crypsis.__version__}\n" in text


def test_the_benchmarks_have_a_place_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("<!-- benchmarks -->") < text.index("<!-- /benchmarks -->")

"""dbt: models whose roles are in `meta` are assessed in the warehouse.

    models:
      - name: release
        config: {tags: [crypsis]}
        columns:
          - name: age
            config: {meta: {crypsis: quasi-identifier}}

The manifest, which every dbt command writes, has the models, and `profiles.yml` the connection. dbt itself
is not needed. DuckDB, SQLite and PostgreSQL are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crypsis.assessment import Assessment, assess
from crypsis.columns import roles
from crypsis.dataset import Dataset, read
from crypsis.errors import MissingDependencyError, SourceError
from crypsis.results import Result

KEY = "crypsis"
"""The tag of models, and the key of `meta`."""
_KINDS = ("model", "seed", "snapshot")


class Model(Result):
    """A model of the manifest, with what its `meta` has for crypsis."""

    name: str
    table: str
    """The schema and the name of its table."""
    document: Mapping[str, Any]
    """The roles and notes of its columns, as a roles file has them."""
    policy: str | None


def find_models(manifest: str | Path) -> tuple[Model, ...]:
    """The models that are tagged `crypsis`, or have `crypsis` in their `meta`.

    Parameters
    ----------
    manifest : str or Path
        The file `target/manifest.json`.

    Returns
    -------
    tuple of Model

    Raises
    ------
    SourceError
        If the file cannot be read, or has no such model: nothing to assess is not safe.
    """
    path = Path(manifest)
    try:
        nodes = json.loads(path.read_text(encoding="utf-8"))["nodes"].values()
    except OSError as error:
        raise SourceError(
            f"{str(path)!r} cannot be read ({error.strerror}).", hint="Run dbt first: dbt build writes it."
        ) from None
    except (ValueError, KeyError, AttributeError, TypeError):
        raise SourceError(f"{path.name!r} is not a manifest of dbt.", code="not-metadata") from None
    models = tuple(_models(nodes))
    if not models:
        raise SourceError(
            f"No model in {path.name!r} has the tag {KEY!r}, or {KEY!r} in its meta.", code="no-models"
        )
    return models


def _models(nodes: Any) -> Iterator[Model]:
    for node in nodes:
        meta = _meta(node)
        tagged = KEY in (node.get("tags") or ()) or meta is not None
        if node.get("resource_type") not in _KINDS or not tagged:
            continue
        name = str(node.get("name"))
        columns = {str(key): _meta(column) for key, column in (node.get("columns") or {}).items()}
        document = roles.as_document(meta, columns, f"model {name!r}")
        policy = document.pop("policy", None)
        table = f"{node.get('schema')}.{node.get('alias') or name}"
        yield Model(name, table, document, None if policy is None else str(policy))


def _meta(node: Mapping[str, Any]) -> Any:
    """What is written for crypsis, in `meta` or, as newer versions have it, in `config.meta`."""
    for meta in ((node.get("config") or {}).get("meta"), node.get("meta")):
        if isinstance(meta, Mapping) and KEY in meta:
            return meta[KEY]
    return None


def assess_model(model: Model, database: str, policy: str = "default", **options: Any) -> Assessment:
    """Assess the table of a model where it is.

    Parameters
    ----------
    model : Model
        The model.
    database : str
        A DuckDB or SQLite file, or `postgresql://...`.
    policy : str
        The policy, if the model has none of its own.
    **options
        Options of `crypsis.assess`.

    Returns
    -------
    Assessment
    """
    data = read(database, table=model.table)
    data.rows.contents = None  # the table is released, not the database that it is in
    decided = _decided(data, model.document)
    answers = model.document.get("answers") or {}
    rules = model.policy or policy
    return assess(decided, policy=rules, answers=answers, name=model.name, **options)


def _decided(data: Dataset, document: Mapping[str, Any]) -> Dataset:
    filed = roles.decided_roles(document, data.names)
    units: dict[str, Any] = {**filed.units}
    decided = data.with_roles(filed.roles, filed.notes, filed.container)
    return replace(decided, absent=filed.absent, **units)


def find_database(project: str | Path, profiles: str | Path | None = None, target: str | None = None) -> str:
    """The database of a project, from `dbt_project.yml` and `profiles.yml`.

    Parameters
    ----------
    project : str or Path
        The folder of the project.
    profiles : str or Path, optional
        The folder of `profiles.yml`; by default that of the project or `~/.dbt`, as dbt does.
    target : str, optional
        The target of the profile; by default the one that the profile names.

    Returns
    -------
    str
        A file, or an address with the password of the profile, which is never shown.

    Raises
    ------
    SourceError
        If there is no such profile, or its database is none that can be read.
    """
    folder = Path(project)
    name = str(_yaml(folder / "dbt_project.yml").get("profile"))
    places = [Path(profiles)] if profiles is not None else [folder, Path.home() / ".dbt"]
    file = next((folder / "profiles.yml" for folder in places if (folder / "profiles.yml").is_file()), None)
    if file is None:
        raise SourceError("There is no profiles.yml.", hint="Set {profiles_dir} or {database}.")
    profile = _yaml(file).get(name)
    if not isinstance(profile, Mapping) or not isinstance(profile.get("outputs"), Mapping):
        raise SourceError(f"{file.name!r} has no profile {name!r}.", hint="Set {database}.")
    chosen = str(_rendered(target or profile.get("target") or "default"))
    output = profile["outputs"].get(chosen)
    if not isinstance(output, Mapping):
        raise SourceError(f"Profile {name!r} has no target {chosen!r}.", hint="Set {target}.")
    return _address({key: _rendered(value) for key, value in output.items()}, folder)


def _address(output: Mapping[str, Any], folder: Path) -> str:
    kind = output.get("type")
    if kind == "duckdb" and output.get("path"):
        return str(folder / str(output["path"]))
    if kind == "postgres":
        user, word = (quote(str(output.get(key) or ""), safe="") for key in ("user", "password"))
        name = quote(str(output.get("dbname") or output.get("database") or ""), safe="")
        return f"postgresql://{user}:{word}@{output.get('host')}:{output.get('port', 5432)}/{name}"
    raise SourceError(
        f"A database of type {kind!r} cannot be read from here; duckdb and postgres can.",
        hint="Export the model to a file, or set {database}.",
    )


def _rendered(value: Any) -> Any:
    """A value of a profile with `env_var` filled in, as dbt does."""
    if not isinstance(value, str) or "{" not in value:
        return value
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    def env_var(name: str, default: str | None = None) -> str:
        value = os.environ.get(name, default)  # named by the profile
        if value is None:
            raise SourceError(f"The profile needs the environment variable {name!r}.")
        return value

    try:
        template = SandboxedEnvironment(undefined=StrictUndefined).from_string(value)
        return template.render(env_var=env_var)
    except TemplateError:
        raise SourceError("A value of the profile is not understood.", hint="Set {database}.") from None


def _yaml(path: Path) -> Mapping[str, Any]:
    try:
        import yaml
    except ImportError:
        raise MissingDependencyError(
            "Profiles of dbt need the package pyyaml, which is not installed.",
            hint="Install it: pip install 'crypsis[contracts]'.",
        ) from None
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(
            f"{path.name!r} cannot be read ({error.strerror}).", hint="Set {project_dir}."
        ) from None
    except (yaml.YAMLError, ValueError):
        raise SourceError(f"{path.name!r} is not YAML.") from None
    return content if isinstance(content, Mapping) else {}

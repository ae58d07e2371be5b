"""The options about earlier releases, and what they give to an assessment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli.options import DataOptions, row_map_of

if TYPE_CHECKING:
    from crypsis.dataset import Dataset
    from crypsis.releases import LedgerCheck

_PANEL = "Earlier releases"


@dataclass(frozen=True)
class EarlierOptions:
    """Releases of the same people that recipients have already."""

    earlier: Annotated[
        list[str] | None,
        typer.Option(
            "--earlier", help="An earlier release of the same people. Repeat.", rich_help_panel=_PANEL
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="The ledger of releases (crypsis ledger): each of them is an earlier one.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    earlier_roles: Annotated[
        Path | None,
        typer.Option(
            "--earlier-roles",
            help="The roles of columns that only earlier releases have, as TOML.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    earlier_keys: Annotated[
        list[Path] | None,
        typer.Option(
            "--earlier-key",
            help="The re-identification key of each earlier release, in their order. Repeat.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether there is an earlier release, or a ledger."""
        return bool(self.earlier) or self.ledger is not None

    def keywords(self, options: DataOptions, data: str, key: Path | None) -> dict[str, Any]:
        """The keywords of `crypsis.assess` about them."""
        from crypsis.errors import ParameterError

        if not self.given and (self.earlier_roles or self.earlier_keys):
            raise ParameterError(
                "Roles and keys of earlier releases need these releases.", hint="Set {earlier}."
            )
        checked = self._ledger(data, key)
        files = [*(self.earlier or ()), *(() if checked is None else checked.files)]
        keywords: dict[str, Any] = {
            "earlier": self._opened([options.without_roles().dataset(file) for file in files]),
            "ledger": checked,
        }
        if self.earlier_keys:
            if key is None or len(self.earlier_keys) != len(files):
                raise ParameterError(
                    f"{len(files)} earlier releases need the key of the release and as many earlier keys.",
                    hint="Set {key}, and {earlier_keys} for each of them.",
                )
            keywords["earlier_row_maps"] = [row_map_of(earlier_key) for earlier_key in self.earlier_keys]
        return keywords

    def _ledger(self, data: str, key: Path | None) -> LedgerCheck | None:
        if self.ledger is None:
            return None
        from crypsis.releases import check_ledger

        if key is None:
            return check_ledger(self.ledger, data)
        from crypsis.protection import Key

        release_key = Key.load(key)
        return check_ledger(
            self.ledger, data, seed=release_key.seed, pseudonym_keys=tuple(release_key.pseudonyms.values())
        )

    def _opened(self, datasets: list[Dataset]) -> list[Dataset]:
        """The releases with the roles of one file, which may have columns of any of them."""
        if self.earlier_roles is None:
            return datasets
        from crypsis.columns import roles
        from crypsis.options import Role

        all_names = list(dict.fromkeys(name for dataset in datasets for name in dataset.names))
        filed = roles.load(self.earlier_roles, all_names).roles
        kept = {name: role for name, role in filed.items() if role is not Role.UNDECIDED}
        return [
            replace(dataset, roles={name: role for name, role in kept.items() if name in dataset.names})
            for dataset in datasets
        ]

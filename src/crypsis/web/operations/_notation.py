"""Values as the file of a table writes them: its decimal mark, its order of day, month and year."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from crypsis.dataset import Dataset


@dataclass(frozen=True)
class ValueNotation:
    """How a file writes numbers and dates.

    >>> german = ValueNotation(",", {"born": "%d.%m.%Y"})
    >>> german.text("income", 3999.42), german.text("born", date(2010, 5, 16)), german.text("zip", 4)
    ('3999,42', '16.05.2010', '4')
    """

    decimal: str = "."
    dates: Mapping[str, str] = field(default_factory=dict)
    """The order of day, month and year in columns that do not have the usual one."""

    @classmethod
    def of(cls, data: Dataset) -> ValueNotation:
        """That of the file that a table was read from."""
        form = data.rows.form
        return cls() if form is None else cls(form.decimal, form.dates)

    def text(self, column: str, value: Any) -> str:
        """A value as the file writes it."""
        if isinstance(value, date) and column in self.dates:
            return value.strftime(self.dates[column])
        if isinstance(value, float | Decimal):
            return str(value).replace(".", self.decimal)
        return str(value)

    def edge(self, column: str, text: str) -> str:
        """The end of a bar of a histogram, which is written as programs write numbers and dates.

        >>> ValueNotation(",", {"born": "%d.%m.%Y"}).edge("born", "1953-03-25")
        '25.03.1953'
        """
        if column in self.dates:
            return self.text(column, datetime.fromisoformat(text))
        return text.replace(".", self.decimal)

    def plain(self, column: str, text: str) -> str:
        """A value of the file or of the table in one notation, so that both can be compared.

        >>> german = ValueNotation(",", {"born": "%d.%m.%Y"})
        >>> german.plain("born", "25.03.1953"), german.plain("born", "1953-03-25")
        ('1953-03-25', '1953-03-25')
        >>> german.plain("income", "1,50"), german.plain("income", "1.5")
        ('1.5', '1.5')
        """
        with suppress(ValueError):
            return repr(float(text.replace(self.decimal, ".")))
        if column in self.dates:
            with suppress(ValueError):
                text = str(datetime.strptime(text, self.dates[column].replace("%-", "%")))
        return text.removesuffix(" 00:00:00")

"""What `assess` returns: the verdict, the findings and the results behind them, and its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crypsis.policies.assessed import AssessmentData

if TYPE_CHECKING:
    from crypsis.report.wording import Phrasing


class Assessment(AssessmentData):
    """The verdict on a release, with its findings and the results behind them.

    `print` shows the verdict, its reasons and the findings on one screen; `to_html`, `to_markdown`
    and `to_json` write the report. No data value is in any of them.
    """

    @property
    def explanation(self) -> str:
        """The verdict in one sentence about people: who is at risk, by what, or who is not."""
        from crypsis.report.explanation import explanation

        return explanation(self)

    @property
    def causes(self) -> list[str]:
        """Which columns single people out, one alone or several together."""
        from crypsis.report.explanation import causes

        return causes(self)

    def to_json(self) -> str:
        """The assessment as JSON; `crypsis.schemas.schema('assess')` is its schema."""
        from crypsis.report.json import assessment_json

        return assessment_json(self)

    def to_html(self, phrasing: Phrasing | None = None) -> str:
        """The assessment as one HTML page that works offline; `make_dossier` has more.

        Parameters
        ----------
        phrasing : crypsis.report.wording.Phrasing, optional
            How remedies and options are worded; by default as Python calls.
        """
        from crypsis.report.dossier import Dossier
        from crypsis.report.wording import Phrasing

        return Dossier(self, phrasing=phrasing or Phrasing()).to_html()

    def to_markdown(self, phrasing: Phrasing | None = None) -> str:
        """The assessment as Markdown.

        Parameters
        ----------
        phrasing : crypsis.report.wording.Phrasing, optional
            How remedies and options are worded; by default as Python calls.
        """
        from crypsis.report.markdown import assessment_markdown

        return assessment_markdown(self, phrasing)

    def to_junit(self, phrasing: Phrasing | None = None) -> str:
        """The assessment as JUnit XML: a test case for each threshold.

        Parameters
        ----------
        phrasing : crypsis.report.wording.Phrasing, optional
            How hints are worded; by default as Python calls.
        """
        from crypsis.report.junit import assessment_junit

        return assessment_junit(self, phrasing)

    def to_sarif(self, place: str | None = None, phrasing: Phrasing | None = None) -> str:
        """The findings as SARIF 2.1.0, for code scanning.

        Parameters
        ----------
        place : str, optional
            The file that they are about, relative to the repository; by default `name`.
        phrasing : crypsis.report.wording.Phrasing, optional
            How hints are worded; by default as Python calls.
        """
        from crypsis.report.sarif import assessment_sarif

        return assessment_sarif(self, place, phrasing)

    def __str__(self) -> str:
        from crypsis.report.verdict import assessment_text

        return assessment_text(self)

    def _repr_html_(self) -> str:
        from crypsis.report.html import assessment_fragment

        return assessment_fragment(self)

"""The charts of an assessment: each as a picture and as an interactive chart."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from crypsis.errors import ParameterError
from crypsis.policies.assessed import Answer, AssessmentData
from crypsis.report.wording import visible

_DESCRIBED = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')
_MAX_NAME_CHARACTERS = 42
"""Longer names in a chart are cut."""
_MAX_TITLE_CHARACTERS = 90
"""Longer titles of a chart are cut."""
_DRAWN_ATTRIBUTES = 3
"""So many attributes that can be inferred have a chart."""
_DRAWN_CLASSES = 10
"""Bars of one length say nothing; the sentence about the worst class has their number."""


@dataclass(frozen=True)
class Figure:
    """One chart: its specification, compiled for Vega, and its description."""

    specification: str
    description: str

    @property
    def picture(self) -> str:
        """The picture as a data URL; it is drawn when it is asked for.

        Its parts have no descriptions of their own: nobody can read them in a picture.
        """
        import vl_convert

        drawn = _DESCRIBED.sub("", vl_convert.vega_to_svg(json.loads(self.specification)))
        return f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"


def figures(assessment: AssessmentData) -> dict[str, list[Figure]]:
    """The charts of each question."""
    return {answer.question: [figure(chart) for chart in _drawn(answer)] for answer in assessment.answers}


def _drawn(answer: Answer) -> Iterator[Any]:
    """The charts of a question; some have numbers only."""
    drawer = _DRAWERS.get(answer.question)
    return iter(()) if drawer is None else drawer(answer)


def _singling_out(answer: Answer) -> Iterator[Any]:
    from crypsis.report.charts import singling_out as charts

    classes: Any = answer.results.get("equivalence_classes")
    if classes is not None and classes.sampled_fraction == 1:
        yield charts.class_sizes(classes)
    histories: Any = answer.results.get("unicity")
    if histories is not None:
        yield charts.unicity_curve(histories)
    sets: Any = answer.results.get("quasi_identifiers")
    if sets is not None and sets.ranking:
        yield charts.contributions(sets)
    if sets is not None and sets.found:
        yield charts.risk_by_column_set(sets, limit=12)


def _inference(answer: Answer) -> Iterator[Any]:
    from crypsis.report.charts import inference as charts

    leaks: list[Any] = [result for name, result in answer.results.items() if name.startswith("leakage")]
    leaks.sort(key=lambda leakage: -leakage.best_guess.worst_gain)
    for leak in leaks[:_DRAWN_ATTRIBUTES]:
        if len({round(risk.best_guess, 2) for risk in leak.first(_DRAWN_CLASSES)}) > 1:
            yield charts.risk_by_class(leak, limit=_DRAWN_CLASSES)
    if leaks and len(leaks[0].contributions) > 1:
        yield charts.contributions(leaks[0])


def _linkage(answer: Answer) -> Iterator[Any]:
    from crypsis.report.charts import linkage as charts

    suite: Any = answer.results.get("suite")
    if suite is not None and suite.correct_share is not None:
        yield charts.links([(attack.method, attack) for attack in suite.attacks])


def _pseudonyms(answer: Answer) -> Iterator[Any]:
    from crypsis.report.charts import pseudonyms as charts

    anonymity: Any = answer.results.get("anonymity")
    if anonymity is None:
        return
    try:
        yield charts.exposed_items(anonymity)
    except ParameterError:  # without the true assignment no item is known to be exposed
        return


_DRAWERS: dict[str, Callable[[Answer], Iterator[Any]]] = {
    "singling_out": _singling_out,
    "inference": _inference,
    "linkage": _linkage,
    "pseudonyms": _pseudonyms,
}


def figure(chart: Any) -> Figure:
    """A chart as compiled specification and description."""
    import vl_convert

    # Padding: the font of the reader may be wider than the one the text was measured with.
    roomy = chart.properties(padding={"left": 8, "right": 32, "top": 5, "bottom": 5})
    # Checking against the schema of Vega-Lite takes longer than drawing; tests do it.
    spec = _shortened(json.loads(roomy.to_json(validate=False)))
    description = str(spec.get("description", ""))
    compiled = vl_convert.vegalite_to_vega(json.dumps(spec))
    # "<" could end the element with the text; in JSON it may be written as an escape.
    text = json.dumps(compiled).replace("<", "\\u003c")
    return Figure(text, description)


def _shortened(part: Any, key: str = "") -> Any:
    """A specification in which names from the data are short and have no hidden characters."""
    if isinstance(part, dict):
        return {name: _shortened(value, name) for name, value in part.items()}
    if isinstance(part, list):
        return [_shortened(value, key) for value in part]
    if not isinstance(part, str):
        return part
    if key in ("$schema", "field", "type"):
        return part
    if key == "description":
        return visible(part, 1_000)
    return visible(
        part, _MAX_TITLE_CHARACTERS if key in ("text", "title", "subtitle") else _MAX_NAME_CHARACTERS
    )

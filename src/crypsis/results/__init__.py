"""What every measure returns: frozen results that print, show in a notebook and turn into JSON.

A quantity that is known exactly is a plain `int` or `float`. One that was estimated is an
`Estimate`: a float with a confidence interval. Everything else is a `Result` with named fields.
Fields that contain data values are declared with `raw()`; print, JSON and HTML show them only with
`reveal=True`. Fields whose names begin with an underscore are internal and never shown.
"""

from crypsis.results._estimate import Estimate, Number, number_text, percent_text
from crypsis.results._result import Group, Result, raw, table_html, to_html, without_control
from crypsis.results._schema import field_descriptions, result_schema

__all__ = [
    "Estimate",
    "Group",
    "Number",
    "Result",
    "field_descriptions",
    "number_text",
    "percent_text",
    "raw",
    "result_schema",
    "table_html",
    "to_html",
    "without_control",
]

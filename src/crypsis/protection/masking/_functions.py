"""One function for each mask: data in, the masked frame out, of the kind that was given.

`crypsis.anonymize` and `crypsis.protection.mask` apply the same masks and return a statement and a
re-identification key as well. Parameters and descriptions are those of the models of the masks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np
import pyarrow as pa

from crypsis.dataset import Data, as_columns, as_dataset
from crypsis.options import Columns
from crypsis.protection.masking import _masks as m
from crypsis.protection.masking._mask import check_rare_values, masked_rows
from crypsis.tables import frame_like, open_frame

_DOCSTRING = """{summary}

Parameters
----------
data : Dataset, frame or path
    The data.
columns : str or sequence of str
    The columns to mask.
{parameters}

Returns
-------
frame
    Of the kind that was given.

References
----------
{reference}

Examples
--------
>>> import pyarrow as pa
>>> {example}
{shown}
"""
_SEED = "seed : int, optional\n    Makes the result reproducible."
_KEY = "key : str\n    At least 128 random bits in hexadecimal."


def _function(
    name: str, mask: type[m.Mask], reference: str, example: str, shown: str, *, more: str = ""
) -> Callable[..., Any]:
    """The function of a mask; `more` is the parameter it has besides those of the mask."""

    def masked(data: Data, columns: Columns, **options: Any) -> Any:
        signature.bind(data, columns, **options)
        extra = options.pop(more, None)
        dataset, masks = as_dataset(data), {as_columns(columns): mask(**options)}
        streams = np.random.SeedSequence(extra if more == "seed" else None).spawn(2)
        keys = dict.fromkeys(as_columns(columns), extra) if more == "key" else {}
        released = masked_rows(dataset, masks, streams[1:], keys)
        rows = open_frame(released) if isinstance(released, pa.Table) else released
        check_rare_values(rows, masks)
        return frame_like(rows, dataset.given)

    fields = {key: model_field for key, model_field in mask.model_fields.items() if key != "method"}
    lines = [f"{key}\n{indent(field.description or '', '    ')}" for key, field in fields.items()]
    lines += {"seed": [_SEED], "key": [_KEY]}.get(more, [])
    parameters = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
        for key, kind in (("data", Data), ("columns", Columns))
    ]
    parameters += [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=field.annotation,
            default=inspect.Parameter.empty if field.is_required() else field.default,
        )
        for key, field in fields.items()
    ]
    if more:
        default = None if more == "seed" else inspect.Parameter.empty
        kind = int | None if more == "seed" else str
        parameters.append(
            inspect.Parameter(more, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        )
    masked.__name__ = masked.__qualname__ = name
    signature = inspect.Signature(parameters, return_annotation=Any)
    masked.__signature__ = signature  # type: ignore[attr-defined]
    masked.__doc__ = _DOCSTRING.format(
        summary=mask.__doc__, parameters="\n".join(lines), reference=reference, example=example, shown=shown
    )
    return masked


add_noise = _function(
    "add_noise",
    m.Noise,
    "Kim (1986).",
    'add_noise(pa.table({"x": [1.0, 2.0]}), "x", scale=0.1, seed=1).num_rows',
    "2",
    more="seed",
)
rank_swap = _function(
    "rank_swap",
    m.RankSwap,
    "Moore (1996).",
    'sorted(rank_swap(pa.table({"x": [3, 1, 2]}), "x", percent=50, seed=1)["x"].to_pylist())',
    "[1, 2, 3]",
    more="seed",
)
shuffle = _function(
    "shuffle",
    m.Shuffle,
    "Muralidhar and Sarathy (2006).",
    'sorted(shuffle(pa.table({"x": [3, 1, 2]}), "x", seed=1)["x"].to_pylist())',
    "[1, 2, 3]",
    more="seed",
)
microaggregate = _function(
    "microaggregate",
    m.Microaggregate,
    "lodha2007, section 4.1.",
    'microaggregate(pa.table({"x": [1.0, 3.0, 8.0, 10.0]}), "x", k=2)["x"].to_pylist()',
    "[2.0, 2.0, 9.0, 9.0]",
)
mdav = _function(
    "mdav",
    m.Mdav,
    "Domingo-Ferrer and Torra (2005).",
    'mdav(pa.table({"x": [1.0, 3.0, 8.0, 10.0]}), "x", k=2)["x"].to_pylist()',
    "[2.0, 2.0, 9.0, 9.0]",
)
pram = _function(
    "pram",
    m.Pram,
    "Gouweleeuw et al. (1998).",
    'pram(pa.table({"x": ["a", "b"]}), "x", stay=1)["x"].to_pylist()',
    "['a', 'b']",
    more="seed",
)
pram_by_matrix = _function(
    "pram_by_matrix",
    m.PramMatrix,
    "Gouweleeuw et al. (1998).",
    'pram_by_matrix(pa.table({"x": ["a", "b"]}), "x", matrix={"b": {"a": 1}})["x"].to_pylist()',
    "['a', 'a']",
    more="seed",
)
round_to = _function(
    "round_to",
    m.Round,
    "Halves are rounded to the even multiple.",
    'round_to(pa.table({"x": [1.0, 2.0, None]}), "x", base=2)["x"].to_pylist()',
    "[0.0, 2.0, None]",
)
top_code = _function(
    "top_code",
    m.TopCode,
    "SDC Practice Guide, top and bottom coding.",
    'top_code(pa.table({"age": [30, 97]}), "age", limit=90)["age"].to_pylist()',
    "[30, 90]",
)
bottom_code = _function(
    "bottom_code",
    m.BottomCode,
    "SDC Practice Guide, top and bottom coding.",
    'bottom_code(pa.table({"age": [3, 30]}), "age", limit=18)["age"].to_pylist()',
    "[18, 30]",
)
suppress_rare = _function(
    "suppress_rare",
    m.SuppressRare,
    "SDC Practice Guide, local suppression.",
    'suppress_rare(pa.table({"job": ["a", "a", "b"]}), "job", k=2)["job"].to_pylist()',
    "['a', 'a', None]",
)
local_suppression = _function(
    "local_suppression",
    m.LocalSuppression,
    "SDC Practice Guide, local suppression.",
    'local_suppression(pa.table({"job": ["a", "a", "b"]}), "job", k=3)["job"].to_pylist()',
    "[None, None, None]",
)
pseudonymize = _function(
    "pseudonymize",
    m.Pseudonym,
    "Rogaway and Shrimpton (2006).",
    'len(pseudonymize(pa.table({"name": ["Ada"]}), "name", key="00" * 32)["name"][0].as_py())',
    "52",
    more="key",
)

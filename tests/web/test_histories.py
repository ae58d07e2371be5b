"""The page of a file of visits: the unicity curve, and what it says in words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import crypsis as cr
from crypsis.web.operations._assess import assessment_view


def test_the_curve_and_its_sentence_are_on_the_page() -> None:
    rng = np.random.default_rng(0)
    visits = pa.table(
        {
            "pid": np.repeat(np.arange(100), 4),
            "ward": rng.choice(list("abcdefgh"), 400),
            "day": rng.integers(0, 30, 400),
        }
    )
    data = cr.Dataset.from_frame(visits, person="pid", insensitive=["pid"], quasi_identifiers=["ward", "day"])
    view = assessment_view(cr.assess(data))
    drawn = [figure["description"] for answer in view["answers"] for figure in answer["figures"]]
    assert any(text.startswith("The share of 100 people whom 1 to 6") for text in drawn)
    (finding,) = [one for one in view["findings"] if one["measure"] == "singling_out.unicity"]
    assert finding["statement"].startswith("Anyone who knows 3 records of a person singles them")

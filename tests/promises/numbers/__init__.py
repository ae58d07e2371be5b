"""Every measure, checked on random cases against an implementation that shares nothing with it.

`CHECKS` maps the name of a measure to a function that draws one case from a generator and raises
when the measure is wrong.
"""

from tests.promises.numbers import anonymizing, linking, masking, population, pseudonyms, rows, utility

CHECKS = {
    **rows.CHECKS,
    **population.CHECKS,
    **linking.CHECKS,
    **pseudonyms.CHECKS,
    **anonymizing.CHECKS,
    **masking.CHECKS,
    **utility.CHECKS,
}

__all__ = ["CHECKS"]

"""Synthetic people: the table of the demonstration and of the examples.

Occupation depends on sex and place, income on occupation and age, disease on age and sex; places
differ much in size, and some occupations are very rare. Social security numbers begin with 9 and
zip codes with 001 to 004, which are never issued.

Every column draws from its own stream of raw bits with exact arithmetic, so that a seed gives the
same people on every platform and NumPy version, and a new column changes no other.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from crypsis.errors import OutputError, ParameterError
from crypsis.files import replacing_file

SEED = 20_250_101
_STREAMS = ("birth", "place", "sex", "work", "income", "disease", "name", "ssn", "missing")
_TODAY = np.datetime64("2025-01-01")
_REGION_COUNT = 4
"""City, suburbs, farmland, coast."""
_ZIPS_PER_REGION = 75
_FIRST_WORKING_AGE = 18
"""Who is younger is a pupil."""
_RETIREMENT_AGE = 67
"""Nearly all of this age or older are retired."""
_SSN_NUMBERS = 100 * 49 * 9_999
"""How many numbers there are: areas 900-999; groups 01-49, which no taxpayer number has either."""

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]

# How many of 1,000 people are in each ten years of age.
_AGES = (118, 124, 134, 142, 130, 122, 112, 73, 36, 9)
_REGION_AGES = (
    (3, 3, 5, 5, 3, 2, 2, 2, 2, 2),
    (4, 4, 2, 3, 4, 4, 3, 2, 2, 2),
    (3, 3, 2, 2, 3, 4, 4, 3, 3, 3),
    (2, 2, 2, 2, 2, 3, 5, 6, 6, 6),
)

# Yearly income at forty; weights of women and men in city, suburbs, farmland and on the coast.
_OCCUPATIONS: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    "office clerk": (42_000, (900, 900, 400, 500), (400, 400, 150, 200)),
    "sales assistant": (31_000, (800, 700, 500, 700), (450, 400, 300, 350)),
    "nurse": (58_000, (600, 700, 500, 600), (70, 80, 50, 60)),
    "teacher": (55_000, (500, 700, 400, 400), (180, 250, 120, 150)),
    "software developer": (104_000, (180, 160, 10, 30), (700, 600, 40, 110)),
    "engineer": (92_000, (90, 110, 20, 40), (450, 500, 110, 200)),
    "manager": (98_000, (350, 400, 100, 150), (600, 700, 150, 250)),
    "cook": (30_000, (250, 150, 120, 400), (350, 200, 120, 500)),
    "cleaner": (25_000, (500, 250, 200, 450), (150, 80, 60, 120)),
    "driver": (41_000, (50, 60, 40, 40), (550, 600, 500, 450)),
    "builder": (47_000, (15, 20, 15, 15), (500, 700, 700, 600)),
    "farmer": (38_000, (3, 30, 700, 80), (5, 50, 1_600, 150)),
    "fisher": (36_000, (1, 1, 3, 60), (2, 3, 10, 420)),
    "physician": (190_000, (110, 120, 20, 40), (120, 130, 25, 50)),
    "lawyer": (128_000, (120, 90, 10, 20), (150, 110, 15, 30)),
    "police officer": (66_000, (50, 50, 25, 25), (180, 180, 90, 90)),
    "hairdresser": (29_000, (300, 280, 180, 220), (40, 30, 15, 25)),
    "musician": (34_000, (40, 15, 3, 12), (60, 20, 4, 15)),
    "unemployed": (9_000, (300, 200, 200, 350), (350, 220, 230, 380)),
    "lighthouse keeper": (39_000, (0, 0, 0, 1), (0, 0, 0, 3)),
    "bishop": (81_000, (1, 0, 0, 0), (2, 1, 1, 1)),
    "falconer": (33_000, (0, 1, 1, 0), (0, 1, 3, 0)),
    "astronaut": (152_000, (1, 1, 0, 0), (1, 2, 0, 1)),
}
_OUT_OF_WORK = ("pupil", "student", "retired")

# Weights of each disease below 18, 18-39, 40-59, 60-74 and from 75: of women, of men.
_DISEASES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "none": ((700, 640, 430, 230, 120), (710, 690, 440, 220, 110)),
    "influenza": ((90, 70, 60, 60, 60), (90, 70, 60, 60, 60)),
    "asthma": ((80, 50, 40, 35, 30), (100, 40, 30, 30, 30)),
    "chickenpox": ((60, 3, 1, 1, 0), (60, 3, 1, 1, 0)),
    "depression": ((25, 100, 90, 60, 55), (15, 60, 55, 40, 40)),
    "hypertension": ((1, 25, 130, 260, 290), (1, 40, 170, 280, 280)),
    "diabetes": ((6, 15, 60, 110, 120), (6, 15, 80, 140, 140)),
    "arthritis": ((2, 10, 70, 140, 180), (2, 8, 45, 90, 120)),
    "heart disease": ((2, 4, 25, 80, 150), (2, 6, 60, 150, 210)),
    "breast cancer": ((0, 5, 35, 50, 45), (0, 0, 1, 1, 1)),
    "prostate cancer": ((0, 0, 0, 0, 0), (0, 0, 15, 70, 90)),
    "lung cancer": ((0, 1, 8, 25, 25), (0, 1, 12, 35, 35)),
    "pre-eclampsia": ((1, 20, 1, 0, 0), (0, 0, 0, 0, 0)),
    "HIV": ((0, 3, 4, 2, 1), (0, 10, 11, 4, 1)),
    "epilepsy": ((8, 7, 6, 6, 6), (8, 7, 6, 6, 6)),
    "dementia": ((0, 0, 2, 25, 160), (0, 0, 2, 22, 120)),
    "schizophrenia": ((0, 5, 5, 3, 2), (0, 7, 6, 3, 2)),
    "Huntington disease": ((0, 0, 1, 0, 0), (0, 0, 1, 0, 0)),
}
_DISEASE_AGES = (18, 40, 60, 75)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_WOMEN = _words(
    "Aveline Brisa Corvina Delphie Elowen Fenna Gilda Hespera Isolde Junia Kestra Liora Mirabel "
    "Nerissa Ottiline Philippa Quilla Rosamund Sunniva Thessaly Ursa Verity Wilda Xanthe Yarrow "
    "Zephyra Amaryll Bellis Calluna Damsel Erica Fern Ginevra Hollis Ianthe Jessamy"
)
_MEN = _words(
    "Alder Bertram Cassian Drystan Evander Florian Gareth Hawthorn Idris Jorund Kelvan Leander "
    "Merrick Nestor Oberon Peregrin Quentin Roderick Silas Tarquin Ulric Valerian Wendel Xander "
    "Yorick Zephyr Ambrose Benedick Corin Dorian Emrys Fabian Godwin Hector Isidore Jasper"
)
_FAMILY_BEGINNINGS = _words(
    "Amber Ash Bramble Bright Cinder Clover Copper Dapple Ember Fallow Feather Fiddle Fog Frost "
    "Gander Glimmer Goose Hazel Heron Honey Inkle Kettle Lantern Lark Linnet Marsh Meadow Mistle "
    "Moon Nettle Nimble Otter Pebble Pepper Quill Raven Rumble Saffron Sparrow Thistle Tumble "
    "Wick"
)
_FAMILY_ENDINGS = _words(
    "bank berry bottom bough brook by combe croft dale down feather field fold ford garth gate "
    "grove hatch hollow hurst ley mere moor pool ridge shaw stead thorpe wick worth"
)


def people(rows: int = 50_000, *, seed: int = SEED) -> pa.Table:
    """Synthetic people: name, ssn, birth_date, zip, sex, occupation, income, disease.

    Parameters
    ----------
    rows : int
        The number of people.
    seed : int
        The seed; the same seed gives the same people everywhere.

    Returns
    -------
    pyarrow.Table
        About 1 % of the zip codes, 2 % of the occupations, 4 % of the incomes and 1 % of the
        diseases are missing.

    Examples
    --------
    >>> people(3).column_names
    ['name', 'ssn', 'birth_date', 'zip', 'sex', 'occupation', 'income', 'disease']
    """
    if not 1 <= rows <= _SSN_NUMBERS:
        raise ParameterError(
            f"Parameter 'rows' must be from 1 to {_SSN_NUMBERS:,}; {rows} was given.", parameter="rows"
        )
    draw = Draws(seed, rows)
    place = draw.pick("place", _zip_weights())
    region = place // _ZIPS_PER_REGION
    days = _days_lived(draw, region)
    age = days * 4 // 1_461
    man = draw.pick_by("sex", _sex_weights(), np.minimum(age // 10, 9))
    work = _occupations(draw, age, man, region)
    money = _incomes(draw, age, work)
    band = np.searchsorted(np.array(_DISEASE_AGES), age, side="right")
    sick = draw.pick_by("disease", _disease_weights(), band * 2 + man)
    gone = [draw.uniform("missing") for _ in range(4)]
    zips = [
        f"{1 + i // _ZIPS_PER_REGION:03d}{1 + i % _ZIPS_PER_REGION:02d}" for i in range(4 * _ZIPS_PER_REGION)
    ]
    return pa.table(
        {
            "name": _names(draw, man),
            "ssn": _ssns(draw, rows),
            "birth_date": pa.array(_TODAY - days.astype("timedelta64[D]")),
            "zip": _labels(zips, place, gone[0] < 0.01),
            "sex": _labels(("F", "M"), man),
            "occupation": _labels((*_OCCUPATIONS, *_OUT_OF_WORK), work, gone[1] < 0.02),
            "income": pa.array(money, mask=gone[2] < 0.04),
            "disease": _labels(tuple(_DISEASES), sick, gone[3] < 0.01),
        }
    )


def write_people(folder: str | Path, *, rows: int = 50_000, seed: int = SEED) -> Path:
    """Write `people` to people.csv in a folder, which is created if it does not exist.

    Parameters
    ----------
    folder : str or Path
        The folder.
    rows, seed : int
        See `people`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     write_people(place, rows=10).name
    'people.csv'
    """
    table = people(rows, seed=seed)
    target = created_folder(folder) / "people.csv"
    with replacing_file(target, overwrite=True) as partial:
        pyarrow.csv.write_csv(table, partial)
    return target


def created_folder(folder: str | Path) -> Path:
    """The folder, created if it does not exist."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"Folder {str(folder)!r} could not be created: {error.strerror}.") from None
    return target


class Draws:
    """Random numbers from raw bits, one stream for each column."""

    def __init__(self, seed: int, rows: int, streams: tuple[str, ...] = _STREAMS, *, first: int = 0) -> None:
        if seed < 0:
            raise ParameterError(f"Parameter 'seed' must be at least 0; {seed} was given.", parameter="seed")
        self.rows = rows
        self._bits = {
            name: np.random.PCG64(np.random.SeedSequence([seed, i])) for i, name in enumerate(streams, first)
        }

    def uniform(self, stream: str) -> _Floats:
        """A number in [0, 1) for each row."""
        raw: NDArray[np.uint64] = self._bits[stream].random_raw(self.rows)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def pick(self, stream: str, weights: _Codes) -> _Codes:
        """One of the codes 0, 1, ... for each row, with the given whole weights."""
        return self.pick_by(stream, weights[np.newaxis], np.zeros(self.rows, np.int64))

    def pick_by(self, stream: str, weights: _Codes, group: _Codes) -> _Codes:
        """The same, with the row of the table of weights of each row's group."""
        upto = weights.cumsum(axis=1)
        # The groups are concatenated, so that one search serves all of them.
        base = np.concatenate([[0], upto[:, -1].cumsum()])
        target = (self.uniform(stream) * upto[group, -1]).astype(np.int64) + base[group]
        ends = (upto + base[:-1, np.newaxis]).ravel()
        found: _Codes = np.searchsorted(ends, target, side="right") - group * weights.shape[1]
        return found


def _zip_weights() -> _Codes:
    """In each region the n-th place has 1/n of the people of the first (Zipf)."""
    shares = np.array([50, 30, 12, 8])[:, np.newaxis] * 1_000
    return np.asarray(shares // np.arange(1, _ZIPS_PER_REGION + 1)).ravel().astype(np.int64)


def _days_lived(draw: Draws, region: _Codes) -> _Codes:
    weights = np.array(_AGES) * np.array(_REGION_AGES)
    decade = draw.pick_by("birth", weights.astype(np.int64), region)
    return decade * 3_652 + (draw.uniform("birth") * 3_652).astype(np.int64)


def _sex_weights() -> _Codes:
    men = np.array([51, 51, 51, 50, 50, 49, 48, 45, 38, 25])
    return np.stack([100 - men, men], axis=1).astype(np.int64)


def _occupations(draw: Draws, age: _Codes, man: _Codes, region: _Codes) -> _Codes:
    weights = np.array([(women, men) for _, women, men in _OCCUPATIONS.values()])
    table = weights.transpose(1, 2, 0).reshape(2 * _REGION_COUNT, -1).astype(np.int64)
    work = draw.pick_by("work", table, man * _REGION_COUNT + region)
    pupil, student, retired = range(len(_OCCUPATIONS), len(_OCCUPATIONS) + 3)
    chance = draw.uniform("work")
    work[(age < 26) & (chance < np.where(region == 0, 0.6, 0.3))] = student
    work[(age >= 60) & (chance < 0.35)] = retired
    work[(age >= _RETIREMENT_AGE) & (chance < 0.97)] = retired
    work[age < _FIRST_WORKING_AGE] = pupil
    return work


def _incomes(draw: Draws, age: _Codes, work: _Codes) -> _Codes:
    at_forty = np.array([base for base, _, _ in _OCCUPATIONS.values()] + [0, 8_000, 24_000])
    working = work < len(_OCCUPATIONS)
    grown = 100 + np.where(working, np.clip(age - 40, -22, 15) * 2, 0)  # two percent a year
    luck = 0.6 + 0.8 * draw.uniform("income") * (0.5 + draw.uniform("income"))
    luck = np.where(draw.uniform("income") < 0.01, 4 * luck, luck)
    money: _Codes = (at_forty[work] * grown * luck / 10_000).astype(np.int64) * 100
    return money


def _disease_weights() -> _Codes:
    """A row for each age band and sex."""
    weights = np.array(list(_DISEASES.values()))
    return weights.transpose(2, 1, 0).reshape(-1, len(_DISEASES)).astype(np.int64)


def _names(draw: Draws, man: _Codes) -> pa.Array:
    given = (draw.uniform("name") * len(_WOMEN)).astype(np.int64) + man * len(_WOMEN)
    families = [start + end for start in _FAMILY_BEGINNINGS for end in _FAMILY_ENDINGS]
    family = (draw.uniform("name") * len(families)).astype(np.int64)
    first, last = _labels((*_WOMEN, *_MEN), given), _labels(families, family)
    return pa.compute.binary_join_element_wise(first, last, " ")


def _ssns(draw: Draws, rows: int) -> pa.Array:
    """Distinct numbers: equal steps, coprime to the number of numbers, from a random start."""
    start = int(draw.uniform("ssn")[0] * _SSN_NUMBERS)
    number = (start + np.arange(rows, dtype=np.int64) * 30_278_641) % _SSN_NUMBERS
    area, rest = 900 + number // (49 * 9_999), number % (49 * 9_999)
    group, serial = 1 + rest // 9_999, 1 + rest % 9_999
    parts = [(area, 3), (group, 2), (serial, 4)]
    texts = [pa.compute.utf8_lpad(pa.array(x).cast(pa.string()), width, "0") for x, width in parts]
    return pa.compute.binary_join_element_wise(*texts, "-")


def _labels(names: tuple[str, ...] | list[str], codes: _Codes, mask: object = None) -> pa.Array:
    """Codes as texts, missing where `mask`."""
    coded = pa.array(codes.astype(np.int32), mask=mask)
    return pa.DictionaryArray.from_arrays(coded, pa.array(names)).cast(pa.string())

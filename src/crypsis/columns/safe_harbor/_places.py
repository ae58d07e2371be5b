"""Geographic subdivisions smaller than a state, (B), by name and by value."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from crypsis.columns.safe_harbor import _words as w

_STATE_CODES = frozenset(
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny "
    "nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy dc pr gu vi as mp".split()
)
_STATE_FIPS = frozenset(
    "01 02 04 05 06 08 09 10 11 12 13 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 "
    "36 37 38 39 40 41 42 44 45 46 47 48 49 50 51 53 54 55 56 60 66 69 72 78".split()
)
_LARGE = frozenset(
    "alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,georgia,hawaii,"
    "idaho,illinois,indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,"
    "minnesota,mississippi,missouri,montana,nebraska,nevada,new hampshire,new jersey,new mexico,"
    "new york,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,rhode island,"
    "south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington,west virginia,"
    "wisconsin,wyoming,district of columbia,puerto rico,northeast,midwest,south,west,north,east,"
    "new england,mid-atlantic,middle atlantic,east north central,west north central,south atlantic,"
    "east south central,west south central,mountain,pacific,united states,usa,us,canada,mexico,"
    "urban,rural,suburban,metro,nonmetro,non-metro,metropolitan,micropolitan,other,unknown,none,"
    "domestic,foreign,inpatient,outpatient".split(",")
)
_CITIES = frozenset(
    "new york city,los angeles,chicago,houston,phoenix,philadelphia,san antonio,san diego,dallas,"
    "san jose,austin,jacksonville,fort worth,columbus,charlotte,san francisco,indianapolis,seattle,"
    "denver,boston,el paso,nashville,detroit,oklahoma city,portland,las vegas,memphis,louisville,"
    "baltimore,milwaukee,albuquerque,tucson,fresno,mesa,sacramento,atlanta,kansas city,"
    "colorado springs,miami,raleigh,omaha,long beach,virginia beach,oakland,minneapolis,tulsa,arlington,"
    "tampa,new orleans,wichita,cleveland,bakersfield,aurora,anaheim,honolulu,santa ana,riverside,"
    "corpus christi,lexington,stockton,henderson,saint paul,st. paul,st. louis,saint louis,cincinnati,"
    "pittsburgh,greensboro,anchorage,plano,lincoln,orlando,irvine,newark,toledo,durham,chula vista,"
    "fort wayne,jersey city,st. petersburg,laredo,madison,chandler,buffalo,lubbock,scottsdale,reno,"
    "glendale,gilbert,winston-salem,north las vegas,norfolk,chesapeake,garland,irving,hialeah,fremont,"
    "boise,richmond,baton rouge,spokane,des moines,tacoma,san bernardino,modesto,fontana,"
    "santa clarita,birmingham,oxnard,fayetteville,moreno valley,rochester,glendale,huntington beach,"
    "salt lake city,grand rapids,amarillo,yonkers,montgomery,akron,little rock,huntsville,augusta,"
    "mobile,shreveport,providence,worcester,knoxville,springfield,hartford,bridgeport,new haven,"
    "syracuse,albany,trenton,dayton,savannah,charleston,columbia,tallahassee,gainesville,jackson,"
    "topeka,sioux falls,fargo,billings,cheyenne,burlington,concord,manchester,nashua,dover,"
    "wilmington,annapolis,frederick,salem,eugene,bend,olympia,juneau,fairbanks,santa fe,las cruces,"
    "provo,ogden,boulder,ann arbor,lansing,flint,cambridge,somerville,lowell,quincy,newton,brockton,"
    "palo alto,berkeley,pasadena,pomona,torrance,bethesda,rockville,evanston,naperville,peoria,"
    "waco,mckinney,frisco,denton,tyler,beaumont,galveston,"
    "london,birmingham,leeds,glasgow,edinburgh,bristol,liverpool,cardiff,belfast,berlin,hamburg,"
    "munich,münchen,köln,cologne,frankfurt,stuttgart,düsseldorf,leipzig,dresden,hannover,bremen,"
    "nürnberg,paris,marseille,lyon,toulouse,nice,nantes,strasbourg,bordeaux,lille,madrid,barcelona,"
    "valencia,sevilla,zaragoza,málaga,bilbao,rome,roma,milan,milano,naples,napoli,turin,torino,"
    "palermo,bologna,florence,firenze,vienna,wien,graz,linz,zürich,zurich,geneva,basel,bern,"
    "amsterdam,rotterdam,utrecht,den haag,brussels,antwerp,ghent,warsaw,warszawa,kraków,krakow,"
    "prague,budapest,lisbon,lisboa,porto,dublin,cork,copenhagen,stockholm,oslo,helsinki,athens,"
    "toronto,montreal,vancouver,calgary,ottawa,edmonton,winnipeg,sydney,melbourne,brisbane,perth,"
    "tokyo,osaka,beijing,shanghai,mumbai,delhi,são paulo,rio de janeiro,buenos aires".split(",")
)
_AREA = re.compile(
    r".*\b(county|parish|township|borough|municipality|census tract|landkreis|precinct|city of .+|"
    r"city)$|(landkreis|kreis|city of|town of|village of|county of|census tract|tract|ward|district) .+",
    re.IGNORECASE,
)
_CITY_STATE = re.compile(r"[\w .'-]+, ?([a-z]{2})\.?( \d{5}(-\d{4})?)?", re.IGNORECASE)
_CITY_STATE_NAME = re.compile(r"[\w .'-]+, ?([a-z ]{4,20})", re.IGNORECASE)
_POINT = re.compile(
    r"\(?-?\d{1,2}\.\d{2,} ?[,; ] ?-?\d{1,3}\.\d{2,}\)?|POINT ?Z? ?\(.*\)|\d{1,3}°.*[NSEWO]", re.IGNORECASE
)
_LABELED = re.compile(r"\b(zip|zcta|plz|postal|postcode|zone)( code)?[ :#-]*\d{5}\b", re.IGNORECASE)
_GRID = re.compile(
    r"[23456789CFGHJMPQRVWX]{4,8}\+[23456789CFGHJMPQRVWX]{2,3}|8[0-9a-f]{5,13}f{3,}|"
    r"\d{1,2}[C-HJ-NP-X][A-HJ-NP-Z]{2}(\d\d){2,5}",
    re.IGNORECASE,
)
"""Plus codes, H3 cells and squares of the military grid."""
_ZIP3 = re.compile(r"(\d{3})(\*\*|xx|XX|--|\.\.|__|##)?")
_ZIP = re.compile(r"\d{5}(-\d{4})?|\d{9}")


def names_a_place(name: str) -> bool:
    """Whether a name is that of a place smaller than a state."""
    words = set(w.words_of(name))
    joined = "".join(w.words_of(name))
    is_place = bool(words & w.PLACE_WORDS) or joined in w.PLACE_WORDS
    is_place = is_place or bool(
        re.search(
            r"census(tract|block|area|place|district)|(zip|county|city|fips|postcode|zcta|zipcode)(cd|code|\d)?$",
            joined,
        )
    )
    capacity = "capacity" in joined or "ethnicity" in joined or "toxicity" in joined
    if capacity or "velocity" in joined or "electricity" in joined or "specificity" in joined:
        is_place = bool(words & w.PLACE_WORDS)
    return is_place and not words & w.ABOUT


def names_a_postal_code(name: str) -> bool:
    """Whether a name is that of a postal code."""
    words = w.words_of(name)
    return bool(set(words) & w.ZIP_WORDS) or bool(re.search(r"zip(cd|code|\d)?$", "".join(words)))


def postal_areas(texts: Sequence[str], *, integers: bool) -> list[str] | None:
    """The three digits of all values if none has more; numbers may have lost their leading zeros.

    >>> postal_areas(["941**", "021**"], integers=False), postal_areas(["21", "941"], integers=True)
    (['941', '021'], ['021', '941'])
    """
    areas = []
    for text in texts:
        digits = re.sub(r"\.0+$", "", text)
        if integers and digits.isdecimal() and len(digits) <= 3:
            digits = digits.zfill(3)
        match = _ZIP3.fullmatch(digits)
        if match is None:
            return None
        areas.append(match[1])
    return areas


def fine_place(name: str, texts: Sequence[str], kind: str, small_areas: Collection[str]) -> str | None:
    """How a column shows a place smaller than a state, or None."""
    if not texts:
        return None
    integers = kind in ("integer", "number")
    if names_a_postal_code(name):
        areas = postal_areas(texts, integers=integers)
        if areas is not None:
            small = (set(areas) - {"000"}) & set(small_areas)
            return "three-digit postal codes of areas with 20,000 people or fewer" if small else None
        if not any(character.isdigit() for text in texts for character in text):
            return None  # "zip_match" with yes and no
        return "postal codes of more than three digits"
    by_value = _place_values(texts, integers) or _area_codes(name, texts, small_areas)
    if by_value is not None:
        return by_value
    if names_a_place(name) and kind != "boolean" and not _plain_category(texts):
        return "the name is that of a place smaller than a state"
    return None


def _area_codes(name: str, texts: Sequence[str], small_areas: Collection[str]) -> str | None:
    """Postal and telephone codes in a column whose name is that of some area."""
    words = set(w.words_of(name))
    codes = {re.sub(r"\.0+$", "", text) for text in texts}
    if not words & w.AREA_WORDS or len(codes) < 2 or not all(code.isdecimal() for code in codes):
        return None
    if all(len(code) == 5 for code in codes):
        return "values of an area are five digits, like postal codes"
    if all(len(code) == 3 for code in codes):
        if codes & set(small_areas):
            return "three-digit postal codes of areas with 20,000 people or fewer"
        if {"area", "code"} <= words and all(code[0] not in "01" for code in codes):
            return "the numbers are area codes of telephones"
    return None


def _plain_category(texts: Sequence[str]) -> bool:
    """Whether all values are states, large regions, or yes and no."""
    flags = {"yes", "no", "y", "n", "true", "false", "0", "1", "t", "f"}
    return all(_is_large(text) or text.casefold() in flags for text in texts)


def _is_large(text: str) -> bool:
    return text.casefold() in _LARGE or text.casefold() in _STATE_CODES


def _place_values(texts: Sequence[str], integers: bool) -> str | None:
    distinct = set(texts)
    if any(_POINT.fullmatch(text) for text in distinct):
        return "values are geographic coordinates"
    if any(_LABELED.search(text) for text in distinct):
        return "values have postal codes of five digits"
    if len(distinct) > 1 and all(_GRID.fullmatch(text) for text in distinct):
        return "values are cells of a geographic grid"
    if integers or all(text.isdecimal() for text in distinct):
        return _coded_counties(distinct)
    for text in distinct:
        match = _CITY_STATE.fullmatch(text)
        if match and match[1].casefold() in _STATE_CODES:
            return "values are cities with their state"
        match = _CITY_STATE_NAME.fullmatch(text)
        if match and match[1].casefold().strip() in _LARGE:
            return "values are cities with their state"
    areas = sum(bool(_AREA.fullmatch(text)) for text in distinct)
    if areas and areas >= 0.2 * len(distinct):
        return "values are counties, districts or cities"
    cities = sum(text.casefold() in _CITIES for text in distinct)
    if cities >= 2 and cities >= 0.25 * len(distinct):
        return "values are names of cities"
    if any(re.fullmatch(r"\d{5}-\d{4}", text) for text in distinct):
        return "values are postal codes of nine digits"
    return None


def _coded_counties(distinct: set[str]) -> str | None:
    """County codes (FIPS): a state and an odd number of three digits; or postal codes with zeros."""
    codes = {re.sub(r"\.0+$", "", text) for text in distinct}
    if not all(code.isdecimal() for code in codes):
        return None
    padded = {code.zfill(5) for code in codes}
    county = all(len(code) == 5 and code[:2] in _STATE_FIPS and 0 < int(code[2:]) < 900 for code in padded)
    odd = sum(int(code[-1]) % 2 for code in padded)  # all but a few counties have odd numbers
    if county and len(padded) >= 6 and odd >= 0.85 * len(padded):
        return "the numbers are county codes (FIPS)"
    if len(codes) >= 5 and all(len(code) == 5 for code in codes) and any(c[0] == "0" for c in codes):
        return "the values are five digits with leading zeros, like postal codes"
    if len(codes) >= 3 and all(len(code) in (11, 12, 15) and code[:2] in _STATE_FIPS for code in codes):
        return "the numbers are census tracts or blocks"
    return None

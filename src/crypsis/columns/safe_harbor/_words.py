"""The words in a column name, and what they say about dates, ages, places and people."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column name in lower case without accents.

    >>> words_of("dateOfBirth2"), words_of("ADMIT_DT")
    (('date', 'of', 'birth', '2'), ('admit', 'dt'))
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    parts = re.findall(r"[^\W\d_]+|\d+", plain)
    split = (re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", p) for p in parts)
    return tuple(word.casefold() for part in split for word in part.split())


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements of dates, in the singular: "months" and "days" are durations or counts.
DATE_ELEMENTS = _set(
    "date dates datum datetime timestamp epoch unixtime month mon monat mois mes mese maand week "
    "woche semaine semana settimana kw quarter quartal trimestre qtr weekday dow wochentag jour "
    "doy yearday dayofyear dayofweek dayofmonth season jahreszeit saison yyyymm yyyymmdd ym ymd "
    "yearmonth dob dod doa dt dtm ts mth birthday birthdate geburtsdatum fecha data "
    "admitdate dischargedate deathdate isoweek yearweek yyyyww hour minute mmdd ddmm mmddyy"
)
DATE_ENDINGS = (
    "date",
    "datum",
    "datetime",
    "timestamp",
    "epoch",
    "month",
    "week",
    "dob",
    "birthday",
)
EVENTS = _set(
    "birth born geburt naissance nacimiento admission admit admitted adm discharge discharged disch "
    "death died deceased visit encounter service appointment event surgery operation procedure "
    "diagnosis onset enrollment enrolment hire start end begin arrival vaccination "
    "infection created updated modified entlassung aufnahme sterbe"
)
DAY_WORDS = _set("day tag dia jour time uhrzeit hora heure")
# Words that make a column a duration or a count, not an element of a date.
DURATIONS = _set(
    "days months weeks years hours minutes duration length los stay since after until before "
    "elapsed followup follow gestation gestational supply interval relative study offset lag "
    "latency survival waiting wait num number count cnt n nb total avg mean max min per dauer tage "
    "wochen monate jahre age to days_since frequency rate tenure tau remaining age_months ages "
    "dose doses units gain loss"
)
YEAR_WORDS = _set("year jahr annee ano anno jaar yr yob jahrgang geburtsjahr birthyear vintage")
BIRTH_WORDS = _set(
    "birth born yob dob geburt geburtsjahr jahrgang naissance nacimiento nascita birthyear bday "
    "birthdate birthday geburtsdatum natal byear birthyr"
)
COHORT_WORDS = _set("cohort generation")
"""Words for years in which people were born, or were included in a study."""
AREA_WORDS = _set("area region zone loc location geo place home catch site gebiet zona")
AGE_WORDS = _set(
    "age ages alter edad eta leeftijd idade agep ridageyr lebensalter wiek alder aldur ika"
)
AGE_COMPOUND = re.compile(
    r"^(age|alter)(yrs?|years?|bands?|groups?|grp|cat(egory)?|range|class|bin|bucket|code|in\w*|"
    r"at\w*|months?|mos?|days?|weeks?|decade|[0-9]+|gruppe|klasse)$|"
    r"^(patient|pt|pat|subject|person|member|admission|adm|death|onset|diagnosis|dx|visit|client)age$"
)
PLACE_WORDS = _set(
    "county counties countyfp fips cbsa zcta msa pmsa csa tract blockgroup block puma ward precinct "
    "borough parish township municipality neighborhood neighbourhood suburb hamlet village town "
    "city cities stadt ort wohnort gemeinde landkreis kreis kommune commune ville ciudad municipio "
    "comune citta barrio localidad distrito district catchment hrr hsa pcsa geocode geoid geohash "
    "latitude longitude lat lon lng latlon latlong coordinates coordinate gps address street zip "
    "zipcode zip5 zip3 zip4 postcode postal postalcode plz postleitzahl cap pincode metro "
    "easting northing utm mgrs residence wohnsitz arrondissement bezirk nuts3 lau cp"
)
ZIP_WORDS = _set("zip zipcode zip5 zip3 zip4 postcode postal postalcode plz postleitzahl zcta cp")
LARGE_PLACES = _set(
    "state country nation continent province bundesland pais pays land estado stato"
)
ABOUT = _set(
    "type kind category class status count cnt flag level size score rate ratio total amount index "
    "population density rural urban rurality metro rucc ruca income quintile decile present "
    "indicator has is any distance miles km changed match matched sector industry"
)
RELATIVES = _set(
    "mother father mom dad parent spouse husband wife partner son daughter child sibling brother "
    "sister guardian relative kin grandmother grandfather grandparent aunt uncle caregiver mutter "
    "vater ehemann ehefrau madre padre mere pere conjoint household contact emergency"
)
EMPLOYERS = _set(
    "employer employers arbeitgeber employeur empleador company firm firma workplace organization "
    "organisation empresa entreprise werkgever datore azienda supervisor boss"
)
RECORD_WORDS = _set(
    "patient pat pt person member subject participant respondent client customer employee record "
    "rec chart case file claim visit encounter episode account acct policy beneficiary bene mrn "
    "mbr specimen sample accession hospital study enrollee insured subscriber donor individual "
    "admission stay hadm order prescription rx script fall akte dossier"
)
NUMBER_ENDS = _set("id ids no nr nbr num number nummer numero key code ref uid guid identifier #")
CODE_LISTS = _set(
    "icd icd9 icd10 diagnosis diag dx procedure proc cpt hcpcs drg msdrg loinc snomed atc ndc rxnorm "
    "rxcui drug medication product item sku naics soc isco occupation specialty discharge "
    "disposition type reason source payer state country language race ethnicity department "
    "dept unit test lab"
)

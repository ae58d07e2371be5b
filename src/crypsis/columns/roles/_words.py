"""Phrases in column names, in English, German, French and Spanish, and what they indicate.

Phrases are in lower case without accents. A longer phrase has precedence over its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from crypsis.options import Role


class Hipaa(Enum):
    """The 18 identifiers of the HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(A) to (R)."""

    NAME = "name"
    GEOGRAPHY = "geographic subdivision smaller than a state"
    DATE = "date"
    PHONE = "telephone number"
    FAX = "fax number"
    EMAIL = "email address"
    SSN = "social security number"
    MEDICAL_RECORD = "medical record number"
    HEALTH_PLAN = "health plan beneficiary number"
    ACCOUNT = "account number"
    LICENCE = "certificate or licence number"
    VEHICLE = "vehicle identifier"
    DEVICE = "device identifier"
    URL = "web address"
    IP = "IP address"
    BIOMETRIC = "biometric identifier"
    PHOTO = "full-face photograph"
    CODE = "other unique code"


@dataclass(frozen=True)
class Sign:
    """What a name or a pattern indicates, and with what confidence."""

    noun: str
    role: Role
    hipaa: Hipaa | None = None
    confidence: float = 0.9


_ID, _QI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_SMALL_AREA, _DATE = Hipaa.GEOGRAPHY, Hipaa.DATE

PERSON_NAME = Sign("a name", _ID, Hipaa.NAME, 0.9)
UNIQUE_CODE = Sign("an identifying number or code", _ID, Hipaa.CODE, 0.9)
SURVEY_WEIGHT = Sign("a survey weight", Role.INSENSITIVE, None, 0.85)
BODY_WEIGHT = Sign("body weight", _QI, None, 0.7)

# fmt: off
_SIGNS: tuple[tuple[Sign, str], ...] = (
    (Sign("a person's name", _ID, Hipaa.NAME, 0.95),
     "first name, last name, full name, middle name, maiden name, given name, family name, "
     "surname, firstname, lastname, fullname, forename, initials, nickname, alias, signature, "
     "vorname, nachname, familienname, geburtsname, prenom, nom de famille, apellido, primer "
     "nombre, mother name, father name, username, user name, login, screen name, next of kin, "
     "contact person, emergency contact, fname, lname, mname, contact person name"),
    (Sign("a street address", _ID, _SMALL_AREA, 0.9),
     "address, addr, street, street name, strasse, hausnummer, house number, anschrift, adresse, "
     "wohnadresse, rue, direccion, calle, domicilio, apartment, postal address, po box, home "
     "address, mailing address, residence address, hausnr"),
    (Sign("a telephone number", _ID, Hipaa.PHONE, 0.95),
     "phone, telephone, tel, mobile, cell phone, cellphone, cell number, msisdn, telefon, handy, "
     "telefonnummer, handynummer, rufnummer, mobilnummer, telefono, movil, celular, whatsapp, "
     "mob"),
    (Sign("a fax number", _ID, Hipaa.FAX, 0.95),
     "fax, telefax, faxnummer"),
    (Sign("an email address", _ID, Hipaa.EMAIL, 0.97),
     "email, e mail, mail, email address, mail address, mailadresse, courriel, correo, correo "
     "electronico"),
    (Sign("a social security number", _ID, Hipaa.SSN, 0.98),
     "ssn, social security, social security number, soc sec, national insurance, nino, nss, nir, "
     "sozialversicherungsnummer, svnr, numero de securite sociale, securite sociale, seguridad "
     "social, sin number, ahv nummer"),
    (Sign("a national identity or tax number", _ID, Hipaa.CODE, 0.95),
     "national id, nationalid, identity card, identity number, personal number, personal id, "
     "dni, nie, curp, rfc, cpf, pesel, bsn, aadhaar, tax id, tax number, taxpayer id, tin, itin, "
     "steuernummer, steuer id, personnummer, codice fiscale, personalausweis, carte d identite, "
     "cedula, birth number, pan number"),
    (Sign("a medical record number", _ID, Hipaa.MEDICAL_RECORD, 0.95),
     "mrn, medical record, medical record number, chart number, chart no, nhs number, nhs, "
     "hospital number, patient id, patient no, patient nbr, patient number, patient nr, "
     "patientid, patient identifier, patientennummer, fallnummer, historia clinica, encounter "
     "id, encounter, accession number, specimen id"),
    (Sign("a health plan number", _ID, Hipaa.HEALTH_PLAN, 0.95),
     "health plan, health plan number, health plan id, beneficiary, beneficiary id, policy "
     "number, policy no, policy id, insurance number, insurance id, insurance no, medicare "
     "number, medicare id, medicaid number, medicaid id, hicn, mbi, subscriber id, member id, "
     "health insurance number, krankenversichertennummer, versichertennr, versichertennummer, "
     "versicherungsnummer, numero de poliza, group number"),
    (Sign("an account or card number", _ID, Hipaa.ACCOUNT, 0.9),
     "account, account number, account no, account id, acct, iban, bank account, routing number, "
     "credit card, card number, card no, cc number, debit card, payment card, kontonummer, "
     "kreditkarte, kreditkartennummer, kontonr, cc num, cc no, compte, numero de compte, cuenta, "
     "tarjeta, wallet address"),
    (Sign("a certificate or licence number", _ID, Hipaa.LICENCE, 0.9),
     "license, licence, license number, licence number, driver license, drivers license, "
     "passport, passport number, driving licence, dl number, certificate number, visa number, "
     "npi, dea number, fuhrerschein, medallion, lic no, dl no, hack license, reisepass, "
     "passnummer, permis de conduire, passeport, pasaporte, licencia"),
    (Sign("a vehicle identifier", _ID, Hipaa.VEHICLE, 0.9),
     "vin, license plate, licence plate, number plate, plate, plate number, kennzeichen, "
     "immatriculation, matricula, fahrgestellnummer, registration plate, vehicle id"),
    (Sign("a device identifier", _ID, Hipaa.DEVICE, 0.9),
     "device id, device, serial number, serial no, serial, imei, imsi, mac, mac address, user "
     "agent, udid, idfa, android id, advertising id, seriennummer, numero de serie, sim, iccid"),
    (Sign("a web address", _ID, Hipaa.URL, 0.9),
     "url, uri, website, web site, homepage, webpage, linkedin, twitter, facebook, instagram, "
     "profile url, profile link, weblink, href"),
    (Sign("an IP address", _ID, Hipaa.IP, 0.95),
     "ip, ip address, ip addr, ipv4, ipv6, ipaddress, ipaddr"),
    (Sign("a biometric", _ID, Hipaa.BIOMETRIC, 0.9),
     "biometric, biometrics, fingerprint, iris scan, retina, retina scan, voiceprint, voice "
     "print, faceprint, face embedding, palm print, fingerabdruck, empreinte digitale, huella"),
    (Sign("a photograph", _ID, Hipaa.PHOTO, 0.85),
     "photo, photograph, picture, portrait, image, selfie, avatar, headshot, foto, lichtbild, "
     "imagen"),
    (UNIQUE_CODE,
     "id, uuid, guid, uid, cookie, token, barcode, pseudonym, participant, respondent, caseid, "
     "subject, record id, tracking number, transaction id, order number, session id, hash, "
     "rowid, primary key, personalnummer, matrikelnummer, kundennr, subjid, usubjid, hhid, pid, "
     "seqn, serialno, anonid, kundennummer, identifiant, kennung"),
    (Sign("a date of birth", _QI, _DATE, 0.95),
     "birth, birthdate, birthday, date of birth, birth date, dob, bdate, geburtsdatum, "
     "geburtstag, geburt, geboren, date de naissance, naissance, nacimiento, fecha de "
     "nacimiento, birth month, birth day, geb datum, fecha nac"),
    (Sign("a year of birth", _QI, None, 0.95),
     "year of birth, birth year, yob, geburtsjahr, jahrgang, annee de naissance, ano de "
     "nacimiento, birthyear"),
    (Sign("an age", _QI, None, 0.95),
     "age, ages, alter, agep, ridageyr, lebensalter, edad, age group, age years"),
    (Sign("a sex or gender", _QI, None, 0.95),
     "sex, gender, geschlecht, geschl, anrede, salutation, riagendr, sexe, sexo, genero, male, "
     "female"),
    (Sign("a postal code", _QI, _SMALL_AREA, 0.95),
     "zip, zip code, zipcode, zip5, zip3, zip4, postcode, postal code, postalcode, postal, plz, "
     "postleitzahl, code postal, codigo postal, pincode"),
    (Sign("a place smaller than a state", _QI, _SMALL_AREA, 0.9),
     "city, town, village, address city, addr city, municipality, stadt, ort, wohnort, gemeinde, "
     "ville, commune, ciudad, municipio, county, district, landkreis, kreis, neighborhood, "
     "neighbourhood, borough, electoral ward, precinct, census tract, tract, block group, puma, census "
     "block, fips, msa, metro area, suburb, parish, location, place, wohnsitz, residence, "
     "localidad, barrio, geohash, geo, stop, site"),
    (Sign("a geographic coordinate", _QI, _SMALL_AREA, 0.9),
     "latitude, longitude, lat, lon, lng, latlon, latlong, coordinates, coordinate, gps, "
     "breitengrad, langengrad, latitud, longitud"),
    (Sign("a state, region or country", _QI, None, 0.8),
     "state, province, region, bundesland, country, land, pays, pais, provincia, departement, "
     "canton, estado, continent, origin, address state, addr state, address country"),
    (Sign("race or ethnicity", _QI, None, 0.9),
     "race, ethnicity, ethnic, rac1p, ridreth1, ridreth3, hisp, hispanic, latino, skin color, "
     "ethnie, raza, etnia, tribe, caste, ancestry, herkunft, indigenous"),
    (Sign("a marital status", _QI, None, 0.9),
     "marital, marital status, mar, dmdmartl, partner, married, spouse, civil status, "
     "familienstand, etat civil, situation familiale, estado civil, marriage, widowed, divorced"),
    (Sign("an education", _QI, None, 0.9),
     "education, educ, schl, dmdeduc2, educational, degree, schooling, school, university, "
     "college, qualification, bildung, abschluss, schulabschluss, ausbildung, diplome, "
     "educacion, estudios, graduation, major, field of study"),
    (Sign("an occupation or employer", _QI, None, 0.9),
     "occupation, occupational, occp, emp title, emp length, cow, job, job title, profession, "
     "employer, workclass, work class, industry, employment, employment status, work status, "
     "workplace, company, firm, department, position, position title, military rank, career, "
     "beruf, arbeitgeber, tatigkeit, branche, emploi, metier, employeur, empleo, ocupacion, "
     "profesion, empleador, organization, organisation, affiliation, unit of work"),
    (Sign("a nationality or place of birth", _QI, None, 0.9),
     "nationality, citizenship, pobp, cit, citizen, native country, country of birth, birth "
     "country, birthplace, place of birth, birth place, geburtsort, geburtsland, nationalite, "
     "nacionalidad, staatsangehorigkeit, staatsburgerschaft, immigrant, immigration, migration, "
     "foreign born"),
    (Sign("a language", _QI, None, 0.8),
     "language, mother tongue, native language, sprache, muttersprache, langue, idioma"),
    (Sign("a household or family", _QI, None, 0.85),
     "household, household size, relationship, relp, family, family size, children, child, kids, "
     "siblings, dependents, dependants, dependent, number of children, haushalt, kinder, "
     "kinderzahl, menage, enfants, hogar, hijos, housing, home ownership, tenure, twin"),
    (Sign("hours of work", _QI, None, 0.8),
     "hours per week, wkhp, hours worked, working hours, work hours, weekly hours, "
     "arbeitsstunden, wochenstunden, full time, part time"),
    (Sign("a feature of the body", _QI, None, 0.8),
     "height, stature, body height, eye color, eye colour, hair color, hair colour, shoe size, "
     "tattoo, groesse, grosse, korpergrosse, korpergroesse, taille, estatura, handedness"),
    (Sign("a stay in hospital", _QI, None, 0.6),
     "admission, discharge, length of stay, los, time in hospital, ward stay, aufnahme, entlassung, "
     "verweildauer, liegedauer, aufenthaltsdauer, duree de sejour"),
    (Sign("a ward, of a hospital or of a town", _QI, None, 0.85),
     "ward, station, abteilung, fachabteilung"),
    (Sign("a hospital or a doctor", _QI, None, 0.6),
     "hospital, clinic, facility, provider, physician, doctor, surgeon, attending, arzt, medecin, "
     "medico, krankenhaus, klinik"),
    (Sign("an insurance", _QI, None, 0.6),
     "insurance, insurance type, payer, insurer, krankenkasse, krankenversicherung, versicherung, "
     "assurance, mutuelle, aseguradora"),
    (Sign("a duration", _QI, None, 0.5),
     "days, weeks, months, duration, dauer, tage, wochen, monate, duree, duracion"),
    (Sign("a date", _QI, _DATE, 0.85),
     "date, admission date, admit time, disch time, death time, chart time, discharge date, date "
     "of admission, date of discharge, admit date, admitted, discharged, date of death, death "
     "date, dod, visit date, service date, date of service, hire date, start date, end date, "
     "appointment, datum, aufnahmedatum, entlassungsdatum, sterbedatum, fecha, jour, created at, "
     "updated at, created, timestamp, datetime, event time, day, month, monat, mois, mes, "
     "weekday, deceased date"),
    (Sign("a year", _QI, None, 0.5),
     "year, jahr, annee, vintage, cohort"),
    (Sign("military service", _QI, None, 0.7),
     "veteran, military, military service, service branch"),
    (Sign("a vehicle", _QI, None, 0.6),
     "vehicle, car, fahrzeug, voiture, coche"),
    (Sign("health", _SENSITIVE, None, 0.9),
     "disease, illness, sickness, diagnosis, diagnoses, diagnostic, diag, dx, icd, icd9, icd10, "
     "icd code, diagnosis code, condition, comorbidity, comorbidities, symptom, medical, "
     "medicine, health, hiv, aids, std, sti, cancer, tumor, tumour, diabetes, diabetic, asthma, "
     "depression, anxiety, mental, mental health, psychiatric, pregnancy, pregnant, abortion, "
     "fertility, disability, disabled, impairment, treatment, therapy, medication, meds, "
     "prescription, dose, dosage, procedure, cpt, surgery, lab result, lab, test result, "
     "glucose, glu, blood pressure, bp, cholesterol, blood, blood type, blood group, hba1c, a1c, "
     "serum, bmi, smoker, smoking, tobacco, vaccination, vaccinated, vaccine, covid, covid19, "
     "infection, readmitted, readmission, mortality, survived, survival, expire, hypertension, "
     "arthritis, obesity, dementia, hepatitis, tuberculosis, malaria, epilepsy, pneumonia, "
     "hospice, cause of death, death, died, deceased, suicide, stroke, heart, allergy, "
     "allergies, injury, wound, pain, inpatient, outpatient, emergency, krankheit, erkrankung, "
     "diagnose, medikament, behandlung, therapie, befund, schwangerschaft, schwanger, "
     "abtreibung, behinderung, schwerbehinderung, discapacidad, maladie, "
     "diagnostic principal, traitement, medicament, grossesse, handicap, enfermedad, "
     "diagnostico, tratamiento, medicamento, embarazo, salud, sante, gesundheit, insulin, "
     "aspirin, ibuprofen, paracetamol, warfarin, acarbose, methadone"),
    (Sign("use of drugs or alcohol", _SENSITIVE, None, 0.9),
     "drug, drugs, alcohol, alcoholism, addiction, addicted, substance, substance use, substance "
     "abuse, overdose, opioid, heroin, cocaine, cannabis, marijuana, droge, drogen, alkohol, "
     "sucht, drogue, droga"),
    (Sign("genetics", _SENSITIVE, None, 0.9),
     "genetic, genetics, gene, genome, genotype, dna, rna, mutation, allele, snp, haplotype, "
     "karyotype, brca"),
    (Sign("money", _SENSITIVE, None, 0.9),
     "income, salary, annual inc, household inc, pincp, wagp, bal, wage, wages, earnings, "
     "earning, earned, pay, payroll, compensation, bonus, remuneration, capital gain, capital "
     "loss, tax, taxes, taxable, agi, fica, wealth, net worth, assets, asset, debt, debts, loan, "
     "mortgage, credit, credit score, credit limit, credit rating, balance, account balance, "
     "bankruptcy, default, poverty, welfare, pension, benefits, revenue, profit, turnover, "
     "sales, expenses, charges, contribution, spending, purchase, donation, funds, equity, "
     "savings, gehalt, einkommen, lohn, schulden, vermogen, steuer, kredit, rente, umsatz, "
     "gewinn, salaire, revenu, impot, dette, patrimoine, ingreso, salario, sueldo, deuda, "
     "impuesto, renta, ernval, pearnval, wsalval, intval, ptotval, pothval, treasury, paid up "
     "capital, labor costs, cost, costs, kosten, behandlungskosten, fallkosten, couts, costes"),
    (Sign("belief or politics", _SENSITIVE, None, 0.9),
     "religion, religious, religionszugehorigkeit, church, faith, denomination, konfession, "
     "glaube, politics, political, party, party affiliation, vote, voted, voter, ballot, union, "
     "union member, trade union, religione, politique, partei, parteizugehorigkeit, gewerkschaft, "
     "politica, partido, sindicato, syndicat, ideology"),
    (Sign("sexual life", _SENSITIVE, None, 0.9),
     "orientation, sexual, sexual orientation, sexuality, lgbt, lgbtq, gay, transgender, gender "
     "identity, sexuelle orientierung"),
    (Sign("crime", _SENSITIVE, None, 0.9),
     "criminal, criminal record, recid, custody, priors, crime, conviction, convicted, arrest, "
     "arrested, offense, offence, prison, inmate, sentence, felony, misdemeanor, criminal "
     "charge, parole, probation, jail, recidivism, straftat, vorstrafe, vorstrafen, delito, "
     "antecedentes, casier judiciaire, condamnation, victim, abuse, violence, assault"),
    (Sign("a judgement of a person", _SENSITIVE, None, 0.7),
     "gpa, grade, grades, exam score, test score, iq, performance rating, performance review, "
     "evaluation, complaint, grievance, disciplinary, note finale, calificacion"),
    (Sign("a password or key", _SENSITIVE, None, 0.8),
     "password, passwd, pwd, cvv, passwort, pin, secret, api key"),
    (SURVEY_WEIGHT,
     "fnlwgt, afnlwgt, pwgt, pwgtp, wgt, wt, perwt, hhwt, sample weight, sampling weight, survey "
     "weight, final weight, person weight, design weight, weighting, expansion factor, survey "
     "wt, weight factor, hochrechnungsfaktor, gewichtungsfaktor, wtfinl, instance weight"),
    (BODY_WEIGHT,
     "weight, body weight, weight kg, weight lb, gewicht, peso, poids"),
)
# fmt: on

PHRASES: dict[tuple[str, ...], Sign] = {
    tuple(phrase.split()): sign for sign, listed in _SIGNS for phrase in listed.split(", ")
}

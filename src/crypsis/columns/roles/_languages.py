"""Words in column names in further languages, and what they indicate.

Dutch, Italian, Portuguese, Polish, Swedish, Danish, Norwegian, Finnish, Czech, Romanian, Hungarian,
Turkish, Greek, Russian and Ukrainian by words; Chinese, Japanese, Korean, Arabic and Hindi by parts
of the name, because their words are not separated or change their form. English, German, French and
Spanish are in `_words`.
"""

from __future__ import annotations

from crypsis.columns.roles._words import PERSON_NAME, UNIQUE_CODE, Hipaa, Sign
from crypsis.options import Role

_ID, _QI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_EMAIL = Sign("an email address", _ID, Hipaa.EMAIL, 0.95)
_PHONE = Sign("a telephone number", _ID, Hipaa.PHONE, 0.9)
_STREET = Sign("a street address", _ID, Hipaa.GEOGRAPHY, 0.9)
_NATIONAL = Sign("a national identity number", _ID, Hipaa.SSN, 0.95)
_ACCOUNT = Sign("a bank account", _ID, Hipaa.ACCOUNT, 0.9)
_DOCUMENT = Sign("a passport or licence number", _ID, Hipaa.LICENCE, 0.9)
_RECORD = Sign("a medical record number", _ID, Hipaa.MEDICAL_RECORD, 0.9)
_PLATE = Sign("a license plate", _ID, Hipaa.VEHICLE, 0.9)
_PHOTO = Sign("a photograph", _ID, Hipaa.PHOTO, 0.85)
_BIRTH = Sign("a date of birth", _QI, Hipaa.DATE, 0.95)
_AGE = Sign("an age", _QI, None, 0.95)
_SEX = Sign("a sex or gender", _QI, None, 0.95)
_POSTAL = Sign("a postal code", _QI, Hipaa.GEOGRAPHY, 0.95)
_PLACE = Sign("a place smaller than a state", _QI, Hipaa.GEOGRAPHY, 0.9)
_HEALTH = Sign("health", _SENSITIVE, None, 0.9)
_MONEY = Sign("money", _SENSITIVE, None, 0.9)

# fmt: off
_SIGNS: tuple[tuple[Sign, str], ...] = (
    (PERSON_NAME,
     "naam, voornaam, achternaam, familienaam, roepnaam, tussenvoegsel, voorletters, nome, cognome, "
     "nominativo, sobrenome, apelido, nome completo, nome proprio, imie, imiona, nazwisko, imie i nazwisko, "
     "nazwisko rodowe, namn, fornamn, efternamn, fullstandigt namn, navn, fornavn, efternavn, etternavn, "
     "mellomnavn, nimi, etunimi, sukunimi, jmeno, prijmeni, krestni jmeno, nume, prenume, nume de familie, nev, "
     "vezeteknev, keresztnev, csaladnev, utonev, teljes nev, ad soyad, adi, soyadi, soyad, isim, soyisim, "
     "isim soyisim, ονομα, επωνυμο, ονοματεπωνυμο, имя, фамилия, отчество, фио, имя пользователя, ім'я, імя, "
     "прізвище, по батькові, піб, nom complet, nom usage, nombres, nombre completo, geburtsname, familienname, "
     "nachnamen, vornamen, rufname, zuname, kontaktperson, kontaktpersoon, anhorige, "
     "ime, prezime, priimek, meno, priezvisko, vardas, pavarde, vards, uzvards, eesnimi, perekonnanimi"),
    (_EMAIL,
     "e mail, email, mail adresse, mailadresse, emailadres, e mailadres, posta elettronica, indirizzo email, "
     "correio eletronico, endereco de email, adres email, adres e mail, epost, e post, epostadress, "
     "epostadresse, sahkoposti, sahkopostiosoite, eposta, e posta, adresa de email, e mail cim, email cim, "
     "ηλεκτρονικο ταχυδρομειο, электронная эл почта, почта, имейл, електронна пошта, електронна адреса, "
     "adresse mail, courriel, adresse courriel, correo"),
    (_PHONE,
     "telefoon, telefoonnummer, mobiel, gsm, gsm nummer, telefono, cellulare, numero di telefono, recapito, "
     "telefone, telemovel, celular, nr telefonu, numer telefonu, telefon, komorka, tel komorkowy, "
     "telefonnummer, mobilnummer, mobilnr, tlf, tlf nr, puhelin, puhelinnumero, matkapuhelin, "
     "telefonni cislo, numar de telefon, telefonszam, cep telefonu, cep tel, gsm no, telefon no, "
     "telefon numarasi, τηλεφωνο, κινητο, телефон, номер телефона, мобильный, моб тел, мобільний, "
     "номер телефону, handynummer, rufnummer, telephone portable, movil"),
    (_STREET,
     "adres, straat, straatnaam, huisnummer, woonadres, indirizzo, residenza, endereco, morada, rua, "
     "logradouro, ulica, adres zamieszkania, nr domu, numer domu, adress, gatuadress, adresse, gade, vej, "
     "gateadresse, osoite, katuosoite, katu, adresa, bydliste, adresa trvaleho pobytu, strada, domiciliu, cim, "
     "lakcim, utca, hazszam, adresi, ev adresi, sokak, cadde, διευθυνση, οδος, адрес, улица, номер дома, "
     "адреса, вулиця, anschrift, hausnummer, wohnanschrift, rue, domicile, domicilio, direccion, calle"),
    (_NATIONAL,
     "bsn, burgerservicenummer, sofinummer, rijksregisternummer, rijksregister, insz, codice fiscale, "
     "codfisc, cod fiscale, cf, nif, cpf, rg, numero de contribuinte, contribuinte, numero de utente, "
     "cartao de cidadao, pesel, nr pesel, nip, personnummer, personnr, samordningsnummer, cpr, cpr nummer, "
     "cprnr, cpr nr, fodselsnummer, fodselsnr, henkilotunnus, hetu, sotu, rodne cislo, rc, cnp, cod numeric personal, taj, "
     "taj szam, szemelyi szam, adoazonosito, adoazonosito jel, tc kimlik no, tckn, tc kimlik, kimlik no, αφμ, αμκα, "
     "αριθμος ταυτοτητας, инн, снилс, рнокпп, іпн, идентификационный номер, oib, emso, egn, амка, steuer id, "
     "steueridentifikationsnummer, steuer identifikationsnummer, idnr, steuerid, rentenversicherungsnummer, "
     "versichertennummer, krankenversichertennummer, sozialversicherungsnr, ahv nr, ahvnummer, svnr, nir, "
     "numero de securite sociale, insee, numero fiscal, dni, nuss, aadhaar, aadhar, aadhaar number, pan number, "
     "nhs number, nhs no, nino, ni number, sin, curp, rut, cedula, resident id, my number, jmbg"),
    (_ACCOUNT,
     "bankrekening, rekeningnummer, rekening, iban nummer, conto corrente, conto bancario, numero di conto, "
     "conta bancaria, numero da conta, nr konta, numer konta, numer rachunku, konto bankowe, bankkonto, "
     "kontonummer, kontonr, bankkontonummer, tilinumero, pankkitili, cislo uctu, ucet, "
     "bankszamla, bankszamlaszam, hesap no, hesap numarasi, banka hesabi, αριθμος λογαριασμου, "
     "банковский счет, номер счета, рахунок, номер рахунку, номер карты, kartennummer, kreditkarte, "
     "creditcardnummer, carta di credito, bankverbindung, compte bancaire, cuenta bancaria"),
    (_DOCUMENT,
     "paspoort, paspoortnummer, rijbewijs, identiteitskaart, passaporto, carta di identita, carta identita, "
     "patente, bilhete de identidade, passaporte, carta de conducao, dowod osobisty, nr dowodu, "
     "seria i numer dowodu, paszport, prawo jazdy, passnummer, pass nr, korkort, korekort, forerkort, passi, "
     "ajokortti, cislo op, obcansky prukaz, ridicsky prukaz, carte de identitate, buletin, pasaport, "
     "pasaport no, ehliyet, ehliyet no, szemelyi igazolvany, utlevel, jogositvany, διαβατηριο, "
     "αριθμος διαβατηριου, паспорт, номер паспорта, серия и номер паспорта, загранпаспорт, "
     "водительское удостоверение, посвідчення, ausweisnummer, personalausweis, reisepass, fuhrerschein, "
     "carte identite, permis de conduire, pasaporte"),
    (_RECORD,
     "patientnummer, patientnr, dossiernummer, patientennummer, fallnummer, aktenzeichen, numero paziente, "
     "cartella clinica, numero do processo, nr pacjenta, numer pacjenta, nr kartoteki, journalnummer, "
     "journalnr, potilastunnus, potilasnumero, cislo pacienta, rodne cislo pacienta, hasta no, hasta numarasi, "
     "protokol no, dosya no, номер пациента, номер карты пациента, номер истории болезни, "
     "номер медицинской карты, numero de dossier, historia clinica, numero de historia, nhc, "
     "ipp"),
    (UNIQUE_CODE,
     "matricule, klantnummer, klantnr, personeelsnummer, medewerkernummer, lidnummer, studentnummer, matricola, "
     "codice cliente, numero cliente, codigo cliente, numero do aluno, nr klienta, numer klienta, "
     "nr pracownika, nr albumu, identyfikator, kundnummer, anstallningsnummer, medlemsnummer, "
     "medarbejdernummer, asiakasnumero, tunnus, henkilonumero, cislo zakaznika, osobni cislo, "
     "numar client, ugyfelszam, azonosito, torzsszam, musteri no, sicil no, ogrenci no, uye no, "
     "κωδικος πελατη, αριθμος μητρωου, номер клиента, табельный номер, идентификатор, код клиента, "
     "логин, username, benutzername, gebruikersnaam, nome utente, anvandarnamn, brukernavn, brugernavn, "
     "kullanici adi, kayttajatunnus, utilisateur, usuario, mitgliedsnummer, personalnr, numero adherent"),
    (_PLATE,
     "kenteken, targa, matricula do carro, nr rejestracyjny, numer rejestracyjny, registreringsnummer, "
     "rekisterinumero, spz, plaka, numar de inmatriculare, rendszam, госномер, номерной знак, номер авто"),
    (_PHOTO, "zdjecie, fotografie, valokuva, fenykep, fotograf, фото, φωτογραφια, fotografia, bilde, pasfoto"),
    (_BIRTH,
     "geboortedatum, gebdatum, data di nascita, data nascita, data de nascimento, data nascimento, nascimento, "
     "data urodzenia, urodzony, fodelsedatum, fodselsdato, syntymaaika, datum narozeni, narozen, "
     "data nasterii, szuletesi datum, szuletesi ido, dogum tarihi, dtarihi, ημερομηνια γεννησης, дата рождения, "
     "дата народження, день рождения"),
    (_AGE, "leeftijd, eta, idade, wiek, alder, ika, vek, varsta, eletkor, kor, yas, ηλικια, возраст, вік"),
    (_SEX, "geslacht, sesso, plec, kon, kjonn, sukupuoli, pohlavi, neme, cinsiyet, φυλο, пол, стать"),
    (_POSTAL,
     "postcode huis, cap, codice postale, kod pocztowy, postnummer, postnr, postinumero, psc, cod postal, "
     "iranyitoszam, posta kodu, τκ, ταχυδρομικος κωδικας, почтовый индекс, индекс, поштовий індекс"),
    (_PLACE,
     "woonplaats, gemeente, comune, citta, cidade, concelho, freguesia, miasto, miejscowosc, gmina, powiat, "
     "kommun, kommune, stad, kunta, kaupunki, mesto, obec, oras, localitate, varos, telepules, ilce, "
     "sehir, mahalle, πολη, δημος, город, населенный пункт, місто, село"),
    (_HEALTH,
     "ziekte, aandoening, malattia, diagnosi, doenca, diagnoza, choroba, rozpoznanie, sjukdom, sygdom, "
     "sykdom, sairaus, diagnoosi, nemoc, boala, betegseg, hastalik, tani, διαγνωση, ασθενεια, диагноз, "
     "болезнь, заболевание, діагноз, хвороба"),
    (_MONEY,
     "inkomen, loon, reddito, stipendio, rendimento, ordenado, dochod, wynagrodzenie, pensja, zarobki, "
     "inkomst, lon, indkomst, inntekt, tulot, palkka, prijem, mzda, venit, salariu, jovedelem, fizetes, "
     "gelir, maas, εισοδημα, μισθος, доход, зарплата, заработная плата, дохід"),
)
PEOPLE_ELSEWHERE = frozenset(
    "patienten klient klienten mandant mandanten mitglied mitglieds teilnehmer probanden probandin "
    "versicherte versicherten nutzer benutzer bewohner insassen spender empfanger empfaenger schueler "
    "studenten studierenden matrikel pers personen arbeitnehmer beschaftigten beschaeftigten fall akten "
    "akte gast adherent assure etudiant employe beneficiaire dossier paciente empregado funcionario "
    "trabajador alumno aluno estudiante estudante usuario utente socio afiliado asegurado segurado "
    "beneficiario participante pessoa expediente prontuario processo paziente dipendente studente "
    "assistito iscritto pratica cartella lavoratore klant klanten clienten deelnemer medewerker lid leden "
    "werknemer leerling personeels pasient kund medlem medlems elev ansatt anstallnings medarbetar "
    "medarbejder deltager deltagar potilas asiakas tyontekija jasen opiskelija bruger bruker anvandar "
    "journal pacjent pacjenta pacienta pacient klienta pracownik pracownika studenta ucznia zamestnanec "
    "zamestnance zakaznik zakaznika paciens beteg ugyfel dolgozo hasta musteri personel calisan ogrenci "
    "uye angajat пациент пациента клиент клиента сотрудника студента работника".split()
)
"""Words for a person, or for what is kept of one, also as they begin compounds: "Patientennr"."""


_SIGNS_OF_PARTS: tuple[tuple[Sign, str], ...] = (
    (PERSON_NAME,
     "姓名 名字 名前 氏名 姓氏 患者名 客户名 用户名 联系人 聯絡人 曾用名 苗字 フルネーム ユーザー名 ユーザ名 お名前 ふりがな フリガナ 이름 성명 "
     "성함 고객명 환자명 사용자명 الاسم اسم اللقب الكنية नाम उपनाम कुलनाम"),
    (_EMAIL, "邮箱 郵箱 电子邮件 電子郵件 邮件地址 メール 電子メール 이메일 메일주소 전자우편 البريد بريد إيميل ايميل ईमेल ई-मेल"),
    (_PHONE,
     "电话 電話 手机 手機 联系方式 联系电话 携帯 携帯電話 ファックス 전화 휴대폰 핸드폰 연락처 هاتف الهاتف جوال الجوال موبايل تليفون فاكس "
     "फोन फ़ोन मोबाइल दूरभाष"),
    (_STREET, "地址 住址 家庭住址 门牌 門牌 住所 番地 주소 거주지주소 عنوان العنوان الشارع पता गली मकान"),
    (_NATIONAL,
     "身份证 身份證 身分证 身分證 证件号 證件號 社保号 社会保障号 医保号 个人编号 マイナンバー 個人番号 保険証番号 被保険者番号 주민등록번호 주민번호 주민등록 외국인등록 "
     "رقم_الهوية الهوية هوية الرقم_القومي القومي الرقم_الوطني إقامة الإقامة आधार पैन"),
    (_ACCOUNT,
     "银行账号 银行卡 銀行卡 卡号 账户 賬戶 帐号 账号 口座 口座番号 カード番号 계좌 계좌번호 카드번호 حساب الحساب آيبان ايبان बैंक खाता"),
    (_DOCUMENT, "护照 護照 驾照 駕照 驾驶证 パスポート 旅券 運転免許 免許証 여권 운전면허 면허번호 جواز رخصة पासपोर्ट लाइसेंस"),
    (_RECORD,
     "病历号 病歷號 病案号 住院号 门诊号 就诊号 カルテ番号 診察券 患者番号 患者ID 병록번호 환자번호 차트번호 등록번호 الملف_الطبي ملف_المريض "
     "रोगी_संख्या"),
    (UNIQUE_CODE,
     "学号 學號 工号 员工号 客户号 会员号 識別番号 会員番号 社員番号 学籍番号 顧客番号 회원번호 사번 학번 고객번호 아이디 رقم_العميل"),
    (Sign("a number or code", _ID, Hipaa.CODE, 0.6), "编号 編號 番号 번호 معرف المعرف पहचान क्रमांक"),
    (Sign("a stay in hospital", _QI, None, 0.6), "医院 病院 병원 مستشفى अस्पताल"),
    (_PLATE, "车牌 車牌 ナンバープレート 차량번호 لوحة_السيارة"),
    (_PHOTO, "照片 写真 顔写真 사진 صورة फोटो"),
    (_BIRTH, "出生 生日 生年月日 誕生日 생년월일 생일 تاريخ_الميلاد الميلاد ميلاد जन्म"),
    (_AGE, "年龄 年齡 年齢 나이 연령 العمر عمر आयु उम्र"),
    (_SEX, "性别 性別 성별 الجنس जेंडर लिंग"),
    (_POSTAL, "邮编 郵編 邮政编码 郵便番号 우편번호 الرمز_البريدي पिन_कोड पिनकोड"),
    (_PLACE, "城市 市区 区县 乡镇 村庄 市町村 도시 시군구 읍면동 المدينة مدينة शहर गाँव"),
    (_HEALTH, "疾病 诊断 診斷 病名 診断 병명 진단 المرض التشخيص مرض रोग बीमारी निदान"),
    (_MONEY, "收入 工资 薪资 薪水 年収 給与 所得 소득 급여 연봉 الدخل الراتب راتب आय वेतन"),
)
# fmt: on

ELSEWHERE = tuple((phrase, sign) for sign, listed in _SIGNS for phrase in listed.split(", "))
"""Phrases of words, as they are written."""
PARTS = tuple((part, sign) for sign, listed in _SIGNS_OF_PARTS for part in listed.split())
"""Parts of names; an underscore is any gap or none."""

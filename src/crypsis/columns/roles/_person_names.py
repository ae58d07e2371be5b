"""Names of people in several languages: small vocabularies, and shapes of names.

A tenth of the people of a country have one of its most frequent names, so that a short list
recognizes a column.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from crypsis.columns.roles._patterns import GIVEN_NAMES

# fmt: off
_GIVEN = (
    # Polish, Dutch, Czech, Hungarian, Romanian
    "jan andrzej piotr krzysztof stanislaw tomasz pawel jozef marcin marek michal grzegorz jerzy tadeusz "
    "adam lukasz zbigniew ryszard dariusz jakub mateusz katarzyna malgorzata agnieszka barbara krystyna "
    "ewa elzbieta zofia teresa magdalena joanna aleksandra zuzanna "
    "johannes cornelis hendrik willem pieter gerrit jeroen bas daan sem thijs sanne femke anouk lotte "
    "maaike joost wouter bram lieke fleur "
    "jiri josef petr jaroslav frantisek tereza lucie "
    "laszlo istvan jozsef janos zoltan sandor gabor ferenc attila balazs erzsebet ilona katalin zsuzsanna "
    "ion gheorghe vasile andrei mihai elena ioana alexandru "
    # Swedish, Danish, Norwegian, Finnish
    "erik lars karl anders johan per nils sven gustav astrid ingrid karin kristina birgitta elsa freja "
    "jens niels soren mette kirsten hanne bjorn ole kari liv juhani matti timo juha antti mikko tuula "
    "ritva leena pirkko kaarina "
    # Italian, Portuguese, Turkish, Greek
    "giuseppe giovanni mario luigi francesco angelo vincenzo salvatore marco alessandro giulia chiara "
    "francesca rosa paolo lucia joao antonio jose manuel paulo rui tiago ines beatriz catarina "
    "mehmet mustafa ahmet huseyin hasan ibrahim yusuf fatma ayse emine hatice zeynep elif murat "
    "georgios ioannis konstantinos dimitrios nikolaos maria eleni aikaterini vasiliki "
    "γεωργιος ιωαννης κωνσταντινος δημητριος νικολαος μαρια ελενη αικατερινη γιωργος γιαννης κωστας "
    # Russian and Ukrainian, also in Latin letters
    "александр сергеи андреи владимир алексеи дмитрии иван михаил николаи евгении елена ольга наталья "
    "татьяна ирина светлана анна мария екатерина юлия анастасия олександр андріи сергіи наталія оксана "
    "тарас богдан sergei vladimir dmitri nikolai natalia tatiana svetlana oleksandr "
    # Arabic, Hindi, also in Latin letters
    "محمد احمد علي حسن حسين عمر خالد ابراهيم يوسف محمود عبدالله فاطمه عائشه مريم زينب خديجه نور ساره "
    "mohamed mohammad ahmad hassan hussein khalid ibrahim youssef mahmoud abdullah fatimah zainab khadija "
    "राम राहुल अमित सुनील राजेश संजय अनिल विजय सुरेश रमेश प्रिया पूजा नेहा सुनीता अनीता सीता गीता "
    "rahul amit sunil rajesh sanjay anil vijay suresh ramesh pooja neha sunita anita sita gita "
    "thi van minh anh nguyen somchai budi siti dewi สมชาย สมหญิง สมศักดิ์ มานี "
    # Hebrew
    "דוד משה יוסף אברהם יעקב שרה רחל לאה מרים אסתר david moshe yosef sarah rachel "
)
_FAMILY = (
    "smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez "
    "wilson anderson taylor moore jackson martin thompson white harris clark lewis robinson walker "
    "muller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schafer koch bauer richter "
    "klein wolf schroder neumann schwarz zimmermann kruger hofmann hartmann lange "
    "nowak kowalski kowalska wisniewski wisniewska wojcik kowalczyk kaminski kaminska lewandowski "
    "lewandowska zielinski szymanski dabrowski kozlowski jankowski mazur kwiatkowski krawczyk "
    "janssen devries debakker visser bakker smit meijer mulder bos vos peters hendriks dekker brouwer dewit "
    "dijkstra dejong vandijk vandenberg peeters jacobs mertens willems claes "
    "dubois durand leroy moreau simon laurent lefebvre michel bernard petit robert richard roux fournier "
    "rossi russo ferrari esposito bianchi romano colombo ricci marino greco conti gallo costa mancini "
    "silva santos ferreira pereira oliveira rodrigues martins sousa fernandes goncalves "
    "perez sanchez ramirez torres flores rivera gomez diaz fernandez ruiz moreno munoz alonso "
    "andersson johansson karlsson nilsson eriksson larsson olsson persson svensson gustafsson "
    "nielsen jensen hansen pedersen andersen christensen larsen sorensen rasmussen olsen johansen berg "
    "korhonen virtanen makinen nieminen makela hamalainen laine heikkinen koskinen "
    "novak svoboda novotny dvorak cerny prochazka kucera vesely horak nemec novakova svobodova "
    "nagy kovacs toth szabo horvath varga kiss molnar nemeth farkas popescu popa ionescu radu dumitru stan "
    "yilmaz kaya demir celik sahin yildiz ozturk aydin ozdemir arslan papadopoulos παπαδοπουλος "
    "ivanov petrov sidorov smirnov kuznetsov popov ivanova petrova иванов иванова петров петрова смирнов "
    "смирнова кузнецов попов шевченко коваленко бондаренко мельник kovalenko shevchenko "
    "khan singh kumar sharma patel gupta verma das reddy iyer सिंह कुमार शर्मा गुप्ता वर्मा पटेल "
    "nguyen tran pham huynh hoang wang zhang chen liu yang huang zhao zhou kim park choi jung tanaka suzuki "
    "sato takahashi watanabe yamamoto nakamura kobayashi כהן לוי מזרחי פרץ ביטון cohen levi mizrahi"
)
# fmt: on


def plain(text: str) -> str:
    """Without capitals and accents, as the vocabularies are.

    >>> plain("Łukasz")
    'lukasz'
    """
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


_LETTERS = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "ı": "i", "æ": "ae", "đ": "d", "ة": "ه",
                          "أ": "ا", "إ": "ا", "آ": "ا"})  # fmt: skip
GIVEN = frozenset(plain(name) for name in _GIVEN.split())
FAMILY = frozenset(plain(name) for name in _FAMILY.split())
# The most frequent family names: one character of 2 to 4 in China and Korea, one or two in Japan.
CHINESE = (
    r"^([王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林郑鄭谢謝罗羅梁宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔣蔡余"
    r"杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦付方白邹鄒孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严"
    r"覃武戴莫孔向汤]|欧阳|歐陽|司马|上官|诸葛)\p{Han}{1,2}$"
)
KOREAN = r"^[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용]\p{Hangul}{1,2}$"
JAPANESE = (
    r"^(佐藤|鈴木|高橋|田中|伊藤|渡辺|渡邊|山本|中村|小林|加藤|吉田|山田|佐々木|山口|松本|井上|木村|林|斎藤|清水|山崎|森|池田|橋本|阿部|石川|"
    r"山下|中島|石井|小川|前田|岡田|長谷川|藤田|後藤|近藤|村上|遠藤|青木|坂本|斉藤|福田|太田|西村|藤井|金子|岡本|藤原|三浦|中野|中川|原田|松田|"
    r"竹内|小野|田村|中山|和田|石田|森田|上田|原|内田|柴田|酒井|宮崎|横山|高木|安藤|宮本|大野|小島|工藤|谷口|今井|高田|増田|丸山|杉山|村田|大塚|"
    r"新井|小山|平野|藤本|河野|上野|野口|武田|松井|千葉|菅原|岩崎|木下|久保|佐野|松尾|菊地|野村)[ \x{3000}]?[\p{Han}\p{Hiragana}\p{Katakana}]{1,4}$"
)
SHAPED = (
    r"^\p{Lu}[\p{L}'’.-]*( ?,)?( (van|von|der|den|de|la|du|da|do|dos|di|del|ten|ter|te|zu|el|al|bin|ben|ibn|"
    r"le|y|e|af|av|of|'t)| ?\p{Lu}[\p{L}'’.-]*){1,5}$"
)
_OTHER_MEANINGS = frozenset(
    "max mark jan per van ion bas sem liv ole thi minh anh li raj grace jean frank rosa scott rose may "
    "ali wei tom stan simon martin robert richard michel bernard".split()
)
"""Given names that are also words of column names or family names."""
_WORDS = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(r"([a-z])([A-Z])")
_SURE_GIVEN = (GIVEN | {plain(name) for name in GIVEN_NAMES.to_pylist()}) - _OTHER_MEANINGS


def names_a_person(text: str) -> bool:
    """Whether a given name and a family name are next to each other in a text.

    >>> names_a_person("neighbor of Anna Bauer"), names_a_person("max_white_cells")
    (True, False)
    """
    words = [plain(word) for word in _WORDS.findall(_SPLIT.sub(r"\1 \2", text))]
    return any(
        (one in _SURE_GIVEN and two in FAMILY) or (one in FAMILY and two in _SURE_GIVEN)
        for one, two in pairwise(words)
    )

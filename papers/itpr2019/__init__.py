"""itpr2019: information-theoretic privacy risk (Tables 1-7, Figs. 1-6)."""

from papers.itpr2019 import figures, scaling, tables

CITATION = (
    "Information theoretic-based privacy risk evaluation for data anonymization. Submitted to the "
    "Annual Computer Security Applications Conference, 2019, without names."
)

ACCOUNT = (
    "How much do attributes that others may know (age, zip code) reveal about attributes that they "
    "should not (the identity, the disease)? The paper compares measures from information theory "
    "that give one number: the discrimination rate DR, mutual information MI, conditional privacy "
    "CP, the maximum information leakage MIL and entropy l-diversity ELD. Averages over all groups "
    "hide a single exposed person, so it proposes ITPR, which takes the group that reveals most "
    "and scales the result to the range from 0 to 1.",
    "The measure is meant for both risks: with an identifier as target it is the risk of "
    "re-identification, with a sensitive column that of inference. Tables 4 and 5 try all measures "
    "on data of eight records whose risk is plain to see, Figs. 1 to 5 on data whose risk rises "
    "along the axis. A measure is good if it rises as well and if its value can be read; Table 7 "
    "says which are. We turned that into a rule (`papers`), and by that rule "
    "every verdict of Table 7 comes out.",
    "The formulas cannot be taken to the letter: the tables need the entropy of each group "
    "weighted by how frequent the group is. And ITPR is not the last word: it is near 1 whenever a "
    "group is rare, even if nothing can be learned there, and low for a group in which a rare "
    "disease became frequent. Read it beside its value for a shuffled target and beside the "
    "probability of the best guess; `crypsis leak` prints all three.",
)

ITEMS = (
    tables.table_1,
    tables.table_2,
    tables.table_3,
    tables.table_4,
    tables.table_5,
    tables.table_6,
    tables.table_7,
    figures.figure_1,
    figures.figure_2,
    figures.figure_3,
    figures.figure_4,
    figures.figure_5,
    scaling.figure_6,
)

"""domingo2016: masking as a permutation (Tables 1-6, Figs. 1-3, Algorithms 1-3)."""

from papers.domingo2016 import algorithms, links, tables, thousand

CITATION = (
    "J. Domingo-Ferrer and K. Muralidhar: New directions in anonymization: permutation paradigm, "
    "verifiability by subjects and intruders, transparency to users. Information Sciences, 2016."
)

ACCOUNT = (
    "Take a masked column and give each of its values the original value of the same rank. What "
    "comes out is the original column in another order, so every masking method is a permutation "
    "followed by some residual noise that changes no rank (Algorithm 1, Tables 1 and 2). What "
    "protects people is the permutation: methods that look nothing alike can be compared by how "
    "far they move ranks.",
    "From this follows a model that the data subjects can check themselves. They find the released "
    "values nearest to their own, column by column, and compute how far in ranks the record that "
    "comes closest is from them (Algorithms 2 and 3), and how diverse the values in between are: "
    "(d, v, f)-permuted privacy.",
    "The maximum-knowledge intruder of the paper has all original and all masked records, without "
    "their correspondence. They link each original to the masked record with the smallest largest "
    "rank difference (Table 4), and verify the links: if random records find matches just as near, "
    "the links prove nothing (Tables 5 and 6, Figs. 1 to 3). Since this intruder knows so much, "
    "publishing how the masking was done reveals nothing more (Definition 4).",
    "The permuted privacy of a file is that of its worst record, and some record is always hardly "
    "permuted; the share of records that meet (d, v) is more informative, and is what we report.",
)

ITEMS = (
    tables.table_1,
    tables.table_2,
    tables.table_3,
    tables.definition_2,
    links.table_4,
    links.table_5,
    links.figure_1,
    thousand.table_6,
    thousand.figure_2,
    thousand.figure_3,
    thousand.dependent_columns,
    algorithms.algorithm_1,
    algorithms.algorithm_2,
    algorithms.algorithm_3,
)

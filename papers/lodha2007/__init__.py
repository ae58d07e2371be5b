"""lodha2007: probabilistic anonymity (Figs. 1-7, Examples 1-11, Theorems 1-5)."""

from papers.lodha2007 import examples, experiments, one_dimension, quasi_identifiers, theorems

CITATION = (
    "S. Lodha and D. Thomas: Probabilistic anonymity. Privacy, Security, and Trust in KDD (PinKDD), 2007."
)

ACCOUNT = (
    "Which columns single people out? The paper answers with two numbers only: how many people "
    "there are, n, and how many combinations of values the columns can take, D. Whatever the "
    "distribution, the expected share of people with a combination of their own is at most D/(e n) "
    "while D is below n, and at most exp(-n/D) beyond (Theorems 1 and 2, Fig. 1). So few "
    "combinations prove that columns are harmless; many prove nothing, they only allow suspicion.",
    "Turned around, the same thinking says how far to generalize: with at most about n/k "
    "combinations, equally likely, each holds k people with high probability (Theorem 4). How many "
    "values each column may keep then follows from how much it matters (equation 1), and cutting a "
    "column into that many quantiles moves ranks least (Theorem 5).",
    "D belongs to the population, not to the table at hand: a sample can never show more "
    "combinations than it has rows, and with the D seen in a sample nothing in a large population "
    "would ever look like a quasi-identifier. Theorem 4 needs equally likely cells, which "
    "quantiles give only to columns that are independent. We therefore estimate D with its "
    "interval, and measure every plan after it was carried out.",
)

ITEMS = (
    quasi_identifiers.figure_1,
    examples.figure_2,
    quasi_identifiers.figure_3,
    experiments.figure_4,
    experiments.figure_5,
    experiments.figure_6,
    experiments.figure_7,
    examples.example_1,
    examples.example_2,
    examples.example_3,
    examples.example_4,
    examples.example_5,
    examples.example_6,
    examples.example_7,
    examples.example_8,
    examples.example_9,
    examples.example_10,
    examples.example_11,
    theorems.theorem_1,
    theorems.theorem_2,
    theorems.theorem_3,
    theorems.theorem_4,
    one_dimension.theorem_5,
    one_dimension.section_3_1,
    examples.section_3_2,
    one_dimension.clustering,
)

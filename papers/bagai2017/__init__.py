"""bagai2017: anonymity that pseudonyms leave after an attack (Figs. 1-10, Theorems 1-5)."""

from papers.bagai2017 import graphs, heuristic, matrices, theorems

CITATION = (
    "R. Bagai, N. Malik and M. Jadliwala: Measuring anonymity of pseudonymized data after "
    "probabilistic background attacks. IEEE Trans. Information Forensics and Security, 2017."
)

ACCOUNT = (
    "Names in a table are replaced by pseudonyms, one for each. An attacker who knows something "
    "about the people (how often a product is bought, where a person lives) has a probability for "
    "every pair of name and pseudonym. The paper asks what anonymity is left. Its answer "
    "rests on perfect matchings: every way to pair all names with all pseudonyms gets the product "
    "of the probabilities of its pairs, and the sum of these products is the permanent of the "
    "matrix.",
    "From this distribution over matchings come two numbers. Delta is its entropy against that of "
    "complete ignorance: 1 if nothing was learned, 0 if everything was. Psi is the number of "
    "people whom a matching drawn from it names rightly (cracks), which needs the owner's true "
    "matching. On attacks that only rule pairs out they are the older measures d and E (Theorems 1 "
    "and 3). Delta can only fall when probabilities are added (Theorem 2); Psi may fall or rise, "
    "because an attacker who believes the wrong things is led astray.",
    "Both need permanents, which are hard, so the paper offers H, the sum of the probabilities of "
    "the true pairs: what Psi would be if two names could share a pseudonym (Theorem 4). Averaged "
    "over all truths H is as large as Psi (Theorem 5). We compute Psi and Delta themselves: both "
    "follow from the probability of each pair in a matching drawn at random, and one pass over the "
    "terms of Glynn's formula gives all of these at once.",
    "The corollary, that one breach is the norm, averages over truths that have nothing to do with "
    "the attack. It says that blind guessing names one person rightly on average, of however many; "
    "it says nothing about an attack that knows something.",
)

ITEMS = (
    graphs.figure_1,
    graphs.figure_2,
    graphs.figure_3,
    graphs.figure_4,
    matrices.figure_5,
    matrices.figure_6,
    matrices.figure_7,
    matrices.figure_8,
    heuristic.figure_9,
    heuristic.figure_10,
    theorems.theorem_1,
    theorems.theorem_2,
    theorems.theorem_3,
    theorems.theorem_4,
    theorems.proposition_3,
    theorems.theorem_5,
    theorems.corollary_1,
)

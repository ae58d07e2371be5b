"""What lodha2007 prints: Fig. 3, and the numbers that its examples share."""

from __future__ import annotations

US = 300_000_000
WORLD = 6_000_000_000

COLUMNS = (
    "age workclass education marital-status occupation relationship race sex hours-per-week native-country"
).split()
"""A1 to A10."""
DOMAINS = (60, 8, 15, 7, 14, 6, 5, 2, 20, 40)
"""The first row of Fig. 3: how many values each column takes."""
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
"""The columns of the UCI file, which has no header."""

FIGURE_3: dict[int, tuple[tuple[int, ...], str, str, str, str, str]] = {
    1: ((1,), "2", "6.1e-5", "60", "7.4e-8", "5e6"),
    2: ((1, 9), "986", "0.03", "1200", "1.48e-6", "2.5e5"),
    3: ((1, 7, 8), "65", "0.002", "600", "7.4e-7", "5e5"),
    4: ((1, 2, 3, 5), "5056", "0.16", "1e5", "1.2e-4", "3e3"),
    5: ((1, 2, 5, 10), "3105", "0.095", "2.7e5", "3.3e-4", "1.1e3"),
    6: ((1, 5, 9, 10), "7581", "0.23", "6.7e5", "8.3e-4", "4.5e2"),
    7: ((2, 3, 5, 10), "1384", "0.043", "6.7e4", "8.3e-5", "4.5e3"),
    8: ((1, 2, 3, 5, 10), "7659", "0.235", "4e6", "4.9e-3", "75"),
    9: ((1, 2, 4, 5, 6), "5215", "0.16", "2.8e5", "3.4e-4", "1e3"),
    10: ((1, 2, 5, 6, 9), "12870", "0.40", "8e5", "9.9e-4", "3.8e2"),
    11: ((1, 2, 5, 9, 10), "10402", "0.32", "5.4e6", "6.7e-3", "55"),
    12: (tuple(range(1, 11)), "24802", "0.76", "33e9", "0.99", "1"),
}
"""Row: the columns marked x, then S, F1, D, F2 and k-Anon (450 and 380 have two digits)."""
SIZES = (1, 2, 3, 4, 4, 4, 4, 5, 5, 5, 5, 10)
"""The column Size."""

QUASI_IDENTIFIERS = {"F1": (6, 8, 10, 11, 12), "F2": (12,)}
"""Section 5.1: the rows of Fig. 3 that are 0.2-quasi-identifiers."""
ADULT_ROWS = 32_561
ALPHA = 0.2
"""Of the quasi-identifiers of Section 5.1."""
K, BETA = 100, 0.1
"""Of Examples 6 and 7."""
HIPAA_K = 20_000
"""Example 8: the people of a three-digit zip code under HIPAA."""
HIPAA_ZIP_CODES = 75
"""Example 8: the zip codes that may be kept, n/(k * 2 * 100)."""
CURSE_COLUMNS, CURSE_K = 25, 10
"""Section 3.2: so many columns keep two values each."""
CELLS = 2.4e6
"""D' of Examples 6 and 7."""
TRIPLE = 4e9
"""D of gender, date of birth and zip code, with 20,000 dates of birth (Example 2)."""
SET = (1, 12, 4, 7, 3)
"""S of Examples 9 to 11."""
NOT_CONTIGUOUS = (0, 5, 5.05, 5.1, 10)
"""Points whose cheapest cellular clusters are no pieces of the line; not in the paper."""
MAP = {1: 3, 3: 3, 4: 3, 7: 7, 12: 7}
"""f of Example 9."""

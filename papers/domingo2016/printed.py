"""What domingo2016 prints: Tables 1 to 6, digit for digit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _texts(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


RANK_CORRELATIONS = ("0.722", "0.844", "0.776")
"""Of X and Z, Section 2."""
NEAREST_RANKS = (8, 2, 16)
"""Of the released values nearest to those of record 3 (the stars of Table 3)."""
NEAREST_RECORD = 10
"""f(x3), the record that the third data subject takes for their own."""
SUBJECT_DISTANCES = (4, 1, 4)
"""d of record 3 as the data subject finds it."""
PROTECTOR_DISTANCES = (5, 1, 9)
"""d of record 3 as the protector, who knows its masked record, finds it."""
RANDOM_RECORDS = 8000
"""20^3, the combinations of the values of X."""
MATCH_OF_A = 2
"""The record of Z that the record a of Section 5.2 matches."""
DISTANCES_OF_A = (0, 1, 2)
MEANS = (100, 1000, 5000)
"""Of the columns of the thousand random records of Table 6."""
DEVIATIONS = (10, 50, 200)
LARGE_NOISE = (5.0, 25.0, 100.0)
"""The standard deviations of the noise of Fig. 2."""
SMALL_NOISE = (0.05, 0.25, 1.0)
"""Those of Fig. 3 and Table 6."""
VARIANCES = ("24.70", "155.00", "20167.78")
"""v of the example of Definition 1."""


def said(verdict: str) -> str:
    """What the paper says of the matches of a file with that verdict (Section 5.2)."""
    return {"safe": "at random", "not safe": "very likely to be correct"}.get(verdict, verdict)


def columns(rows: list[list[str]], *places: int) -> Floats:
    """Some columns of a table as numbers."""
    return np.array([[float(row[j]) for j in places] for row in rows])


# X1 X2 X3 (X1) (X2) (X3) Y1 Y2 Y3 (Y1) (Y2) (Y3) Z1 Z2 Z3
TABLE_1 = _texts("""
103.69 981.80 4928.80 10 8 8 108.18 972.62 4876.73 14 7 5 108.21 980.97 4893.50
93.13 980.97 4931.16 2 7 9 96.60 1020.73 5005.04 6 11 13 96.18 988.44 4986.25
100.87 902.21 5108.54 9 1 15 105.26 882.92 4900.68 13 1 7 107.62 902.21 4905.71
95.24 953.37 5084.18 4 4 14 88.02 944.54 4949.78 2 4 10 93.13 953.37 4941.81
96.18 1086.34 5212.25 6 20 18 91.57 1057.83 5267.57 5 18 19 95.50 1052.34 5232.96
93.16 986.70 5232.96 3 10 19 100.41 991.34 5230.64 8 9 18 99.72 984.87 5212.25
95.50 952.13 4824.95 5 3 3 100.31 959.89 4824.03 7 5 4 98.99 971.09 4835.05
115.53 988.44 5437.43 19 11 20 123.37 1061.23 5450.70 20 19 20 116.75 1057.63 5437.43
98.99 941.48 4835.05 7 2 4 103.12 903.25 4752.03 10 2 3 103.69 941.48 4824.95
109.96 984.87 4950.48 16 9 11 104.82 912.77 4997.61 12 3 12 105.59 952.13 4954.28
99.72 1005.19 5158.64 8 13 17 87.83 1025.01 5166.63 1 12 17 87.62 990.58 5158.64
116.75 1057.63 4986.25 20 19 13 112.21 1082.43 4988.44 15 20 11 109.81 1086.34 4950.48
107.62 1025.13 4954.28 13 15 12 114.29 988.93 4889.75 17 8 6 110.63 981.80 4900.79
87.62 1031.74 4905.71 1 17 7 90.83 1049.58 4902.04 4 15 8 95.24 1025.13 4928.80
109.81 971.09 4941.81 15 5 10 113.64 1002.19 5020.71 16 10 14 109.96 986.70 5084.18
110.63 1052.34 4495.19 17 18 1 103.07 1052.03 4519.26 9 17 1 100.87 1031.74 4495.19
113.76 972.20 4893.50 18 6 5 117.00 962.84 5087.90 19 6 16 115.53 972.20 5143.05
105.59 1027.64 5143.05 12 16 16 89.43 1049.97 5072.79 3 16 15 93.16 1027.64 5108.54
108.21 990.58 4714.76 14 12 2 115.79 1036.10 4662.73 18 13 2 113.76 1005.19 4714.76
104.74 1023.96 4900.79 11 14 6 104.00 1037.00 4931.99 11 14 9 104.74 1023.96 4931.16
""")
"""Originals, their ranks, masked values, their ranks, reverse-mapped values."""

# Z1 Z2 Z3 E'1 E'2 E'3 E1 E2 E3
TABLE_2 = _texts("""
108.21 980.97 4893.50 -0.03 -8.35 -16.77 4.49 -9.18 -52.07
96.18 988.44 4986.25 0.42 32.29 18.79 3.47 39.76 73.88
107.62 902.21 4905.71 -2.36 -19.29 -5.03 4.39 -19.29 -207.86
93.13 953.37 4941.81 -5.11 -8.83 7.97 -7.22 -8.83 -134.40
95.50 1052.34 5232.96 -3.93 5.49 34.61 -4.61 -28.51 55.32
99.72 984.87 5212.25 0.69 6.47 18.39 7.25 4.64 -2.32
98.99 971.09 4835.05 1.32 -11.20 -11.02 4.81 7.76 -0.92
116.75 1057.63 5437.43 6.62 3.60 13.27 7.84 72.79 13.27
103.69 941.48 4824.95 -0.57 -38.23 -72.92 4.13 -38.23 -83.02
105.59 952.13 4954.28 -0.77 -39.36 43.33 -5.14 -72.10 47.13
87.62 990.58 5158.64 0.21 34.43 7.99 -11.89 19.82 7.99
109.81 1086.34 4950.48 2.40 -3.91 37.96 -4.54 24.80 2.19
110.63 981.80 4900.79 3.66 7.13 -11.04 6.67 -36.20 -64.53
95.24 1025.13 4928.80 -4.41 24.45 -26.76 3.21 17.84 -3.67
109.96 986.70 5084.18 3.68 15.49 -63.47 3.83 31.10 78.90
100.87 1031.74 4495.19 2.20 20.29 24.07 -7.56 -0.31 24.07
115.53 972.20 5143.05 1.47 -9.36 -55.15 3.24 -9.36 194.40
93.16 1027.64 5108.54 -3.73 22.33 -35.75 -16.16 22.33 -70.26
113.76 1005.19 4714.76 2.03 30.91 -52.03 7.58 45.52 -52.03
104.74 1023.96 4931.16 -0.74 13.04 0.83 -0.74 13.04 31.20
""")
"""Reverse-mapped values, residual noise, noise."""

# (Y1) (Y2) (Y3) |(Y1)-8| |(Y2)-2| |(Y3)-16|
TABLE_3 = _texts("""
14 7 5 6 5 11
6 11 13 2 9 3
13 1 7 5 1 9
2 4 10 6 2 6
5 18 19 3 16 3
8 9 18 0 7 2
7 5 4 1 3 12
20 19 20 12 17 4
10 2 3 2 0 13
12 3 12 4 1 4
1 12 17 7 10 1
15 20 11 7 18 5
17 8 6 9 6 10
4 15 8 4 13 8
16 10 14 8 8 2
9 17 1 1 15 15
19 6 16 11 4 0
3 16 15 5 14 1
18 13 2 10 11 14
11 14 9 3 12 7
""")
"""Ranks of the masked values, and how far they are from those nearest to record 3."""

# record of X, its matches in Z, d1 d2 d3 d
TABLE_4 = _texts("""
1 1,7 4 1 3 4
2 4 0 3 1 3
3 10 3 2 3 3
4 4 2 0 4 4
5 5 1 2 1 2
6 11 2 2 2 2
7 7 2 2 1 2
8 17 0 5 4 5
9 7,9 3 0 1 3
10 15 0 1 3 3
11 2,6 2 2 4 4
12 12 5 1 2 5
13 20 2 1 3 3
14 14 3 2 1 3
15 10 3 2 2 3
16 19 1 5 1 5
17 13 1 2 1 2
18 12 3 4 5 5
19 13,19 3 4 4 4
20 20 0 0 3 3
""")
"""The intruder's links."""

AMBIGUOUS, UNMATCHED = (1, 9, 11, 19), (3, 8, 16, 18)
"""Records of X with several matches, and records of Z that nobody matches."""
SEVERAL = (4, 7, 10, 12, 13, 19, 20)
"""Records of Z that match several of X, by Table 4; the text leaves out the last two."""

# distance, share of X, share of A
TABLE_5 = _texts("""
0 0.0000 0.0025
1 0.0000 0.0586
2 0.2000 0.1899
3 0.4000 0.3014
4 0.2000 0.2595
5 0.2000 0.1288
6 0.0000 0.0428
7 0.0000 0.0143
8 0.0000 0.0024
9 0.0000 0.0000
10 0.0000 0.0000
""")
"""Distances of the match on 20 records."""

TABLE_6 = _texts("""
0 0.0270 0.0000
1 0.2670 0.0000
2 0.2650 0.0001
3 0.2090 0.0002
4 0.1170 0.0005
5 0.0550 0.0003
6 0.0330 0.0006
7 0.0170 0.0013
8 0.0040 0.0012
9 0.0050 0.0019
10 0.0000 0.0028
11 0.0000 0.0027
12 0.0010 0.0032
13 0.0000 0.0032
14 0.0000 0.0054
15 0.0000 0.9766
""")
"""Distances of the match on 1,000 records with little noise; the last line is 15 and more."""

X, X_RANKS = columns(TABLE_1, 0, 1, 2), columns(TABLE_1, 3, 4, 5)
Y, Y_RANKS = columns(TABLE_1, 6, 7, 8), columns(TABLE_1, 9, 10, 11)
Z = columns(TABLE_1, 12, 13, 14)

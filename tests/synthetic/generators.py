"""Small generators of synthetic people, with a known share of memorized records.

They share no code with crypsis: independent marginals, a Gaussian copula, a copula of which a part
of the records are training records, and training records with noise.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm

NUMBERS, CATEGORIES = ["age", "income", "height", "visits"], ["sex", "region", "disease"]


def people(rows: int, draw: np.random.Generator) -> pd.DataFrame:
    """Four numbers and three categories that depend on each other."""
    age = draw.integers(18, 90, rows)
    sex = draw.integers(0, 2, rows)
    region = draw.choice(8, rows, p=np.array([25, 20, 15, 12, 10, 8, 6, 4]) / 100)
    income = np.exp(draw.normal(10 + age / 100 + 0.1 * region / 8, 0.5)).round(0)
    height = (draw.normal(165 + 12 * sex, 7, rows)).round(1)
    visits = draw.poisson(1 + age / 20)
    disease = (draw.random(rows) * 3 + age / 30).astype(int)
    return pd.DataFrame(
        {
            "age": age,
            "income": income,
            "height": height,
            "visits": visits,
            "sex": np.array(["f", "m"])[sex],
            "region": [f"r{n}" for n in region],
            "disease": [f"d{n}" for n in disease],
        }
    )


def independent(training: pd.DataFrame, rows: int, draw: np.random.Generator) -> pd.DataFrame:
    """Every column drawn from its own distribution."""
    return pd.DataFrame(
        {name: training[name].to_numpy()[draw.integers(0, len(training), rows)] for name in training}
    )


def copula(training: pd.DataFrame, rows: int, draw: np.random.Generator) -> pd.DataFrame:
    """Columns with their own distributions and the rank correlations of the training data."""
    coded = training.copy()
    for name in training.columns.difference(NUMBERS):
        coded[name] = pd.factorize(training[name], sort=True)[0]
    jitter = draw.random(coded.shape) - 0.5
    ranks = (coded + jitter).rank() / (len(coded) + 1)
    correlation = np.corrcoef(norm.ppf(ranks), rowvar=False)
    shares = norm.cdf(draw.multivariate_normal(np.zeros(len(correlation)), correlation, rows))
    return pd.DataFrame(
        {
            name: training[name]
            .sort_values()
            .to_numpy()[np.minimum((shares[:, i] * len(training)).astype(int), len(training) - 1)]
            for i, name in enumerate(training)
        }
    )


def memorizing(training: pd.DataFrame, rows: int, draw: np.random.Generator, share: float) -> pd.DataFrame:
    """A copula of which this share of the training records are in the file, at random places."""
    made = copula(training, rows, draw)
    count = round(share * len(training))
    copied, place = draw.permutation(len(training))[:count], draw.permutation(rows)[:count]
    made.iloc[place] = training.iloc[copied].to_numpy()
    return made


def noisy_copies(
    training: pd.DataFrame, rows: int, draw: np.random.Generator, noise: float = 0.05
) -> pd.DataFrame:
    """Training records, every number with noise of a part of its standard deviation."""
    made = training.iloc[draw.integers(0, len(training), rows)].reset_index(drop=True)
    for name in NUMBERS:
        spread = noise * training[name].std()
        made[name] = (made[name] + draw.normal(0, spread, rows)).round(1)
    return made

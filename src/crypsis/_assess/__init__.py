"""One verdict: ask every question the data allows, and hold the answers against a policy."""

from crypsis._assess._assess import assess
from crypsis._assess._attack_file import load_attack
from crypsis._assess._columns import age_limits

__all__ = ["age_limits", "assess", "load_attack"]

"""The suite of intruders who link two files, with columns of all kinds."""

from crypsis.linkage.suite._alignment_test import Contradiction
from crypsis.linkage.suite._attack import LinkAttack
from crypsis.linkage.suite._paired_columns import ProposedColumn
from crypsis.linkage.suite._suite import LinkSuite, attack_links

__all__ = ["Contradiction", "LinkAttack", "LinkSuite", "ProposedColumn", "attack_links"]

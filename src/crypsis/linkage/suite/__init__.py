"""The suite of intruders who link two files, with columns of all kinds."""

from crypsis.linkage.suite._alignment_test import Contradiction
from crypsis.linkage.suite._attack import LinkAttack
from crypsis.linkage.suite._field_kinds import field_of
from crypsis.linkage.suite._fields import Field
from crypsis.linkage.suite._paired_columns import ProposedColumn
from crypsis.linkage.suite._suite import LinkSuite, attack_links

__all__ = ["Contradiction", "Field", "LinkAttack", "LinkSuite", "ProposedColumn", "attack_links", "field_of"]

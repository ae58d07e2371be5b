"""What a table's process can be asked. Each operation takes plain values and gives plain values."""

from crypsis.web.operations._assessing import assess, causes
from crypsis.web.operations._attacking import attack
from crypsis.web.operations._comparing import compare, subject
from crypsis.web.operations._desk import Desk, begin
from crypsis.web.operations._looking import look
from crypsis.web.operations._making import make
from crypsis.web.operations._planning import curve, hierarchy, plan, sketch, what_if

OPERATIONS = {
    operation.__name__: operation
    for operation in (
        begin, look, assess, causes, sketch, what_if, curve, plan, hierarchy, make, compare,
        subject, attack,
    )
}  # fmt: skip

__all__ = ["OPERATIONS", "Desk"]

"""Memory: the limit this process has, and which errors say that it is short. Loads no library."""

from __future__ import annotations

import errno

_LEAST_ADDRESS_SPACE = 800_000_000
"""What the libraries map before they read anything; with less, some of them end the process."""
_NO_MEMORY = (
    "Cannot allocate memory",
    "failed to map segment",
    "bad_alloc",
    "bad allocation",
    "can't start new thread",
    "Unable to allocate",
)
"""Texts of errors of the system, the loader of libraries, C++ and NumPy where memory is short."""


def memory_shortage() -> str | None:
    """That the address space of this process is limited to too little, if it is."""
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY or limit >= _LEAST_ADDRESS_SPACE:
        return None
    return (
        f"Not enough memory: the address space is limited to {limit // 10**6:,} MB (ulimit -v), and "
        f"at least {_LEAST_ADDRESS_SPACE // 10**6:,} MB are needed."
    )


def lacks_memory(error: BaseException | None) -> bool:
    """Whether memory was short, which is many an error: of a library that cannot be loaded, too."""
    while error is not None:
        short = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
        if short or any(sign in str(error) for sign in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False

"""The decorator of a kernel that only other kernels call.

It has no way in from Python or C and no place in the cache: they would be compiled for every such
kernel, and took a fifth of the time of a first anonymization. What is called from Python is cached with
all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def inner(function: Kernel) -> Kernel:
    """Compile a kernel for other kernels."""
    compiled = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return cast("Kernel", compiled(function))

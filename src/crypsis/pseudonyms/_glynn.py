"""Glynn's formula where it runs best: on a CUDA device if there is one, else on the processor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.errors import MissingPart, TooLarge
from crypsis.pseudonyms.kernels import glynn, gpu
from crypsis.pseudonyms.kernels.sums import Minors, Permanent
from crypsis.results import Result

PROCESSOR = "processor"
_AUTO_ON_PROCESSOR = 32  # ten seconds on two cores; each row more doubles it
_AUTO_ON_GPU = 40  # about as long on one large device


@dataclass(frozen=True)
class Gpu(Result):
    """Whether permanents can be computed on a GPU here: on which devices, or why not."""

    usable: bool
    devices: tuple[str, ...]
    reason: str | None


class Where(NamedTuple):
    """A result, and where it was computed."""

    found: Permanent | Minors
    place: str


def gpu_status() -> Gpu:
    """Whether there is a GPU that permanents can use; if not, why.

    Set the environment variable CRYPSIS_GPU to `off` to keep everything on the processor.

    >>> gpu_status().usable or isinstance(gpu_status().reason, str)
    True
    """
    if os.environ.get("CRYPSIS_GPU", "").lower() in ("off", "0", "no"):
        return Gpu(False, (), "CRYPSIS_GPU is off")
    try:
        return Gpu(True, gpu.devices(), None)
    except RuntimeError as reason:
        return Gpu(False, (), str(reason))


def auto_size() -> int:
    """The largest block for which the formula is chosen without being asked for."""
    return _AUTO_ON_GPU if gpu_status().usable else _AUTO_ON_PROCESSOR


def largest() -> int:
    """The largest block the formula is able to do here."""
    return gpu.LARGEST if gpu_status().usable else glynn.LARGEST


def compute(matrix: NDArray[np.float64], *, minors: bool, method: str = "auto") -> Where:
    """The permanent of a block, and its minors where wanted; method "gpu" insists on the GPU.

    A device that fails (memory, driver, compiler) is not an error unless it was insisted on: the
    processor takes over where it can.
    """
    size = matrix.shape[0]
    status = gpu_status()
    if method == "gpu" and not status.usable:
        raise MissingPart(
            f"The GPU was asked for, but {status.reason}. Install the extra with "
            '`pip install "crypsis[gpu]"`, or use method="glynn", which takes the processor.'
        )
    if size > largest():
        raise TooLarge(
            f"Glynn's formula takes 2^{size - 1} steps for a block of {size} items; at most "
            f'{largest()} are possible here. Use method="sampling", or method="auto".'
        )
    if status.usable and (size >= gpu.SMALLEST or (method == "gpu" and size > 1)):
        try:
            return Where(_on_gpu(matrix, minors), ", ".join(dict.fromkeys(status.devices)))
        except Exception as problem:
            if method == "gpu" or size > glynn.LARGEST or not _is_of_the_device(problem):
                raise
    kernel = glynn.permanent_and_minors if minors else glynn.permanent
    return Where(kernel(matrix), PROCESSOR)


def _on_gpu(matrix: NDArray[np.float64], minors: bool) -> Permanent | Minors:
    """On the device, with progress; blocks too small for its plan are padded along the diagonal."""
    size = max(matrix.shape[0], gpu.SMALLEST)
    padded = np.eye(size)
    padded[: len(matrix), : len(matrix)] = matrix
    with progress.step("permanent on the GPU", total=1000) as work:
        done = 0

        def told(share: float) -> None:
            nonlocal done
            work.advance(round(1000 * share) - done)
            done = round(1000 * share)

        if not minors:
            return gpu.permanent(padded, told=told)
        found = gpu.permanent_and_minors(padded, told=told)
    return found._replace(minors=found.minors[: len(matrix), : len(matrix)])


def _is_of_the_device(problem: Exception) -> bool:
    return isinstance(problem, MemoryError) or type(problem).__module__.startswith("cupy")

"""Glynn's formula on a CUDA device if there is one, else on the processor."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis import progress
from crypsis.errors import MissingDependencyError, TooLargeError
from crypsis.pseudonyms.kernels import glynn, gpu
from crypsis.pseudonyms.kernels.sums import Minors, Permanent
from crypsis.results import Result

PROCESSOR = "processor"
_OFF = "CRYPSIS_GPU is off"
_MAX_PROCESSOR_SIZE = 32
"""Ten seconds on two cores; each row more doubles it."""
_MAX_GPU_SIZE = 40
"""About as long on one large device."""


class GpuStatus(Result):
    """Whether permanents can be computed on a GPU here: on which devices, or why not."""

    usable: bool
    devices: tuple[str, ...]
    reason: str | None


class GlynnResult(NamedTuple):
    """The permanent, with its minors where wanted, and where it was computed."""

    found: Permanent | Minors
    place: str


def gpu_status() -> GpuStatus:
    """Whether there is a GPU that permanents can use; if not, why.

    Returns
    -------
    GpuStatus
        The names of the devices, or the reason.

    Notes
    -----
    Set the environment variable CRYPSIS_GPU to `off` to keep everything on the processor.

    Examples
    --------
    >>> gpu_status().usable or isinstance(gpu_status().reason, str)
    True
    """
    if os.environ.get("CRYPSIS_GPU", "").lower() in ("off", "0", "no"):
        return GpuStatus(False, (), _OFF)
    try:
        return GpuStatus(True, gpu.devices(), None)
    except RuntimeError as reason:
        return GpuStatus(False, (), str(reason))


def auto_size() -> int:
    """The largest block for which the formula is chosen by default."""
    return _MAX_GPU_SIZE if gpu_status().usable else _MAX_PROCESSOR_SIZE


def max_size() -> int:
    """The largest block that the formula can compute here."""
    return gpu.LARGEST if gpu_status().usable else glynn.LARGEST


def compute(matrix: NDArray[np.float64], *, minors: bool, method: str = "auto") -> GlynnResult:
    """The permanent of a block, and its minors where wanted; method "gpu" requires the GPU.

    Where a device that is not required fails (memory, driver, compiler), the processor is used.
    """
    size = matrix.shape[0]
    status = gpu_status()
    if method == "gpu" and not status.usable:
        raise MissingDependencyError(
            f"The method 'gpu' needs a GPU: {status.reason}.",
            hint=f"{_remedy(status.reason)} Set {{method=glynn}} for the processor.",
        )
    if size > max_size():
        raise TooLargeError(
            f"Glynn's formula takes 2^{size - 1} steps for a block of {size} items; at most "
            f"{max_size()} items are possible here.",
            hint="Set {method=sampling}, or {method=auto}.",
        )
    if status.usable and (size >= gpu.SMALLEST or (method == "gpu" and size > 1)):
        try:
            return GlynnResult(_on_gpu(matrix, minors), ", ".join(dict.fromkeys(status.devices)))
        except Exception as problem:
            if method == "gpu" or size > glynn.LARGEST or not _is_device_fault(problem):
                raise
    kernel = glynn.permanent_and_minors if minors else glynn.permanent
    return GlynnResult(kernel(matrix), PROCESSOR)


def _remedy(reason: str | None) -> str:
    if reason == gpu.NOT_INSTALLED:
        return "Run `pip install 'crypsis[gpu]'` where there is a device."
    if reason == _OFF:
        return "Remove the variable."
    return "CuPy is installed; what is missing is a device with its driver (nvidia-smi lists them)."


def _on_gpu(matrix: NDArray[np.float64], minors: bool) -> Permanent | Minors:
    """On the device, with progress; small blocks are padded along the diagonal."""
    size = max(matrix.shape[0], gpu.SMALLEST)
    padded = np.eye(size)
    padded[: len(matrix), : len(matrix)] = matrix
    with progress.step("permanent on the GPU", total=1000) as work:

        def on_progress(share: float) -> None:
            work.reach(round(1000 * share))

        if not minors:
            return gpu.permanent(padded, on_progress=on_progress)
        computed = gpu.permanent_and_minors(padded, on_progress=on_progress)
    return computed._replace(minors=computed.minors[: len(matrix), : len(matrix)])


def _is_device_fault(problem: Exception) -> bool:
    return isinstance(problem, MemoryError) or type(problem).__module__.startswith("cupy")

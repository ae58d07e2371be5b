"""Glynn's formula on CUDA: the permanent of a real matrix, and all of its minors, by CuPy.

The sign vectors are numbered by bits, one a row, the last row fixed. The lowest bits are walked by
one thread along a Gray code; the next number the threads of a block; the rest number the blocks.
All threads flip the same row at the same step. Each block writes its sums, and they are added here,
compensated: within rounding of that sum the answer does not depend on how many blocks go into a
launch, nor on how many devices share the launches. Progress is reported after each launch.

The matrix is rounded first so that every column sum is exact in 53 bits, whatever the signs. What
is left to bound is the rounding of the products, t times a term, and of the matrix itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.pseudonyms.kernels.sums import UNIT, Minors, Permanent, compensated

SMALLEST = 24  # below this the processor is done before the device has been asked
LARGEST = 48
NOT_INSTALLED = "CuPy is not installed"
_SOURCE = Path(__file__).with_name("glynn.cu")
_THREADS = 256
_LAUNCH_SECONDS = 0.3  # how long a launch takes, about, and so how often progress is reported
_MOST_KEPT = 4  # rows whose weighted sums go into shared memory, where there is so much of it
_OLDEST = 60  # compute capability 6.0: doubles at half or a third of full speed, as they should be


class LaunchPlan(NamedTuple):
    """The division of the walk: bits of the sign vector for the thread, the threads and the blocks.

    A chunk is what one thread walks, or a pair of threads where minors are wanted; its sums are
    cleared into compensated ones after each stretch.
    """

    size: int
    walk: int
    stretch: int
    threads: int
    minors: bool

    @property
    def chunk_bits(self) -> int:
        """The rows whose signs number the chunks of a block."""
        return int(math.log2(self.threads)) - self.minors

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return 1 << (self.size - 1 - self.walk - self.chunk_bits)

    @property
    def columns(self) -> int:
        """Columns as laid out: two threads share them, and each takes them in pairs."""
        return -(-self.size // 4) * 4 if self.minors else self.size

    @property
    def rows(self) -> int:
        """Weighted sums of rows that a block writes; the last is the sum without a weight."""
        return (self.walk + self.chunk_bits + 1) * self.minors

    @property
    def width(self) -> int:
        """How many numbers a block writes: those, the total in two parts, the absolute total."""
        return self.rows * self.columns + 3


Launches = Callable[[LaunchPlan, NDArray[np.float64]], Iterator[NDArray[np.float64]]]
OnProgress = Callable[[float], None]


def launch_plan(size: int, *, minors: bool) -> LaunchPlan:
    """How a matrix of that size is cut: long walks, but blocks enough for a large device.

    >>> launch_plan(40, minors=False).blocks
    65536
    """
    chunk_bits = int(math.log2(_THREADS)) - minors
    walk = min(20 if minors else 15, max(6, size - 1 - chunk_bits - 9))
    return LaunchPlan(size, walk, min(12, walk), _THREADS, minors)


def permanent(
    matrix: NDArray[np.float64],
    *,
    on_progress: OnProgress | None = None,
    cut: LaunchPlan | None = None,
    launches: Launches | None = None,
) -> Permanent:
    """The permanent of a real square matrix; O(t 2^t) operations.

    `on_progress` gets the share that is done after each launch, and may raise to stop. `cut` and
    `launches` are for tests: another plan, and something else in the place of the devices.
    """
    cut = cut or launch_plan(matrix.shape[0], minors=False)
    rounded = exact_sums(matrix)
    totals = [np.zeros(3)]
    for part in _followed((launches or on_devices)(cut, rounded.matrix), cut, on_progress):
        totals.append(compensated(part))
    return _permanent(compensated(np.array(totals)), cut, rounded)


def permanent_and_minors(
    matrix: NDArray[np.float64],
    *,
    on_progress: OnProgress | None = None,
    cut: LaunchPlan | None = None,
    launches: Launches | None = None,
) -> Minors:
    """The permanent and, for each cell, the permanent without its row and column, in one walk."""
    size = matrix.shape[0]
    cut = cut or launch_plan(size, minors=True)
    rounded = exact_sums(matrix)
    totals, cells, first = [np.zeros(3)], [np.zeros((size, cut.columns))], 0
    for part in _followed((launches or on_devices)(cut, rounded.matrix), cut, on_progress):
        totals.append(compensated(part[:, -3:]))
        cells.append(_weighted(part[:, :-3].reshape(-1, cut.rows, cut.columns), first, size))
        first += len(part)
    whole = _permanent(compensated(np.array(totals)), cut, rounded)
    exponents = rounded.exponent - rounded.exponents - size + 1
    minors = np.ldexp(compensated(np.array(cells))[:, :size], exponents[None, :])
    return Minors(whole.permanent, minors, whole.absolute, whole.error)


def _weighted(blocks: NDArray[np.float64], first: int, size: int) -> NDArray[np.float64]:
    """For every row, the sums of blocks weighted by that row's sign: within them, or by number."""
    inside = blocks.shape[1] - 1
    whole = blocks[:, -1]
    sums = np.empty((size, blocks.shape[2]))
    sums[:inside] = compensated(blocks[:, :-1])
    numbers = np.arange(first, first + len(blocks))
    for row in range(inside, size - 1):
        sign = 1.0 - 2.0 * ((numbers >> (row - inside)) & 1)
        sums[row] = compensated(sign[:, None] * whole)
    sums[-1] = compensated(whole)
    return sums


class RoundedMatrix(NamedTuple):
    """A matrix whose column sums are exact; multiply its permanent by 2^exponent.

    `change` bounds the relative change of the permanent that rounding its cells can have caused.
    """

    matrix: NDArray[np.float64]
    exponents: NDArray[np.int64]
    change: float

    @property
    def exponent(self) -> int:
        """Of all columns together."""
        return int(self.exponents.sum())


def exact_sums(matrix: NDArray[np.float64]) -> RoundedMatrix:
    """Columns divided by powers of two until they sum to less than 1, cells rounded to 2^-53.

    Then every sum of cells with any signs has at most 53 bits. A matching takes one cell of each
    column, so the permanent changes by no more than the product of the columns' worst changes.

    >>> exact_sums(np.full((2, 2), 1 / 3)).matrix.sum(axis=0)
    array([0.66666667, 0.66666667])
    """
    sums = np.abs(matrix).sum(axis=0)
    exponents = np.frexp(np.where(sums > 0, sums, 0.5) * (1 + 1e-12))[1].astype(np.int64)
    level = np.ldexp(matrix, -exponents)
    rounded = np.rint(level * 2.0**53) * 2.0**-53
    share = np.abs(rounded - level) / np.where(level == 0, 1.0, np.abs(level))
    change = float(np.expm1(np.log1p(share.max(axis=0)).sum()))
    return RoundedMatrix(rounded, exponents, change)


def _permanent(totals: NDArray[np.float64], cut: LaunchPlan, rounded: RoundedMatrix) -> Permanent:
    """A product is rounded t times, a group of eight terms seven times, the rest compensated."""
    scale = math.ldexp(1.0, rounded.exponent - cut.size + 1)
    value, absolute = float(totals[0] + totals[1]) * scale, float(totals[2]) * scale
    error = (cut.size + 12) * UNIT * absolute + rounded.change * abs(value)
    return Permanent(value, absolute, error)


def _followed(
    parts: Iterator[NDArray[np.float64]], cut: LaunchPlan, on_progress: OnProgress | None
) -> Iterator[NDArray[np.float64]]:
    done = 0
    for part in parts:
        done += len(part)
        yield part
        if on_progress is not None:
            on_progress(done / cut.blocks)


@lru_cache(maxsize=1)
def devices() -> tuple[str, ...]:
    """The names of the devices that can be used; RuntimeError with the reason where there is none.

    Needs CuPy, a driver that is new enough for it, and a device with fast doubles.
    """
    try:
        import cupy
    except ImportError as missing:
        raise RuntimeError(NOT_INSTALLED) from missing
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        old = [d for d in range(count) if int(cupy.cuda.Device(d).compute_capability) < _OLDEST]
        names = [cupy.cuda.runtime.getDeviceProperties(d)["name"].decode() for d in range(count)]
    except Exception as problem:  # whatever the driver says, the processor can do the work
        raise RuntimeError(f"no CUDA device answers ({type(problem).__name__})") from problem
    if not names or old:
        raise RuntimeError("there is no CUDA device of compute capability 6.0 or newer")
    return tuple(names)


def on_devices(cut: LaunchPlan, matrix: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Launch after launch, over all devices in turn; what their blocks wrote, in order.

    Each device has two launches under way: one runs while the one before is added up.
    """
    workers = [_Device(number, cut, matrix) for number in range(len(devices()))]
    size = workers[0].launch_size()
    order = workers * -(-cut.blocks // (size * len(workers)))
    launches = zip(order, range(0, cut.blocks, size), strict=False)
    waiting = []
    for worker, first in launches:
        waiting.append((worker, worker.start(first, min(size, cut.blocks - first))))
        if len(waiting) == 2 * len(workers):
            before, out = waiting.pop(0)
            yield before.fetch(out)
    for worker, out in waiting:
        yield worker.fetch(out)


class _Device:
    """One CUDA device with the kernel for this size, and the matrix in its constant memory."""

    def __init__(self, number: int, cut: LaunchPlan, matrix: NDArray[np.float64]) -> None:
        import cupy

        self.cupy, self.cut, self.device = cupy, cut, cupy.cuda.Device(number)
        with self.device:
            most = self.device.attributes["MaxSharedMemoryPerBlockOptin"]
            kept, self.shared = _shared(cut, most)
            module = _module(number, cut, kept)
            self.kernel = module.get_function("minors" if cut.minors else "permanent")
            if self.shared:
                self.kernel.max_dynamic_shared_size_bytes = self.shared
            twice = np.ascontiguousarray(2.0 * matrix)
            module.get_global("twice").copy_from_host(twice.ctypes.data, twice.nbytes)

    def launch_size(self) -> int:
        """Blocks a launch: so many that every multiprocessor has the same number of them."""
        at_once = int(self.device.attributes["MultiProcessorCount"])
        terms = 1 << (self.cut.walk + self.cut.chunk_bits)
        operations = terms * self.cut.size * (5 if self.cut.minors else 2)
        waves = round(_LAUNCH_SECONDS * 1.2e13 / (operations * at_once))
        return min(at_once * max(1, waves), self.cut.blocks)

    def start(self, first: int, blocks: int) -> Any:
        """Launch these blocks; where they will write."""
        with self.device:
            out = self.cupy.empty((blocks, self.cut.width), dtype=np.float64)
            arguments = (np.uint64(first), out)
            self.kernel((blocks,), (self.cut.threads,), arguments, shared_mem=self.shared)
        return out

    def fetch(self, out: Any) -> NDArray[np.float64]:
        """Wait for a launch and bring its sums here."""
        with self.device:
            return np.asarray(out.get())


def _shared(cut: LaunchPlan, most: int) -> tuple[int, int]:
    """How many rows' sums fit into shared memory beside the matrix, and the bytes of it all."""
    if not cut.minors:
        return 0, 0
    fixed = 8 * (cut.size * cut.columns + cut.threads // 16)
    row = 8 * cut.columns // 2 * cut.threads
    kept = min(_MOST_KEPT, (most - fixed) // row)
    if kept < 1:
        raise MemoryError("the device has too little shared memory")
    return kept, fixed + kept * row


@lru_cache(maxsize=64)
def _module(device: int, cut: LaunchPlan, kept: int) -> Any:
    import cupy

    named = {
        "SIZE": cut.size,
        "WALK": cut.walk,
        "STRETCH": cut.stretch,
        "THREADS": cut.threads,
        "LOG_THREADS": int(math.log2(cut.threads)),
        "KEPT": kept,
        "MINORS" if cut.minors else "PERMANENT": 1,
    }
    options = ("--std=c++17", *(f"-D{name}={value}" for name, value in named.items()))
    return cupy.RawModule(code=_SOURCE.read_text(encoding="utf-8"), options=options)

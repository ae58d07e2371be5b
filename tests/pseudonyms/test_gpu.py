"""Permanents on a GPU: the same cutting on the processor, the choice of a device, the device."""

from __future__ import annotations

import math
import subprocess
import sys
import types
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from crypsis import pseudonyms as ps
from crypsis.errors import MissingDependencyError, ParameterError, TooLargeError
from crypsis.pseudonyms import _glynn
from crypsis.pseudonyms.kernels import glynn, gpu
from crypsis.pseudonyms.kernels.sums import compensated


def emulated(cut: gpu.LaunchPlan, matrix: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """What glynn.cu does, all chunks side by side: the same bits, flips, stretches and sums."""
    size, chunks = cut.size, 1 << cut.chunk_bits
    for first in range(0, cut.blocks, 3):  # launches of three blocks, the last one of fewer
        blocks = np.arange(first, min(first + 3, cut.blocks))
        number = blocks[:, None] * chunks + np.arange(chunks)
        signs = np.ones((*number.shape, size))
        for row in range(cut.walk, size - 1):
            signs[..., row] = 1 - 2 * ((number >> (row - cut.walk)) & 1)
        parity = signs.prod(axis=-1)
        total, absolute = np.zeros(number.shape), np.zeros(number.shape)
        running = np.zeros((*number.shape, cut.columns))
        weighted = np.zeros((cut.walk, *running.shape))
        grand = np.zeros((cut.walk + 1, *running.shape))
        sums = np.ones((*number.shape, cut.columns))
        sums[..., :size] = signs @ matrix
        for step in range(1 << cut.walk):
            if step > 0:
                row = (step & -step).bit_length() - 1
                up = 1.0 if (step >> row) & 2 else -1.0
                weighted[row] += -2.0 * up * running
                sums[..., :size] += up * 2 * matrix[row]
            term = (-1.0) ** step * sums.prod(axis=-1)
            total, absolute = total + term, absolute + np.abs(term)
            for j in range(cut.columns):
                running[..., j] += (-1.0) ** step * np.delete(sums, j, axis=-1).prod(axis=-1)
            if (step + 1) % (1 << cut.stretch) == 0:
                gray = step ^ (step >> 1)
                for row in range(cut.walk):
                    grand[row] += weighted[row] + (1 - 2 * ((gray >> row) & 1)) * running
                grand[-1] += running
                running[:], weighted[:] = 0.0, 0.0
        rows = [(parity[..., None] * grand[row]).sum(axis=1) for row in range(cut.walk)]
        for bit in range(cut.chunk_bits):
            sign = 1 - 2 * ((np.arange(chunks) >> bit) & 1)
            rows.append((sign[:, None] * parity[..., None] * grand[-1]).sum(axis=1))
        rows.append((parity[..., None] * grand[-1]).sum(axis=1))
        out = np.zeros((len(blocks), cut.width))
        if cut.minors:
            out[:, :-3] = np.stack(rows, axis=1).reshape(len(blocks), -1)
        out[:, -3], out[:, -1] = (parity * total).sum(axis=1), absolute.sum(axis=1)
        yield out


@pytest.mark.parametrize(("walk", "stretch"), [(3, 2), (4, 4), (5, 3)])
def test_the_same_cutting_on_the_processor(walk, stretch):
    cells = np.random.default_rng(walk).random((10, 10))
    expected = glynn.permanent_and_minors(cells)
    cut = gpu.LaunchPlan(10, walk, stretch, 8, minors=True)
    found = gpu.permanent_and_minors(cells, cut=cut, launches=emulated)
    assert found.permanent == pytest.approx(expected.permanent, rel=1e-12)
    assert found.absolute == pytest.approx(expected.absolute, rel=1e-12)
    np.testing.assert_allclose(found.minors, expected.minors, rtol=1e-10)
    alone = gpu.permanent(cells, cut=gpu.LaunchPlan(10, walk, stretch, 4, False), launches=emulated)
    assert alone.permanent == pytest.approx(expected.permanent, rel=1e-12)
    assert alone.absolute == pytest.approx(expected.absolute, rel=1e-12)


def test_the_bound_holds_against_rational_arithmetic():
    cells = np.random.default_rng(7).random((7, 7)) * 10.0 ** np.arange(7)
    exact = sum(
        math.prod(Fraction(cells[i, j]) for i, j in enumerate(order)) for order in permutations(range(7))
    )
    found = gpu.permanent(cells, cut=gpu.LaunchPlan(7, 2, 2, 4, False), launches=emulated)
    assert abs(Fraction(found.permanent) - exact) <= Fraction(found.error)
    assert found.error < 1e-12 * found.permanent


def test_column_sums_are_exact_whatever_the_signs():
    rng = np.random.default_rng(3)
    cells = rng.random((30, 30)) ** 8
    rounded = gpu.exact_sums(cells).matrix
    for _ in range(20):
        signs = rng.choice([-1, 1], 30)
        exact = [sum(int(s) * Fraction(c) for s, c in zip(signs, col, strict=True)) for col in rounded.T]
        assert [Fraction(float(s)) for s in signs @ rounded] == exact


def test_an_empty_column_counts_as_nothing():
    cells = np.ones((6, 6))
    cells[:, 2] = 0
    cut = gpu.LaunchPlan(6, 2, 2, 4, False)
    assert gpu.permanent(cells, cut=cut, launches=emulated).permanent == 0


def test_progress_is_reported_and_can_stop_the_run():
    cells, heard = np.ones((9, 9)), []
    cut = gpu.LaunchPlan(9, 3, 3, 4, False)
    gpu.permanent(cells, cut=cut, launches=emulated, on_progress=heard.append)
    assert heard == [3 / 8, 6 / 8, 1.0]

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpu.permanent(cells, cut=cut, launches=emulated, on_progress=stop)


def test_compensated_sums_of_any_length():
    for length in range(1, 9):
        terms = np.array([1.0, 1e16, -1e16, 1.0, 1e-3, 5.0, -1e20, 1e20])[:length]
        assert float(compensated(terms)) == pytest.approx(math.fsum(terms), rel=1e-15)


def test_plans_cover_every_sign_vector():
    for size in range(gpu.SMALLEST, gpu.LARGEST + 1):
        for minors in (False, True):
            cut = gpu.launch_plan(size, minors=minors)
            assert cut.blocks << (cut.walk + cut.chunk_bits) == 1 << (size - 1)
            assert 4 < cut.stretch <= cut.walk


@pytest.fixture
def no_gpu(monkeypatch):
    def absent() -> tuple[str, ...]:
        raise RuntimeError("CuPy is not installed")

    monkeypatch.setattr(gpu, "devices", absent)
    monkeypatch.delenv("CRYPSIS_GPU", raising=False)


@pytest.fixture
def a_gpu(monkeypatch):
    """A device that is not there: its work is done by the emulation, in a small plan."""
    monkeypatch.setattr(gpu, "devices", lambda: ("Imaginary 1",))
    monkeypatch.setattr(gpu, "SMALLEST", 8)
    monkeypatch.setattr(gpu, "on_devices", emulated)
    monkeypatch.setattr(gpu, "launch_plan", lambda size, minors: gpu.LaunchPlan(size, 3, 2, 4, minors))
    monkeypatch.delenv("CRYPSIS_GPU", raising=False)


def test_without_a_gpu_the_processor_does_it_and_the_reason_is_there(no_gpu):
    status = ps.gpu_status()
    assert not status.usable
    assert status.reason == "CuPy is not installed"
    cells = np.random.default_rng(0).random((9, 9))
    assert ps.permanent(cells, method="glynn") == pytest.approx(glynn.permanent(cells).permanent)
    with pytest.raises(MissingDependencyError, match=r"CuPy is not installed.*crypsis\[gpu\]"):
        ps.permanent(cells, method="gpu")
    with pytest.raises(TooLargeError, match="at most 40"):
        ps.permanent(np.random.default_rng(0).random((41, 41)), method="glynn")


def test_a_device_that_is_missing_is_named_and_not_the_package(monkeypatch):
    def count():
        raise OSError("cudaErrorNoDevice")

    runtime = types.SimpleNamespace(getDeviceCount=count)
    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.delenv("CRYPSIS_GPU", raising=False)
    with pytest.raises(MissingDependencyError, match="CuPy is installed; what is missing") as found:
        ps.permanent(np.eye(3), method="gpu")
    assert "pip install" not in str(found.value)


def test_a_gpu_is_used_and_the_report_says_so(a_gpu):
    from rich.console import Console

    from crypsis.report.pseudonyms import attack_view

    belief = ps.Belief(np.random.default_rng(1).random((9, 9)), truth=list(range(9)))
    on_gpu = ps.anonymity(belief, method="gpu")
    assert {block.where for block in on_gpu.blocks} == {"Imaginary 1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRYPSIS_GPU", "off")
        assert ps.gpu_status().reason == "CRYPSIS_GPU is off"
        fresh = ps.Belief(np.random.default_rng(1).random((9, 9)), truth=list(range(9)))
        here = ps.anonymity(fresh, method="glynn")
    assert {block.where for block in here.blocks} == {"processor"}
    assert float(on_gpu.expected_cracks) == pytest.approx(float(here.expected_cracks), rel=1e-11)
    screen = Console(record=True, width=80)
    screen.print(attack_view(ps.AttackOutcome("matrix", on_gpu, None), "beliefs"))
    assert "glynn on Imaginary 1" in screen.export_text()


def test_a_device_that_runs_out_of_memory_is_not_an_error_unless_insisted_on(a_gpu, monkeypatch):
    def full(cut: object, matrix: object) -> Iterator[NDArray[np.float64]]:
        raise MemoryError

    monkeypatch.setattr(gpu, "on_devices", full)
    cells = np.random.default_rng(2).random((9, 9))
    assert _glynn.compute(cells, minors=True).place == "processor"
    with pytest.raises(MemoryError):
        _glynn.compute(cells, minors=True, method="gpu")


def test_mistakes_of_ours_are_not_taken_for_the_devices(a_gpu, monkeypatch):
    def wrong(cut: object, matrix: object) -> Iterator[NDArray[np.float64]]:
        raise IndexError

    monkeypatch.setattr(gpu, "on_devices", wrong)
    with pytest.raises(IndexError):
        _glynn.compute(np.ones((9, 9)), minors=True)


def test_an_unknown_method_names_the_gpu_among_the_others():
    with pytest.raises(ParameterError, match="gpu"):
        ps.anonymity(np.eye(2), method="cuda")


def test_nothing_of_cuda_is_imported_before_it_is_needed():
    code = "import sys, crypsis.pseudonyms; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.gpu
@pytest.mark.parametrize("size", [24, 25, 26, 27, 30, 33, 36])
def test_device_uniform_matrix_against_the_closed_form(size):
    cells = np.full((size, size), 1 / size)
    exact = float(Fraction(math.factorial(size), size**size))
    minor = float(Fraction(math.factorial(size - 1), size ** (size - 1)))
    alone, both = gpu.permanent(cells), gpu.permanent_and_minors(cells)
    for found in (alone.permanent, both.permanent):
        assert found == pytest.approx(exact, rel=1e-9)
        assert abs(found - exact) <= alone.error
    np.testing.assert_allclose(both.minors, minor, rtol=2e-9)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(3))
def test_device_against_the_processor_on_random_matrices(seed):
    cells = np.random.default_rng(seed).random((28, 28))
    here, there = glynn.permanent_and_minors(cells), gpu.permanent_and_minors(cells)
    assert there.permanent == pytest.approx(here.permanent, rel=1e-8)
    assert gpu.permanent(cells).permanent == pytest.approx(here.permanent, rel=1e-8)
    np.testing.assert_allclose(there.minors, here.minors, rtol=1e-8)


@pytest.mark.gpu
def test_device_of_sparse_matrices_and_other_cuttings():
    rng = np.random.default_rng(5)
    cells = rng.random((26, 26)) * (rng.random((26, 26)) < 0.4) + np.eye(26)
    here = glynn.permanent_and_minors(cells)
    for walk, threads in ((6, 64), (9, 128), (11, 256)):
        cut = gpu.LaunchPlan(26, walk, min(7, walk), threads, minors=True)
        found = gpu.permanent_and_minors(cells, cut=cut)
        assert found.permanent == pytest.approx(here.permanent, rel=1e-8)
        np.testing.assert_allclose(found.minors, here.minors, rtol=1e-7, atol=1e-9 * here.permanent)


@pytest.mark.gpu
def test_device_is_chosen_by_itself_and_reported():
    belief = ps.Belief(np.random.default_rng(1).random((30, 30)), truth=list(range(30)))
    found = ps.anonymity(belief)
    assert {block.where for block in found.blocks} == set(ps.gpu_status().devices)


@pytest.mark.gpu
def test_device_stops_when_asked():
    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpu.permanent(np.full((38, 38), 1 / 38), on_progress=stop)
    assert gpu.permanent(np.full((26, 26), 1 / 26)).permanent > 0

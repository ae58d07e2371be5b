"""The decorator of kernels: compiled by Numba when first called, or ahead, with the package.

A wheel for one platform brings the kernels of the ordinary commands as machine code, in this folder,
one folder a package. `made_with.json` says for which Numba and which processor: where both fit, a
kernel is loaded from here; elsewhere, and in a wheel without machine code, it is compiled when it is
first called and kept in the cache of Numba.

What is loaded from this folder is code like the modules beside it, with the same owner and the same
permissions. It is found by the content of the modules it was compiled from: a kernel contains those it
calls, which stand in its folder, so that a change of one of them makes the whole folder compile anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, overload

import llvmlite.binding as llvm
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.np import linalg

FOLDER = Path(__file__).parent


def _load_arrays() -> None:
    """Load what Numba knows of arrays, but not the linear algebra of SciPy.

    Numba loads that to see whether it is there, which it is: half of the time of a first kernel.
    """
    ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ask


_load_arrays()


@overload
def kernel(function: Callable[..., Any]) -> Any: ...
@overload
def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]: ...
def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function with Numba, without the lock of the interpreter, and keep what was compiled.

    Parameters
    ----------
    function
        The function.
    options
        More options of `numba.njit`: `parallel`, `inline`, `error_model`, `fastmath`.
    """
    if function is None:
        return lambda function: _compiled(function, options)
    return _compiled(function, options)


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    compiled = numba.njit(cache=True, nogil=True, **options)(function)
    if compiled is not function:  # Numba can be told not to compile
        compiled._cache = _MachineCode(function)
    return compiled


@dataclass(frozen=True)
class _Target:
    """What machine code was made for, as Numba names it: system, processor, instructions."""

    names: tuple[str, str, str]

    def magic_tuple(self) -> tuple[str, str, str]:
        return self.names


@cache
def _target() -> _Target | None:
    """What the machine code in this folder was made for, if it runs here."""
    made_with = FOLDER / "made_with.json"
    if not made_with.is_file() or numba.config.CPU_NAME or numba.config.CPU_FEATURES:
        return None
    build = json.loads(made_with.read_text(encoding="utf-8"))
    if build["numba"] != numba.__version__ or build["system"] != llvm.get_process_triple():
        return None
    here = llvm.get_host_cpu_features()
    if not all(here.get(instruction.lstrip("+")) for instruction in build["instructions"].split(",")):
        return None
    return _Target((build["system"], build["processor"], build["instructions"]))


@cache
def _content(folder: Path) -> bytes:
    """A digest of the modules of a folder of kernels."""
    digest = hashlib.sha256()
    for module in sorted(folder.glob("*.py")):
        digest.update(hashlib.sha256(module.read_bytes()).digest())
    return digest.digest()


class _MachineCode(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel, which looks first at what came with the package."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        content = _content(Path(function.__code__.co_filename).parent)
        base = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(str(self._cache_path), base, content)
        folder = FOLDER.joinpath(*function.__module__.split(".")[1:-1])
        self._shipped = IndexDataCacheFile(str(folder), base, content)

    def _load_overload(self, signature: Any, context: Any) -> Any:
        target = _target()
        if target is not None:
            loaded = self._shipped.load(self._index_key(signature, target))
            if loaded is not None:
                return self._impl.rebuild(context, loaded)
        return super()._load_overload(signature, context)

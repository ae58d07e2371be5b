"""Kernels that come as machine code: loaded where they fit, compiled where they do not."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import llvmlite.binding as llvm
import numba
import pytest

from crypsis import machine_code
from tests.conftest import ROOT

SYSTEM = llvm.get_process_triple()
PROCESSOR = "generic"
INSTRUCTIONS = ",".join(  # some of this processor, whichever it is
    [f"+{name}" for name, there in sorted(llvm.get_host_cpu_features().items()) if there][:1]
)


def made_with(folder: Path, **changes: str) -> None:
    made = {
        "numba": numba.__version__,
        "system": SYSTEM,
        "processor": PROCESSOR,
        "instructions": INSTRUCTIONS,
    }
    (folder / "made_with.json").write_text(json.dumps(made | changes), encoding="utf-8")


def target(folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setattr(machine_code, "FOLDER", folder)
    return machine_code._target.__wrapped__()


def test_it_is_used_where_it_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_with(tmp_path)
    found = target(tmp_path, monkeypatch)
    assert found.magic_tuple() == (SYSTEM, PROCESSOR, INSTRUCTIONS)


@pytest.mark.parametrize(
    "changes",
    [
        {"numba": "0.1"},
        {"system": "pdp11-unknown-none"},
        {"instructions": f"{INSTRUCTIONS},+instruction-of-the-future"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_it_is_left_where_it_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str]
) -> None:
    made_with(tmp_path, **changes)
    assert target(tmp_path, monkeypatch) is None


def test_it_is_left_by_who_asks_numba_for_a_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_with(tmp_path)
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert target(tmp_path, monkeypatch) is None


def test_a_source_tree_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert target(ROOT / "src" / "crypsis" / "machine_code", monkeypatch) is None


MODULE = """
from crypsis.machine_code import kernel


@kernel
def twice(number):
    return 2 * number
"""
RUN = """
import sys
from pathlib import Path
from crypsis import machine_code
machine_code.FOLDER = Path(sys.argv[1])
from sample.kernels import doubled
assert doubled.twice(4) == 8
print(sum(doubled.twice.stats.cache_hits.values()))
"""


def hits(folder: Path, kept: Path, **variables: str) -> tuple[int, int]:
    """How often machine code was loaded and how much was compiled, in a process of its own."""
    path = os.pathsep.join((str(folder), str(ROOT / "src")))
    run = subprocess.run(
        [sys.executable, "-c", RUN, str(folder / "shipped")],
        env=os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(kept)} | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout), len(list(kept.rglob("*.nbc")))


def test_a_kernel_is_loaded_until_its_module_changes(tmp_path: Path) -> None:
    module = tmp_path / "sample" / "kernels" / "doubled.py"
    shipped = tmp_path / "shipped" / "kernels"
    module.parent.mkdir(parents=True)
    shipped.mkdir(parents=True)
    module.write_text(MODULE, encoding="utf-8")
    made = tmp_path / "made"
    assert hits(tmp_path, made, NUMBA_CPU_NAME=PROCESSOR, NUMBA_CPU_FEATURES=INSTRUCTIONS) == (0, 1)
    for path in made.rglob("*.nb[ic]"):
        shutil.copy(path, shipped)
    made_with(shipped.parent)
    os.utime(module, (1, 1))  # another time of the file, the same content: as after installing
    assert hits(tmp_path, tmp_path / "first") == (1, 0)
    module.write_text(MODULE.replace("2 * number", "number + number"), encoding="utf-8")
    assert hits(tmp_path, tmp_path / "changed") == (0, 1)


CALLER = """
from crypsis.machine_code import kernel
from sample.kernels.factor import factor


@kernel
def twice(number):
    return factor() * number
"""
FACTOR = """
from crypsis.machine_code import kernel


@kernel
def factor():
    return 1 + 1
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_changes(tmp_path: Path) -> None:
    """Its machine code contains the other: an update would go on with the old one."""
    module = tmp_path / "sample" / "kernels" / "doubled.py"
    module.parent.mkdir(parents=True)
    module.write_text(CALLER, encoding="utf-8")
    called = module.with_name("factor.py")
    called.write_text(FACTOR.replace("1 + 1", "3"), encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):  # 12 is not 8
        hits(tmp_path, tmp_path / "made")
    called.write_text(FACTOR, encoding="utf-8")
    assert hits(tmp_path, tmp_path / "made")[0] == 0
    assert hits(tmp_path, tmp_path / "made")[0] == 1


@pytest.mark.heavy
@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code is made for x86-64-v3")
def test_the_first_commands_after_installing_compile_nothing(tmp_path: Path) -> None:
    """The wheel with machine code, installed in an empty environment of an empty home."""
    tools = venv.EnvBuilder(with_pip=True)
    tools.create(tmp_path / "tools")
    python = tmp_path / "tools" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "hatchling", "wheel")
    run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "pure")
    (pure,) = (tmp_path / "pure").glob("*.whl")
    run(python, ROOT / "tools" / "compiled_wheel.py", pure, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-none-any" in pure.name
    assert "-none-any" not in wheel.name
    tools.create(tmp_path / "user")
    python = tmp_path / "user" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    home = tmp_path / "home"
    home.mkdir()
    for command in COMMANDS:
        run(
            python,
            "-m",
            "crypsis",
            *command.split(),
            cwd=home,
            HOME=str(home),
            NUMBA_CACHE_DIR=str(home / "numba"),
        )
    assert (home / "release.parquet").exists()
    assert sorted(path.name for path in home.rglob("*.nbc")) == []


COMMANDS = (
    "demo --output demo --rows 5000",
    "scan demo/people.csv --save roles.toml",
    "assess demo/people.csv --roles roles.toml",
    "anonymize demo/people.csv --roles roles.toml --k 5 -o release.parquet",
)


def run(*command: object, cwd: Path = ROOT, **variables: str) -> None:
    done = subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables,
    )
    assert done.returncode in (0, 1), done.stderr  # 1: not safe


def test_a_kernel_does_not_load_linear_algebra_and_kernels_of_others_have_it() -> None:
    code = (
        "import sys, numpy, numba\n"
        "from crypsis.counting.kernels.keys import places_of\n"
        "assert places_of(numpy.arange(3), numpy.array([2])).tolist() == [2]\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "two = 2 * numpy.eye(2)\n"
        "assert numba.njit(lambda one: one @ one)(two).sum() == 8\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""A wheel that brings its kernels as machine code, made from the one that has none.

    python tools/compiled_wheel.py dist/crypsis-0.1.0-py3-none-any.whl dist

The wheel is installed in an environment of its own, `crypsis compile` runs there, and what
Numba compiled is added to a copy of the wheel. The code is compiled for a processor that nearly all in use
have, not for the one at hand; which Numba and which processor stands in `machine_code/made_with.json`. The
new wheel is for this version of Python and for the systems that the wheel of Numba itself is for.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# x86-64-v3 (System V ABI, 2020): Intel since Haswell (2013), AMD since Excavator (2015).
PROCESSORS = {
    "x86_64": (
        "x86-64-v3",
        "+avx,+avx2,+bmi,+bmi2,+cmov,+crc32,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,"
        "+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave",
    )
}
PROCESSORS["AMD64"] = PROCESSORS["x86_64"]  # as Windows calls it

ABOUT = """
import json, llvmlite.binding, numba
from importlib.metadata import distribution
from pathlib import Path
import crypsis
print(json.dumps({
    "numba": numba.__version__,
    "system": llvmlite.binding.get_process_triple(),
    "tags": distribution("numba").read_text("WHEEL"),
    "package": str(Path(crypsis.__file__).parent),
}))
"""


def main(wheel: Path, into: Path) -> None:
    """Write the wheel with machine code to a folder."""
    if platform.machine() not in PROCESSORS:
        print(f"No machine code is made for a processor {platform.machine()}: it is compiled on first use.")
        return
    processor, instructions = PROCESSORS[platform.machine()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv")
        python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        run(python, "-m", "crypsis", "compile", NUMBA_CPU_NAME=processor, NUMBA_CPU_FEATURES=instructions)
        about = json.loads(run(python, "-c", ABOUT))
        run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
        (unpacked,) = folder.glob("crypsis-*")
        code = unpacked / "crypsis" / "machine_code"
        collect(Path(about["package"]), code)
        made = {
            "numba": about["numba"],
            "system": about["system"],
            "processor": processor,
            "instructions": instructions,
        }
        (code / "made_with.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        set_tags(next(unpacked.glob("*.dist-info/WHEEL")), re.findall(r"^Tag: .*$", about["tags"], re.M))
        print(run(sys.executable, "-m", "wheel", "pack", "--dest-dir", into, unpacked).strip())


def collect(package: Path, code: Path) -> None:
    """Copy what Numba keeps beside the modules, with their folders."""
    for path in sorted(package.rglob("__pycache__/*.nb[ic]")):
        place = code / path.parent.parent.relative_to(package)
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)


def set_tags(path: Path, tags: list[str]) -> None:
    """Say for which systems a wheel is."""
    kept = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
    ]
    lines = [*kept, "Root-Is-Purelib: false", *tags]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(*command: object, **variables: str) -> str:
    """The output of a command, run outside of any other environment of Python."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NUMBA"))}
    return subprocess.run(
        [str(one) for one in command], env=clean | variables, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

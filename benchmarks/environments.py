"""The peers' own virtual environments: their pins conflict with ours and with each other's.

An environment is made once, under `benchmarks/work/peers/`, and made again when its requirements
change. A peer that does not install is told once and left out of the run, never silently.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "work" / "peers"
PATIENCE = 900

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "pycanon": ("pycanon==1.3.6",),
    "anjana": ("anjana==1.2.3",),
    "thewalrus": ("thewalrus==0.22.0", "numpy==2.4.6"),
    "scikit-learn": ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "anonypy": ("anonypy==0.2.1", "pandas==2.3.3"),
    "crowds": ("crowds==0.0.1", "pandas==2.3.3"),
    "anonypyx": ("anonypyx==0.2.11", "numpy==2.4.6", "pandas==3.1.1"),
    "dit": ("dit==2.3", "numpy==2.4.6", "scipy==1.17.1"),
    "pyitlib": ("pyitlib==0.3.1", "numpy==2.4.6", "pandas==3.1.1"),
    "anonymeter": ("anonymeter==1.1.0", "numpy==1.26.4", "pandas==3.0.6"),
    "microaggregation": ("microaggregation==0.1.9", "numpy==2.4.6"),
    "splink": ("splink==5.0.0", "pandas==2.3.3"),
    "recordlinkage": ("recordlinkage==0.16", "pandas==2.3.3"),
}
"""What each peer needs, pinned; the first requirement is the peer itself."""

PEERS = Path(os.environ.get("CRYPSIS_PEERS", Path(__file__).resolve().parents[2] / "shared" / "peers"))
OUTSIDE: dict[str, tuple[str, str, str, str]] = {
    "arx": (
        "3.9.2",
        "javac",
        "arx/arx.jar",
        "build the library of https://github.com/arx-deidentifier/arx and put arx.jar, its libraries "
        "(lib) and an ArxBench.java (see studies/least_loss.py) into the folder arx of CRYPSIS_PEERS",
    ),
    "sdcmicro": (
        "5.8.1",
        "Rscript",
        "",
        "install R and its package sdcMicro, and name its library in R_LIBS",
    ),
}
"""Programs that are not Python: the version measured, the command and the file each needs, and how
to get it. They are driven by this Python."""

TRIED: dict[str, str] = {
    "cn.protect, dis-anonymization, datafly, mdav": "not on PyPI",
    "pyarxaas, privacypanda, permanent": "do not build on Python 3.11",
    "piquasso": "its pins cannot be met on Python 3.11",
    "anonymity-api, python-anonymity": (
        "install without the libraries they import; the second is what ANJANA grew out of"
    ),
    "aindo-anonymize, anonymizedf": "replace values, and measure or guarantee nothing",
    "acro": "checks published tables, not records",
    "mondrian, kanon, pysdc, pyanon": "have the name and do something else",
}
"""Looked for and left out, with the reason."""


class Unavailable(RuntimeError):  # noqa: N818 - reads as what it is
    """A peer whose environment could not be made."""


def python(peer: str) -> Path:
    """The peer's Python, in an environment that is made when it is first asked for."""
    if peer in OUTSIDE:
        return _outside(peer)
    home = FOLDER / peer
    stamp = home / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS[peer]) + "\n"
    binary = home / "bin" / "python"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return binary
    print(f"making the environment of {peer}: {', '.join(REQUIREMENTS[peer])}", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(binary), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*pip, *REQUIREMENTS[peer]], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{peer} did not install within {PATIENCE} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"{peer} did not install: {last}")
    stamp.write_text(wanted, encoding="utf-8")
    return binary


def version(peer: str) -> str:
    """The pinned version of the peer itself."""
    return OUTSIDE[peer][0] if peer in OUTSIDE else REQUIREMENTS[peer][0].partition("==")[2]


def _outside(peer: str) -> Path:
    """This Python, if the program that it is to drive is there."""
    _, command, file, how = OUTSIDE[peer]
    found = shutil.which(command) is not None and (not file or (PEERS / file).exists())
    if found and peer == "sdcmicro":
        asked = [command, "-e", "quit(status = !requireNamespace('sdcMicro', quietly = TRUE))"]
        found = subprocess.run(asked, capture_output=True, check=False).returncode == 0
    if not found:
        raise Unavailable(f"{peer} is not here: {how}")
    return Path(sys.executable)

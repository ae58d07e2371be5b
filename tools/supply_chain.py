"""What crypsis is made of: licences, a software bill of materials, and what is known against it.

    python tools/supply_chain.py licences     the runtime dependencies with their licences
    python tools/supply_chain.py sbom         the same as CycloneDX 1.6, in JSON
    python tools/supply_chain.py audit        known vulnerabilities, as far as can be told from here

All look at what is installed beside the interpreter that runs this.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("spark", "web", "excel", "cloud")
PERMISSIVE = (
    "0BSD",
    "Apache",
    "BSD",
    "CC0",
    "HPND",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Mozilla Public License 2.0",
    "PSF",
    "Python Software Foundation",
    "Unlicense",
    "Zlib",
)
REPLACEABLE = ("Lesser General Public License", "LGPL")
"""Of libraries that may be passed on beside what uses them, since anyone can replace them."""


@dataclass(frozen=True)
class Part:
    """A distribution that crypsis needs, directly or not."""

    name: str
    version: str
    licence: str
    needs: tuple[str, ...]

    @property
    def permissive(self) -> bool:
        """Whether its licence lets anyone use, change and pass on what is built with it."""
        allowed = (*PERMISSIVE, *REPLACEABLE)
        return any(word.lower() in self.licence.lower() for word in allowed)

    @property
    def url(self) -> str:
        """The package URL, as SBOMs write it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def parts() -> list[Part]:
    """Everything that is installed with crypsis and its extras, by name."""
    found: dict[str, Part] = {}
    waiting = [("crypsis", frozenset(EXTRAS))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue  # an extra that is not installed, such as the one for GPUs
        needs = _needs(one, extras)
        waiting += needs
        known = found[name].needs if name in found else ()
        names = tuple(sorted({*known, *(other for other, _ in needs)}))
        found[name] = Part(name, one.version, _licence(one), names)
    return [found[name] for name in sorted(found)]


def _required(one: Distribution) -> list[str]:
    """What a distribution asks for; for crypsis itself by its source, as an installation may be old."""
    if _plain(one.name) != "crypsis":
        return one.requires or []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = [
        f'{need} ; extra == "{extra}"'
        for extra, needs in project["optional-dependencies"].items()
        for need in needs
    ]
    return [*project["dependencies"], *optional]


def _needs(one: Distribution, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    needs = []
    for text in _required(one):
        need = Requirement(text)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needs.append((_plain(need.name), frozenset(need.extras)))
    return needs


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _licence(one: Distribution) -> str:
    """By the expression, else the classifiers, else the first line of what was written."""
    meta = one.metadata
    expression = meta.get("License-Expression")
    classified = [
        line.rsplit(" :: ", 1)[-1]
        for line in meta.get_all("Classifier") or ()
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    written = (meta.get("License") or "").strip().splitlines()
    return expression or ", ".join(classified) or (written[0] if written else "unknown")


def bill() -> dict[str, object]:
    """The parts as CycloneDX 1.6, without anything that changes from run to run."""
    every = parts()
    named = {part.name: part for part in every}
    own = named.pop("crypsis")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component(own, "application")},
        "components": [_component(part, "library") for part in named.values()],
        "dependencies": [
            {"ref": part.url, "dependsOn": [named[name].url for name in part.needs if name in named]}
            for part in (own, *named.values())
        ],
    }


def _component(part: Part, kind: str) -> dict[str, object]:
    return {
        "type": kind,
        "bom-ref": part.url,
        "name": part.name,
        "version": part.version,
        "purl": part.url,
        "licenses": [{"license": {"name": part.licence}}],
    }


def audit() -> int:
    """Ask for known vulnerabilities of the versions in constraints.txt.

    The list of vulnerabilities is on the network. Without it what can be told here is told:
    whether what is installed is what was constrained and fits together.
    """
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line)
    pinned = {_plain(name): version for name, version in pinned.items()}
    other = [part for part in parts() if pinned.get(part.name, part.version) != part.version]
    for part in other:
        print(f"{part.name} {part.version} is installed, constrained is {pinned[part.name]}")
    fits = subprocess.run([sys.executable, "-m", "pip", "check"], check=False).returncode
    options = "--no-deps --disable-pip --progress-spinner off --format json --requirement".split()
    command = [sys.executable, "-m", "pip_audit", *options, str(ROOT / "constraints.txt")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        judged = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        judged = []
    # Where the list cannot be reached, every part is skipped and the tool calls that a success.
    known = [one for one in judged if "skip_reason" not in one]
    bad = [one for one in known if one.get("vulns")]
    for one in bad:
        ids = ", ".join(found["id"] for found in one["vulns"])
        print(f"{one['name']} {one['version']} has known vulnerabilities: {ids}")
    print(f"{len(known)} of {len(pinned)} parts were looked up, {len(bad)} have vulnerabilities.")
    if len(known) < len(pinned):
        print("For the others nothing can be told from here: cannot tell.")
    return int(bool(other or bad) or fits != 0 or len(known) < len(pinned))


def main() -> int:
    """Do what was asked for on the command line."""
    asked = sys.argv[1] if len(sys.argv) == 2 else ""
    if asked == "licences":
        for part in parts():
            print(f"{part.name:28} {part.version:18} {part.licence}")
        return int(any(not part.permissive for part in parts()))
    if asked == "sbom":
        print(json.dumps(bill(), indent=2))
        return 0
    if asked == "audit":
        return audit()
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())

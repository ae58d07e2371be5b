"""sdcMicro, an R package, on its own data `testdata`: local suppression, by R's clock."""

from __future__ import annotations

import json
import subprocess
from typing import Any

_START = """
suppressWarnings(suppressMessages(library(sdcMicro))); data(testdata)
keys <- c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
sdc <- createSdcObj(testdata, keyVars = keys, weightVar = "sampling_weight")
"""
_END = 'cat(sprintf("\\n[%.6f, %.6f, %s]\\n", t[[3]], t[[1]] + t[[2]], found))'
EXPORT = 'write.csv(testdata, "{path}", row.names = FALSE, na = "")'


def run(code: str) -> Any:
    """The last line that R writes, as JSON."""
    command = ["Rscript", "-e", _START + code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def export(path: str) -> None:
    """Write `testdata` to a CSV file."""
    code = _START + EXPORT.format(path=path)
    subprocess.run(["Rscript", "-e", code], check=True, capture_output=True)


def removed(_: str, k: int) -> Any:
    """The values that local suppression removes."""
    code = f"t <- system.time(made <- localSuppression(sdc, k = {k})); "
    code += "found <- sum(is.na(made@manipKeyVars)) - sum(is.na(testdata[keys])); "
    return lambda: run(code + _END), lambda said: {"removed": said[2]}, lambda said: said[:2]

"""Libraries that are optional: loaded when first used, and named with their extra where missing."""

from __future__ import annotations

import importlib
from typing import Any

from crypsis.errors import MissingDependencyError

MODULES = {
    "adbc_driver_postgresql": "postgresql",
    "cupy": "gpu",
    "deltalake": "delta",
    "docx": "docx",
    "fastapi": "web",
    "fsspec": "cloud",
    "pyiceberg": "iceberg",
    "pyreadstat": "statistics",
    "pyspark": "spark",
    "python_calamine": "excel",
    "starlette": "web",
    "uvicorn": "web",
    "weasyprint": "pdf",
    "xlsxwriter": "excel",
    "yaml": "contracts",
}
"""The extra that installs a module."""


def import_extra(module: str, what: str, extra: str | None = None, *, also: str | None = None) -> Any:
    """A module of an extra; without it the error names what needs it and how to install it.

    `also` are packages that will be needed besides it.

    >>> import_extra("json", "Reading").dumps(1)
    '1'
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise missing_extra(module, what, extra, also=also) from None


def missing_extra(
    module: str, what: str, extra: str | None = None, *, also: str | None = None
) -> MissingDependencyError:
    """The error for a module that is not installed.

    >>> print(missing_extra("pyreadstat", "Reading Stata files"))
    Reading Stata files needs the package pyreadstat. Install it: pip install 'crypsis[statistics]'
    """
    name = extra or MODULES.get(module.split(".")[0])
    package = module.split(".")[0].replace("_", "-")
    requirement = f"'crypsis[{name}]'" if name else package
    requirement = f"{requirement} {also}" if also else requirement
    return MissingDependencyError(
        f"{what} needs the package {package}.",
        hint=f"Install it: pip install {requirement}",
        module=module,
        extra=name,
    )

"""What the tests share: the real data, a Spark session, a PostgreSQL server, a browser."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.cluster import QUICK_JAVA, Cluster
from tests.invented import write_census

# The first call of a kernel compiles it, so no example has a time of its own to keep.
settings.register_profile("crypsis", deadline=None, print_blob=True)
settings.load_profile("crypsis")

NO_SKIPS = os.environ.get("CRYPSIS_NO_SKIPS") == "1"
ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("CRYPSIS_DATA", ROOT.parent / "shared" / "data"))

ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()


SHARED = ("spark", "cluster", "postgres", "browser")


@pytest.hookimpl(tryfirst=True)  # before the runner reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests run on two processes; those that share what is slow to make share a process."""
    for item in items:
        if isinstance(item, pytest.Function) and not item.get_closest_marker("xdist_group"):
            given = getattr(item, "callspec", None)
            values = given.params.values() if given else ()
            names = {*item.fixturenames, *item.path.parts, *(v for v in values if isinstance(v, str))}
            group = next((shared for shared in SHARED if shared in names), None)
            if group or any(found[-1].scope == "module" for found in _fixtures(item)):
                item.add_marker(pytest.mark.xdist_group(group or item.nodeid.split("::")[0]))


def _fixtures(item: pytest.Function) -> list[Any]:
    """Where each of the fixtures of a test was defined, the nearest last."""
    return list(item._fixtureinfo.name2fixturedefs.values())


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Where skips are not allowed, a skipped test has failed."""
    outcome: Any = yield
    report = outcome.get_result()
    if NO_SKIPS and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed here: {report.longrepr}"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    if not DATA.is_dir():
        pytest.skip(f"the real data is not at {DATA}; set CRYPSIS_DATA")
    return DATA


@pytest.fixture(scope="session")
def adult(data_folder: Path) -> Any:
    """The UCI Adult training table as published: no header, '?' for missing."""
    import crypsis as cr

    return cr.read(data_folder / "adult" / "adult.data", names=ADULT_COLUMNS)


@pytest.fixture(scope="session")
def census_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented people in the form of the Adult table; for tests that need no number of it."""
    return write_census(tmp_path_factory.mktemp("census") / "census.data")


@pytest.fixture(scope="session")
def census(census_file: Path) -> Any:
    import crypsis as cr

    return cr.read(census_file, names=ADULT_COLUMNS)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone Spark cluster of our own: one master, two workers."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("no Java runtime; apt-get install default-jre-headless")
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        found.start(workers=2)
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator[Any]:
    """A session on that cluster; all tests on Spark share it."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(cluster.master)
        .appName("crypsis-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.executor.memory", "512m")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", QUICK_JAVA)
        .config("spark.executor.extraJavaOptions", QUICK_JAVA)
        .config("spark.shuffle.io.retryWait", "500ms")
        .config("spark.shuffle.io.maxRetries", "1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(cluster.folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A PostgreSQL server of our own on loopback; gives its connection string."""
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    programs = Path(found).parent if found else (folders[-1] if folders else None)
    if programs is None:
        pytest.skip("no PostgreSQL; apt-get install postgresql")
    # Not in the folder of pytest: each pytest that starts closes that to other users.
    base = Path(tempfile.mkdtemp(prefix="crypsis-postgres-"))
    home = base / "data"
    # The server refuses to run as root; then it runs as the user its package made.
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(base, "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [*as_user, str(programs / program), *arguments],
            check=True,
            capture_output=True,
            cwd=base,
            timeout=120,
        )

    run("initdb", "-D", str(home), "-U", "tester", "-A", "trust", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    log = str(base / "log")
    run("pg_ctl", "-D", str(home), "-o", options, "-l", log, "-w", "start")
    yield f"postgresql://tester@127.0.0.1:{port}/postgres"
    run("pg_ctl", "-D", str(home), "-m", "immediate", "stop")
    shutil.rmtree(base)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium; apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update"],
        )
        yield chromium
        chromium.close()

"""A real standalone Spark cluster on loopback, from the programs of the PySpark package."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Small jobs are over before Java's best compiler pays."""


@dataclass
class Cluster:
    """One master and some workers, each a process of its own with its executors below it."""

    folder: Path
    port: int = 0
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self, workers: int) -> None:
        self.port = free_port()
        address = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0"]
        self.processes.append(self._run("master.Master", *address, log="master"))
        self._await("Successfully registered|started|New state: ALIVE", 1)
        for _ in range(workers):
            self._launch()
        self._await("Registering worker", workers)

    def add_worker(self) -> None:
        """One worker more, ready to work."""
        there = self._seen("Registering worker")
        self._launch()
        self._await("Registering worker", there + 1)

    def kill_worker(self) -> None:
        """End one worker and its executors at once, as a machine that loses its power."""
        _kill(self.workers.pop(0))

    def stop(self) -> None:
        for process in (*self.workers, *self.processes):
            _kill(process)

    def _launch(self) -> None:
        size = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
        place = ["--work-dir", str(self.folder / "work"), self.master]
        name = f"worker{len(self.processes) + len(self.workers)}-{time.monotonic_ns()}"
        self.workers.append(self._run("worker.Worker", *size, *place, log=name))

    def _run(self, role: str, *arguments: str, log: str) -> subprocess.Popen[bytes]:
        import pyspark

        home = Path(pyspark.__file__).parent
        settings = {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        settings["SPARK_DAEMON_JAVA_OPTS"] = QUICK_JAVA
        environment = {**os.environ, **settings, "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}"]
        output: IO[bytes] = (self.folder / f"{log}.log").open("wb")
        with output:
            return subprocess.Popen(
                [*command, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def _seen(self, sign: str) -> int:
        text = (self.folder / "master.log").read_text(errors="replace")
        return sum(any(part in line for part in sign.split("|")) for line in text.splitlines())

    def _await(self, sign: str, times: int, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while self._seen(sign) < times:
            if time.monotonic() > end:
                logs = [path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log")]
                raise TimeoutError(f"the cluster did not come up: {logs}")
            time.sleep(0.1)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The process and everything it started; executors belong to their worker's session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

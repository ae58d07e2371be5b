"""Where pyCANON is wrong: its answers beside the right ones; the proofs are in tests/inference."""

from __future__ import annotations

import json

from benchmarks import environments, measure


def main() -> None:
    peer = measure.Contender("pyCANON", "benchmarks.peers.pycanon_peer", "cases", "pycanon")
    answers = measure.run(peer, [], state="whole").answer
    found = {"version": environments.version("pycanon"), "answers": answers}
    print(json.dumps(found, indent=2), flush=True)
    measure.write("pycanon_study", found)


if __name__ == "__main__":
    main()

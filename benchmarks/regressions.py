"""The guard: quick tasks measured again, their ratios held against the last recorded ones.

Ratios are those of a kind of machine: another processor may take twice as long for one contender
and not for the other. So they are recorded by kind in `results/quick.json`, and only a machine of a
kind that is there can fail. On any other kind the guard records what it measured, says so, and
passes, unless an answer is no longer equal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks import environments, measure, tasks
from benchmarks.tables import seconds

RECORD = "quick"

MOVED = 0.30
OURS = 0.10
RUNS = 3


@dataclass(frozen=True)
class Move:
    """A task whose ratio to its peer is not what it was."""

    before: measure.Comparison
    now: measure.Comparison

    @property
    def change(self) -> float:
        """How much larger (or, below zero, smaller) the ratio is now, as a share."""
        return self.now.ratio / self.before.ratio - 1

    @property
    def by_us(self) -> bool:
        """Whether crypsis itself takes longer; else the peer was quicker, as machines have days."""
        return self.change > 0 and self.now.ours_seconds > (1 + OURS) * self.before.ours_seconds

    def line(self) -> str:
        """Which way it went, and who moved."""
        way = "slower" if self.change > 0 else "faster"
        ours, theirs = (
            f"{seconds(getattr(self.before, side))} -> {seconds(getattr(self.now, side))}"
            for side in ("ours_seconds", "theirs_seconds")
        )
        return (
            f"{self.now.key}: ratio {self.before.ratio:.3f} -> {self.now.ratio:.3f} "
            f"({self.change:+.0%}, {way}; ours {ours}, theirs {theirs})"
        )


def moved(before: measure.Comparison, now: measure.Comparison) -> Move | None:
    """The move, if the ratio changed by more than 30 % by the clock and by processor time.

    On a machine that others use the clock alone moves; a change of the code moves both.
    """
    by_clock = abs(now.ratio / before.ratio - 1)
    by_processor = abs(now.cpu_ratio / before.cpu_ratio - 1)
    return Move(before, now) if min(by_clock, by_processor) > MOVED else None


def quick() -> list[tuple[str, measure.Task]]:
    """The tasks of the guard, with the module each is recorded under."""
    return [(m, task) for m in tasks.MODULES for task in tasks.tasks(m) if task.quick]


Ratios = dict[str, measure.Comparison]


def recorded(machine: str) -> Ratios:
    """The comparisons that were recorded on this kind of machine, by key."""
    path = measure.RESULTS / f"{RECORD}.json"
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    found = content.get("machines", {}).get(machine, [])
    return {one.key: one for one in (measure.Comparison(**each) for each in found)}


def record(machine: str, found: Sequence[measure.Comparison]) -> None:
    """Add comparisons to those of this kind of machine; the other kinds stay."""
    path = measure.RESULTS / f"{RECORD}.json"
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kinds = content.get("machines", {})
    merged = recorded(machine) | {one.key: one for one in found}
    kinds[machine] = [asdict(one) for one in merged.values()]
    measure.write(RECORD, {"machines": dict(sorted(kinds.items()))})


def main() -> int:
    """Measure, compare, measure again what seems to have moved; record what is new."""
    machine = measure.machine()
    known = recorded(machine)
    moves, unequal, fresh = [], [], []
    for module, task in quick():
        before = known.get(task.key)
        elsewhere = before or measure.recorded(module).get(task.key)
        try:
            now = measure.side_by_side(task, runs=RUNS)
            if before is not None and moved(before, now) is not None:  # once may be chance
                now = measure.side_by_side(task, runs=RUNS + 2)
        except environments.Unavailable as error:
            print(f"{task.name}: {error}; left out", flush=True)
            continue
        if before is None:
            fresh.append(now)
        elif (move := moved(before, now)) is not None:
            moves.append(move)
        if elsewhere is not None and elsewhere.equal and not now.equal:
            unequal.append(task.key)
    if fresh:
        record(machine, fresh)
    return told(machine, moves, unequal, [one.key for one in fresh])


def told(machine: str, moves: list[Move], unequal: list[str], fresh: list[str]) -> int:
    """Say what moved; the exit status, 1 if crypsis became slower or another answer."""
    if fresh:
        print(f"recorded for the first time on this kind of machine ({machine}), not compared:")
        print("".join(f"  {key}\n" for key in fresh), end="")
    for key in unequal:
        print(f"NO LONGER EQUAL: {key}")
    for move in moves:
        print(f"MOVED: {move.line()}")
    if not moves and not unequal:
        print(f"no ratio moved by more than {MOVED:.0%}")
    return 1 if unequal or any(move.by_us for move in moves) else 0

"""The guard: quick tasks measured again, their ratios held against the last recorded ones."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import environments, measure, tasks
from benchmarks.tables import seconds

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


def main() -> int:
    """Measure, compare, measure again what seems to have moved."""
    moves, unequal, unknown = [], [], []
    for module, task in quick():
        before = measure.recorded(module).get(task.key)
        if before is None:
            unknown.append(task.key)
            continue
        try:
            now = measure.side_by_side(task, runs=RUNS)
            if moved(before, now) is not None:  # once may be chance
                now = measure.side_by_side(task, runs=RUNS + 2)
        except environments.Unavailable as error:
            print(f"{task.name}: {error}; left out", flush=True)
            continue
        move = moved(before, now)
        if move is not None:
            moves.append(move)
        if before.equal and not now.equal:
            unequal.append(task.key)
    return told(moves, unequal, unknown)


def told(moves: list[Move], unequal: list[str], unknown: list[str]) -> int:
    """Say what moved; the exit status, 1 if crypsis became slower or another answer."""
    for key in unknown:
        print(f"never recorded: {key}; run make bench first")
    for key in unequal:
        print(f"NO LONGER EQUAL: {key}")
    for move in moves:
        print(f"MOVED: {move.line()}")
    if not moves and not unequal:
        print(f"no ratio moved by more than {MOVED:.0%}")
    return 1 if unequal or any(move.by_us for move in moves) else 0

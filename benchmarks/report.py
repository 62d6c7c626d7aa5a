# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement says: times of ours beside a peer's, and figures that stand by themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.measure import interleaved_medians


@dataclass(frozen=True)
class Row:
    """Time of one call of ours and of a peer's, medians of blocks in turns."""

    what: str
    case: str
    ours_us: float
    peer: str
    peer_us: float
    limit: float | None = None
    """Largest ratio that is accepted; None where there is no limit."""
    limit_us: float | None = None
    """Longest time of ours that is accepted; None where there is no limit."""

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours_us / self.peer_us

    @property
    def passes(self) -> bool:
        """Whether ratio and time are within their limits."""
        return (self.limit is None or self.ratio <= self.limit) and (
            self.limit_us is None or self.ours_us <= self.limit_us
        )

    @property
    def bound(self) -> str:
        """The limits as text, empty where there are none."""
        ratio = [] if self.limit is None else [f'{self.limit:.2f}']
        time = [] if self.limit_us is None else [f'{self.limit_us / 1e3:g} ms']
        return ', '.join(ratio + time)

    @property
    def key(self) -> str:
        """What and case."""
        return f'{self.what}: {self.case}'


@dataclass(frozen=True)
class Figure:
    """What is no ratio of two times: an exponent, a speed-up, seconds of this machine."""

    what: str
    case: str
    value: float
    unit: str
    limit: float
    at_least: bool = False
    """Whether the limit is the smallest accepted value instead of the largest."""
    peer: str | None = None
    peer_value: float | None = None

    @property
    def passes(self) -> bool:
        """Whether the value is within the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True)
class Work:
    """What the linearization of a robot asks of a core, and the time it takes."""

    robot: str
    operations: int
    doubles_moved: int
    at_peak_us: float
    measured_us: float


def compare(
    what: str,
    case: str,
    ours: Callable[[], object],
    peer: str,
    theirs: Callable[[], object],
    rounds: int,
    limit: float | None = None,
    limit_us: float | None = None,
    block_seconds: float = 5e-4,
) -> Row:
    """Time both in turns and print the row."""
    times = interleaved_medians({'ours': ours, 'peer': theirs}, rounds, block_seconds)
    both = 1e6 * times['ours'], peer, 1e6 * times['peer']
    row = Row(what, case, *both, limit, limit_us)
    print(line(row), flush=True)
    return row


def line(row: Row | Figure) -> str:
    """Return what is printed of a row or a figure."""
    mark = '' if row.passes else '  EXCEEDED'
    head = f'{row.what:32} {row.case:28}'
    if isinstance(row, Figure):
        beside = '' if row.peer_value is None else f'  {row.peer} {row.peer_value:.3g}'
        bound = 'at least' if row.at_least else 'at most'
        return f'{head} {row.value:9.3g} {row.unit:2}{beside}  {bound} {row.limit:.3g}{mark}'
    limit = f'  limit {row.bound}' if row.bound else ''
    return (
        f'{head} {row.ours_us:9.2f} us {row.peer_us:10.2f} us '
        f'{row.ratio:7.3f}  {row.peer}{limit}{mark}'
    )

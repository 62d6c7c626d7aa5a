# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of what stood, how far it was pushed, and how PD did at the same."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from geolin_ros.typing import Array

_HEAD = (
    'robot, seed', 'case', 'J', 'LQR', 'PD', 'peak LQR/PD', 'settled LQR/PD', 'rate', 'speed',
    'latency p50/p99', 'missed', 'gains of A, B', 'largest J LQR/PD',
)  # fmt: skip
LEGEND = """\
J: impulse over m g. LQR: three processes over DDS. speed: time of the robot over that of the
clock. missed: periods without the answer to their state. gains of A, B: how many were made of what
the linearizer published about calm states; bank: all beforehand. PD, and the largest J that either
bears, in one process with exact states and no delay.
"""


@dataclass(frozen=True, eq=False)
class Row:
    """One case: LQR over DDS, and PD beside it.

    Attributes
    ----------
    lqr
        Fields of `robot.Outcome`.
    lqr_borne, pd_borne
        Largest impulses in one process, None where it was not asked; of PD with the gains that
        do best.
    times, errors, pd_times, pd_errors
        Distance of the base from its reference over time [s, m].
    figures
        Stick figures, segments (k, 2, 3) in the world [m].
    """

    robot: str
    seed: int
    case: str
    lqr: dict[str, Any]
    pd_stands: bool
    pd_fallen: float | None
    pd_peak_error: float
    pd_settling: float
    lqr_borne: float | None
    pd_borne: float | None
    times: Array
    errors: Array
    pd_times: Array
    pd_errors: Array
    pushes: list[float]
    figures: list[Array]

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts."""
        lqr = self.lqr
        borne = [
            '-' if impulse is None else f'{impulse:.3f}'
            for impulse in (self.lqr_borne, self.pd_borne)
        ]
        return (
            f'{self.robot}, {self.seed}',
            self.case,
            f'{lqr["impulse"]:.3f}',
            'stands' if lqr['stands'] else _fell(lqr['fallen']),
            'stands' if self.pd_stands else _fell(self.pd_fallen),
            f'{1e3 * lqr["peak_error"]:.0f} / '
            f'{_unless(self.pd_stands, 1e3 * self.pd_peak_error)} mm',
            f'{_unless(lqr["stands"], lqr["settling"], 2)} / '
            f'{_unless(self.pd_stands, self.pd_settling, 2)} s',
            f'{lqr["rate"]:.0f} Hz',
            f'{lqr["speed"]:.2f}',
            f'{1e3 * lqr["latency"][0]:.2f} / {1e3 * lqr["latency"][1]:.2f} ms',
            f'{lqr["missed"]} of {lqr["periods"]}',
            'bank' if lqr['measured'] is None else str(lqr['measured']),
            ' / '.join(borne) + ' s',
        )


class Refused(NamedTuple):
    """A case that a robot cannot do, and why."""

    robot: str
    case: str
    reason: str


def verdict(rows: list[Row], refused: list[Refused]) -> bool:
    """Print the table; return whether every robot stood in what it can do, and can do anything."""
    for one in refused:
        print(f'INFEASIBLE  {one.robot}: {one.case}: {one.reason}')
    if not rows:
        return False
    table = [_HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(_HEAD))]
    print()
    for line in table:
        print('  '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    print(f'\n{LEGEND}', end='')
    for row in fallen(rows):
        print(f'FAIL  {row.robot}, seed {row.seed}: {row.case} at J {row.lqr["impulse"]:g} s')
    if not fallen(rows):
        print(f'PASS  {len(rows)} of {len(rows)} cases stand', flush=True)
    return not fallen(rows)


def fallen(rows: list[Row]) -> list[Row]:
    """Return the cases in which LQR did not stand."""
    return [row for row in rows if not row.lqr['stands']]


def markdown(rows: list[Row], refused: list[Refused]) -> str:
    """Return how many stood, what the columns mean, the table, and what is infeasible."""
    stood = f'{len(rows) - len(fallen(rows))} of {len(rows)} cases stand.'
    table = [_HEAD, ['---'] * len(_HEAD), *(row.cells() for row in rows)]
    lines = [stood, '', LEGEND, *(f'| {" | ".join(cells)} |' for cells in table), '']
    lines += [f'- infeasible: {one.robot}, {one.case}: {one.reason}' for one in refused]
    return '\n'.join([*lines, ''] if refused else lines)


def _fell(when: float | None) -> str:
    return 'swings' if when is None else f'falls {when:.1f} s'


def _unless(stands: bool, value: float, digits: int = 0) -> str:
    return f'{value:.{digits}f}' if stands else '-'

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What stood, how far it was pushed, and how PD did at the same: a table and a picture."""

from pathlib import Path
from typing import Any, NamedTuple

from geolin_ros.typing import Array

_HEAD = (
    'robot, seed', 'case', 'J', 'LQR', 'PD', 'peak LQR/PD', 'settled LQR/PD',
    'latency p50/p99', 'missed', 'gains of A, B', 'largest J LQR/PD',
)  # fmt: skip
LEGEND = """\
J: impulse over m g. LQR: three processes over DDS. missed: periods without the answer to their
state. gains of A, B: how many were made of what the linearizer published about calm states. PD,
and the largest J that either bears, in one process with exact states and no delay.
"""


class Row(NamedTuple):
    """One case: what `robot.outcome_of` says of LQR over DDS, and PD beside it.

    Largest impulses borne by either [s], where it was asked; times [s] and distances of the base
    from its reference [m] of both.
    """

    robot: str
    lqr: dict[str, Any]
    pd: dict[str, Any]
    borne: tuple[float, float] | None
    lqr_curve: tuple[Array, Array]
    pd_curve: tuple[Array, Array]

    def cells(self) -> tuple[str, ...]:
        """Return the row as texts."""
        lqr, both = self.lqr, (self.lqr, self.pd)
        peaks = (f'{1e3 * one["peak_error"]:.0f}' if one['stands'] else '-' for one in both)
        settled = (f'{one["settling"]:.2f}' if one['stands'] else '-' for one in both)
        p50, p99 = lqr['latency']
        return (
            self.robot,
            lqr['name'],
            f'{lqr["impulse"]:.3f}',
            *map(_verdict, both),
            f'{" / ".join(peaks)} mm',
            f'{" / ".join(settled)} s',
            f'{1e3 * p50:.2f} / {1e3 * p99:.2f} ms',
            f'{lqr["missed"]} of {lqr["periods"]}',
            str(lqr['measured']),
            '-' if self.borne is None else '{:.3f} / {:.3f} s'.format(*self.borne),
        )


def _verdict(one: dict[str, Any]) -> str:
    if one['stands']:
        return 'stands'
    return 'swings' if one['fallen'] is None else f'falls {one["fallen"]:.1f} s'


def markdown(rows: list[Row], infeasible: list[str]) -> str:
    """Return how many stood, what the columns mean, the table, and what is infeasible."""
    stood = f'{sum(row.lqr["stands"] for row in rows)} of {len(rows)} cases stand.'
    table = [_HEAD, ['---'] * len(_HEAD), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [stood, '', LEGEND]
    for line in table:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        lines.append(f'| {" | ".join(cells)} |')
    lines += ['', *(f'- infeasible: {sentence}' for sentence in infeasible)]
    return '\n'.join([*lines, ''] if infeasible else lines)


def draw(rows: list[Row], output: Path) -> None:
    """Save a picture of how far the base was off; the suffix chooses the format.

    Raises `OSError` if the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 0.6 + 2.0 * len(rows)), layout='constrained', facecolor='white')
    for row, (axes,) in zip(rows, figure.subplots(len(rows), 1, squeeze=False), strict=True):
        for start in row.lqr['pushes']:
            axes.axvspan(start, start + 0.1, color='#eceff2', zorder=0)
        for (times, away), colour, law in (
            (row.pd_curve, '#b23a2e', 'PD'),
            (row.lqr_curve, '#1d4e79', 'LQR over DDS'),
        ):
            axes.plot(times, 1e3 * away, color=colour, linewidth=1.0, label=law)
        axes.set_ylim(0.0, max(1.0, 1.5e3 * row.lqr_curve[1].max()))  # a robot that falls leaves
        axes.set_title(f'{row.robot}: {row.lqr["name"]}, J {row.lqr["impulse"]:g} s', loc='left')
        axes.set_ylabel('base off by [mm]')
    axes.set_xlabel('time [s]')
    figure.legend(*axes.get_legend_handles_labels(), loc='outside upper right', ncols=2)
    figure.savefig(output, dpi=110)

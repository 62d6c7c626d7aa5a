# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""LQR and PD in one process: laws, runs, how much either bears; a table and a picture of it."""

import argparse
import json
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from geolin_control.regulator import anchored

from geolin_demos.balance.cases import Case, Moment, Motion, cases_of
from geolin_demos.balance.robots import simulator_of
from geolin_demos.sim.simulator import Law, Measure, Recording, Simulator, simulate
from geolin_ros.control.lqr import design
from geolin_ros.control.weights import effort_limits
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.processes import end_with_parent
from geolin_ros.typing import Array

_HEAD = (
    'robot, seed', 'case', 'J', 'LQR', 'PD', 'peak LQR/PD', 'settled LQR/PD',
    'latency p50/p99', 'missed', 'largest J LQR/PD',
)  # fmt: skip
LEGEND = """\
J: impulse over m g. LQR: three processes over DDS. missed: periods without the answer to their
state. PD, and the largest J that either bears, in one process with exact states and no delay.
"""


class Row(NamedTuple):
    """One case: LQR over DDS as of `robot.outcome_of`, and PD beside it.

    Largest impulses borne by either [s]; times [s] and distances from the reference [m] of both.
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


PD_GAINS = {'point': ((8.0, 0.01), (16.0, 0.01)), 'surface': ((8.0, 0.02), (16.0, 0.01))}
"""Stiffness in effort limits a radian, damping in s of it: the best found, by kind of foot."""
LARGEST = 0.12
"""Impulse at which the search for the largest one ends [s]."""

MakeLaw = Callable[[TreeModel, Motion], Law]
MakeSensors = Callable[[Simulator], Measure]


class ScheduledLqr:
    """u = u_ref - (K + K_complement) log(g_ref^-1 g), all along the motion, anchored at the feet.

    Gains are those of each knot, interpolated between knots on the same supports.
    """

    def __init__(self, model: TreeModel, motion: Motion) -> None:
        self._model, self._motion = model, motion
        different = {id(knot): knot for knot in motion.knots}  # those that return are the same
        designed = {key: design(model, knot) for key, knot in different.items()}
        gains = (designed[id(knot)] for knot in motion.knots)
        self._gains = [one.K + one.K_complement for one in gains]

    def __call__(self, time: float, state: State) -> Array:
        """Return the efforts (n_u,) of the actuated joints."""
        moment = self._motion.at(time)
        feet = [support.frame for support in moment.supports]
        reference = anchored(self._model, moment.state, state, feet)
        K = self.gains(moment, state)
        u: Array = moment.tau[self._model.actuated] - K @ reference.difference(state)
        return u

    def gains(self, moment: Moment, state: State) -> Array:
        """Return K + K_complement for a moment of the motion."""
        K = self._gains[moment.knot]
        if moment.fraction:
            K = (1.0 - moment.fraction) * K + moment.fraction * self._gains[moment.knot + 1]
        return K


class Pd:
    """Each joint a spring with a damper about the motion's, and the motion's efforts added."""

    def __init__(self, model: TreeModel, motion: Motion, gains: tuple[float, float]) -> None:
        self._motion, self._actuated = motion, model.actuated
        self._stiffness = gains[0] * effort_limits(model)
        self._damping = gains[1] * self._stiffness

    def __call__(self, time: float, state: State) -> Array:
        """Return the efforts (n_u,) of the actuated joints."""
        moment, joints = self._motion.at(time), self._actuated
        lag, slow = moment.state.s - state.s, moment.state.r - state.r
        u: Array = moment.tau[joints] + self._stiffness * lag[joints]
        return u + self._damping * slow[joints]


def compare(
    jobs: Sequence[tuple[argparse.Namespace, Path]], stop: Event, with_largest: bool = True
) -> list[Row]:
    """Return the outcomes with those of the baseline beside them; none if `stop` was set.

    A job is the options of a robot and the file of an outcome over DDS. Raises `GeolinError` if
    one of the processes that do this is killed.
    """
    print(f'PD beside it: {len(jobs)} cases', flush=True)
    with ProcessPoolExecutor(None, get_context('spawn'), _begin) as pool:
        running = [pool.submit(_compare, *job, with_largest) for job in jobs]
        while not (stop.is_set() or all(one.done() for one in running)):
            time.sleep(0.2)
        if stop.is_set():
            for process in active_children():
                process.terminate()
            return []
    try:
        return [one.result() for one in running]
    except BrokenProcessPool as error:
        raise GeolinError(
            'a process that compares was killed, perhaps for lack of memory; take fewer --cases'
        ) from error


def _begin() -> None:
    """Leave Ctrl-C to the parent, but end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _compare(options: argparse.Namespace, file: Path, with_largest: bool) -> Row:
    lqr, saved = json.loads(file.read_text()), np.load(file.with_suffix('.npz'))
    simulator = simulator_of(options.robot, options.feet, options.effort_limit, options.friction)
    asked = [lqr['name']], lqr['height'], options.pushes, options.seed
    (case,) = cases_of(simulator, *asked).feasible
    laws = [partial(Pd, gains=gains) for gains in PD_GAINS[case.motion.knots[0].supports[0].kind]]
    tried = [run(simulator, case, law) for law in laws]
    # the better: who stands, falls later, is less far off
    pd = min(tried, key=lambda r: (not r.stands, -(r.fallen or np.inf), r.peak_error()))
    borne = None
    if with_largest:
        stands = run(simulator, case, ScheduledLqr).stands
        pd_borne = [
            largest_borne(simulator, case, law, first.stands)
            for law, first in zip(laws, tried, strict=True)
        ]
        borne = largest_borne(simulator, case, ScheduledLqr, stands), max(pd_borne)
    return Row(
        f'{simulator.model.name}, {options.seed}',
        lqr,
        pd.summary(case.pushes),
        borne,
        (saved['times'], saved['errors']),
        (np.array(pd.times), pd.distances()),
    )


def run(
    simulator: Simulator, case: Case, make_law: MakeLaw, make_sensors: MakeSensors | None = None
) -> Recording:
    """Run one case in this process; without sensors the law sees the truth."""
    simulator.pushes = list(case.pushes)
    law, motion = make_law(simulator.model, case.motion), case.motion
    sensors = None if make_sensors is None else make_sensors(simulator)
    return simulate(simulator, law, motion.reference, motion.duration, sensors=sensors)


def largest_borne(
    simulator: Simulator,
    case: Case,
    make_law: MakeLaw,
    stands: bool,
    make_sensors: MakeSensors | None = None,
) -> float:
    """Return the largest impulse [s] on the case's grid that does not fell the robot.

    Upwards from the case's own, at which it ``stands``, or downwards until it does.
    """
    tried, way = max(1, round(case.impulse / case.step)), 1 if stands else -1
    while 0 < tried + way <= round(LARGEST / case.step):
        tried += way
        harder = case.with_impulse(tried * case.step)
        if run(simulator, harder, make_law, make_sensors).stands != stands:
            return (tried if way < 0 else tried - way) * case.step
    return tried * case.step if stands else 0.0

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""PD with gravity compensation at the same tasks, and how much either law bears."""

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from geolin_ros import se3
from geolin_ros.balance.cases import Case, cases_of
from geolin_ros.balance.laws import PD_GAINS, Pd, ScheduledLqr
from geolin_ros.balance.motions import Motion
from geolin_ros.balance.report import Row
from geolin_ros.balance.robots import plan_of, simulator_of
from geolin_ros.kinematics import Kinematics
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.sim.recording import Recording
from geolin_ros.sim.simulator import Simulator
from geolin_ros.sim.trial import Law, simulate
from geolin_ros.typing import Array

LARGEST = 0.12
"""Impulse at which the search for the largest one ends [s]."""
PICTURES = 13
"""Of a filmstrip."""

MakeLaw = Callable[[TreeModel, Motion], Law]


def compare(robot: argparse.Namespace, folder: Path) -> list[Row]:
    """Return the outcomes in a folder with those of the baseline beside them.

    Parameters
    ----------
    robot
        Options of the robot, as `simulator_of` and `plan_of` read them. If thorough, how much is
        borne is asked of seed 0 alone.
    folder
        What the simulator saved.
    """
    simulator, _ = simulator_of(robot)
    rows = []
    for index, case in enumerate(cases_of(simulator, plan_of(robot))):
        if not (folder / f'{index}.json').exists():
            continue
        outcome = json.loads((folder / f'{index}.json').read_text())
        saved = np.load(folder / f'{index}.npz')
        laws = [
            partial(Pd, gains=gains) for gains in PD_GAINS[case.motion.knots[0].supports[0].kind]
        ]
        pd = min((run(simulator, case, law) for law in laws), key=_rank)
        settling = pd.settling_times(case.pushes)
        search = not (robot.thorough and robot.seed)
        rows.append(
            Row(
                robot=simulator.model.name,
                seed=robot.seed,
                case=case.name,
                lqr=outcome,
                pd_stands=pd.stands,
                pd_fallen=pd.fallen,
                pd_peak_error=pd.peak_error(),
                pd_settling=float(np.median(settling)) if settling.size else float('nan'),
                lqr_borne=largest_borne(simulator, case, ScheduledLqr) if search else None,
                pd_borne=max(largest_borne(simulator, case, law) for law in laws)
                if search
                else None,
                times=saved['times'],
                errors=_distances(saved['states'], saved['references']),
                pd_times=np.array(pd.times),
                pd_errors=np.linalg.norm(pd.errors()[:, :3], axis=1),
                pushes=[push.start for push in case.pushes],
                figures=_figures(simulator, saved['states']),
            )
        )
    return rows


def run(simulator: Simulator, case: Case, make_law: MakeLaw) -> Recording:
    """Run one case in this process."""
    simulator.pushes = list(case.pushes)
    law = make_law(simulator.model, case.motion)
    return simulate(simulator, law, case.motion.reference, case.motion.duration)


def _rank(recording: Recording) -> tuple[bool, float, float]:
    """Return what is smaller for the better run: fallen, how soon, how far off."""
    return not recording.stands, -(recording.fallen or np.inf), recording.peak_error()


def largest_borne(simulator: Simulator, case: Case, make_law: MakeLaw) -> float:
    """Return the largest impulse [s] on the case's grid that does not fell the robot.

    Upwards from the case's own as long as it stands, or downwards until it does.
    """
    first = max(1, round(case.impulse / case.step))
    tried = first
    stands = run(simulator, case.with_impulse(tried * case.step), make_law).stands
    way = 1 if stands else -1
    while 0 < tried + way <= round(LARGEST / case.step):
        tried += way
        if run(simulator, case.with_impulse(tried * case.step), make_law).stands != stands:
            return (tried if way < 0 else tried - way) * case.step
    return tried * case.step if stands else 0.0


def _distances(states: Array, references: Array) -> Array:
    """Return how far (k,) the base is from its reference [m]."""
    poses = zip(references[:, :16], states[:, :16], strict=True)
    twists = [se3.log(se3.relative(a.reshape(4, 4), b.reshape(4, 4))) for a, b in poses]
    distances: Array = np.linalg.norm(np.array(twists)[:, :3], axis=1)
    return distances


def _figures(simulator: Simulator, states: Array) -> list[Array]:
    """Return stick figures at equal distances in time: segments (k, 2, 3) in the world [m]."""
    model = simulator.model
    figures = []
    for index in np.linspace(0, len(states) - 1, PICTURES).astype(int):
        data = states[index]
        state = State(data[:16].reshape(4, 4), data[16 : 16 + model.n], *_rates(data, model.n))
        at = Kinematics(model, state)
        parents = model.tree.parent
        lines = [(at.H[parents[i], :3, 3], at.H[i, :3, 3]) for i in range(1, len(parents))]
        for frame, support in simulator.feet.items():
            H, body = at.pose(frame), model.frame(frame).body
            points = np.asarray(support.points) + np.asarray(support.placement)[:3, 3]
            lines += [(at.H[body, :3, 3], H[:3, :3] @ p + H[:3, 3]) for p in points]
        figures.append(np.array(lines))
    return figures


def _rates(data: Array, n: int) -> tuple[Array, Array]:
    return data[16 + n : 22 + n], data[22 + n :]

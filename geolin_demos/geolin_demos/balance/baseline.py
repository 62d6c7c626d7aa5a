# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""PD with gravity compensation at the same tasks, and how much either law bears."""

import argparse
import json
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import active_children, get_context
from pathlib import Path
from threading import Event
from typing import NamedTuple

import numpy as np

from geolin_demos.balance.cases import Case, cases_of
from geolin_demos.balance.laws import PD_GAINS, Pd, ScheduledLqr
from geolin_demos.balance.motions import Motion
from geolin_demos.balance.report import Row
from geolin_demos.balance.robots import plan_of, simulator_of
from geolin_demos.sim.recording import Recording
from geolin_demos.sim.simulator import Simulator
from geolin_demos.sim.trial import Law, Measure, simulate
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import GeolinError
from geolin_ros.model.tree import TreeModel
from geolin_ros.processes import end_with_parent
from geolin_ros.typing import Array

LARGEST = 0.12
"""Impulse at which the search for the largest one ends [s]."""
PICTURES = 13
"""Of a filmstrip."""

MakeLaw = Callable[[TreeModel, Motion], Law]
MakeSensors = Callable[[Simulator], Measure]


class WorkerError(GeolinError, RuntimeError):
    """A process that compares is no more."""


class Job(NamedTuple):
    """One case of a robot, and the folder in which its outcome over DDS is."""

    robot: argparse.Namespace
    folder: Path
    case: int


def jobs_of(robot: argparse.Namespace, folder: Path) -> list[Job]:
    """Return the cases that the simulator saved in a folder."""
    indices = sorted(int(file.stem) for file in folder.glob('[0-9]*.json'))
    return [Job(robot, folder, index) for index in indices]


def compare(jobs: Sequence[Job], stop: Event, with_largest: bool = True) -> list[Row]:
    """Return the outcomes with those of the baseline beside them; none if `stop` was set.

    The largest impulses that either bears are looked for ``with_largest``. Each core takes one
    case after the other. Raises `WorkerError` if one of the processes that do this is killed.
    """
    rows: list[Row] = []
    count = min(os.cpu_count() or 1, len(jobs))
    with ProcessPoolExecutor(count, get_context('spawn'), _begin) as pool:
        running = [pool.submit(_compare, job, with_largest) for job in jobs]
        try:
            for done, one in enumerate(running):
                print(f'PD beside it: case {done + 1} of {len(running)}', end='\r', flush=True)
                while not (wait([one], 0.2).done or stop.is_set()):
                    pass
                if stop.is_set():
                    return []
                rows.append(one.result())
        except BrokenProcessPool as error:
            raise WorkerError(
                'a process that compares was killed, perhaps for lack of memory; '
                'take fewer --cases'
            ) from error
        finally:
            if len(rows) < len(jobs):
                pool.shutdown(wait=False, cancel_futures=True)
                for process in active_children():
                    process.terminate()
    print()
    return rows


def _begin() -> None:
    """Leave Ctrl-C to the parent, but end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def _compare(job: Job, with_largest: bool) -> Row:
    """Return one row; if thorough, how much is borne is asked of seed 0 alone."""
    robot, file = job.robot, job.folder / f'{job.case}.json'
    simulator, _ = simulator_of(robot)
    case = cases_of(simulator, plan_of(robot)).feasible[job.case]
    laws = [partial(Pd, gains=gains) for gains in PD_GAINS[case.motion.knots[0].supports[0].kind]]
    tried = [run(simulator, case, law) for law in laws]
    pd = min(tried, key=_rank)
    settling = pd.settling_times(case.pushes)
    lqr_borne = pd_borne = None
    if with_largest and not (robot.thorough and robot.seed):
        lqr = run(simulator, case, ScheduledLqr)
        lqr_borne = largest_borne(simulator, case, ScheduledLqr, lqr.stands)
        pd_borne = max(
            largest_borne(simulator, case, law, first.stands)
            for law, first in zip(laws, tried, strict=True)
        )
    saved = np.load(file.with_suffix('.npz'), allow_pickle=False)
    return Row(
        robot=simulator.model.name,
        seed=robot.seed,
        case=case.name,
        lqr=json.loads(file.read_text()),
        pd_stands=pd.stands,
        pd_fallen=pd.fallen,
        pd_peak_error=pd.peak_error(),
        pd_settling=float(np.median(settling)) if settling.size else float('nan'),
        lqr_borne=lqr_borne,
        pd_borne=pd_borne,
        times=saved['times'],
        errors=saved['errors'],
        pd_times=np.array(pd.times),
        pd_errors=np.linalg.norm(pd.errors()[:, :3], axis=1),
        pushes=[push.start for push in case.pushes],
        figures=_figures(simulator, saved['states']),
    )


def run(
    simulator: Simulator, case: Case, make_law: MakeLaw, make_sensors: MakeSensors | None = None
) -> Recording:
    """Run one case in this process; without sensors the law sees the truth."""
    simulator.pushes = list(case.pushes)
    law, motion = make_law(simulator.model, case.motion), case.motion
    sensors = None if make_sensors is None else make_sensors(simulator)
    return simulate(simulator, law, motion.reference, motion.duration, sensors=sensors)


def _rank(recording: Recording) -> tuple[bool, float, float]:
    """Return what is smaller for the better run: fallen, how soon, how far off."""
    return not recording.stands, -(recording.fallen or np.inf), recording.peak_error()


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


def _figures(simulator: Simulator, states: Array) -> list[Array]:
    """Return stick figures at equal distances in time: segments (k, 2, 3) in the world [m]."""
    model = simulator.model
    figures = []
    for index in np.linspace(0, len(states) - 1, PICTURES).astype(int):
        at = Kinematics(model, simulator.state.over(states[index]))
        parents = model.tree.parent
        lines = [(at.H[parents[i], :3, 3], at.H[i, :3, 3]) for i in range(1, len(parents))]
        for frame, support in simulator.feet.items():
            H, body = at.pose(frame), model.frame(frame).body
            points = np.asarray(support.points) + np.asarray(support.placement)[:3, 3]
            lines += [(at.H[body, :3, 3], H[:3, :3] @ p + H[:3, 3]) for p in points]
        figures.append(np.array(lines))
    return figures

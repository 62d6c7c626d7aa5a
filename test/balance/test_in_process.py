# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Short closed loops in one process: what must stand stands, pushed; and what PD bears."""

from functools import partial

import numpy as np
import pytest
from support.standing import simulator_of

pytest.importorskip('mujoco')

from geolin_control.regulator import Mode, Reference, Regulator, RegulatorSettings
from geolin_demos.balance.baseline import ScheduledLqr
from geolin_demos.balance.cases import lift_and_put_down, squat, stand
from geolin_demos.sim.simulator import (
    PERIOD,
    Push,
    Recording,
    push_of,
    random_pushes,
    simulate,
    stands,
)

from benchmarks.balance_redesign import RedesignedLqr
from geolin_ros.dynamics.kinematics import Kinematics

QUADRUPEDS = 'quadruped', pytest.param('go2', marks=pytest.mark.soak)
HUMANOIDS = 'humanoid', pytest.param('g1_29dof_rev_1_0', marks=pytest.mark.soak)
IMPULSES = {4: (0.06, 0.04), 2: (0.025, 0.02)}
"""Borne on so many feet, and with one of them lifted."""


def run(robot, motion, law=ScheduledLqr, pushes=(), **options):
    simulator = simulator_of(robot)
    simulator.pushes = list(pushes)
    controller = law(simulator.model, motion)
    return simulate(simulator, controller, motion.reference, motion.duration, **options)


def three_pushes(robot, impulse, seed=0):
    mass = simulator_of(robot).model.total_mass
    return random_pushes(impulse, mass, seed, count=2, start=0.2, every=1.5)


@pytest.mark.parametrize('lifted', [0, 1])
@pytest.mark.parametrize('robot', [*QUADRUPEDS, *HUMANOIDS])
def test_robot__bears_pushes_on_all_feet_and_on_one_less(robot, lifted):
    feet = tuple(simulator_of(robot).feet)
    motion = stand(simulator_of(robot), 3.5, feet[:lifted])
    impulse = IMPULSES[len(feet)][lifted]
    recording = run(robot, motion, pushes=three_pushes(robot, impulse))
    assert recording.stands
    assert 0.005 < recording.peak_error() < 0.08


class Regulated:
    """The regulator as its node runs it: gains are made as it goes, of the model alone."""

    LAG = 20  # periods from one design to the next, also after a change of contacts

    def __init__(self, simulator, motion):
        supports = tuple(simulator.feet.values())
        settings = RegulatorSettings(anchor=True, gains_timeout=0.0)
        self.held, self.motion = Regulator(simulator.model, supports, settings), motion
        self.modes, self.feet, self.count = [], [], 0
        for k in range(-150, 0):  # feedback takes over while the robot is held
            self(k * PERIOD, motion.reference(0.0))
        self.modes.clear()

    def __call__(self, time, state):
        held, moment = self.held, self.motion.at(time)
        held.follow(Reference(moment.state, moment.tau))
        held.stand_on([support.frame for support in moment.supports])
        if self.count % self.LAG == 0:
            held.redesign()
        self.count += 1
        command = held.command(time, state)
        self.modes.append(command.mode)
        self.feet.append(held.gains.contacts)
        return command.efforts


def test_regulator__lifts_a_foot_and_puts_it_down_on_gains_made_as_it_goes():
    simulator = simulator_of('quadruped')
    simulator.pushes = []
    motion = lift_and_put_down(simulator, 'FL_foot', shift=0.6, hold=0.2, start=0.1)
    law = Regulated(simulator, motion)
    recording = simulate(simulator, law, motion.reference, 2.6)
    assert recording.stands
    assert set(law.modes) == {Mode.FEEDBACK}
    assert {len(feet) for feet in law.feet} == {3, 4}
    heights = [
        Kinematics(simulator.model, recording.states[round(time / PERIOD)]).pose('FL_foot')[2, 3]
        for time in (0.0, 1.1, 2.5)
    ]
    assert heights[1] > heights[0] + 0.03
    assert heights[2] == pytest.approx(heights[0], abs=0.005)
    assert recording.peak_error() < 0.03
    assert recording.distances()[-1] < 0.01


@pytest.mark.parametrize(
    ('robot', 'law'),
    [
        ('humanoid', partial(RedesignedLqr, every=5)),
        pytest.param('g1_29dof_rev_1_0', ScheduledLqr, marks=pytest.mark.soak),
    ],
)
def test_humanoid__squats_on_gains_of_its_posture_and_of_the_motion(robot, law):
    simulator = simulator_of(robot)
    motion = squat(simulator, 0.15, 0.5, 3.2)
    heights = [motion.at(t).state.H[2, 3] for t in np.linspace(0.0, 3.2, 200)]
    assert np.ptp(heights) == pytest.approx(0.15, abs=1e-3)
    push = push_of(0.02, 1.0, 1.8, simulator.model.total_mass)
    recording = run(robot, motion, law, [push])
    assert recording.stands
    assert recording.peak_error() < 0.03


def test_recording__says_when_a_robot_has_fallen_and_when_a_push_is_over():
    reference = simulator_of('quadruped').model.neutral_state()
    reference.H[2, 3] = 0.3

    def after(time):  # pushed away from 1 s on, comes back as exp(-t / 0.1 s) from 1.1 s on
        state = reference.copy()
        state.H[0, 3] += 0.02 * np.exp(-max(0.0, time - 1.1) / 0.1) * (time > 1.0)
        return state

    recording = Recording()
    for time in np.arange(0.0, 3.0, 0.002):
        assert recording.add(time, after(time), reference)
    assert recording.stands
    assert recording.peak_error() == pytest.approx(0.02)
    settling = recording.settling_times([Push(1.0, (1.0, 0.0, 0.0))])
    np.testing.assert_allclose(settling, [0.1 * np.log(10.0)], atol=0.004)
    low = reference.copy()
    low.H[2, 3] = 0.25
    assert not recording.add(3.0, low, reference)
    assert (recording.fallen, recording.stands) == (3.0, False)
    assert not stands(reference.retract([0, 0, 0, 0.7, *[0] * 32]), reference)
    assert not recording.settling_times([Push(1.0, (1.0, 0.0, 0.0))]).size

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Gains along a gait: made once, kept in a file, played by the time."""

import json
import sys
from subprocess import PIPE, STDOUT

import numpy as np
import pytest
import scipy.linalg
from geolin_control.gain_bank import Step, gains_along
from geolin_control.gain_file import load_bank, save_bank
from geolin_control.regulator import Mode, Reference, Regulator
from geolin_walking.cli.gait_gains import gait_gains
from geolin_walking.reference import Command
from support.processes import Program

from geolin_ros import TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.errors import InfeasibleError, InputError, NotStabilizableError

pytest.importorskip('mujoco')

from geolin_demos.balance.robots import overlay
from geolin_demos.sim.simulator import PERIOD, Simulator, random_pushes
from geolin_demos.walk.course import prepare

FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
SPEED = 0.3


@pytest.fixture(scope='module')
def rotors(tmp_path_factory):
    path = tmp_path_factory.mktemp('gait') / 'rotors.yaml'
    path.write_text(overlay())
    return path


@pytest.fixture(scope='module')
def simulator(rotors):
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path, overlay=rotors)
    return Simulator(path, model, FEET)


@pytest.fixture(scope='module')
def file(rotors):
    """A file that the command has written."""
    path = rotors.with_name('trot.npz')
    words = ['gait-gains', 'quadruped', str(path), '--overlay', str(rotors)]
    assert main([*words, '--contacts', *FEET, '--velocity', str(SPEED), '0', '0']) == 0
    return path


def plant(rng, count=3, n_x=4, n_u=2):
    def cost():
        root = rng.normal(size=(n_x + n_u, n_x + n_u))
        return root @ root.T

    def step(W):
        A, B = rng.normal(size=(n_x, n_x)), rng.normal(size=(n_x, n_u))
        return Step(A, B, W[:n_x, :n_x], W[n_x:, n_x:], W[n_x:, :n_x])

    return [step(cost()) for _ in range(count)]


def test_gains__are_those_of_the_lifted_system_by_scipy():
    steps = plant(np.random.default_rng(3))
    n_x, n_u, N = 4, 2, len(steps)
    K, left = gains_along([*plant(np.random.default_rng(4)), *steps], 3)
    # All inputs of a period at once: z and each input as linear functions of z_0 and of these.
    now, cost = np.hstack((np.eye(n_x), np.zeros((n_x, N * n_u)))), 0.0
    for k, step in enumerate(steps):
        own = np.zeros((n_u, n_x + N * n_u))
        own[:, n_x + k * n_u : n_x + (k + 1) * n_u] = np.eye(n_u)
        both = np.vstack((now, own))
        W = np.block([[step.Q, step.S.T], [step.S, step.R]])
        cost = cost + both.T @ W @ both
        now = step.A @ now + step.B @ own
    A, B = now[:, :n_x], now[:, n_x:]
    Q, R, S = cost[:n_x, :n_x], cost[n_x:, n_x:], cost[:n_x, n_x:]
    P = scipy.linalg.solve_discrete_are(A, B, Q, R, s=S)
    lifted = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + S.T)
    np.testing.assert_allclose(K[3], lifted[:n_u], rtol=1e-8, atol=1e-8)
    assert left == pytest.approx(np.abs(np.linalg.eigvals(A - B @ lifted)).max(), rel=1e-6)


def test_gait_that_cannot_be__is_refused(simulator):
    step = plant(np.random.default_rng(5), 1)[0]._replace(A=2.0 * np.eye(4), B=np.zeros((4, 2)))
    with pytest.raises(NotStabilizableError, match='do not become periodic'):
        gains_along([step], 0)
    with pytest.raises(InfeasibleError, match=r'stands still at 0\.00 s'):
        gait_gains(simulator.model, list(simulator.feet.values()), Command())


@pytest.mark.parametrize(
    ('impulse', 'seconds', 'most'), [(0.0, 2.0, 3.0), (0.03, 4.0, 20.0)], ids=['alone', 'pushed']
)
def test_regulator__trots_by_the_file(simulator, file, impulse, seconds, most):
    gait = load_bank(file, simulator.model)
    prepare(simulator)
    regulator = Regulator(simulator.model, list(simulator.feet.values()), bank=gait)
    simulator.pushes = random_pushes(impulse, simulator.model.total_mass, 1, 2, 2.0, 1.0)
    start = simulator.state
    regulator.guard.begin(gait.knots[0].feedforward)
    regulator.follow(Reference(start.at_rest()))
    tilt, modes = 0.0, set()
    for k in range(round(seconds / PERIOD)):
        command = regulator.command(k * PERIOD, simulator.state)
        modes.add(command.mode)
        simulator.advance(command.efforts, PERIOD)
        tilt = max(tilt, float(np.arccos(np.clip(simulator.state.H[2, 2], -1.0, 1.0))))
    assert modes <= {Mode.FEEDBACK, Mode.DAMPING}
    assert np.degrees(tilt) < most
    way = simulator.state.H[:3, 3] - start.H[:3, 3]
    if impulse:
        assert way[0] > SPEED * 3.0
    else:
        np.testing.assert_allclose(way[:2], [SPEED * 1.6, 0.0], atol=0.1)


def test_gait_that_was_interrupted__begins_anew_with_a_reference(simulator, file):
    gait = load_bank(file, simulator.model)
    regulator = Regulator(simulator.model, list(simulator.feet.values()), bank=gait)
    prepare(simulator)
    state = simulator.state
    regulator.follow(Reference(state.at_rest()))
    for k in range(200):
        regulator.command(k * PERIOD, state)
    assert regulator.command(0.402, regulator.gains.state).mode is Mode.FEEDBACK
    away = state.copy()
    away.H[0, 3] += 2.0
    assert 'trust region' in regulator.command(0.404, away).reason
    assert 'a reference begins it anew' in regulator.command(0.406, state).reason
    regulator.damp(0.407, state, 'no odometry')
    assert (
        regulator.reference is None
    )  # as a state with odometry does it again, where the robot is then
    regulator.follow(Reference(state.at_rest()))
    modes = [regulator.command(0.408 + k * PERIOD, state).mode for k in range(200)]
    assert modes[-1] is Mode.FEEDBACK


def test_file__holds_the_same_numbers(simulator, file, tmp_path):
    gait = load_bank(file, simulator.model)
    path = tmp_path / 'again.yaml'
    save_bank(gait, simulator.model, path)
    again = load_bank(path, simulator.model)
    assert (again.first, again.period) == (gait.first, gait.period)
    np.testing.assert_array_equal(again.displacement, gait.displacement)
    for one, other in zip(again.knots, gait.knots, strict=True):
        assert one.contacts == other.contacts
        for name in ('K', 'K_complement', 'feedforward'):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.state.data, other.state.data)
    path.write_text(path.read_text().replace('routes:', 'routes: []\nothers:', 1))
    with pytest.raises(InputError, match='0 knots'):
        load_bank(path, simulator.model)


def test_lqr_node__trots_by_the_file_over_dds(file, rotors, ros_domain, tmp_path):
    """Simulator and controller as processes; the robot is pushed once."""
    pytest.importorskip('geolin_msgs.msg')
    from support.ros_graph import Process

    parameters = {
        'gain_bank': str(file),
        'overlay_file': str(rotors),
        'supports': FEET,
        'publish_efforts': True,
        'use_sim_time': True,
        'input_timeout': 5.0,  # of the robot's time, which goes on without an answer
    }
    program = [sys.executable, '-m', 'geolin_demos.balance.robot', '--robot', 'quadruped']
    program += ['--feet', ','.join(FEET), '--cases', '4 feet', '--pushes', '1']
    program += ['--answers', '/lqr_node/command', '--patience', '200', '--output', str(tmp_path)]
    node = Process(tmp_path, parameters, module='lqr_node')
    try:
        run = Program(program, stdout=PIPE, stderr=STDOUT, text=True)
        said = run.communicate(timeout=300.0)[0]
        assert ', J 0.06 s: moves on, ' in said, said + node.log
        node.stop()
    finally:
        node.end()
    robot = json.loads((tmp_path / '0.json').read_text())
    assert 0.6 < robot['drift'] < 0.8, robot  # of 0.3 m/s for 2.5 s, but for what the start takes
    assert robot['missed'] < 60
    assert 'damping' not in node.log.rpartition('[lqr_node]: feedback')[2], node.log

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot against our dynamics and Pinocchio, and against Newton's laws."""

import warnings

import numpy as np
import pytest
from support.close import assert_close
from support.robots import example_robot, example_robots

from geolin_ros import TreeModel, Wrench, forward_dynamics, mass_matrix, robots, urdf
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import (
    ConfigurationError,
    ModelError,
    ModelWarning,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
    UrdfError,
)

pytest.importorskip('mujoco')

import mujoco
from geolin_demos.sim.simulator import Push, Sensors, Simulator
from geolin_demos.sim.world import Floor, parse_feet

LEGS = tuple(f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR'))
FEET = {
    'quadruped': LEGS,
    'talos_full_v2': ('left_sole_link', 'right_sole_link'),
    'g1_29dof_rev_1_0': ('left_ankle_roll_link', 'right_ankle_roll_link'),
}


def simulator_of(robot, **options):
    path = robots.path(robot) if robot in robots.ROBOTS else example_robot(robot)
    moving = [joint.name for joint in urdf.read(path).joints if joint.kind != 'fixed']
    overlay = {'joints': {name: {'rotor_inertia': 0.01} for name in moving}}
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_urdf(path, overlay=overlay)
    return Simulator(path, model, FEET[robot], **options)


def standing_quadruped(**options):
    simulator = simulator_of('quadruped', **options)
    model = simulator.model
    state = model.neutral_state()
    state.s[:] = np.tile([0.0, 0.8, -1.6], 4)
    state.H[2, 3] -= simulator.clearance(state)
    simulator.state = state
    return simulator


def mass_matrix_of(simulator):
    """Return MuJoCo's M (6 + n, 6 + n) in our coordinates, armature included."""
    theirs, model = simulator.mujoco_model, simulator.model
    T, M = np.zeros((theirs.nv, model.m)), np.empty((theirs.nv, theirs.nv))
    T[:6, :6], T[:3, :3] = np.eye(6), simulator.state.H[:3, :3]
    T[simulator._v_of, 6 + model.tree.master] = model.tree.multiplier
    mujoco.mj_fullM(theirs, simulator.data, M)
    return T.T @ M @ T


def acceleration_of(simulator, tau):
    """Return MuJoCo's acceleration (6 + n,) at the state now, floor and pushes included."""
    simulator.advance(tau, 0.0)
    data, state = simulator.data, simulator.state
    data.xfrc_applied[1, :3] = simulator._push()
    mujoco.mj_forward(simulator.mujoco_model, data)
    linear = state.H[:3, :3].T @ data.qacc[:3] - np.cross(state.v[3:], state.v[:3])
    return np.concatenate((linear, data.qacc[3:6], data.qacc[simulator._v]))


def hold(simulator, duration, period=0.002):
    """Keep the joints where they are by stiff springs with dampers."""
    rest = simulator.state.s.copy()
    for _ in range(round(duration / period)):
        state = simulator.state
        simulator.advance(300.0 * (rest - state.s) - 6.0 * state.r, period)


@pytest.mark.parametrize('robot', ['quadruped', 'talos_full_v2'])
def test_simulator__has_the_accelerations_of_the_model(robot):
    simulator, rng = simulator_of(robot), np.random.default_rng(5)
    model = simulator.model
    state = model.random_state(rng)
    state.H[2, 3] = 5.0
    simulator.state = state
    assert_close(simulator.state.data, state.data, 1e-12, 'state there and back')
    simulator.mujoco_model.dof_frictionloss[:] = 0.0  # the URDF of talos has some, the model not
    tau = rng.uniform(-1.0, 1.0, model.n) * np.minimum(model.limits.effort, 5.0)
    limit = 1e-3 if model.dependent_joints else 1e-7  # MuJoCo's constraints are soft
    nu_dot = forward_dynamics(model, state, tau)
    assert_close(acceleration_of(simulator, tau), nu_dot, limit, 'nu_dot')


@pytest.mark.parametrize('path', example_robots(), ids=lambda path: path.stem)
def test_every_robot__has_the_mass_matrix_of_the_model(path):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        if path.stem == 'ur3':
            with pytest.raises(UrdfError, match='attribute name is missing'):
                TreeModel.from_urdf(path)
            return
        description = urdf.read(path)
        moving = [joint.name for joint in description.joints if joint.kind != 'fixed']
        rotors = {'joints': {name: {'rotor_inertia': 0.01} for name in moving}}
        mimic = 'independent' if path.stem == 'alex_psyonic_hands' else 'exact'  # of no joint
        model = TreeModel.from_description(
            description, base='floating', overlay=rotors, mimic=mimic
        )
    simulator = Simulator(path, model, [])
    simulator.state = state = model.random_state(np.random.default_rng(1))
    repaired = [note for note in simulator.notes if 'no rigid body has' in note]
    assert len(repaired) == {'romeo_small': 2, 'romeo_laas_small': 5}.get(path.stem, 0)
    if repaired:
        assert 'raised by at most' in repaired[0]
    else:
        assert_close(mass_matrix_of(simulator), mass_matrix(model, state), 1e-9, 'M')


def test_wrenches__explain_the_motion_by_the_equations_of_the_model():
    simulator = standing_quadruped()
    simulator.pushes.append(Push(0.0, (20.0, 10.0, 0.0), 0.05))
    hold(simulator, 0.1)
    tau = np.linspace(-8.0, 8.0, 12)
    nu_dot, found = acceleration_of(simulator, tau), simulator.wrenches()
    wrenches = [Wrench(frame, wrench[:3], wrench[3:]) for frame, wrench in found.items()]
    expected = forward_dynamics(simulator.model, simulator.state, tau, wrenches=wrenches)
    assert max(np.linalg.norm(wrench.force) for wrench in wrenches) > 20.0
    assert_close(nu_dot, expected, 1e-6, 'nu_dot')


def test_floor__without_friction_lets_the_feet_slide():
    distances = []
    for friction in (0.8, 0.0):
        simulator = standing_quadruped(floor=Floor(friction))
        simulator.pushes.append(Push(0.1, (30.0, 0.0, 0.0)))
        hold(simulator, 0.5)
        distances.append(Kinematics(simulator.model, simulator.state).pose('FL_foot')[0, 3])
    assert distances[1] - distances[0] > 0.05
    given = simulator.advance(np.full(12, 100.0), 0.002)  # cut at the limits of the URDF
    np.testing.assert_array_equal(given, np.tile([24.0, 24.0, 45.0], 4))


def test_feet__are_the_collision_shapes_of_the_urdf_unless_given():
    of_g1 = simulator_of('g1_29dof_rev_1_0').feet['left_ankle_roll_link']
    assert of_g1.kind == 'surface'
    np.testing.assert_allclose(of_g1.placement[:3, 3], [0.035, 0.0, -0.035])
    np.testing.assert_allclose(np.ptp(of_g1.points, axis=0), [0.17, 0.06, 0.0])
    of_quadruped = simulator_of('quadruped').feet['FL_foot']
    assert (of_quadruped.kind, of_quadruped.radius) == ('point', 0.02)


def test_parse_feet__reads_frames_and_soles():
    texts = parse_feet('FL_foot, sole:0.2x0.1@0.03,0,-0.1,tip:0.02@0,0,-0.2')
    assert texts == ['FL_foot', 'sole:0.2x0.1@0.03,0,-0.1', 'tip:0.02@0,0,-0.2']
    with pytest.raises(ConfigurationError, match='expected'):
        parse_feet('')


def test_sensors__are_late_and_blurred():
    model = TreeModel.from_urdf(robots.path('quadruped'))
    states = [model.random_state(np.random.default_rng(seed)) for seed in range(4)]
    late, noisy = Sensors(delay=2), Sensors(0.03, seed=1)
    found = [late(state).data for state in states]
    np.testing.assert_array_equal(found, [states[k].data for k in (0, 0, 0, 1)])
    errors = np.array([states[0].difference(noisy(states[0])) for _ in range(400)])
    expected = np.zeros(errors.shape[1])
    expected[18:21], expected[21:24] = 0.03, 0.06
    np.testing.assert_allclose(errors.std(axis=0), expected, rtol=0.15)


def test_simulator__refuses_what_it_cannot_simulate():
    path = robots.path('quadruped')
    model = TreeModel.from_urdf(path)
    fixed = TreeModel.from_urdf(path, base='fixed')
    for error, words, given in (
        (UnknownNameError, 'FL_foot', (path, model, ['FL_fot'])),
        (ModelError, 'fixed base', (path, fixed, [])),
        (ModelError, 'attribute name is missing', ('<robot/>', model, [])),
        (ConfigurationError, 'time step', (path, model, [], Floor(timestep=0.0))),
    ):
        with pytest.raises(error, match=words):
            Simulator(*given)
    with pytest.raises(ConfigurationError, match='delay'):
        Sensors(delay=-1)
    simulator = Simulator(path, model, [])
    for error, words, tau in (
        (ShapeError, r'\(12,\)', np.zeros(3)),
        (NotFiniteError, 'tau', np.full(12, np.nan)),
    ):
        with pytest.raises(error, match=words):
            simulator.advance(tau, 0.002)

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What efforts reach: of systems built to hide something, and of robots, by conservation laws."""

import dataclasses
import json

import numpy as np
import pytest
import scipy.linalg
from support.robots import example_robot, read_robot
from support.standing import stance, standing_robot

from geolin_ros import Description, Linearizer, Link, TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import design
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.stabilizability import analyze_modes, analyze_reduced, staircase
from geolin_ros.errors import ConfigurationError, InputError, NotStabilizableError
from geolin_ros.linearization.contacts import anchored
from geolin_ros.linearization.reduction import reduce

MOMENTA = [f'{kind} momentum {axis}' for kind in ('linear', 'angular') for axis in 'xyz']
INTEGRALS = [f'centre of mass {a}' for a in 'xyz']
INTEGRALS += [f'integral of angular momentum {a}' for a in 'xyz']


@pytest.mark.parametrize('hidden', [0, 1, 4])
def test_staircase__finds_what_was_hidden(hidden):
    rng = np.random.default_rng(hidden)
    k, u = 9, 2
    A, B = rng.normal(size=(k, k)), rng.normal(size=(k, u))
    A[k - hidden :, : k - hidden], B[k - hidden :] = 0.0, 0.0
    own = A[k - hidden :, k - hidden :]
    Q, _ = np.linalg.qr(rng.normal(size=(k, k)))
    T, stairs, controllable, kept, dropped = staircase(Q @ A @ Q.T, Q @ B)
    assert controllable == k - hidden
    np.testing.assert_allclose(T @ T.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(T.T @ (Q @ A @ Q.T) @ T, stairs, atol=1e-12)
    W = T[:, controllable:]
    np.testing.assert_allclose(W.T @ Q @ B, 0.0, atol=1e-12)
    np.testing.assert_allclose(stairs[controllable:, :controllable], 0, atol=1e-12)
    seen = stairs[controllable:, controllable:]
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(seen)),
        np.sort_complex(np.linalg.eigvals(own)),
        atol=1e-9,
    )
    if hidden:
        assert dropped < 1e-12 < 1e-4 < kept


def test_staircase__reaches_a_long_chain_of_zeros():
    """Where eigenvalue tests see only clouds of rounding."""
    k = 20
    A = np.diag(np.ones(k - 1), 1)
    B = np.eye(k)[:, -1:]
    assert staircase(A, B)[2] == k
    assert staircase(A, np.eye(k)[:, 11:12])[2] == 12
    assert staircase(A, np.zeros((k, 1)))[2] == 0


@pytest.fixture(scope='module')
def solo():
    return read_robot(example_robot('solo12'))[1]


def test_free_fall__cannot_change_its_momentum(solo):
    state = solo.random_state(np.random.default_rng(5))
    rest = solo.state(state.H, state.s, np.zeros(6), np.zeros(solo.n))
    report = analyze_modes(solo, rest)
    assert (report.controllable, report.states) == (24, 36)
    assert list(report.uncontrollable) == MOMENTA + INTEGRALS
    assert report.stabilizable is False
    assert np.max(np.abs(report.uncontrollable_eigenvalues)) < 1e-6
    assert report.largest_dropped < 1e-12 < 1e-3 < report.smallest_kept


def test_flight_in_motion__keeps_momentum_and_centre_of_mass_over_a_horizon(solo):
    state = solo.random_state(np.random.default_rng(0))
    moving = analyze_modes(solo, state, horizon=0.24)
    assert (moving.controllable, moving.states, moving.stabilizable) == (27, 36, None)
    assert list(moving.uncontrollable) == MOMENTA + INTEGRALS[:3]
    rest = solo.state(state.H, state.s, np.zeros(6), np.zeros(solo.n))
    assert analyze_modes(solo, rest, horizon=0.24).controllable == 24


def test_horizon__takes_shorter_steps_where_damping_is_fast():
    model = read_robot(example_robot('hextilt_flying_arm_5'))[1]
    report = analyze_modes(model, model.neutral_state(), horizon=0.05)
    assert report.controllable == report.states - 12
    assert list(report.uncontrollable) == MOMENTA + INTEGRALS
    faster = read_robot(example_robot('icub'))[1]
    with pytest.raises(ConfigurationError, match=r"at most .* s: the damping of joint '\w+'"):
        analyze_modes(faster, faster.neutral_state(), horizon=0.05)


@pytest.mark.parametrize(
    ('name', 'feet', 'states'), [('quadruped', 4, 12), ('quadruped', 3, 18), ('humanoid', 2, 44)]
)
def test_standing_robot__is_unstable_and_controllable(name, feet, states):
    model, supports, state = stance(name)
    if feet < len(supports):
        state = standing_posture(model, supports[:feet], start=state)
    report = analyze_modes(model, state, supports[:feet])
    assert (report.controllable, report.states, report.stabilizable) == (states, states, True)
    assert report.uncontrollable == ()
    assert report.constrained == 2 * model.m - states
    assert any(mode.eigenvalue.real > 1.0 for mode in report.modes)
    counted = sum(2 if mode.frequency else 1 for mode in report.modes)
    assert counted == states


def test_robot_on_one_point__cannot_turn_and_says_so():
    """Nothing there turns it about the vertical."""
    model, supports = standing_robot('quadruped')
    limits = dataclasses.replace(model.limits, effort=np.full(model.n, 1e3))
    strong, foot = dataclasses.replace(model, limits=limits), supports[:1]
    state = standing_posture(strong, foot, start=standing_posture(strong, supports))
    report = analyze_modes(strong, state, foot)
    assert (report.controllable, report.states) == (28, 30)
    assert list(report.uncontrollable) == ['angular momentum z', 'integral of angular momentum z']
    assert report.stabilizable is False
    assert report.constrained == 6
    with pytest.raises(NotStabilizableError, match='angular momentum z') as raised:
        design(strong, equilibrium(strong, state, foot))
    assert raised.value.report.controllable == 28


@pytest.mark.parametrize('what', ['moves', 'accelerates'])
def test_no_equilibrium__is_refused(what):
    model, supports, state = stance('quadruped')
    tau = equilibrium(model, state, supports).tau
    if what == 'moves':
        state.r[2] = 0.1
    with pytest.raises(InputError, match=f'{what}: .*expected an equilibrium.*horizon'):
        analyze_modes(model, state, supports, tau=1.1 * tau)


def test_wrong_arguments__are_named(solo):
    _, supports = standing_robot('quadruped')
    with pytest.raises(ConfigurationError, match='with a horizon of 1 s'):
        analyze_modes(solo, solo.neutral_state(), supports, horizon=1.0)
    with pytest.raises(ConfigurationError, match='expected a positive time'):
        analyze_modes(solo, solo.neutral_state(), horizon=0.0)
    arm = TreeModel.from_urdf(PENDULUM, base='fixed')
    with pytest.raises(ConfigurationError, match='expected a floating base'):
        analyze_modes(arm, arm.neutral_state(), horizon=0.1)
    body = Link.from_mass('body', 1.0, np.zeros(3), np.eye(3))
    drone = TreeModel.from_description(Description('drone', (body,), ()))
    with pytest.raises(ConfigurationError, match=r"'drone' has 0 joints"):
        analyze_modes(drone, drone.neutral_state(), horizon=1.0)


@pytest.mark.parametrize('damped', [False, True])
def test_full_pair__decays_by_baumgarte_terms_and_not_without(damped):
    """Counted by the poles of A alone: what the inputs reach, they can place elsewhere."""
    model, supports, state = stance('quadruped')
    point = equilibrium(model, state, supports)
    contacts = [s.contact for s in point.supports]
    if damped:
        held = [dataclasses.replace(contact, kd=20.0, kp=100.0) for contact in contacts]
        contacts = anchored(model, state, held)
    C = Linearizer(model, contacts)(state, point.tau).copy()
    assert analyze_reduced(model, state, reduce(C)).constrained == 24
    random = np.random.default_rng(0).normal(size=C.B.T.shape)
    before, moved = (scipy.linalg.eigvals(M) for M in (C.A, C.A - 0.1 * C.B @ random))
    stay = np.array([p for p in moved if np.abs(before - p).min() < 1e-2])
    assert len(stay) == 24
    np.testing.assert_allclose(stay, -10.0 if damped else 0.0, atol=1e-2)


def test_command__analyzes_flight(capsys, tmp_path):
    urdf, picture = str(robots.path('quadruped')), tmp_path / 'flight.png'
    assert main(['analyze-modes', urdf, '--picture', str(picture)]) == 0
    assert '24 of 36' in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b'\x89PNG'
    options = '--horizon', '0.2', '--posture', 'FL_calf_joint=-1.0'
    assert main(['analyze-modes', urdf, *options]) == 0
    assert 'reachable within 0.2 s: 24 of 36' in capsys.readouterr().out


def test_command__explains_what_cannot_stand(capsys):
    urdf = str(robots.path('quadruped'))
    assert main(['analyze-modes', urdf, '--contacts', 'FL_foot', '--height', '0.9']) == 1
    assert 'm high at best, asked for 0.900 m' in capsys.readouterr().err
    assert main(['analyze-modes', urdf, '--contacts', 'FL_foot', '--height', '0.35']) == 1
    assert 'no efforts and contact forces hold robot' in capsys.readouterr().err
    assert main(['analyze-modes', urdf, '--contacts', 'FL_foot']) == 1
    assert 'NOT stabilizable: no input reaches angular momentum z' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(['analyze-modes', urdf, '--posture', 'FL_calf_joint'])


PENDULUM = """
<robot name="pendulum"><link name="wall"/><link name="bob"><inertial><origin xyz="0 0 -0.5"/>
<mass value="2"/><inertia ixx=".3" ixy="0" ixz="0" iyy=".3" iyz="0" izz=".3"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="wall"/><child link="bob"/><axis xyz="0 1 0"/>
</joint></robot>
"""


@pytest.mark.parametrize('angle', [0.0, np.pi], ids=['hanging', 'upright'])
def test_pendulum_on_a_fixed_base__swings_or_falls_as_in_books(angle, tmp_path, capsys):
    (tmp_path / 'pendulum.urdf').write_text(PENDULUM)
    arguments = ['analyze-modes', str(tmp_path / 'pendulum.urdf'), '--base', 'fixed', '--json']
    assert main([*arguments, '--posture', f'hinge={angle}']) == 0
    modes = json.loads(capsys.readouterr().out)['modes']
    speed = np.sqrt(2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.5**2))
    assert (modes['states'], modes['controllable'], modes['stabilizable']) == (2, 2, True)
    found = [complex(mode['real'], mode['imaginary']) for mode in modes['modes']]
    expected = [1j * speed] if angle == 0.0 else [speed, -speed]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-9)

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What efforts reach: of systems built to hide something, and of robots, by conservation laws."""

import dataclasses
import json
import sys

import numpy as np
import pytest
import scipy.linalg
from matplotlib.figure import Figure
from support.robots import example_robot, read_robot
from support.standing import stance, standing_robot

from geolin_ros import Description, Linearizer, Link, TreeModel, robots
from geolin_ros.cli import main
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import design
from geolin_ros.control.mode_report import Mode
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.stabilizability import analyze_modes, analyze_reduced
from geolin_ros.control.staircase import staircase
from geolin_ros.errors import ConfigurationError, InputError, NotStabilizableError
from geolin_ros.linearization.contacts import anchored
from geolin_ros.linearization.reduction import reduce
from geolin_ros.model.tree import JointLimits
from geolin_tools import mode_picture

MOMENTA = [f'{kind} momentum {axis}' for kind in ('linear', 'angular') for axis in 'xyz']
INTEGRALS = [f'centre of mass {a}' for a in 'xyz']
INTEGRALS += [f'integral of angular momentum {a}' for a in 'xyz']


def turned(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


@pytest.mark.parametrize('hidden', [0, 1, 4])
def test_staircase__finds_what_was_hidden(hidden):
    rng = np.random.default_rng(hidden)
    k, u = 9, 2
    A, B = rng.normal(size=(k, k)), rng.normal(size=(k, u))
    A[k - hidden :, : k - hidden], B[k - hidden :] = 0.0, 0.0
    own = A[k - hidden :, k - hidden :]
    Q = turned(rng, k)
    found = staircase(Q @ A @ Q.T, Q @ B)
    assert found.controllable == k - hidden
    assert sum(found.blocks) == found.controllable
    np.testing.assert_allclose(found.T @ found.T.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(found.T.T @ (Q @ A @ Q.T) @ found.T, found.A, atol=1e-12)
    W = found.T[:, found.controllable :]
    np.testing.assert_allclose(W.T @ Q @ B, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.A[found.controllable :, : found.controllable], 0, atol=1e-12)
    seen = found.A[found.controllable :, found.controllable :]
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(seen)),
        np.sort_complex(np.linalg.eigvals(own)),
        atol=1e-9,
    )
    if hidden:
        assert found.largest_dropped < 1e-12 < 1e-4 < found.smallest_kept


def test_staircase__reaches_a_long_chain_of_zeros():
    """Where eigenvalue tests see only clouds of rounding."""
    k = 20
    A = np.diag(np.ones(k - 1), 1)
    B = np.eye(k)[:, -1:]
    assert staircase(A, B).controllable == k
    assert staircase(A, B).blocks == (1,) * k
    assert staircase(A, np.eye(k)[:, 11:12]).controllable == 12
    assert staircase(A, np.zeros((k, 1))).controllable == 0


@pytest.fixture(scope='module')
def solo():
    return read_robot(example_robot('solo12'))[1]


@pytest.mark.parametrize('unit', [1e-6, 1.0, 1e6])
def test_free_fall__cannot_change_its_momentum(solo, unit):
    rng = np.random.default_rng(5)
    state = solo.random_state(rng)
    rest = solo.state(state.H, state.s, np.zeros(6), np.zeros(solo.n))
    report = analyze_modes(solo, rest)
    assert (report.controllable, report.states) == (24, 36)
    assert list(report.uncontrollable) == MOMENTA + INTEGRALS
    assert report.stabilizable is False
    assert np.max(np.abs(report.uncontrollable_eigenvalues)) < 1e-6
    assert report.largest_dropped < 1e-12 < 1e-3 < report.smallest_kept
    L = Linearizer(solo.with_gravity([0.0, 0.0, 0.0]))(rest, np.zeros(solo.n))
    scale = np.repeat([1.0, 6.0], 18)
    scaled = L.A * scale / scale[:, None]
    assert staircase(scaled, unit * L.B / np.linalg.norm(unit * L.B)).controllable == 24


def test_flight_in_motion__keeps_momentum_and_centre_of_mass_over_a_horizon(solo):
    state = solo.random_state(np.random.default_rng(0))
    moving = analyze_modes(solo, state, horizon=0.24)
    assert (moving.controllable, moving.states, moving.stabilizable) == (27, 36, None)
    assert list(moving.uncontrollable) == MOMENTA + INTEGRALS[:3]
    rest = solo.state(state.H, state.s, np.zeros(6), np.zeros(solo.n))
    assert analyze_modes(solo, rest, horizon=0.24).controllable == 24


@pytest.mark.parametrize(
    'name', ['hextilt_flying_arm_5', pytest.param('icub_reduced', marks=pytest.mark.soak)]
)
def test_horizon__takes_shorter_steps_where_damping_is_fast(name):
    model = read_robot(example_robot(name))[1]
    report = analyze_modes(model, model.neutral_state(), horizon=0.05)
    assert report.controllable == report.states - 12
    assert list(report.uncontrollable) == MOMENTA + INTEGRALS


def test_horizon__longer_than_steps_can_be_is_refused_by_the_joint():
    model = read_robot(example_robot('icub'))[1]
    with pytest.raises(ConfigurationError, match=r"at most .* s: the damping of joint '\w+'"):
        analyze_modes(model, model.neutral_state(), horizon=0.05)


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
    assert report.full == (2 * model.m, states, 2 * model.m - states, False)
    assert any(mode.eigenvalue.real > 1.0 for mode in report.modes)
    counted = sum(2 if mode.frequency else 1 for mode in report.modes)
    assert counted == states


def on_one_foot():
    """A quadruped on the point of one foot: nothing there turns it about the vertical."""
    model, supports = standing_robot('quadruped')
    endless = np.full(model.n, 1e3)
    limits = JointLimits(model.limits.lower, model.limits.upper, model.limits.velocity, endless)
    strong = dataclasses.replace(model, limits=limits)
    four = standing_posture(strong, supports)
    return strong, standing_posture(strong, supports[:1], start=four), supports[:1]


def test_robot_on_one_point__cannot_turn_and_says_so():
    model, state, foot = on_one_foot()
    report = analyze_modes(model, state, foot)
    assert (report.controllable, report.states) == (28, 30)
    assert list(report.uncontrollable) == ['angular momentum z', 'integral of angular momentum z']
    assert report.stabilizable is False
    assert report.full == (36, 28, 6, False)
    with pytest.raises(NotStabilizableError, match='angular momentum z') as raised:
        design(model, equilibrium(model, state, foot))
    assert raised.value.report.controllable == 28


def test_hidden_entry__is_named_by_itself_or_as_a_mixture():
    """A joint with a spring, but no motor, in a robot that floats without gravity."""
    model, _ = standing_robot('quadruped')
    report = analyze_modes(dataclasses.replace(model, actuated_joints=()), model.neutral_state())
    assert report.controllable == 0
    assert len(report.uncontrollable) == 36
    assert 'rate of FL_calf_joint' in report.uncontrollable


@pytest.mark.parametrize('what', ['moves', 'accelerates'])
def test_no_equilibrium__is_refused_in_words(what):
    model, supports, state = stance('quadruped')
    tau = equilibrium(model, state, supports).tau
    if what == 'moves':
        state.r[2] = 0.1
    with pytest.raises(InputError, match=f'{what}: .*expected an equilibrium.*horizon'):
        analyze_modes(model, state, supports, 1.1 * tau)


def test_flying_robot_that_moves__is_refused_without_a_horizon(solo):
    with pytest.raises(InputError, match='moves: '):
        analyze_modes(solo, solo.random_state(np.random.default_rng(0)))


def test_robot_without_joints__is_out_of_reach_and_has_no_ranks():
    body = Link.from_mass('body', 1.0, np.zeros(3), np.eye(3))
    drone = TreeModel.from_description(Description('drone', (body,), ()))
    report = analyze_modes(drone, drone.neutral_state())
    assert (report.states, report.controllable, len(report.modes)) == (12, 0, 12)
    assert 'rank decision' not in report.text()
    assert 'out of reach of the inputs' in report.text()
    with pytest.raises(ConfigurationError, match=r"'drone' has no joints.*expected no horizon"):
        analyze_modes(drone, drone.neutral_state(), horizon=1.0)


def test_wrong_arguments__are_named(solo):
    _, supports = standing_robot('quadruped')
    with pytest.raises(ConfigurationError, match='with a horizon of 1 s'):
        analyze_modes(solo, solo.neutral_state(), supports, horizon=1.0)
    with pytest.raises(ConfigurationError, match='expected a positive time'):
        analyze_modes(solo, solo.neutral_state(), horizon=0.0)


def test_mode__says_how_fast_and_how_damped():
    swinging = Mode(complex(-3.0, 4.0), 'knee')
    assert swinging.time_constant == pytest.approx(1.0 / 3.0)
    assert swinging.damping == pytest.approx(0.6)
    assert 'decays in 0.333 s, swings at 4 rad/s, damping +0.60: knee' in swinging.text()
    assert 'grows in 0.5 s' in Mode(complex(2.0, 0.0), '').text()
    assert Mode(0j, '').time_constant == np.inf


def test_modes__are_those_of_a_pendulum_on_its_head():
    """A robot that holds its joints stiff tips like one body: sqrt(m g h / I) about its edge."""
    model, supports, state = stance('humanoid')
    report = analyze_modes(model, state, supports)
    slow = [m.eigenvalue.real for m in report.modes if m.eigenvalue.real > 1.0 and not m.frequency]
    height = equilibrium(model, state, supports).statics.com[2]
    assert min(slow) == pytest.approx(np.sqrt(9.81 / height), rel=0.15)
    assert scipy.linalg.norm(report.uncontrollable_eigenvalues) == 0.0


def test_full_pair__decays_by_baumgarte_terms_and_not_without():
    """Counted by the poles of A alone: what the inputs reach, they can place elsewhere."""
    model, supports, state = stance('quadruped')
    point = equilibrium(model, state, supports)
    held = [dataclasses.replace(s.contact, kd=20.0, kp=100.0) for s in point.supports]
    report, poles = {}, {}
    for name, contacts in (
        ('bare', [s.contact for s in point.supports]),
        ('damped', anchored(model, state, held)),
    ):
        C = Linearizer(model, contacts)(state, point.tau).copy()
        report[name] = analyze_reduced(model, state, reduce(C)).full
        random = np.random.default_rng(0).normal(size=C.B.T.shape)
        moved = scipy.linalg.eigvals(C.A - 0.1 * C.B @ random)
        before = scipy.linalg.eigvals(C.A)
        stay = [p for p in moved if np.abs(before - p).min() < 1e-2]
        poles[name] = np.array(stay)
    assert len(poles['bare']) == len(poles['damped']) == 24
    assert np.abs(poles['bare']).max() < 1e-2
    np.testing.assert_allclose(poles['damped'], -10.0, atol=1e-2)
    assert report['bare'] == (36, 12, 24, False)
    assert report['damped'] == (36, 12, 24, True)
    assert 'of the 36 states of A and B 12 are controllable' in report['damped'].text()
    assert 'which stay where they are or decay' in report['bare'].text()


@pytest.mark.parametrize('flies', [True, False])
def test_picture__has_a_bar_for_every_mode_longest_first(flies, tmp_path, monkeypatch):
    model, supports = standing_robot('humanoid' if not flies else 'quadruped')
    state = model.neutral_state() if flies else standing_posture(model, supports)
    report = analyze_modes(model, state, () if flies else supports)
    figures = []
    monkeypatch.setattr(Figure, 'savefig', lambda f, *_, **__: figures.append(f))
    mode_picture.save_picture(report, tmp_path / 'modes.png')
    times = figures[0].axes[1]
    widths = [bar.get_width() for bar in times.patches]
    assert len(widths) == len(report.modes)
    assert widths == sorted(widths, reverse=True)
    assert [mode.time_constant for mode in report.modes] == sorted(
        (mode.time_constant for mode in report.modes), reverse=True
    )
    for bar, mode in zip(times.patches, report.modes, strict=True):
        assert bool(bar.get_hatch()) == (mode.trend == 'neither grows nor decays')
    assert sum(bool(bar.get_hatch()) for bar in times.patches) >= 4
    legend = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert legend == ['grows', 'decays', 'neither grows nor decays', 'out of reach']


def test_frame_alone__stands_for_its_collision_shapes(capsys, monkeypatch):
    feet = ['left_foot', 'right_foot']
    assert main(['analyze-modes', 'humanoid', '--contacts', *feet, '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['modes']['states'] == 44  # of two soles; 56 of two points
    expected = {'states': 68, 'controllable': 44, 'constrained': 24, 'stabilizable': False}
    assert found['modes']['full'] == expected
    pytest.importorskip('mujoco')
    from geolin_demos.sim.simulator import Simulator

    path = robots.path('humanoid')
    model = read_robot(path)[1]
    soles = list(Simulator(path, model, feet).feet.values())
    point = equilibrium(model, standing_posture(model, soles), soles)
    assert found['equilibrium'] == json.loads(json.dumps(point.as_dict()))
    assert main(['analyze-modes', 'humanoid', '--contacts', 'left_foot:0', 'right_foot:0']) == 0
    assert '56 of 56 states' in capsys.readouterr().out
    assert main(['analyze-modes', 'humanoid', '--contacts', 'left_fot']) == 1
    assert "did you mean 'left_foot'" in capsys.readouterr().err
    for package in ('mujoco', 'trimesh'):
        monkeypatch.setitem(sys.modules, package, None)
    assert main(['analyze-modes', 'humanoid', '--contacts', *feet]) == 0
    assert 'left_foot: a sole of 0.176 x 0.06 m' in capsys.readouterr().err


def test_command__analyzes_flight(capsys, tmp_path):
    urdf = str(robots.path('quadruped'))
    for picture in (tmp_path / 'flight.svg', tmp_path / 'flight.png'):
        assert main(['analyze-modes', urdf, '--picture', str(picture)]) == 0
        assert '24 of 36' in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b'\x89PNG'
    assert 'out of reach' in picture.with_suffix('.svg').read_text()
    assert (
        main(['analyze-modes', urdf, '--horizon', '0.2', '--posture', 'FL_calf_joint=-1.0']) == 0
    )
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


def test_arm_on_a_fixed_base__reaches_all_states():
    _, model = read_robot(example_robot('ur5_robot'), base='fixed')
    report = analyze_modes(model, model.neutral_state())
    assert (report.states, report.controllable, report.stabilizable) == (12, 12, True)
    with pytest.raises(ConfigurationError, match='expected a floating base'):
        analyze_modes(model, model.neutral_state(), horizon=0.1)

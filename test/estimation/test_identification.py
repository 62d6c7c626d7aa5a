# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of robots whose masses are known, and of recordings that are bad."""

import dataclasses
import warnings

import numpy as np
import pytest
from geolin_tools.identification import (
    Prior,
    Signals,
    deviations,
    identify,
    joint_log,
    overlay_of,
    prepare,
    rooms_of,
)
from geolin_tools.identification.parameters import Body, is_physical

from geolin_ros import Linearizer, TreeModel, Wrench, urdf
from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.errors import GeolinError, ModelWarning, RecordingError, UnsolvableError
from geolin_ros.robots import locate

stats = pytest.importorskip('scipy.stats')

ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.15"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.4"/><axis xyz="1 0 0"/></joint></robot>"""


def arm(overlay=None):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_urdf(ARM, base='fixed', overlay=overlay, coulomb_friction=True)


def arm_recording(model, rng, seconds=6.0, rate=100.0, noise=0.05):
    """Return what a perfect arm would measure, with noise on its efforts."""
    time = np.arange(0.0, seconds, 1.0 / rate)
    phase, wave = rng.uniform(0, 2 * np.pi, (2, 3)), 2 * np.pi * rng.uniform(0.2, 1.2, (2, 3))
    angle = wave * time[:, np.newaxis, np.newaxis] + phase
    s, r = np.sin(angle).sum(2) * 0.6, (wave * np.cos(angle)).sum(2) * 0.6
    a = -(wave**2 * np.sin(angle)).sum(2) * 0.6
    tau = [
        inverse_dynamics(model, model.state(np.eye(4), s[k], np.zeros(6), r[k]), a[k])
        for k in range(time.size)
    ]
    return Signals('arm', time, s, r, np.array(tau) + noise * rng.normal(size=s.shape))


def test_forces_of_a_recording__push_as_its_wrenches_of_all_kinds_do():
    model, rng = TreeModel.from_file(locate('quadruped')), np.random.default_rng(3)
    state, acceleration = model.random_state(rng), np.zeros(model.m)
    one, other = 'FR_calf', 'FL_foot'
    given = [Wrench(other, *rng.normal(size=(2, 3)), 'body')]
    for kind in ('body', 'world', 'world_oriented'):
        given.append(Wrench(one, *rng.normal(size=(2, 3)), kind, rng.normal(size=3)))
    sums = {link: joint_log._sum_on(link, model, state, given) for link in (one, other)}
    found = [Wrench(link, total[:3], total[3:], 'world') for link, total in sums.items()]
    by_sums = inverse_dynamics(model, state, acceleration, wrenches=found)
    by_each = inverse_dynamics(model, state, acceleration, wrenches=given)
    assert np.allclose(by_sums, by_each, rtol=0, atol=1e-11)


# -- bodies ---------------------------------------------------------------------------------


def test_bodies_exist_and_start_at_the_description_with_an_exact_derivative():
    rng = np.random.default_rng(2)
    described = inertial_parameters(arm()).reshape(-1, 10)[1]
    body = Body.of(described)
    for size in (0.1, 1.0, 3.0):
        assert all(is_physical(body.parameters(size * rng.normal(size=10))) for _ in range(50))
    assert np.allclose(body.parameters(np.zeros(10)), described, rtol=1e-12, atol=1e-12)
    x, step = rng.normal(size=10) * 0.3, 1e-6
    differences = [
        (body.parameters(x + step * e) - body.parameters(x - step * e)) / (2 * step)
        for e in np.eye(10)
    ]
    assert np.allclose(body.jacobian(x), np.transpose(differences), atol=1e-8)
    rod, impossible = ([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, izz] for izz in (0.0, 0.5))
    for parameters in (rod, impossible, [1.0, *np.zeros(9)]):
        assert is_physical(Body.of(np.array(parameters)).parameters(np.zeros(10)))
    assert Body.of(np.zeros(10)) is None


# -- an arm -----------------------------------------------------------------------------------

HIDDEN = {
    'links': {
        'upper': {'mass': 2.6, 'com': [0.02, 0.01, 0.17], 'inertia': [0.04, 0.035, 0.01, 0, 0, 0]}
    },
    'joints': {
        'shoulder': {'rotor_inertia': 0.05, 'damping': 0.4, 'friction': 0.8},
        'elbow': {'rotor_inertia': 0.02, 'friction': 0.3, 'effort_scale': 0.8},
    },
}
HIDDEN['joints']['shoulder']['friction_speed'] = HIDDEN['joints']['elbow']['friction_speed'] = 0.1


@pytest.fixture(scope='module')
def arm_truth():
    return arm(HIDDEN)


def test_an_arm_is_found_within_three_standard_deviations(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(3), seconds=12.0)
    found = identify(arm(), [signals])
    values = {(c.of, c.name): c for c in found.changes()}
    for joint, row in HIDDEN['joints'].items():
        for key, name in (('rotor_inertia', 'rotor'), ('friction', 'friction')):
            change = values[joint, name]
            assert abs(change.after - row[key]) < 3.0 * change.deviation
            assert change.determined > 0.9
    assert found.after.max() < 0.3 * found.before.min()
    again = arm(overlay_of(found, urdf.read(ARM)))
    assert np.allclose(inertial_parameters(again).reshape(-1, 10)[1:], found.inertial[1:])
    assert 0 < found.rank < found.parameters.count


def test_gains_of_drives_are_found_where_efforts_are_currents(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(4), seconds=12.0)
    signals.effort[:] /= (0.05, 12.0)  # N m per ampere
    description = arm(HIDDEN | {'joints': {}})
    found = identify(description, [signals], prior=Prior(scales=description.joint_names))
    values = {(c.of, c.name): c for c in found.changes()}
    for joint, gain in (('shoulder', 0.05), ('elbow', 12.0)):
        scale = values[joint, 'scale']
        assert abs(scale.after - gain) < 3.0 * scale.deviation
        assert scale.after == pytest.approx(gain, rel=0.05)
        assert scale.deviation < 0.2 * gain


def test_a_link_can_be_trusted_more_than_others(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(15), seconds=12.0)
    moved = {}
    for trusts in ((), (('upper', 1e-3),)):
        changes = identify(arm(), [signals], prior=Prior(trusts=trusts)).changes()
        moved[trusts] = {c.of: abs(c.after - c.before) for c in changes if c.name == 'mass'}
    (free, held) = moved.values()
    assert held['upper'] < 0.01 < free['upper']
    assert held['lower'] > 0.01


POINTS = [([0.3, -0.5], [0.0, 0.0], None), ([0.6, 0.4], [1.0, -0.8], [1.0, 0.5])]
"""Posture, rates, and efforts; None: what holds it."""


@pytest.fixture(scope='module')
def damped():
    """Return an arm with damping in both joints, whose A has no number at a bound."""
    elbow = HIDDEN['joints']['elbow'] | {'damping': 0.3}
    return arm(HIDDEN | {'joints': HIDDEN['joints'] | {'elbow': elbow}})


def about(model, s, r, tau):
    """Return A and B side by side, and poles in order."""
    state = model.state(np.eye(4), s, np.zeros(6), r)
    held = inverse_dynamics(model, state, np.zeros(2)) if tau is None else tau
    L = Linearizer(model)(state, held)
    return np.hstack((L.A, L.B)), np.sort_complex(np.linalg.eigvals(L.A))


def known(found, s, r, tau):
    """Return the same of what was found, and their standard deviations."""
    d = deviations(found, found.model.state(np.eye(4), s, np.zeros(6), r), tau)
    order, spread = np.argsort(d.poles), np.hstack((d.A_deviation, d.B_deviation))
    return np.hstack((d.A, d.B)), spread, d.poles[order], d.poles_deviation[order]


@pytest.mark.long
def test_A_B_and_poles_are_as_far_off_the_truth_as_their_deviations_say(damped):
    z, of_poles = [], []
    for seed in range(100, 104):
        signals = arm_recording(damped, np.random.default_rng(seed), seconds=12.0)
        found = identify(arm(), [signals], prior=Prior(springs=False))
        for point in POINTS:
            true, true_poles = about(damped, *point)
            here, spread, poles, spread_of_poles = known(found, *point)
            z.append((here - true)[spread > 0.0] / spread[spread > 0.0])
            of_poles.append((poles - true_poles).real / spread_of_poles.real)
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.3
    assert 0.6 < np.sqrt(np.mean(np.square(of_poles))) < 1.3


def test_numbers_at_a_bound_deviate_as_truncated_normal_ones(arm_truth):
    """Efforts of an elbow that drives itself: a free number would be ``beyond`` deviations off."""
    beyond = 2.0

    def found(damping):
        signals = arm_recording(arm_truth, np.random.default_rng(3), seconds=12.0)
        signals.effort[:, 1] += damping * signals.rate[:, 1]
        changes = identify(arm(), [signals], prior=Prior(springs=False)).changes()
        return next(c for c in changes if (c.of, c.name) == ('elbow', 'damping'))

    free = found(0.5)
    mean, spread = free.after - 0.5, free.deviation
    held = found(-mean - beyond * spread)
    assert held.after == 0.0
    expected = stats.truncnorm(beyond, np.inf, -beyond * spread, spread).std()
    assert 0.9 * expected < held.deviation < 1.7 * expected  # which adds to its own noise
    assert held.deviation < 0.9 * spread


def test_deviations__are_not_given_of_poles_that_are_repeated(damped):
    signals = arm_recording(damped, np.random.default_rng(3), seconds=12.0)
    found = identify(arm(), [signals], prior=Prior(springs=False))
    weightless = dataclasses.replace(found, model=found.model.with_gravity(np.zeros(3)))
    _, _, poles, spread = known(weightless, *POINTS[0])
    assert np.abs(poles[2:]).max() < 1e-6  # nothing brings either joint back
    assert np.isnan(spread[2:]).all()
    assert np.isfinite(spread[:2]).all()


SHAPE = (
    '<collision><origin xyz="0 0 {z}"/><geometry><box size=".06 .06 {z2}"/></geometry></collision>'
)


def test_masses_stay_within_the_shapes_of_their_links():
    source = ARM
    for z, name in ((0.2, 'upper'), (0.15, 'lower')):
        link = f'<link name="{name}">'
        source = source.replace(link, link + SHAPE.format(z=z, z2=2 * z))
    model = arm()
    rooms = rooms_of(model, source)
    rng, half = np.random.default_rng(16), np.array([0.03, 0.03, 0.2])
    points = half * rng.uniform(-1.0, 1.0, (500, 3)) + [0.0, 0.0, 0.2]
    assert (rooms['upper'] @ body_of_points(points) > 0.0).all()
    assert (rooms['upper'] @ body_of_points(points + np.array([0.0, 0.08, 0.0])) < 0.0).any()
    assert (
        rooms['upper'] @ body_of_points([0.0, 0.0, 0.2] + 3.0 * (points - [0, 0, 0.2])) < 0
    ).any()
    hidden = {
        'links': {'lower': {'mass': 1.0, 'com': [0, 0.1, 0.4], 'inertia': [0.01] * 3 + [0] * 3}}
    }
    signals = arm_recording(arm(hidden), rng, seconds=12.0)
    free, held = (
        identify(model, [signals], prior=Prior(trust=1.0, rooms=where)) for where in (None, rooms)
    )
    assert (rooms['lower'] @ free.inertial[2] < 0.0).any()
    assert (rooms['lower'] @ held.inertial[2] >= 0.0).all()


def body_of_points(points):
    """Return the ten parameters of points of equal mass, 2 kg in all."""
    m, c = 2.0, points.mean(axis=0)
    second = m * points.T @ points / len(points)
    J = np.trace(second) * np.eye(3) - second
    return np.array([m, *(m * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def test_outliers_weigh_little(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(6), seconds=12.0)
    clean = identify(arm(), [signals])
    hit = slice(200, 215)
    signals.effort[hit] += 20.0
    marred = identify(arm(), [signals])
    masses = [f.inertial[2][0] for f in (clean, marred)]
    assert masses[1] == pytest.approx(masses[0], rel=0.05)


# -- bad recordings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('spoil', 'says'),
    [
        (lambda m, rng: vars(m.between(0.0, 0.1)), 'record longer'),
        (
            lambda m, rng: {'position': 1.0 + 0.0 * m.position, 'rate': 0.0 * m.rate},
            'excites all joints',
        ),
        (
            lambda m, rng: {'effort': np.where(rng.random(m.rate.shape) < 0.01, np.nan, m.effort)},
            'expected finite numbers',
        ),
        (lambda m, rng: {'effort': m.effort[:, ::-1]}, 'order of joints'),
        (lambda m, rng: {'effort': 5.0 * rng.normal(size=m.rate.shape)}, 'order of joints'),
        (lambda m, rng: {'position': np.rad2deg(m.position)}, 'degrees'),
        (lambda m, rng: {'time': m.time[::-1]}, 'expected it to rise'),
        (lambda m, rng: {'effort': None}, 'has no efforts'),
        (lambda m, rng: {'time': m.time + (m.time > 2.0)}, 'cut it in two'),
    ],
)
def test_bad_recordings_end_with_a_sentence(arm_truth, spoil, says):
    rng = np.random.default_rng(7)
    signals = arm_recording(arm_truth, rng)
    with pytest.raises((RecordingError, UnsolvableError), match=says):
        identify(arm(), [dataclasses.replace(signals, **spoil(signals, rng))])


def test_axes_that_an_overlay_cannot_name_are_refused():
    text = ARM.replace('"elbow" type="continuous"', '"elbow" type="planar"')
    planar = TreeModel.from_urdf(text, base='fixed')
    moved = arm_recording(arm(), np.random.default_rng(3))
    four = {k: getattr(moved, k)[:, [0, 1, 1, 1]] for k in ('position', 'rate', 'effort')}
    with pytest.raises(GeolinError, match="'elbow/x' is one axis of several"):
        identify(
            planar, [dataclasses.replace(moved, **four)], prior=Prior(only=('lower', 'elbow/x'))
        )


def test_whatever_is_identified_from_random_recordings_can_exist(monkeypatch):
    """Recordings of nothing: positions, rates and efforts that have nothing to do with a robot."""
    from geolin_tools.identification import fit as rounds_of_fit
    from geolin_tools.identification import identification

    monkeypatch.setattr(rounds_of_fit, 'ROUNDS', 2)
    monkeypatch.setattr(identification, '_check', lambda *_: None)  # which refuses all of them
    model = arm()
    identified = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        time = np.arange(0.0, 5.0, 0.02)
        smooth = np.cumsum(rng.normal(size=(time.size, 2)), axis=0) * 10.0 ** rng.uniform(-2, 1)
        effort = rng.standard_cauchy((time.size, 2)) * 10.0 ** rng.uniform(-3, 4)
        try:
            found = identify(model, [Signals('noise', time, smooth, None, effort)])
        except GeolinError:
            continue
        identified += 1
        assert all(is_physical(found.inertial[i]) for i in found.parameters.bodies)
    assert identified >= 2


def test_the_filter_takes_nothing_from_slow_motion():
    signals = arm_recording(arm(), np.random.default_rng(8), noise=0.0)
    motion = prepare(signals, arm(), cutoff=15.0)
    at = np.interp(motion.time, signals.time, signals.position[:, 0])
    assert np.allclose(motion.position[:, 0], at, atol=2e-3)
    again = prepare(dataclasses.replace(signals, rate=None), arm(), cutoff=15.0)
    assert np.allclose(again.acceleration, motion.acceleration, atol=0.3)

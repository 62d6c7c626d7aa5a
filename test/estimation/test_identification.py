# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Identification of robots whose masses are known, moved by MuJoCo; of recordings that are bad."""

import dataclasses
import re
import warnings

import numpy as np
import pytest
from geolin_tools.cli.identify import _lines as lines_of
from geolin_tools.identification import (
    Prior,
    Signals,
    deviations,
    identify,
    overlay_of,
    prepare,
    rooms_of,
)
from geolin_tools.identification.bodies import Body, is_physical
from support.mujoco_oracle import bodies_only
from support.robots import example_robot

from geolin_ros import Linearizer, TreeModel, urdf
from geolin_ros.description import Link, mass_properties
from geolin_ros.dynamics.derivatives import inertial_parameters
from geolin_ros.dynamics.functions import inverse_dynamics
from geolin_ros.dynamics.variation import inertia_of_parameters
from geolin_ros.errors import GeolinError, ModelWarning, RecordingError, UnsolvableError

mujoco = pytest.importorskip('mujoco')
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


def read(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        return TreeModel.from_urdf(source, coulomb_friction=True, **options)


def arm(overlay=None):
    return read(ARM, base='fixed', overlay=overlay)


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


# -- bodies ---------------------------------------------------------------------------------


def test_bodies_exist_whatever_their_numbers_are():
    rng = np.random.default_rng(1)
    body = Body.of(inertial_parameters(arm()).reshape(-1, 10)[2])
    for size in (0.1, 1.0, 3.0):
        for _ in range(50):
            assert is_physical(body.parameters(size * rng.normal(size=10)))


def test_bodies_start_at_the_description_with_an_exact_derivative():
    rng = np.random.default_rng(2)
    described = inertial_parameters(arm()).reshape(-1, 10)[1]
    body = Body.of(described)
    assert np.allclose(body.parameters(np.zeros(10)), described, rtol=1e-12, atol=1e-12)
    x, step = rng.normal(size=10) * 0.3, 1e-6
    differences = [
        (body.parameters(x + step * e) - body.parameters(x - step * e)) / (2 * step)
        for e in np.eye(10)
    ]
    assert np.allclose(body.jacobian(x), np.transpose(differences), atol=1e-8)


def test_flat_and_impossible_bodies_of_descriptions_become_possible_ones():
    rod = np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.0])
    impossible = np.array([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.5])
    for parameters in (rod, impossible, np.array([1.0, *np.zeros(9)])):
        assert is_physical(Body.of(parameters).parameters(np.zeros(10)))
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
    assert 0 < found.rank < found.parameters.count


def test_the_overlay_reads_as_what_was_found(arm_truth):
    found = identify(arm(), [arm_recording(arm_truth, np.random.default_rng(5))])
    again = arm(overlay_of(found, urdf.read(ARM)))
    assert np.allclose(inertial_parameters(again).reshape(-1, 10)[1:], found.inertial[1:])
    values = found.joint_values()
    assert np.isclose(again.tree.friction[0], values['shoulder', 'friction'][1])
    assert np.isclose(again.effort_offset[0], values['shoulder', 'offset'][1])


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


def test_a_load_is_found_alone_and_lies_over_what_was_identified_without(arm_truth):
    rng = np.random.default_rng(13)
    robot = identify(arm(), [arm_recording(arm_truth, rng, seconds=12.0)])
    earlier = overlay_of(robot, urdf.read(ARM))
    load = {
        'frame': 'lower',
        'mass': 2.8,
        'com': [0.05, 0.0, 0.3],
        'inertia': [0.02] * 3 + [0] * 3,
    }
    carrying = arm_recording(arm(HIDDEN | {'payloads': [load]}), rng, seconds=12.0)
    carrying.effort[:] = carrying.effort - np.array(arm(earlier).effort_offset)
    found = identify(arm(earlier), [carrying], prior=Prior(payload='lower'))
    changes = found.changes()
    assert {change.of for change in changes} == {'load on lower'}
    assert abs(changes[0].after - 2.8) < 0.05
    both = overlay_of(found, urdf.read(ARM), earlier)
    assert both['links'] == earlier['links']
    assert abs(arm(both).total_mass - arm(earlier).total_mass - changes[0].after) < 1e-6
    assert np.allclose(both['payloads'][0]['com'], load['com'], atol=0.02)


def test_only_what_is_named_changes_and_the_rest_stays_as_an_earlier_overlay_says(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(14), seconds=12.0)
    earlier = {'joints': {'*': {'rotor_inertia': 0.02, 'damping': 0.1}}, 'links': {}}
    found = identify(arm(earlier), [signals], prior=Prior(only=('upper', 'shoulder')))
    assert {change.of for change in found.changes()} == {'upper', 'shoulder'}
    overlay = overlay_of(found, urdf.read(ARM), earlier)
    again = arm(overlay)
    assert again.tree.armature[1] == pytest.approx(0.02)
    assert again.tree.armature[0] == pytest.approx(found.joint_values()['shoulder', 'rotor'][1])
    with pytest.raises(GeolinError, match='did you mean'):
        identify(arm(), [signals], prior=Prior(only=('uper',)))


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
def test_deviations_of_A_B_and_poles_are_those_of_random_parameters(damped):
    """Of 1000 robots whose physical parameters have the covariance that was found."""
    signals = arm_recording(damped, np.random.default_rng(3), seconds=12.0)
    found = identify(arm(), [signals], prior=Prior(springs=False))
    x, parameters = found.fit.x, found.parameters
    slopes = list(parameters.inertial_jacobians(x))
    robots = []
    for numbers in np.random.default_rng(0).multivariate_normal(x, found.fit.covariance, 1000):
        tree = found.model.tree._asdict()
        for field in ('inertia', 'armature', 'damping', 'friction', 'friction_speed'):
            tree[field] = tree[field].copy()
        for i, part, J in slopes:
            pi = found.inertial[i] + J @ (numbers - x)[part]
            tree['inertia'][i] = inertia_of_parameters(pi)
        for (joint, kind), value in parameters.joint_values(numbers).items():
            if kind != 'offset':
                tree['armature' if kind == 'rotor' else kind][joint] = value
        robots.append(dataclasses.replace(found.model, tree=type(found.model.tree)(**tree)))
    for point in POINTS:
        _, spread, _, of_poles = known(found, *point)
        pairs = [about(m, *point) for m in robots]
        samples, poles = (np.array(part) for part in zip(*pairs, strict=True))
        moving = spread > 0.0
        assert moving.sum() == 12
        assert np.allclose(samples.std(axis=0)[moving], spread[moving], rtol=0.1)
        assert np.allclose(poles.real.std(axis=0), of_poles.real, rtol=0.1)
        assert np.allclose(poles.imag.std(axis=0), of_poles.imag, rtol=0.1)


@pytest.mark.parametrize('count', [4, pytest.param(10, marks=pytest.mark.soak)])
def test_A_B_and_poles_are_as_far_off_the_truth_as_their_deviations_say(damped, count):
    z, of_poles = [], []
    for seed in range(100, 100 + count):
        signals = arm_recording(damped, np.random.default_rng(seed), seconds=12.0)
        found = identify(arm(), [signals], prior=Prior(springs=False))
        for point in POINTS:
            true, true_poles = about(damped, *point)
            here, spread, poles, spread_of_poles = known(found, *point)
            z.append((here - true)[spread > 0.0] / spread[spread > 0.0])
            of_poles.append((poles - true_poles).real / spread_of_poles.real)
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.3
    assert 0.6 < np.sqrt(np.mean(np.square(of_poles))) < 1.3


@pytest.mark.parametrize('beyond', [1.0, 2.0, 3.0])
def test_numbers_at_a_bound_deviate_as_truncated_normal_ones(arm_truth, beyond):
    """Efforts of an elbow that drives itself: a free number would be ``beyond`` deviations off."""

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


def test_masses_stay_where_the_description_has_them_beyond_their_shapes():
    link = '<link name="lower">'
    model, source = arm(), ARM.replace(link, link + SHAPE.format(z=0.5, z2=0.2))
    rows, described = (
        rooms_of(model, source)['lower'],
        inertial_parameters(model).reshape(-1, 10)[2],
    )
    bound = np.minimum(rows @ described / described[0], 0.0)
    assert bound.min() < -0.1
    hidden = {
        'links': {'lower': {'mass': 1.0, 'com': [0, 0, 0.02], 'inertia': [0.01] * 3 + [0] * 3}}
    }
    signals = arm_recording(arm(hidden), np.random.default_rng(16), seconds=12.0)
    free, held = (
        identify(model, [signals], prior=Prior(trust=1.0, rooms=where)).inertial[2]
        for where in (None, {'lower': rows})
    )
    assert (rows @ free / free[0] - bound).min() < -0.5
    assert (rows @ held / held[0] - bound).min() > -0.05


def body_of_points(points):
    """Return the ten parameters of points of equal mass, 2 kg in all."""
    m, c = 2.0, points.mean(axis=0)
    second = m * points.T @ points / len(points)
    J = np.trace(second) * np.eye(3) - second
    return np.array([m, *(m * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def test_what_is_far_off_the_description_is_listed_first_and_the_farthest_before_all(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(17), seconds=12.0)
    signals.effort[:] *= 20.0
    found = identify(arm(), [signals], prior=Prior(trusts=(('lower', 0.2),)))
    lines = list(lines_of(found))
    far = [k for k, line in enumerate(lines) if line.startswith('! ')]
    off = [float(re.search(r', ([0-9.]+) deviations off', lines[k])[1]) for k in far]
    assert lines[far[0]].startswith('! lower')
    assert lines[far[1]].startswith('! upper')
    assert off == sorted(off, reverse=True)
    assert far[-1] < next(k for k, line in enumerate(lines) if 'root mean square' in line)


def test_outliers_weigh_little(arm_truth):
    signals = arm_recording(arm_truth, np.random.default_rng(6), seconds=12.0)
    clean = identify(arm(), [signals])
    hit = slice(200, 215)
    signals.effort[hit] += 20.0
    marred = identify(arm(), [signals])
    masses = [f.inertial[2][0] for f in (clean, marred)]
    assert masses[1] == pytest.approx(masses[0], rel=0.05)


# -- bad recordings --------------------------------------------------------------------------


def spoilt(signals, kind, rng):
    n = signals.time.size
    edits = {
        'short': {k: getattr(signals, k)[:40] for k in ('time', 'position', 'rate', 'effort')},
        'constant': {
            'position': np.ones((n, 2)),
            'rate': np.zeros((n, 2)),
        },
        'nan': {'effort': np.where(rng.random((n, 2)) < 0.01, np.nan, signals.effort)},
        'swapped': {'effort': signals.effort[:, ::-1]},
        'noise': {'effort': rng.normal(size=(n, 2)) * 5.0},
        'degrees': {'position': np.rad2deg(signals.position)},
        'backwards': {'time': signals.time[::-1]},
        'without efforts': {'effort': None},
        'silent': {'time': signals.time + (signals.time > 2.0)},
    }
    return dataclasses.replace(signals, **edits[kind])


@pytest.mark.parametrize(
    ('kind', 'says'),
    [
        ('short', 'record longer'),
        ('constant', 'excites all joints'),
        ('nan', 'expected finite numbers'),
        ('swapped', 'order of joints'),
        ('noise', 'order of joints'),
        ('degrees', 'degrees'),
        ('backwards', 'expected it to rise'),
        ('without efforts', 'has no efforts'),
        ('silent', 'cut it in two'),
    ],
)
def test_bad_recordings_end_with_a_sentence(arm_truth, kind, says):
    rng = np.random.default_rng(7)
    signals = arm_recording(arm_truth, rng)
    with pytest.raises((RecordingError, UnsolvableError), match=says):
        identify(arm(), [spoilt(signals, kind, rng)])


@pytest.mark.parametrize('count', [10, pytest.param(40, marks=pytest.mark.soak)])
def test_whatever_is_identified_from_random_recordings_can_exist(count, monkeypatch):
    """Recordings of nothing: positions, rates and efforts that have nothing to do with a robot."""
    from geolin_tools.identification import fit as rounds_of_fit
    from geolin_tools.identification import identification

    monkeypatch.setattr(rounds_of_fit, 'ROUNDS', 2)
    monkeypatch.setattr(identification, '_check', lambda *_: None)  # which refuses all of them
    model = arm()
    identified = 0
    for seed in range(count):
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
    assert identified > 0.3 * count


def test_the_filter_takes_nothing_from_slow_motion():
    signals = arm_recording(arm(), np.random.default_rng(8), noise=0.0)
    motion = prepare(signals, arm(), cutoff=15.0)
    at = np.interp(motion.time, signals.time, signals.position[:, 0])
    assert np.allclose(motion.position[:, 0], at, atol=2e-3)
    again = prepare(dataclasses.replace(signals, rate=None), arm(), cutoff=15.0)
    assert np.allclose(again.acceleration, motion.acceleration, atol=0.3)


# -- a quadruped ------------------------------------------------------------------------------

PAYLOAD = 2.0


@pytest.fixture(scope='module')
def quadruped():
    """Return the description, the truth and what was measured on it."""
    path = example_robot('go2')
    rng = np.random.default_rng(11)
    description = urdf.read(path)
    links = []
    for link in description.links:
        mass, com, tensor = mass_properties(link.inertia)
        if mass > 0.0:
            factor = 1.0 + 0.2 * rng.choice((-1.0, 1.0))
            extra = PAYLOAD if link.name == 'base' else 0.0
            com = com + 0.003 * rng.normal(size=3)
            links.append(Link.from_mass(link.name, mass * factor + extra, com, tensor * factor))
        else:
            links.append(link)
    joints = [
        dataclasses.replace(
            joint,
            rotor_inertia=0.01,
            damping=0.1,
            friction=0.3,
            friction_speed=0.2,
            gear_ratio=1.0,
        )
        if joint.kind != 'fixed'
        else joint
        for joint in description.joints
    ]
    true = dataclasses.replace(description, links=tuple(links), joints=tuple(joints))
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = TreeModel.from_description(description, coulomb_friction=True)
    return description, model, true, [fly(path, true, model, rng, slow) for slow in (False, True)]


def fly(path, true, model, rng, slow):
    """Return what is measured of MuJoCo's robot, carried by forces that are known.

    Fast, at its feet, to tell masses and rotors. Or slowly, at its hips with the legs in the air,
    to tell the speed over which friction changes sign.

    By Runge and Kutta, friction at each of its stages: by MuJoCo's default rates would be those of
    half a step before, whose friction looks like a rotor.
    """
    seconds, step, carried, waves, sway = 9.0, 1e-3, 'foot', (0.3, 2.0), 1.0
    if slow:
        seconds, step, carried, waves, sway = 20.0, 2e-3, 'hip', (0.05, 0.12), 0.1
    spec = mujoco.MjSpec.from_string(bodies_only(path))
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    spec.option.timestep, spec.option.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    spec.worldbody.first_body().add_freejoint()
    robot = spec.compile()
    robot.dof_damping[:] = robot.dof_frictionloss[:] = 0.0
    for link in true.links:
        mass, com, tensor = mass_properties(link.inertia)
        if mass > 0.0:
            body = robot.body(link.name).id
            moments, axes = np.linalg.eigh(tensor)
            axes *= np.linalg.det(axes)
            robot.body_mass[body], robot.body_ipos[body] = mass, com
            robot.body_inertia[body] = moments
            mujoco.mju_mat2Quat(robot.body_iquat[body], axes.ravel())
    data = mujoco.MjData(robot)
    q = np.array([int(robot.joint(name).qposadr[0]) for name in model.joint_names])
    v = np.array([int(robot.joint(name).dofadr[0]) for name in model.joint_names])
    robot.dof_armature[v] = 0.01
    mujoco.mj_setConst(robot, data)
    feet = [robot.body(f'{leg}_{carried}').id for leg in ('FL', 'FR', 'RL', 'RR')]
    middle = np.tile([0.0, 0.8, -1.6], 4)
    wave = 2 * np.pi * rng.uniform(*waves, (12, 3))
    phase = rng.uniform(0, 2 * np.pi, (12, 3))
    base_wave, base_phase = 2 * np.pi * rng.uniform(0.3, 1.2, 6), rng.uniform(0, 2 * np.pi, 6)
    start = middle + 0.25 * np.sin(phase).sum(1)
    data.qpos[:3], data.qpos[q] = (0.0, 0.0, 1.0), start
    weight = float(robot.body_mass.sum()) * 9.81
    rows, grasp = [], np.tile(np.eye(3), (2, 4))

    def rub(robot, data):
        data.qfrc_passive[v] -= 0.1 * data.qvel[v] + 0.3 * np.tanh(data.qvel[v] / 0.2)

    mujoco.set_mjcb_passive(rub)
    for k in range(int(seconds / step)):
        t = k * step
        mujoco.mj_kinematics(robot, data)
        mujoco.mj_comPos(robot, data)
        aim = middle + 0.25 * np.sin(wave * t + phase).sum(1)
        tau = 40.0 * (aim - data.qpos[q]) - 1.0 * data.qvel[v]
        rates = data.qvel[v]
        R = data.xmat[1].reshape(3, 3)
        way = np.array([0.05, 0.05, 0.05, 0.2, 0.2, 0.2]) * np.sin(base_wave * t + base_phase)
        turn = 0.5 * np.cross(R.T, np.eye(3)).sum(axis=0) + sway * way[3:]
        force = (
            1500.0 * (sway * way[:3] + np.array([0.0, 0.0, 1.0]) - data.qpos[:3])
            - 150.0 * data.qvel[:3]
        )
        force[2] += weight
        moment = 60.0 * turn - 6.0 * (R @ data.qvel[3:6])
        arms = data.xpos[feet] - data.qpos[:3]
        grasp[3:] = np.cross(arms[:, None], np.eye(3)).reshape(12, 3).T
        pushes = np.linalg.lstsq(grasp, np.hstack((force, moment)), rcond=None)[0].reshape(4, 3)
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[v] = tau
        data.xfrc_applied[:] = 0.0
        moments = np.cross(data.xpos[feet] - data.xipos[feet], pushes)
        data.xfrc_applied[feet] = np.hstack((pushes, moments))
        twist = np.hstack((R.T @ data.qvel[:3], data.qvel[3:6]))
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = R, data.qpos[:3]
        wrenches = np.hstack((pushes, data.xpos[feet]))
        rows.append((t, data.qpos[q].copy(), rates.copy(), tau, H, twist, wrenches))
        mujoco.mj_step(robot, data)
    mujoco.set_mjcb_passive(None)
    time, s, r, tau, H, twist, wrenches = (np.array(part) for part in zip(*rows, strict=True))
    push, at = np.split(wrenches, 2, axis=2)
    for held in (tau, push):  # over a step: what acts at its beginning is the mean
        held[1:] = 0.5 * (held[1:] + held[:-1])
    wrenches = np.concatenate((push, np.cross(at, push)), axis=2)
    kept = slice(1, None, round(0.004 / step))
    noisy = [
        values[kept] + size * rng.normal(size=values[kept].shape)
        for values, size in ((s, 1e-4), (r, 5e-3), (tau, 0.1), (twist, 5e-3))
    ]
    forces = {robot.body(foot).name: wrenches[kept, f] for f, foot in enumerate(feet)}
    return Signals('go2', time[kept], *noisy[:3], H[kept], noisy[3], forces)


@pytest.fixture(scope='module')
def identified(quadruped):
    _, model, _, recordings = quadruped
    found = identify(model, recordings, prior=Prior(springs=False))
    assert found.folds == ()  # the slow recording does not tell what the fast one will be
    return found


@pytest.mark.long
def test_a_quadruped_with_a_payload_is_found_within_three_standard_deviations(
    quadruped, identified
):
    _, _, description, _ = quadruped
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        truth = TreeModel.from_description(description)
    true = inertial_parameters(truth).reshape(-1, 10)
    misses = []
    for i in identified.parameters.bodies:
        rows = [c for c in identified.changes() if c.of == truth.body_names[i]]
        mass = true[i, 0]
        expected = (mass, *(true[i, 1:4] / mass))
        misses += [
            abs(c.after - value) / c.deviation for c, value in zip(rows, expected, strict=False)
        ]
    for number, value in identified.joint_values().values():
        true_values = {'rotor': 0.01, 'damping': 0.1, 'friction': 0.3, 'friction_speed': 0.2}
        change = true_values.get(number.kind)
        if change is not None:
            row = next(
                c
                for c in identified.changes()
                if (c.of, c.name) == (truth.joint_names[number.joint], number.kind)
            )
            misses.append(abs(value - change) / row.deviation)
    assert len(misses) == 100
    assert max(misses) < 3.0
    assert 0.6 < np.sqrt(np.mean(np.square(misses))) < 1.2
    base = next(c for c in identified.changes() if c.name == 'mass')
    assert abs(base.after - true[0, 0]) < 3.0 * base.deviation


@pytest.mark.long
@pytest.mark.parametrize(
    ('coulomb', 'rates'),
    [
        (False, lambda r: r),  # as nodes read a robot by default
        (True, lambda r: r),
        (True, lambda r: r + np.copysign(1.0, r)),  # every joint faster than friction_speed
        (True, np.zeros_like),  # at rest, where A holds the slope of friction
    ],
)
def test_A_and_B_are_near_those_of_the_truth(quadruped, identified, coulomb, rates):
    description, _, true, _ = quadruped
    overlay = overlay_of(identified, description)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        truth, model, found = (
            TreeModel.from_description(d, overlay=o, coulomb_friction=coulomb)
            for d, o in ((true, None), (description, None), (description, overlay))
        )
    rng = np.random.default_rng(12)
    off = {model: [], found: []}
    for _ in range(5):
        state = truth.random_state(rng, 0.5)
        posture = np.tile([0.0, 0.8, -1.6], 4)
        state = truth.state(state.H, posture, state.v, rates(state.r))
        tau = rng.normal(size=12)
        one = Linearizer(truth)(state, tau).copy()
        for robot, parts in off.items():
            other = Linearizer(robot)(state, tau)
            parts.append([relative(one.A, other.A), relative(one.B, other.B)])
    described, after = (np.median(parts, axis=0) for parts in off.values())
    assert (described > 0.15).all(), described
    assert (after < 0.02).all(), after


def relative(truth, found):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)

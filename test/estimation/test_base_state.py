# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The state estimator: its filter against textbook formulas, and on walks whose truth is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from geolin_estimation.base_state import BUFFER, BaseFilter, Deviations, Feet, FootForces
from geolin_estimation.kernels import invariant_filter as kernels

from geolin_ros import TreeModel, inverse_dynamics, robots
from geolin_ros.dynamics.kinematics import Kinematics, Points
from geolin_ros.errors import ConfigurationError, NotFiniteError, UnknownNameError
from geolin_ros.linearization.contacts import Contact

scipy = pytest.importorskip('scipy')
from scipy.linalg import expm  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from scipy.stats import chi2  # noqa: E402

GRAVITY = np.array((0.0, 0.0, -9.80665))
LEGS = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
K = 3
NOISE = Deviations(slip=1e-3, point=1e-3, gyro=0.005, accelerometer=0.05)


# -- the filter against dense formulas --------------------------------------------------------


def as_matrix(X):
    """Return X (3, 5 + K) as a matrix of SE_(2+K)(3)."""
    return np.vstack((X, np.eye(X.shape[1])[3:]))


def algebra(xi):
    """Return xi^ of [theta | v | p | points] as a matrix."""
    full = np.zeros((3 + xi.size // 3 - 1,) * 2)
    w = xi[:3]
    full[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    full[:3, 3:] = xi[3:].reshape(-1, 3).T
    return full


def group_error(delta):
    """Return the rows of an error without those of the biases."""
    return np.concatenate((delta[:9], delta[15:]))


def some_state(rng):
    X = rng.normal(size=(3, 5 + K))
    X[:, :3] = Rotation.random(random_state=4).as_matrix()
    n = 15 + 3 * K
    root = 0.1 * rng.normal(size=(n, n))
    return X, 0.1 * rng.normal(size=6), root @ root.T


def test_errors__propagate_as_differences_of_the_motion_say():
    rng = np.random.default_rng(1)
    X, b, _ = some_state(rng)
    n, dt, step = 15 + 3 * K, 1e-4, 1e-5
    active, imu = np.ones(K, dtype=bool), rng.normal(size=6)

    def moved(delta):
        at = (expm(algebra(group_error(delta))) @ as_matrix(X))[:3].copy()
        biases = b + delta[9:15]
        run(at, biases, np.zeros((n, n)))
        return as_matrix(at), biases

    def run(at, biases, P):
        scratch = np.zeros((n, 15)), np.zeros((n, n))
        kernels.propagate(at, biases, P, active, imu, dt, GRAVITY, np.zeros(5), *scratch)

    for i in range(n):
        unit = np.zeros(n)
        unit[i] = 1.0
        plus, minus = moved(step * unit)[0], moved(-step * unit)[0]
        slope = ((plus - minus) @ np.linalg.inv(moved(0 * unit)[0]))[:3] / (2 * step)
        column = np.zeros(n)
        column[:3] = slope[2, 1], slope[0, 2], slope[1, 0]
        column[3:9], column[15:] = slope[:, 3:5].T.ravel(), slope[:, 5:].T.ravel()
        column[9:15] = unit[9:15]
        P = np.outer(unit, unit)
        run(X.copy(), b.copy(), P)
        assert np.allclose(P, np.outer(column, column), atol=40 * dt**2)


def corrected(X, b, P, H, z, N):
    """Return what a measured z = H delta makes of a state: matrix, biases, covariance, gate."""
    S = H @ P @ H.T + N
    gain = P @ H.T @ np.linalg.inv(S)
    left, delta = np.eye(len(P)) - gain @ H, -gain @ z
    joseph = left @ P @ left.T + gain @ N @ gain.T
    moved = expm(algebra(group_error(delta))) @ as_matrix(X)
    return moved, b + delta[9:15], joseph, z @ np.linalg.solve(S, z)


def test_correction__is_that_of_the_textbook():
    rng = np.random.default_rng(2)
    X, b, P = some_state(rng)
    n, k, N, R = P.shape[0], 1, np.diag((1e-3, 2e-3, 3e-3)), X[:, :3].copy()
    h = R.T @ (X[:, 5 + k] - X[:, 4]) + 0.02 * rng.normal(size=3)
    H = np.zeros((3, n))
    H[:, 6:9], H[:, 15 + 3 * k : 18 + 3 * k] = np.eye(3), -np.eye(3)
    z = R @ h - (X[:, 5 + k] - X[:, 4])
    expected = corrected(X, b, P, H, z, R @ N @ R.T)
    is_accepted, size = kernels.correct(X, b, P, k, h, N, 1e9, np.zeros((n, n)), np.zeros((n, n)))
    assert is_accepted
    for found, value in zip((as_matrix(X), b, P, size), expected, strict=True):
        assert np.allclose(found, value, atol=1e-12)


def test_height__corrects_as_the_textbook_and_its_slope_is_that_of_differences():
    X, b, P = some_state(np.random.default_rng(3))
    n, k, height, variance, step = P.shape[0], 1, X[2, 6] + 0.1, 4e-3, 1e-6
    H = np.zeros((1, n))
    for i, unit in enumerate(np.eye(n)):
        plus, minus = (
            (expm(algebra(group_error(e * unit))) @ as_matrix(X))[2, 5 + k] for e in (step, -step)
        )
        H[0, i] = (plus - minus) / (2 * step)
    expected = corrected(X, b, P, H, X[2:3, 5 + k] - height, variance * np.eye(1))
    scratch = np.zeros((n, n)), np.zeros((n, n))
    assert not kernels.level(X, b, P, k, height + 1e3, variance, 16.0, *scratch)[0]
    assert kernels.level(X, b, P, k, height, variance, 16.0, *scratch)[0]
    for found, value in zip((as_matrix(X), b, P), expected, strict=False):
        assert np.allclose(found, value, atol=1e-9)


def test_samples_kept_until_a_correction__carry_as_far_as_one_by_one():
    rng = np.random.default_rng(8)
    together, alone = (BaseFilter(feet_of(quadruped()), NOISE) for _ in range(2))
    s, up = quadruped().neutral_state().s, np.array((0.0, 0.0, 0.0, 0.0, 0.0, 9.8))
    for filter in (together, alone):
        filter.start(0.0, np.array((0.0, 0.3, 9.8)))
        filter.correct(s, set(LEGS))
    for k in range(1, 2 * BUFFER):
        sample = None if k % 7 == 0 else rng.normal(0.0, 0.1, 6) + up
        for filter in (together, alone):
            filter.propagate(1e-3 * k + (0.05 if k > 30 else 0.0), sample)
        alone.estimate()
    one, other = together.estimate(), alone.estimate()
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# -- points and forces ------------------------------------------------------------------------


def test_points__are_and_move_where_kinematics_says():
    for robot in robots.ROBOTS:
        model = TreeModel.from_urdf(robots.path(robot))
        state = model.random_state(np.random.default_rng(9), speed=0.5)
        links = [name for name in model.frames if name != model.base_link]
        frames = [model.frame(link) for link in links]
        (places,), (axes,), (jacobians,) = Points(model, frames)([state])
        at = Kinematics(model, state)
        for link, h, R, J in zip(links, places, axes, jacobians, strict=True):
            assert np.allclose(h, at.pose(link)[:3, 3], atol=1e-13)
            assert np.allclose(R, at.pose(link)[:3, :3], atol=1e-13)
            assert np.allclose(J, at.jacobian(link, expressed_in='mixed'), atol=1e-13)


@pytest.mark.parametrize('kind', ['point', 'surface'])
def test_forces_at_feet__are_those_of_numpys_least_squares(kind):
    model, rng = quadruped(), np.random.default_rng(10)
    contacts = [Contact(foot, kind) for foot in (LEGS if kind == 'point' else LEGS[:2])]
    s, r, r_dot, tau = rng.normal(size=(4, model.n))
    sample = rng.normal(size=6)
    found = FootForces(Feet(model, 'imu', contacts))(s, r, r_dot, tau, sample)
    H = model.frame('imu').placement
    w = H[:3, :3] @ sample[:3]
    state = model.state(np.eye(4), s, np.concatenate((np.zeros(3), w)), r)
    a = H[:3, :3] @ sample[3:] - np.cross(w, np.cross(w, H[:3, 3])) + model.gravity
    lacking = inverse_dynamics(model, state, np.concatenate((a, np.zeros(3), r_dot)))
    lacking[6:] -= tau
    at, rows = Kinematics(model, state), 3 if kind == 'point' else 6
    J = np.vstack([at.jacobian(c.frame, expressed_in='mixed')[:rows] for c in contacts])
    weight = np.array([0.1] * 6 + [1.0] * model.n)
    f = np.linalg.lstsq((J * weight).T, weight * lacking, rcond=1e-6)[0].reshape(-1, rows)
    expected = np.linalg.norm(f[:, :3], axis=1)
    assert np.allclose([found[c.frame] for c in contacts], expected, rtol=1e-5)


# -- walks whose truth is known ---------------------------------------------------------------


@dataclass
class Walk:
    """A quadruped that trots on the spot: exact poses, rates and footholds at ``time``."""

    time: np.ndarray
    R: Rotation
    p: np.ndarray
    v: np.ndarray
    imu: np.ndarray
    s: np.ndarray
    on_ground: list


def feet_of(model):
    return Feet(model, model.base_link, [Contact(foot) for foot in LEGS])


def quadruped():
    return TreeModel.from_urdf(robots.path('quadruped'))


def footholds(home, time, slip):
    """Return targets (N, 4, 3) of the feet, lifted by two after half a second, and which stand."""
    d, ground = np.tile(home, (time.size, 1, 1)), []
    for k, t in enumerate(time):
        phase = (t - 0.5) % 0.4 / 0.4
        lifted = (0, 3) if int((t - 0.5) / 0.4) % 2 else (1, 2)
        lifted = lifted if t >= 0.5 and phase < 0.8 else ()
        for i in lifted:
            d[k, i, 2] += 0.04 * np.sin(np.pi * phase / 0.8)
        if slip is not None and t >= slip[0]:
            d[k, slip[1], :2] += 0.05
        ground.append({LEGS[i] for i in set(range(4)) - set(lifted)})
    return d, ground


def solved(feet, R, p, d, s):
    """Return joint positions that put the feet at d (4, 3), by Newton's method."""
    for _ in range(8):
        h, J = feet.seen(s)
        miss = ((d - p) @ R - h).ravel()
        if np.abs(miss).max() < 1e-10:
            return s
        s = s + np.linalg.lstsq(J[:, :3, 6:].reshape(12, -1), miss, rcond=None)[0]
    raise AssertionError('the feet cannot be reached')


def walk(seconds=2.0, rate=100.0, slip=None):
    model = quadruped()
    feet = feet_of(model)
    time = np.arange(0.0, seconds, 1.0 / rate)
    s = np.array(
        [0.7 if 'thigh' in n else -1.4 if 'calf' in n else 0.0 for n in model.joint_names]
    )
    home = feet.seen(s)[0]

    def pose(t):
        u = np.clip(t - 0.4, 0.0, 1.0)
        ramp = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)  # at rest at first
        x = 0.01 * ramp * np.array([np.sin(6 * t), np.sin(5 * t), np.cos(9 * t)])
        turn = np.array([0.05 * np.sin(7 * t), 0.04 * np.sin(8 * t), 0.1 * np.sin(2 * t)])
        return x, Rotation.from_rotvec(ramp * turn)

    e = 1e-4
    p = np.array([pose(t)[0] for t in time])
    R = Rotation.concatenate([pose(t)[1] for t in time])
    before, after = [pose(t - e) for t in time], [pose(t + e) for t in time]
    v = np.array([(b[0] - a[0]) / (2 * e) for a, b in zip(before, after, strict=True)])
    a = np.array([x[0] + y[0] - 2 * q for x, y, q in zip(before, after, p, strict=True)]) / e**2
    w = [(x[1].inv() * y[1]).as_rotvec() / (2 * e) for x, y in zip(before, after, strict=True)]
    imu = np.hstack((w, R.inv().apply(a - GRAVITY)))
    d, ground = footholds(home, time, slip)
    joints = []
    for k in range(time.size):
        s = solved(feet, R[k].as_matrix(), p[k], d[k], s)
        joints.append(s)
    return Walk(time, R, p, v, imu, np.array(joints), ground)


@pytest.fixture(scope='module')
def plain_walk():
    return walk()


def estimates(run, rng, at, **options):
    """Return what the filter says at some samples, measured with the noise it expects."""
    dt, noise = run.time[1], NOISE
    filter = BaseFilter(feet_of(quadruped()), noise, **options)
    bias = np.repeat((noise.gyro_bias, noise.accelerometer_bias), 3) * rng.normal(size=6)
    density = np.repeat((noise.gyro, noise.accelerometer), 3) / np.sqrt(dt)
    tilt = Rotation.from_rotvec((*(0.05 * rng.normal(size=2)), 0.0))
    filter.start(0.0, tilt.apply((0.0, 0.0, 9.81)))
    found = {}
    for k, t in enumerate(run.time):
        filter.propagate(t, run.imu[k] + bias + density * rng.normal(size=6))
        filter.correct(run.s[k] + noise.joint * rng.normal(size=run.s[k].size), run.on_ground[k])
        if k in at:
            found[k] = filter.estimate()
    return filter, found


def errors(run, k, estimate):
    """Return the errors [place; turning] of the pose in world axes, and of the base's velocity."""
    R = run.R[k]
    turning = (Rotation.from_matrix(estimate.H[:3, :3]) * R.inv()).as_rotvec()
    return (
        np.concatenate((estimate.H[:3, 3] - run.p[k], turning)),
        estimate.v[:3] - R.inv().apply(run.v[k]),
    )


def test_errors_of_runs__are_as_large_as_their_covariances_say(plain_walk):
    runs, moments = 8, (50, 120, 199)
    pose, speed = np.zeros((2, len(moments)))
    for seed in range(runs):
        _, found = estimates(plain_walk, np.random.default_rng(seed), moments)
        for i, k in enumerate(moments):
            e, v = errors(plain_walk, k, found[k])
            pose[i] += e @ np.linalg.solve(found[k].pose_covariance, e)
            speed[i] += v @ np.linalg.solve(found[k].twist_covariance[:3, :3], v)
    biases = np.sqrt(np.diag(found[k].bias_covariance))  # become known
    assert (biases[:2] < 0.6 * NOISE.gyro_bias).all()
    assert biases[5] < 0.3 * NOISE.accelerometer_bias
    for total, size in ((pose, 6 * runs), (speed, 3 * runs)):
        assert (total < chi2.ppf(0.9995, size)).all(), total / size
        assert (total > chi2.ppf(0.0005, size)).all(), total / size


def test_flat_ground__keeps_the_height():
    trot, off = walk(seconds=4.0), {}
    k = trot.time.size - 1
    for flat in (0.0, 0.005):
        runs = [
            estimates(trot, np.random.default_rng(seed), (k,), flat_ground=flat)[1]
            for seed in range(12)
        ]
        off[flat] = np.abs([errors(trot, k, found[k])[0][2] for found in runs]).mean()
    assert off[0.005] < 0.6 * off[0.0]


def test_slip__is_let_go_and_does_not_move_the_base():
    slipped = walk(seconds=1.6, slip=(0.3, 0))
    k, moved = slipped.time.size - 1, {}
    for name, options in (('guarded', {}), ('open', {'gate': 1e9})):
        filter, found = estimates(slipped, np.random.default_rng(5), (k,), **options)
        moved[name] = np.abs(errors(slipped, k, found[k])[0][:3]).max()
        assert (filter.let_go > 0) == (name == 'guarded')
    assert moved['guarded'] < 0.01 < moved['open']


def test_blow_that_the_imu_missed__is_got_over(plain_walk):
    imu = plain_walk.imu.copy()
    imu[100, 3:] += 40.0  # 0.4 m/s along each axis that never were
    k = plain_walk.time.size - 1
    filter, found = estimates(replace(plain_walk, imu=imu), np.random.default_rng(7), (k,))
    assert filter.let_go > 0
    place, speed = errors(plain_walk, k, found[k])
    assert np.abs(place[:3]).max() < 0.15
    assert np.linalg.norm(speed) < 0.1


# -- what cannot be estimated -----------------------------------------------------------------


@pytest.mark.parametrize(
    ('imu', 'contacts', 'error', 'says'),
    [
        ('FL_foot', ['FL_foot'], ConfigurationError, 'fixed to a floating base'),
        ('tray', ['FL_foot'], UnknownNameError, 'tray'),
        ('base', [], ConfigurationError, 'no contacts'),
        ('base', ['hand'], UnknownNameError, 'hand'),
    ],
)
def test_names_that_do_not_fit__are_refused(imu, contacts, error, says):
    with pytest.raises(error, match=says):
        Feet(quadruped(), imu, [Contact(c) for c in contacts])


def test_numbers_that_overflow__are_told(plain_walk):
    filter = BaseFilter(feet_of(quadruped()), replace(NOISE))
    filter.start(0.0, np.array((0.0, 0.0, 9.81)))
    filter.propagate(0.01, np.full(6, 1e200))
    filter.propagate(0.02, np.full(6, 1e200))
    with np.errstate(all='ignore'), pytest.raises(NotFiniteError, match='is lost'):
        filter.correct(plain_walk.s[0], set(LEGS))

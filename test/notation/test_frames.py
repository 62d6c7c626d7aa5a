# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The formulas of [Traversaro 2019, sections 5-7] against differences of moving frames."""

import numpy as np
import pytest
from support.close import assert_close, assert_wrong, deviation
from support.dense_reference import adjoint
from support.finite_difference import ad, cross, derivative, exp, hat, vee

from geolin_ros import Link
from geolin_ros.errors import ConfigurationError, ShapeError
from geolin_ros.spatial import frames, se3
from geolin_ros.spatial.frames import WORLD, MovingFrame

NAMES = ('body', 'inertial', 'mixed')
T = 0.3


class Motion:
    """A frame along H_0 exp(t x) exp(t^2 y): pose, twist and its rate at any time."""

    def __init__(self, rng):
        self.start = exp(rng.normal(size=6))
        self.x, self.y = rng.normal(size=(2, 6))

    def pose(self, t):
        return self.start @ exp(t * self.x) @ exp(t * t * self.y)

    def twist(self, t):
        rate = derivative(lambda h: self.pose(t + h))
        return vee(np.linalg.solve(self.pose(t), rate))

    def at(self, t):
        return MovingFrame(self.pose(t), self.twist(t))

    def twist_rate(self, t):
        """By hand: v = Ad(exp(-t^2 y)) x + 2 t y, so vdot = -2 t (y x) Ad x + 2 y."""
        X = adjoint(exp(-t * t * self.y))
        assert_close(X @ self.x + 2.0 * t * self.y, self.twist(t), 1e-9)
        return -2.0 * t * ad(self.y) @ X @ self.x + 2.0 * self.y


@pytest.mark.shows('Traversaro 2019: Eqs. (1)-(8)', 'Traversaro 2019: T7')
def test_groups_and_algebras__are_those_of_equations_1_to_8():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 6))
    for H in (se3.exp(x), se3.exp(x) @ se3.exp(y)):  # closed under products
        R = H[:3, :3]
        assert_close(R.T @ R, np.eye(3), 1e-14)  # (1)
        assert np.linalg.det(R) == pytest.approx(1.0, rel=1e-14)
        assert np.array_equal(H[3], [0.0, 0.0, 0.0, 1.0])  # (3)
    w, u = x[3:], x[:3]
    W = se3.cross3(w)
    assert np.array_equal(W, -W.T)  # (2)
    assert np.array_equal(W @ u, np.cross(w, u))  # (5)
    assert np.array_equal([W[2, 1], W[0, 2], W[1, 0]], w)  # (6)
    X, Y = hat(x), hat(y)
    assert np.array_equal(X[:3, :3], W)  # (4), (7)
    assert np.array_equal(vee(X), x)  # (8)
    commutator = X @ Y - Y @ X
    assert_close(commutator, hat(vee(commutator)), 1e-14)
    assert_close(vee(commutator), se3.cross(x) @ y, 1e-14)


@pytest.mark.shows('Traversaro 2019: Eqs. (10)-(16)')
def test_points_and_poses__change_frame_and_time_by_equations_10_to_16_and_36(motions, B):
    rng = np.random.default_rng(5)
    point = rng.normal(size=3)
    R, o = B.H[:3, :3], B.H[:3, 3]
    in_b = np.array([(point - o) @ axis for axis in R.T])  # (10)
    assert_close((B.H @ np.append(in_b, 1.0))[:3], point, 1e-14)  # (11)-(13)
    assert_close(se3.inverse(B.H) @ np.append(point, 1.0), np.append(in_b, 1.0), 1e-14)
    H_dot = derivative(lambda h: motions[0].pose(T + h))
    assert_close(H_dot, B.H @ hat(B.v), 1e-9)  # (16), (36)
    moving = derivative(lambda h: (motions[0].pose(T + h) @ np.append(in_b, 1.0))[:3])
    assert_close(moving, H_dot[:3, :3] @ in_b + H_dot[:3, 3], 1e-9)  # (14), (15)
    inertial = frames.twist(B, WORLD)
    assert_close(moving, inertial[:3] + np.cross(inertial[3:], point), 1e-9)


@pytest.fixture
def motions():
    rng = np.random.default_rng(3)
    return Motion(rng), Motion(rng)


@pytest.fixture
def B(motions):
    return motions[0].at(T)


@pytest.fixture
def C(motions):
    return motions[1].at(T)


def expressions(motions):
    """Yield a name and a function of time for each frame to express in."""
    for name in NAMES:
        yield name, lambda t, name=name: frames.expression_frame(motions[0].at(t), name)
    yield 'arbitrary', motions[1].at


@pytest.mark.shows(
    'Traversaro 2019: Eqs. (17)-(26)',
    'Traversaro 2019: Eq. (35)',
    'Traversaro 2019: - Eqs. (88)-(91)',
    'Traversaro 2019: - Eqs. (92)-(94)',
    'Traversaro 2019: T5',
)
def test_twists__have_the_matrices_they_are_named_after(motions, B, C):
    """Left-trivialized: H^-1 Hdot (21); right-trivialized: Hdot H^-1 (26); mixed: (35).

    T5: (93) is printed with p p; it is -Rdot R' p + pdot.
    """
    H, H_dot = B.H, derivative(lambda h: motions[0].pose(T + h))
    R, p = H[:3, :3], H[:3, 3]
    assert_close(hat(frames.twist(B, B)), np.linalg.solve(H, H_dot), 1e-9)
    assert_close(hat(frames.twist(B, WORLD)), H_dot @ np.linalg.inv(H), 1e-9)
    assert_close(frames.twist(B, WORLD)[:3], -H_dot[:3, :3] @ R.T @ p + H_dot[:3, 3], 1e-9)
    mixed = frames.twist(B, frames.mixed(B))
    assert_close(mixed[:3], H_dot[:3, 3], 1e-9)
    assert_close(cross(mixed[3:]), H_dot[:3, :3] @ R.T, 1e-9)
    for found, pose in (  # of the mixed frame, and of one frame seen from another
        (frames.mixed(B).v, lambda t: frames.mixed(motions[0].at(t)).H),
        (
            frames.relative_twist(B, C),
            lambda t: np.linalg.solve(motions[1].pose(t), motions[0].pose(t)),
        ),
    ):
        rate = derivative(lambda h, pose=pose: pose(T + h))
        assert_close(hat(found), np.linalg.solve(pose(T), rate), 1e-9)
    assert_close(frames.relative_twist(B, MovingFrame(np.eye(4))), B.v, 0.0)


@pytest.mark.shows(
    'Traversaro 2019: Eqs. (27)-(33)',
    'Traversaro 2019: Eq. (34)',
    'Traversaro 2019: Eqs. (38)-(41)',
    'Bos 2022: Eqs. (18)',
)
def test_twist_map__is_the_adjoint_of_the_relative_pose_and_carries_cross_products(B, C):
    """Eqs. (39)-(41) and (63); of a twist the angular part alone is only turned (34)."""
    X, X_wrench = frames.twist_map(B, C), frames.wrench_map(B, C)
    assert_close(X, adjoint(np.linalg.solve(C.H, B.H)), 1e-13)
    assert_close(se3.relative(C.H, B.H), np.linalg.solve(C.H, B.H), 1e-13)
    assert_close(frames.twist_map(C, B) @ X, np.eye(6), 1e-13)
    assert_close(frames.twist_map(C, WORLD) @ X, frames.twist_map(B, WORLD), 1e-13)
    found, R = frames.twist(B, C), C.H[:3, :3].T @ B.H[:3, :3]
    assert_close(found[3:], R @ B.v[3:], 1e-13)
    assert_close(found[3:], C.H[:3, :3].T @ frames.twist(B, WORLD)[3:], 1e-13)
    assert deviation(found[:3], R @ B.v[:3]) > 0.1
    assert_close(se3.cross(B.v) @ C.v, -se3.cross(C.v) @ B.v, 1e-14)
    assert_close(se3.cross(B.v) @ B.v, np.zeros(6), 1e-15, scale=B.v @ B.v)
    assert_close(X @ se3.cross(B.v), se3.cross(X @ B.v) @ X, 1e-13)
    assert_close(X_wrench @ se3.cross_wrench(B.v), se3.cross_wrench(X @ B.v) @ X_wrench, 1e-13)
    assert_close(se3.cross_wrench(B.v), -ad(B.v).T, 0.0)


@pytest.mark.shows('Traversaro 2019: Eqs. (57)-(60)')
def test_wrench_map__keeps_the_power(B, C):
    """Eq. (60), and (59) by its blocks."""
    f = np.arange(1.0, 7.0)
    assert_close(frames.wrench_map(B, C) @ f @ frames.twist(B, C), f @ B.v, 1e-13)
    X, X_rate = frames.twist_map(B, C), frames.twist_map_rate(B, C)
    dual = np.linalg.inv(X).T
    assert_close(frames.wrench_map(B, C), dual, 1e-13)
    assert_close(frames.wrench_map_rate(B, C), -dual @ X_rate.T @ dual, 1e-12)
    (R, o), zero = (B.H[:3, :3], B.H[:3, 3]), np.zeros((3, 3))
    R_dot, o_dot = R @ cross(B.v[3:]), R @ B.v[:3]
    below = cross(o_dot) @ R + cross(o) @ R_dot  # d/dt (o^ R)
    by_hand = np.block([[R_dot, zero], [below, R_dot]])
    assert_close(frames.wrench_map_rate(B, WORLD), by_hand, 1e-13)
    X = np.block([[R, zero], [cross(o) @ R, R]])
    assert_close(frames.wrench_map(B, WORLD), X, 1e-14)
    assert_close(se3.wrench_map(B.H), X, 1e-14)


@pytest.mark.shows('Traversaro 2019: Eqs. (37)', 'Kim 2012: Lemmas 1 and 2')
def test_maps__have_the_rates_of_equations_37_and_61(motions, B):
    for name, frame in expressions(motions):
        for rate, of in (
            (frames.twist_map_rate, frames.twist_map),
            (frames.wrench_map_rate, frames.wrench_map),
        ):
            by_time = derivative(lambda h, f=frame, m=of: m(motions[0].at(T + h), f(T + h)))
            assert_close(rate(B, frame(T)), by_time, 1e-9, name, scale=1.0)


@pytest.mark.shows(
    'Traversaro 2019: Eqs. (44)',
    'Traversaro 2019: Eqs. (46)-(48)',
    'Traversaro 2019: Eqs. (52)-(55)',
    'Traversaro 2019: Appendix A',
)
def test_accelerations__are_derivatives_in_time(motions, B, C):
    """Apparent ones of the numbers of a twist (45), intrinsic ones of the inertial ones (47).

    The mixed apparent one is that of the origin (52).
    """
    v_dot = motions[0].twist_rate(T)
    inertial = derivative(lambda h: frames.twist(motions[0].at(T + h), WORLD))
    for name, frame in expressions(motions):
        D = frame(T)
        by_time = derivative(lambda h, f=frame: frames.twist(motions[0].at(T + h), f(T + h)))
        found = frames.apparent_acceleration(B, v_dot, D)
        assert_close(found, by_time, 1e-8, name)
        intrinsic = frames.intrinsic_acceleration(B, v_dot, D)
        assert_close(intrinsic, frames.twist_map(WORLD, D) @ inertial, 1e-8, name)
        if name in ('body', 'inertial'):
            assert_close(intrinsic, found, 1e-12, name)
    origin = derivative(lambda h: derivative(lambda k: motions[0].pose(T + h + k)[:3, 3]))
    found = frames.apparent_acceleration(B, v_dot, frames.mixed(B))
    assert_close(found[:3], origin, 1e-8)


@pytest.mark.shows('Traversaro 2019: Eqs. (49)-(51)', 'Traversaro 2019: Eqs. (52)-(55)')
def test_accelerations__differ_by_equations_49_and_54(motions, B, C):
    """^C a = ^C vdot + ^C v_{A,C} x ^C v_{A,B}, and by components (50), (51)."""
    v_dot = motions[0].twist_rate(T)
    for D in (C, frames.mixed(B)):
        intrinsic = frames.intrinsic_acceleration(B, v_dot, D)
        apparent = frames.apparent_acceleration(B, v_dot, D)
        v = frames.twist(B, D)
        assert_close(intrinsic, apparent + ad(D.v) @ v, 1e-12)
        linear = np.cross(D.v[3:], v[:3]) + np.cross(D.v[:3], v[3:])
        assert_close(intrinsic[:3], apparent[:3] + linear, 1e-12)
        assert_close(intrinsic[3:], apparent[3:] + np.cross(D.v[3:], v[3:]), 1e-12)
    assert_close(apparent[:3], intrinsic[:3] - np.cross(v[:3], v[3:]), 1e-12)  # (54)


@pytest.mark.shows('Traversaro 2019: Eqs. (67)-(69)', 'Kim 2012: Eqs. (21)')
def test_inertia__is_that_of_equations_67_to_69():
    rng = np.random.default_rng(4)
    mass, o, root = 2.5, rng.normal(size=3), rng.normal(size=(3, 3))
    rotational = root @ root.T + 10.0 * np.eye(3)
    H, at_com = np.eye(4), np.diag([mass] * 3 + [0.0] * 3)
    H[:3, 3], at_com[3:, 3:] = o, rotational
    X = se3.wrench_map(H)
    moved = X @ at_com @ X.T
    assert_close(moved, Link.from_mass('link', mass, o, rotational).inertia, 1e-13)
    assert_close(moved[3:, 3:], rotational - mass * cross(o) @ cross(o), 1e-13)


@pytest.mark.shows('Traversaro 2019: T1')
def test_erratum_t1__the_adjoint_turns_with_the_body_twist(motions, B):
    """T1: after (42) the paper prints ad of g^-1 gdot as ^A v x; d/dt Ad_g needs ^B v x."""
    rate = derivative(lambda h: adjoint(motions[0].pose(T + h)))
    X = frames.twist_map(B, WORLD)
    assert_close(X @ ad(B.v), rate, 1e-9)
    assert_wrong(X @ ad(frames.twist(B, WORLD)), rate, 1.36)


@pytest.mark.shows('Traversaro 2019: T2')
def test_erratum_t2__the_square_of_a_cross_matrix():
    """T2: o^ o^ = o o' - o'o 1, where the paper prints o'o 1 + o o'."""
    o = np.array([0.3, -1.2, 0.7])
    square = cross(o) @ cross(o)
    assert_close(square, np.outer(o, o) - o @ o * np.eye(3), 1e-13)
    assert_wrong(square, o @ o * np.eye(3) + np.outer(o, o), 1.17)


def test_wrong_arguments__are_named(B):
    with pytest.raises(ConfigurationError, match="'spatial'"):
        frames.expression_frame(B, 'spatial')
    with pytest.raises(ShapeError, match=r'\(3, 3\), expected \(4, 4\)'):
        frames.twist(B, MovingFrame(np.eye(3)))
    with pytest.raises(ValueError, match='read-only'):
        MovingFrame(np.eye(4)).v[0] = 1.0

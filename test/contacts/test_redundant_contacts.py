# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contacts that say the same more than once: rank, forces of least norm, and what words say."""

import numpy as np
import pytest
from numpy.random import default_rng
from support.close import assert_close
from support.constrained_reference import ConstrainedReference
from support.finite_difference import derivative, exp
from support.pinocchio_oracle import PinocchioOracle
from support.robots import example_robot, read_robot

from geolin_ros import robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import UnsolvableError
from geolin_ros.linearization.constrained_dynamics import constrained_forward_dynamics
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce

pytest.importorskip('pinocchio')
SOLES = ('leg_left_6_link', 'leg_right_6_link')
SOLO = [f'{leg}_FOOT' for leg in ('FL', 'FR', 'HL', 'HR')]


def corners(link):
    """Return four points of a sole."""
    offsets = [(x, y, -0.1, 0.0, 0.0, 0.0) for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
    return [Contact(link, placement=exp(np.array(offset))) for offset in offsets]


def on_manifold(model, contacts, state):
    """Return the state with the nearest velocity that the contacts admit."""
    J = Linearizer(model, contacts)(state, np.zeros(model.n)).J
    nu = np.concatenate((state.v, state.r))
    nu -= np.linalg.pinv(J, rcond=1e-9) @ (J @ nu)
    held = state.copy()
    held.v[:], held.r[:] = nu[:6], nu[6:]
    return held


class Talos:
    """Talos on eight corner points, and on two surfaces; in motion."""

    def __init__(self):
        path = example_robot('talos_reduced')
        _, self.model = read_robot(path)
        rng = default_rng(1)
        self.points = [point for sole in SOLES for point in corners(sole)]
        self.surfaces = [Contact(sole, 'surface') for sole in SOLES]
        self.state = on_manifold(self.model, self.surfaces, self.model.random_state(rng))
        self.tau = rng.normal(size=self.model.n)
        self.oracle = PinocchioOracle.read_urdf(path, self.model)


@pytest.fixture(scope='module')
def talos():
    return Talos()


def test_corner_points__move_as_two_surfaces(talos):
    model, m = talos.model, talos.model.m
    redundant = Linearizer(model, talos.points)(talos.state, talos.tau)
    independent = Linearizer(model, talos.surfaces)(talos.state, talos.tau)
    assert_close(redundant.nu_dot, independent.nu_dot, 1e-9)
    assert_close(redundant.B, independent.B, 1e-9)
    P = reduce(independent).P
    assert P.shape == (2 * m, 2 * (m - 12))
    assert_close(redundant.A @ P, independent.A @ P, 1e-9)
    assert_close(
        np.linalg.norm(reduce(redundant).P.T @ P, 2), 1.0, 1e-12, 'same admissible directions'
    )
    report = redundant.dropped
    assert (redundant.rank, report.rank, report.admissible) == (12, 12, m - 12)
    assert report.smallest_kept > 1e-5
    assert report.largest_dropped < 1e-14
    assert report.dropped.shape == (24, 12)
    assert report.contradiction < 1e-9
    assert report.warnings == (
        f'12 of 24 rows are redundant, among {", ".join(report.redundant_rows)}; forces are '
        'those of least norm',
    )
    assert len(report.redundant_rows) == 24
    assert Linearizer(model)(talos.state, talos.tau).dropped.warnings == ()  # without contacts


def test_corner_points__have_forces_of_least_norm_and_their_derivatives(talos):
    reference = ConstrainedReference(talos.oracle, talos.points)
    C = Linearizer(talos.model, talos.points)(talos.state, talos.tau)
    nu_dot, lam = reference.forward_dynamics(talos.state, talos.tau)
    assert_close(C.nu_dot, nu_dot, 1e-9)
    assert_close(C.wrenches, lam, 1e-9)
    assert_close(C.dropped.dropped.T @ C.wrenches, np.zeros(12), 1e-9, scale=np.abs(lam).max())
    R, rng = reduce(C), default_rng(2)
    for y in rng.normal(size=(3, R.A.shape[0])):
        z = R.lift(y)
        by_z = derivative(
            lambda t, z=z: np.concatenate(
                reference.forward_dynamics(talos.state.retract(t * z), talos.tau)
            ),
            step=2e-3,
        )
        m = talos.model.m
        assert_close((C.A @ z)[m:], by_z[:m], 1e-7)
        assert_close(C.wrench_by_state @ z, by_z[m:], 1e-7)
    du = rng.normal(size=talos.model.n)
    _, changed = reference.forward_dynamics(talos.state, talos.tau + du)
    assert_close(C.wrench_by_tau @ du, changed - lam, 1e-9)


def test_velocities_off_the_manifold__are_called_a_contradiction(talos):
    moving = talos.state.copy()
    moving.r[:] += 1.0
    report = Linearizer(talos.model, talos.points)(moving, talos.tau).dropped
    assert report.contradiction > 1e-3
    assert 'contradict each other' in report.warnings[-1]


def test_four_surfaces_on_a_quadruped__leave_no_motion_and_say_so():
    path = example_robot('solo12')
    _, model = read_robot(path)
    state, rng = model.random_state(default_rng(4), speed=0.0), default_rng(5)
    contacts, tau = [Contact(foot, 'surface') for foot in SOLO], rng.normal(size=model.n)
    C = Linearizer(model, contacts, length=1.0)(state, tau)
    assert (C.rank, C.dropped.admissible) == (18, 0)
    assert_close(C.nu_dot, np.zeros(model.m), 1e-9, scale=9.81)
    assert_close(C.A[model.m :], np.zeros((model.m, 2 * model.m)), 1e-9, scale=9.81)
    assert C.dropped.warnings[0].startswith('the contacts leave no admissible motion: their rank')
    assert 'rank 18 on 18 velocities, 0 admissible' in str(C.dropped)
    with pytest.raises(UnsolvableError, match='no admissible motion'):
        reduce(C)
    reference = ConstrainedReference(PinocchioOracle.read_urdf(path, model), contacts)
    for k in range(0, model.m, 3):  # at rest the contacts agree at every position
        z = np.eye(2 * model.m)[k]
        by_z = derivative(
            lambda t, z=z: reference.forward_dynamics(state.retract(t * z), tau)[1], step=2e-3
        )
        assert_close(
            C.wrench_by_state @ z, by_z, 1e-6, scale=np.abs(C.wrench_by_state[:, : model.m]).max()
        )


class FrontLegs:
    """The quadruped on soles of its front legs, which move alike: a parallelogram.

    ``state(t)`` moves on the contact manifold. The rank is 10 of 12 rows all along, and the forces
    without effect turn on the way.
    """

    def __init__(self):
        path = robots.path('quadruped')
        _, self.model = read_robot(path)
        self.contacts = [Contact('FL_foot', 'surface'), Contact('FR_foot', 'surface')]
        self.oracle = PinocchioOracle.read_urdf(path, self.model)
        rng, n = default_rng(7), self.model.n
        self.motion = self.alike(rng.uniform(0.3, 0.9, n)), self.alike(rng.normal(size=n))
        self.change = self.alike(rng.normal(size=n)), self.alike(rng.normal(size=n))
        self.tau = rng.normal(size=n)

    def alike(self, values):
        """Return values with the right leg's as the left one's, none where a hip opens."""
        for part, factor in (('hip_joint', 0.0), ('thigh_joint', 1.0), ('calf_joint', 1.0)):
            left, right = (self.model.joint_index(f'{leg}_{part}') for leg in ('FL', 'FR'))
            values[left] = values[right] = factor * values[left]
        return values

    def state(self, t):
        """Return the state at t: the feet stay where they are."""
        state = self.model.neutral_state()
        state.s[:], state.r[:] = (
            now + t * rate for now, rate in zip(self.motion, self.change, strict=True)
        )
        state.H[:] = np.linalg.inv(Kinematics(self.model, state).pose('FL_foot'))
        J = Kinematics(self.model, state).jacobian('FL_foot')
        state.v[:] = -np.linalg.solve(J[:, :6], J[:, 6:] @ state.r)
        return state


@pytest.mark.parametrize('length', [1.0, 0.1])
def test_forces_without_effect_that_turn__are_differentiated(length):
    front = FrontLegs()
    reference = ConstrainedReference(front.oracle, front.contacts)
    C = Linearizer(front.model, front.contacts, length=length)(front.state(0.0), front.tau)
    assert C.rank == 10
    assert_close(C.J.T @ C.dropped.dropped, np.zeros((18, 2)), 1e-12, scale=1.0)
    assert C.dropped.contradiction < 1e-9
    nu_dot, lam = reference.forward_dynamics(front.state(0.0), front.tau, length)
    assert_close(C.nu_dot, nu_dot, 1e-9)
    assert_close(C.wrenches, lam, 1e-9)
    start = front.state(0.0)
    z = derivative(lambda t: start.difference(front.state(t)), step=1e-2)
    by_t = derivative(
        lambda t: np.concatenate(reference.forward_dynamics(front.state(t), front.tau, length)),
        step=1e-2,
    )
    m = front.model.m
    P = reduce(C).P
    assert_close(P @ (P.T @ z), z, 1e-8)
    assert_close((C.A @ z)[m:], by_t[:m], 1e-8)
    assert_close(C.wrench_by_state @ z, by_t[m:], 1e-7)


def test_length__weighs_torques_and_changes_no_motion():
    front, found = FrontLegs(), {}
    for length in (1.0, 0.1):
        found[length] = constrained_forward_dynamics(
            front.model, front.state(0.0), front.tau, front.contacts, length=length
        )
    assert_close(found[1.0][0], found[0.1][0], 1e-9)

    def norm(lam, length):
        return np.linalg.norm(lam / np.tile(np.repeat((1.0, length), 3), 2))

    (_, by_metre), (_, by_decimetre) = found[1.0], found[0.1]
    assert np.abs(by_metre - by_decimetre).max() > 1e-2
    assert norm(by_metre, 1.0) < norm(by_decimetre, 1.0)
    assert norm(by_decimetre, 0.1) < norm(by_metre, 0.1)


def test_stretched_leg__is_reported_and_never_smoothed(talos):
    """A sole and the hip above it held: the rank changes where the knee is straight."""
    model, found = talos.model, {}
    knee = model.joint_index('leg_left_4_joint')
    contacts = [Contact('leg_left_6_link', 'surface'), Contact('leg_left_3_link')]
    for bend in (1.0, 1e-3, 1e-5):
        state = model.neutral_state()
        state.s[knee] = bend
        found[bend] = Linearizer(model, contacts)(state, np.zeros(model.n))
    bent, nearly, straight = found.values()
    assert (bent.rank, nearly.rank, straight.rank) == (9, 9, 8)
    assert bent.dropped.warnings == ()
    assert nearly.dropped.smallest_kept < 1e-6
    assert 'rank 9 is unclear' in nearly.dropped.warnings[0]
    assert straight.dropped.largest_dropped < 1e-9
    assert '1 of 9 rows are redundant' in straight.dropped.warnings[0]

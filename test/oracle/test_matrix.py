# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Any robot, however it is held, against dense dynamics that share no code, and differences.

Drawn: tree, base, order of coordinates, inputs, kinds of joints, welds, rotors, dampers, springs,
friction, mimics of mimics, wrenches of all kinds on any links, contacts and loops with gains, and
which accelerations are prescribed. The dense dynamics are Pinocchio's, see `test_referees.py`.
"""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.close import assert_close
from support.dense_reference import DenseReference, brackets, retract
from support.finite_difference import derivative, exp
from support.states import seen_from
from support.trees import ALL_KINDS, KINDS, TILTED_GRAVITY, random_description

import geolin_ros
from geolin_ros import (
    Contact,
    Linearizer,
    Loop,
    TreeModel,
    Variation,
    Wrench,
    bias_force,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_dynamics_variation,
    hybrid_dynamics,
    hybrid_dynamics_derivatives,
    hybrid_dynamics_variation,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_dynamics_variation,
    mass_matrix,
    mass_matrix_inverse,
)
from geolin_ros.description import Mimic
from geolin_ros.linearization.contacts.constraints import constraints_of

STEP = 1e-3
WRENCHES = ('body', 'world', 'world_oriented')
HELD = {
    'free': (),
    'point': ('point',),
    'points': ('point', 'point'),
    'surface': ('surface',),
    'loop of points': ('loop point',),
    'loop and point': ('loop point', 'point'),
    'loop of surfaces': ('loop surface',),
}


class Case:
    """A robot at a random motion; one that is to be held is a chain with joints enough for it."""

    def __init__(self, rng, count, base, kinds, rows=0):
        shape, count = 'chain' if rows else 'branched', count + rows
        kinds = (*kinds, *kinds, *kinds, 'fixed')
        description = random_description(rng, count, shape, kinds, damping=0.5)
        joints = list(description.joints)
        joints[0] = dataclasses.replace(joints[0], kind='revolute')
        single = [k for k in rng.permutation(count) if joints[k].kind in KINDS]
        for place, k in enumerate(single):
            joints[k] = dataclasses.replace(
                joints[k],
                rotor_inertia=rng.uniform(0.0, 0.2),
                gear_ratio=2.0,
                friction=rng.uniform(0.0, 1.0),
                friction_speed=0.8,
                stiffness=rng.uniform(0.0, 3.0),
                rest=rng.uniform(-1.0, 1.0),
            )
            if place and rng.random() < 0.2:  # of one before it: no circle
                master = joints[single[rng.integers(place)]].name
                rule = Mimic(master, rng.uniform(-1.5, 1.5), rng.uniform(-1.0, 1.0))
                joints[k] = dataclasses.replace(joints[k], mimic=rule)
        description = dataclasses.replace(description, joints=tuple(joints))
        free = [joint.name for joint in joints if joint.kind != 'fixed' and not joint.mimic]
        model = TreeModel.from_description(
            description,
            base=base,
            gravity=TILTED_GRAVITY,
            joints=list(rng.permutation(free)),
            coulomb_friction=True,
        )
        inputs = rng.permutation(model.joint_names)[: rng.integers(model.n) + 1]
        self.model = dataclasses.replace(model, actuated_joints=tuple(map(str, inputs)))
        self.reference = DenseReference(description, self.model, friction=True)
        self.state = self.model.random_state(rng)
        self.tau, self.nu_dot = rng.normal(size=model.n), rng.normal(size=model.m)
        self.base, self.rng = model.m - model.n, rng
        self.wrenches = [
            Wrench(self.link(), rng.normal(size=3), rng.normal(size=3), kind, point)
            for kind in WRENCHES[: rng.integers(4)]
            for point in [rng.normal(size=3) * (kind == 'world_oriented')]
        ]
        self.contacts = ()

    def link(self, part=np.s_[:]):
        return str(self.rng.choice(self.model.link_names[part]))

    def hold(self, kinds):
        """Draw contacts and loops off their references; return whether they are independent."""
        rng, at, contacts = self.rng, self.reference.moving_links(self.state), []
        third = len(at) // 3
        for kind in kinds:
            gains = {'kp': rng.uniform(0.0, 30.0), 'kd': rng.uniform(0.0, 9.0)}
            link, off = self.link(np.s_[-third:]), exp(0.1 * rng.normal(size=6))
            pose = exp(rng.normal(size=6))
            if kind.startswith('loop'):
                other = self.link(np.s_[:third])
                pose = np.linalg.solve(at[other].H, at[link].H) @ off
                contacts.append(Loop(link, other, kind[5:], **gains, reference=pose))
            else:
                reference = at[link].H @ pose @ off
                contacts.append(Contact(link, kind, **gains, placement=pose, reference=reference))
        J, _ = self.reference.rows(at, contacts)
        self.contacts = tuple(contacts)
        sizes = np.linalg.svd(J, compute_uv=False)
        mobility = J @ np.linalg.solve(self.reference.mass_matrix(self.state), J.T)
        return not kinds or (sizes[-1] > 0.03 and np.linalg.cond(mobility) < 1e4)

    def velocity(self, at):
        return np.concatenate((at.v[: self.base], at.r))

    def rows(self, at):
        return self.reference.rows(self.reference.moving_links(at), self.contacts)

    def directions(self):
        """Yield displacements of H, s, v and r in turn."""
        m, n = self.model.m, self.model.n
        ends = np.cumsum([0, self.base, n, self.base, n])
        for first, last in itertools.pairwise(ends):
            if last > first:
                z = np.zeros(2 * m)
                z[first:last] = self.rng.normal(size=last - first)
                yield z

    def along(self, function, z):
        """Return the derivative of a function of the state along z."""
        return derivative(lambda t: function(retract(self.reference, self.state, t * z)), STEP)


def drawn(kinds, held, count, base, seed):
    """Return a robot that is held by independent contacts."""
    rng = np.random.default_rng(seed)
    rows = sum(6 if kind.endswith('surface') else 3 for kind in held)
    for _ in range(50):
        case = Case(rng, count, base, kinds, rows)
        if case.hold(held):
            return case
    assume(False)
    return case


def assert_near(found, expected, what, tolerance=1e-6, of=0.0):
    """Compare numbers; a derivative that vanishes by the size of what it is the derivative of."""
    scale = max(1.0, np.abs(expected).max(initial=0.0), np.abs(of).max(initial=0.0))
    assert_close(found, expected, tolerance, what, scale)


ANY_ROBOT = {
    'count': st.integers(2, 8),
    'base': st.sampled_from(['floating', 'fixed']),
    'seed': st.integers(0, 2**32 - 1),
}
ANY_KINDS = pytest.mark.parametrize('kinds', [KINDS, ALL_KINDS], ids=['one axis', 'any'])


@ANY_KINDS
@pytest.mark.parametrize('held', HELD)
@given(**ANY_ROBOT)
def test_linearization__of_any_robot_is_the_derivative_of_dense_dynamics(
    kinds, held, count, base, seed
):
    case = drawn(kinds, HELD[held], count, base, seed)
    model, state, tau, m = case.model, case.state, case.tau, case.model.m
    linearizer = Linearizer(model, case.contacts)

    def both(at, efforts=tau):
        return case.reference.held(at, efforts, case.wrenches, case.contacts)

    def velocities(at):
        nu = case.velocity(at)
        return np.concatenate((case.rows(at)[0] @ nu, nu, both(at)))

    L = linearizer(state, tau, wrenches=case.wrenches)
    nu_dot, forces = np.split(both(state), [m])
    assert_near(L.nu_dot, nu_dot, 'nu_dot', 1e-9)
    assert_near(L.wrenches, forces, 'forces', 1e-9)
    found = linearizer.forward_dynamics(state, tau, wrenches=case.wrenches)
    assert_near(found, nu_dot, 'forward dynamics', 1e-9)
    many = linearizer.batch([state, state], [tau, tau], wrenches=case.wrenches)[1]
    turning, nu = brackets(case.reference, state), case.velocity(state)
    J, gamma = case.rows(state)
    own = constraints_of(model, state, case.contacts)
    assert_near(own.A, J, 'rows', 1e-10)
    assert_near(own.bias, gamma, 'their bias', 1e-9)
    left = linearizer(state, tau)  # what the engine has left behind, and what is computed anew
    geometries = left.geometry, L.geometry
    rest = linearizer(state.at_rest(), tau).geometry
    assert_near(rest.velocity_by_state, np.hstack((0.0 * J, J)), 'J nu by state, at rest', 1e-10)
    for geometry in (*geometries, rest):
        assert_near(geometry.J, J, 'J', 1e-10)
    for z in case.directions():
        J_nu, change = np.split(case.along(velocities, z), [len(J)])
        for geometry in geometries:
            assert_near(geometry.velocity_by_state @ z, J_nu, 'J nu by state')
        change[:m] -= turning @ z[:m]
        for ours in (L, many):
            assert_near(ours.A @ z, change[: 2 * m], 'A', of=nu_dot)
            assert_near(ours.wrench_by_state @ z, change[2 * m :], 'forces by state', of=forces)
        change[:m] += 0.5 * turning @ z[:m]
        assert_near(seen_from(L, 'frozen').A @ z, change[: 2 * m], 'A, frozen', of=nu_dot)
    assert_near(L.frozen().drift, np.concatenate((nu, nu_dot)), 'drift', 1e-9)
    inputs = np.arange(model.n)[model.actuated]
    u = case.rng.normal(size=inputs.size)
    efforts = tau.copy()
    efforts[inputs] += u
    change = both(state, efforts) - both(state)
    for ours in (L, many):
        assert_near(ours.B @ u, np.concatenate((np.zeros(m), change[:m])), 'B', of=nu_dot)
        assert_near(ours.wrench_by_tau @ u, change[m:], 'forces by efforts', of=forces)


@ANY_KINDS
@given(**ANY_ROBOT)
def test_dynamics__of_any_robot_and_their_derivatives_are_those_of_dense_dynamics(
    kinds, count, base, seed
):
    case = drawn(kinds, (), count, base, seed)
    model, state, tau, nu_dot, dense = (
        case.model,
        case.state,
        case.tau,
        case.nu_dot,
        case.reference,
    )
    first, m, wrenches = case.base, model.m, case.wrenches
    M, M_inverse = dense.mass_matrix(state), mass_matrix_inverse(model, state)
    assert_near(mass_matrix(model, state), M, 'M', 1e-11)
    assert_near(M_inverse @ M, np.eye(m), 'its inverse', 1e-8)
    assert_near(geolin_ros.mass_matrix_inverse(model, [state])[0], M_inverse, 'that of many', 1e-8)
    prescribed = case.rng.random(model.n) < case.rng.choice((0.0, 0.5, 1.0))
    start = case.rng.choice((0, first))  # 0: the base is prescribed too
    free = np.concatenate((np.full(first, start > 0), ~prescribed))
    given, efforts = np.where(free, np.nan, nu_dot)[start:], np.where(prescribed, np.nan, tau)
    hybrid = state, given, efforts, prescribed

    def inverse(at, wrenches=wrenches):
        return dense.inverse_dynamics(at, nu_dot, wrenches)

    def forward(at, wrenches=wrenches):
        return dense.forward_dynamics(at, tau, wrenches)

    def mixed(at, more=None):  # of what is given
        more = 0.0 * nu_dot if more is None else more
        rates, forces = nu_dot + more * ~free, tau + more[first:] * ~prescribed
        both = dense.hybrid(at, rates, forces, free, wrenches)
        return np.delete(both, np.s_[m : m + start])

    for some in ((), wrenches):
        found = inverse_dynamics(model, state, nu_dot, wrenches=some)
        assert_near(found, inverse(state, some), 'inverse', 1e-11)
        found = forward_dynamics(model, state, tau, wrenches=some)
        assert_near(found, forward(state, some), 'forward', 1e-9)
        assert_near(bias_force(model, state, wrenches=some), dense.bias(state, some), 'h', 1e-11)
    found = np.concatenate(hybrid_dynamics(model, *hybrid, wrenches=wrenches))
    assert_near(found, mixed(state), 'hybrid', 1e-9)
    many = [state], given[np.newaxis], efforts[np.newaxis], prescribed
    found = np.hstack(geolin_ros.hybrid_dynamics(model, *many, wrenches=wrenches))[0]
    assert_near(found, mixed(state), 'hybrid of many', 1e-9)
    by_inverse = inverse_dynamics_derivatives(model, state, nu_dot, wrenches=wrenches)
    by_forward = forward_dynamics_derivatives(model, state, tau, wrenches=wrenches)
    by_hybrid = hybrid_dynamics_derivatives(model, *hybrid, wrenches=wrenches)
    inverse_of_many, forward_of_many = (
        [part[0] for part in function(model, [state], values[np.newaxis], wrenches=wrenches)]
        for function, values in (
            (geolin_ros.inverse_dynamics_derivatives, nu_dot),
            (geolin_ros.forward_dynamics_derivatives, tau),
        )
    )
    assert_near(by_forward.dnu_dot_dtau, np.linalg.inv(M)[:, first:], 'forward by tau', 1e-8)
    functions = inverse, forward, mixed
    more = case.rng.normal(size=m)
    more[:start] = 0.0  # a base that is free has no force
    found = np.vstack((by_hybrid.dnu_dot, by_hybrid.dtau))[:, 2 * m :] @ more
    assert_near(found, mixed(state, more) - mixed(state), 'hybrid by what is given', 1e-8)
    for z in case.directions():
        pose, s, twist, r = np.split(z, np.cumsum([first, model.n, first]))
        still = np.zeros(6)
        variation = Variation(
            pose=pose if first else still, positions=s, twist=twist if first else still, rates=r
        )
        together = case.along(lambda at: np.concatenate([f(at) for f in functions]), z)
        of_inverse, of_forward, of_hybrid = np.split(together, [m, 2 * m])
        for D in (by_inverse, inverse_of_many):
            assert_near(np.hstack(D) @ z, of_inverse, 'inverse by state', of=inverse(state))
        found = inverse_dynamics_variation(model, state, nu_dot, variation, wrenches=wrenches)
        assert_near(found, of_inverse, 'inverse along', of=inverse(state))
        for D in (by_forward, forward_of_many):
            assert_near(np.hstack(D[:4]) @ z, of_forward, 'forward by state', of=forward(state))
        found = forward_dynamics_variation(model, state, tau, variation, wrenches=wrenches)
        assert_near(found, of_forward, 'forward along', of=forward(state))
        found = np.vstack((by_hybrid.dnu_dot, by_hybrid.dtau))[:, : 2 * m] @ z
        assert_near(found, of_hybrid, 'hybrid by state', of=mixed(state))
        both = hybrid_dynamics_variation(model, *hybrid, variation, wrenches=wrenches)
        assert_near(np.concatenate(both), of_hybrid, 'hybrid along', of=mixed(state))

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The fast linearization with contacts against Pinocchio's constrained dynamics."""

import dataclasses

import numpy as np
import pytest
from support.close import assert_close
from support.constrained_reference import TiedReference
from support.light_robots import mixed, standing
from support.pinocchio_oracle import PinocchioOracle, pin
from support.robots import example_robot, read_robot

from geolin_ros import Contact, Linearizer, Loop, TreeModel
from geolin_ros.kernels.engine.contact_linearization import linearize_in_contact
from geolin_ros.kernels.packing import contact_layout, layout
from geolin_ros.kernels.status import NOT_FINITE, OK, REDUNDANT, SINGULAR
from geolin_ros.model.wrenches import pack

POINT, SURFACE = 3, 6
OFFSET = np.eye(4)
OFFSET[:3, 3] = 0.02, 0.01, -0.03


class Held:
    """A robot, a state and contacts, for us and for Pinocchio.

    Parameters
    ----------
    links
        Of the contacts: {link: 3 or 6 rows}.
    gains
        Stiffness and damping; references are then 5 cm and 0.05 rad off.
    """

    def __init__(self, model, oracle, links, gains=(0.0, 0.0), seed=0):
        self.model, self.oracle = model, oracle
        rng = np.random.default_rng(seed)
        self.state, self.tau = model.random_state(rng), rng.normal(size=model.n)
        self.packed = layout.pack(model.tree, model.gravity)
        frames = [model.frame(link) for link in links]
        offsets = [pin.exp6(pin.Motion(0.3 * rng.normal(size=6))).homogeneous for _ in links]
        poses = [frame.placement @ at for frame, at in zip(frames, offsets, strict=True)]
        bodies, widths = [frame.body for frame in frames], list(links.values())
        self.models, references = [], []
        q = oracle.q(self.state)
        pin.framesForwardKinematics(oracle.pin_model, oracle.data, q)
        for link, width, at in zip(links, widths, offsets, strict=True):
            frame_id = oracle.pin_model.getFrameId(link)
            held = oracle.data.oMf[frame_id] * pin.SE3(at)
            held = held * pin.exp6(pin.Motion(0.05 * rng.normal(size=6)))
            frame = oracle.pin_model.frames[frame_id]
            kind = pin.ContactType.CONTACT_3D if width == POINT else pin.ContactType.CONTACT_6D
            constraint = pin.RigidConstraintModel(
                kind,
                oracle.pin_model,
                frame.parentJoint,
                frame.placement * pin.SE3(at),
                0,
                held,
                pin.LOCAL,
            )
            parameters = constraint.m_baumgarte_parameters
            parameters.Kp, parameters.Kd = gains
            self.models.append(constraint)
            references.append(held.homogeneous)
        self.contacts = contact_layout.pack_contacts(
            self.packed,
            np.array(bodies),
            np.array(widths),
            np.array(poses),
            np.array([gains] * len(links)),
            np.array(references),
        )
        self.workspace = layout.make_workspace(self.packed)
        self.outputs = contact_layout.outputs_of(6 + model.n, model.n, sum(widths))

    def ours(self):
        """Return the status and the outputs, whose numbers were NaN before."""
        m, n = self.model.m, self.model.n
        out = self.outputs
        for array in (out.A[m:], out.B[m:], out.nu_dot, out.forces, out.by_state, out.by_effort):
            array[...] = np.nan
        inputs = layout.make_inputs(self.packed, pack(self.model, ()))
        inputs[:n] = self.tau
        status = linearize_in_contact(
            self.packed.ints,
            self.packed.floats,
            *self.contacts,
            self.state.data,
            inputs,
            self.workspace,
            out.out,
        )
        return status, out

    def theirs(self):
        """Return the same by Pinocchio, in the order of the bodies."""
        oracle, model = self.oracle, self.model
        data = [constraint.createData() for constraint in self.models]
        pin.initConstraintDynamics(oracle.pin_model, oracle.data, self.models, data)
        exact = pin.ProximalSettings(1e-15, 0.0, 1)
        q, effort = oracle.q(self.state), oracle._effort(self.state, self.tau)
        arguments = (q, oracle.velocity(self.state), effort, self.models, data, exact)
        pin.constraintDynamics(oracle.pin_model, oracle.data, *arguments)
        pin.computeConstraintDynamicsDerivatives(
            oracle.pin_model, oracle.data, self.models, data, exact
        )
        order = oracle.order[np.concatenate((np.arange(6), 6 + model.tree.v_start[1:]))]
        found = oracle.data
        damping = oracle.damping[model.tree.v_start[1:]]

        def derivatives(by_q, by_v, by_tau):
            by_q, by_v = np.array(by_q)[:, order], np.array(by_v)[:, order]
            by_tau = np.array(by_tau)[:, order[6:]]
            by_v[:, 6:] -= by_tau * damping
            return np.hstack((by_q, by_v)), by_tau

        by_state, by_effort = derivatives(found.ddq_dq, found.ddq_dv, found.ddq_dtau)
        forces = derivatives(found.dlambda_dq, found.dlambda_dv, found.dlambda_dtau)
        nu_dot = np.array(found.ddq)[order]
        return by_state[order], by_effort[order], nu_dot, np.array(found.lambda_c), *forces

    def assert_equal(self, tolerance):
        status, out = self.ours()
        assert status == OK
        A, B, nu_dot, forces, by_state, by_effort = self.theirs()
        assert_close(out.nu_dot, nu_dot, tolerance, 'nu_dot')
        assert_close(out.forces, forces, tolerance, 'forces')
        m = self.model.m
        for name, ours, theirs in (('A', out.A[m:], A), ('forces', out.by_state, by_state)):
            assert_close(ours[:, :m], theirs[:, :m], tolerance, f'{name} by position')
            assert_close(ours[:, m:], theirs[:, m:], tolerance, f'{name} by rate')
        assert_close(out.B[m:], B, tolerance, 'B')
        assert_close(out.by_effort, by_effort, tolerance, 'forces by effort')


def robot(name):
    path = example_robot(name)
    model = read_robot(path)[1]
    return model, PinocchioOracle.read_urdf(path, model)


GAINS = {'free': (0.0, 0.0), 'damped': (0.0, 3.0), 'pulled': (50.0, 14.0)}
STANDING = {
    'go2': {f'{leg}_foot': POINT for leg in ('FL', 'FR', 'RL', 'RR')},
    'g1_29dof_rev_1_0': {f'{side}_ankle_roll_link': SURFACE for side in ('left', 'right')},
    'talos_reduced': {f'{side}_sole_link': SURFACE for side in ('left', 'right')},
    'talos_full_v2': {'left_sole_link': SURFACE},
}
MIXED = {
    'base surface and point of a leg': {'base_link': SURFACE, 'leg_left_6_link': POINT},
    'base point and sole': {'base_link': POINT, 'left_sole_link': SURFACE},
    'point beside a sole on one branch': {'arm_left_7_link': SURFACE, 'torso_2_link': POINT},
    'two hands and a sole': {
        'arm_right_7_link': SURFACE,
        'left_sole_link': SURFACE,
        'arm_left_4_link': POINT,
    },
    'one point': {'leg_right_3_link': POINT},
}


@pytest.mark.parametrize('gains', GAINS.values(), ids=GAINS)
@pytest.mark.parametrize('name', STANDING)
def test_standing_robot__equals_pinocchio(name, gains):
    for seed in (0, 1):
        Held(*robot(name), STANDING[name], gains, seed).assert_equal(1e-11)


@pytest.mark.parametrize('gains', GAINS.values(), ids=GAINS)
@pytest.mark.parametrize('links', MIXED.values(), ids=MIXED)
def test_mixed_contacts__equal_pinocchio(links, gains):
    Held(*robot('talos_reduced'), links, gains).assert_equal(1e-10)


@pytest.mark.parametrize(
    'links',
    [
        {'left_sole_link': SURFACE, 'leg_left_6_link': POINT},
        {'base_link': SURFACE, 'left_sole_link': SURFACE, 'leg_left_3_link': POINT},
    ],
    ids=['two on one foot', 'nine rows for six joints'],
)
def test_contacts_that_depend_on_each_other__are_left_to_others(links):
    assert Held(*robot('talos_reduced'), links).ours()[0] == REDUNDANT


def test_statuses_of_the_free_linearization__come_through():
    held = Held(*robot('go2'), STANDING['go2'])
    held.state.r[2] = 1e200
    assert held.ours()[0] == NOT_FINITE
    held.state.s[1] = np.nan
    assert held.ours()[0] >= SINGULAR


def test_repeated_calls__give_the_same_bytes_whatever_came_between():
    held = Held(*robot('go2'), STANDING['go2'], GAINS['pulled'])
    first = held.ours()[1].out.tobytes()
    kept = held.state.copy()
    held.state.data[16:] += 0.3
    held.ours()
    held.state.s[:] = np.nan
    assert held.ours()[0] != OK
    held.state.data[:] = kept.data
    assert held.ours()[1].out.tobytes() == first


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for links in (STANDING['go2'], {'base': SURFACE, 'FL_foot': POINT}):
        Held(*robot('go2'), links, GAINS['pulled']).assert_equal(1e-11)
    held = Held(*robot('go2'), STANDING['go2'])
    arrays = [held.packed.ints, held.packed.floats, *held.contacts, held.state.data]
    arrays += [layout.make_inputs(held.packed, pack(held.model, ())), held.workspace]
    arrays += [held.outputs.out]
    for short in (2, 3, 7):
        cut = [a[: a.size // 2] if k == short else a for k, a in enumerate(arrays)]
        with pytest.raises(IndexError):
            linearize_in_contact(*cut)


PULLED = {'kp': 30.0, 'kd': 9.0, 'reference': np.eye(4)}
HELD = {
    'a sole': (1, 1, [Contact('leg0_{last}', 'surface', kd=3.0)]),
    'a sole that is pulled': (1, 1, [Contact('leg0_{last}', 'surface', **PULLED)]),
    'a point': (1, 1, [Contact('leg0_{last}', placement=OFFSET)]),
    'a sole and a hand': (3, 1, [Contact('leg0_{last}', 'surface'), Contact('arm')]),
    'a loop of points': (2, 2, [Loop('leg0_{last}', 'leg1_{last}', 'point')]),
    'a loop of surfaces': (3, 2, [Loop('leg0_{last}', 'leg1_{last}', 'surface', kd=1.0)]),
    'a loop to a heavy link': (2, 1, [Loop('arm', 'leg0_{last}', 'point')]),
}
"""Least joints a leg, legs, contacts; the last link of a leg has its number filled in."""


def assert_exact(description, contacts, seed, what, size=1.0):
    """Compare with the reference; return whether the contacts are independent, as they must be."""
    model = TreeModel.from_description(description)
    rng = np.random.default_rng(seed)
    state, tau = model.random_state(rng), rng.normal(size=model.n) * model.total_mass
    reference = TiedReference(description, model, contacts)
    A, B, nu_dot, forces, by_state, rank, condition = reference.linearization(state, tau)
    if rank < sum(3 if c.kind == 'point' else 6 for c in contacts):
        return False
    L = Linearizer(model, contacts)(state, tau)
    assert L.rank == rank
    limit = max(1e-8, 10.0 * np.finfo(float).eps * condition)
    M = reference.oracle.mass_matrix(reference.full(state))
    least = 1.0 / np.linalg.norm(M, 2) / min(size, 1.0)  # where contacts lock what efforts move
    for name, found, expected in (
        *(('A', L.A, A), ('B', L.B, B), ('nu_dot', L.nu_dot, nu_dot)),
        *(('forces', L.wrenches, forces), ('their derivative', L.wrench_by_state, by_state)),
    ):
        scale = np.abs(expected).max() if name != 'B' else max(np.abs(B[model.m :]).max(), least)
        assert_close(found, expected, limit, f'{name} {what}', scale)
    J, gamma = reference.rows(reference.full(state))
    J, B = J @ reference.T, L.B[model.m :]
    largest, most = np.abs(J).max(), max(np.abs(B).max(), least)
    assert np.abs(J @ B).max() <= 1e-8 * largest * most, what
    whole = largest * np.abs(L.nu_dot).max() + np.abs(gamma).max()
    assert np.abs(J @ L.nu_dot + gamma).max() <= 1e-8 * whole, what
    return True


@pytest.mark.parametrize(
    ('held', 'joints'),
    [(h, j) for j in (1, 2, 3) for h, (least, *_) in HELD.items() if j >= least],
)
def test_light_links__are_as_exact_as_what_they_hold(held, joints):
    """The motions that contacts leave have the same inertia, whatever a foot weighs."""
    _, legs, patterns = HELD[held]
    fill = {'last': joints - 1}
    for mass in (1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-7, 1e-9):
        contacts = []
        for pattern in patterns:
            names = ('frame',) if isinstance(pattern, Contact) else ('frame_a', 'frame_b')
            named = {name: getattr(pattern, name).format(**fill) for name in names}
            contacts.append(dataclasses.replace(pattern, **named))
        what = f'with links of {mass} kg'
        assert assert_exact(standing(mass, joints, legs), contacts, joints, what)


@pytest.mark.parametrize(
    ('scale', 'size'), [(1.0, 1.0), (1e-6, 1.0), (1e6, 1.0), (1.0, 0.1), (1.0, 10.0)]
)
def test_robots_of_light_and_heavy_links__are_as_exact(scale, size):
    """Twenty of each size; some of these have contacts that depend on each other."""
    exact = 0
    for seed in range(20):
        description, contacts = mixed(np.random.default_rng(seed), scale, size)
        exact += assert_exact(description, contacts, seed, f'of robot {seed}', size)
    assert exact > 12

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What an exported C library computes is what Python computes."""

import dataclasses

import numpy as np
import pytest
from geolin_tools.export import Build, export
from support.c_library import Library, build, needs_tools, same_bytes
from support.close import deviation
from support.robots import example_robot
from support.trees import every_kind_description

from geolin_ros import Contact, Linearizer, TreeModel, Wrench, robots
from geolin_ros.cli import main
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import forward_dynamics, inverse_dynamics, mass_matrix
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError

NATIVE = Build(['native'])

pytestmark = [needs_tools, pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')]
STATES = 40  # a robot


def humanoid():
    """Two soles, one of which is pulled back to where it stood, and a hand; a free joint."""
    model = TreeModel.from_urdf(robots.path('humanoid'))
    model = dataclasses.replace(model, actuated_joints=model.joint_names[:-1])
    anchor = {'kp': 30.0, 'kd': 9.0, 'reference': np.eye(4)}
    soles = Contact('left_sole', 'surface', **anchor), Contact('right_sole', 'surface')
    return model, [*soles, Contact('left_hand')], ()


def solo():
    """All three kinds of wrenches."""
    model = TreeModel.from_urdf(example_robot('solo12'))
    link = model.body_names[3]
    kinds = 'body', 'world', 'world_oriented'
    return model, [], [Wrench(link, kind=kind, point=(0.0, 0.1, -0.2)) for kind in kinds]


def panda():
    """A fixed base and a finger that mimics the other."""
    model = TreeModel.from_urdf(example_robot('panda'), base='fixed')
    assert model.dependent_joints
    return model, [], ()


def several_axes(*kinds):
    """Return a robot with joints of some kinds, in an order of its own."""
    rng = np.random.default_rng(5)
    description = every_kind_description(rng, kinds=kinds, damping=0.3)
    order = list(rng.permutation([joint.name for joint in description.joints]))
    return TreeModel.from_description(description, joints=order)


def two_axes():
    """Joints with two axes."""
    model = several_axes('universal', 'cylindrical', 'revolute')
    return model, [Contact(model.link_names[-1])], ()


ROBOTS = humanoid, solo, panda, two_axes


@pytest.fixture(scope='module', params=ROBOTS)
def both(request, tmp_path_factory):
    """A library for this very processor, the model, contacts and wrenches."""
    model, contacts, wrenches = request.param()
    folder = tmp_path_factory.mktemp(request.param.__name__)
    name = export(
        model,
        folder / 'source',
        name=request.param.__name__,
        contacts=contacts,
        wrenches=wrenches,
        build=NATIVE,
    )
    built = build(folder / 'source', folder / 'build', '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror')
    return Library(built / f'lib{name}.so', name, model), contacts, wrenches


def given(model, rng):
    """Return a random state and efforts."""
    return model.random_state(rng), 10.0 * rng.normal(size=model.n)


def test_A_B_nu_dot_and_forces__are_the_same_bytes(both):
    library, contacts, wrenches = both
    rng, model = np.random.default_rng(22), library.model
    sets = range(1 << len(contacts))
    for chosen in sets:
        held = [contact for c, contact in enumerate(contacts) if chosen >> c & 1]
        linearizer, acting = Linearizer(model, held), []
        if contacts:
            assert library('set_contacts', library.robot, chosen) == 0
        for _ in range(STATES // len(sets)):
            state, tau = given(model, rng)
            if wrenches:
                acting = [
                    Wrench(w.link, *rng.normal(size=(2, 3)), kind=w.kind, point=w.point)
                    for w in wrenches
                ]
                for place, w in enumerate(acting):
                    value = np.concatenate((w.force, w.moment))
                    assert library('set_wrench', library.robot, place, value) == 0
            assert library.linearize(state, tau) == 0
            L = linearizer(state, tau, wrenches=acting)
            if acting:  # turned into the axes of the body by other sums
                assert deviation(library.A, L.A) < 1e-13
                assert deviation(library.nu_dot, L.nu_dot) < 1e-13
                continue
            assert same_bytes(library.A, L.A)
            assert same_bytes(library.B, L.B)
            assert same_bytes(library.nu_dot, L.nu_dot)
            if contacts:
                for found, expected in zip(
                    library.forces(), (L.wrenches, L.wrench_by_state, L.wrench_by_tau), strict=True
                ):
                    assert same_bytes(found, expected)


def test_dynamics__are_those_of_Python_and_of_each_other(both):
    library, contacts, wrenches = both
    rng, model = np.random.default_rng(3), library.model
    if contacts:
        library('set_contacts', library.robot, 0)
    for place in range(len(wrenches)):
        library('set_wrench', library.robot, place, np.zeros(6))
    m, n = model.m, model.n
    nu_dot, forces, M, bias = np.empty(m), np.empty(m), np.empty((m, m)), np.empty(m)
    for _ in range(8):
        state, tau = given(model, rng)
        x = state.data
        assert library('forward_dynamics', library.robot, x, tau, nu_dot) == 0
        assert library('inverse_dynamics', library.robot, x, nu_dot, forces) == 0
        assert library('inverse_dynamics', library.robot, x, np.zeros(m), bias) == 0
        assert library('mass_matrix', library.robot, x, M) == 0
        assert library.linearize(state, tau) == 0
        assert deviation(nu_dot, library.nu_dot) < 1e-9
        assert deviation(forces[m - n :], tau) < 1e-9
        assert deviation(bias + M @ nu_dot, forces) < 1e-9
        if not model.dependent_joints:  # of these Python compiles for minutes
            assert deviation(nu_dot, forward_dynamics(model, state, tau)) < 1e-12
            assert deviation(forces, inverse_dynamics(model, state, nu_dot)) < 1e-12
            assert deviation(M, mass_matrix(model, state)) < 1e-13


def test_discretization__is_that_of_Python(both):
    library, contacts, _ = both
    rng, model = np.random.default_rng(4), library.model
    if contacts:
        library('set_contacts', library.robot, 1)
    linearizer = Linearizer(model, contacts[:1])
    Phi, Gamma = np.empty_like(library.A), np.empty_like(library.B)
    for code, method in ((1, 'zoh'), (2, 'midpoint')):
        state, tau = given(model, rng)
        if model.base == 'fixed':
            state.v[:] = 0.0
        arrived = np.empty_like(state.data)
        status = library(
            'discretize', library.robot, state.data, tau, 2e-3, code, Phi, Gamma, arrived
        )
        assert status == 0
        expected = linearizer.discretize(state, tau, 2e-3, method=method)
        assert deviation(Phi, expected.Phi) < 1e-12
        assert deviation(Gamma, expected.Gamma) < 1e-12
        assert deviation(arrived, expected.next_state.data) < 1e-12


def test_batch__is_one_after_another(both):
    library, _, _ = both
    rng, model = np.random.default_rng(5), library.model
    pairs = [given(model, rng) for _ in range(3)]
    x, tau = np.array([s.data for s, _ in pairs]), np.array([tau for _, tau in pairs])
    A = np.empty((3, *library.A.shape))
    assert library('linearize_batch', library.robot, 3, x, tau, A, None, None) == 0
    for k, (state, efforts) in enumerate(pairs):
        assert library.linearize(state, efforts) == 0
        assert same_bytes(A[k], library.A)
    x[1, 0] = np.nan
    assert library('linearize_batch', library.robot, 3, x, tau, A, None, None) == -1
    assert same_bytes(A[2], library.A)


def test_what_is_no_number_and_no_pose__has_its_own_status(both):
    library, contacts, _ = both
    model, tau = library.model, np.zeros(library.model.n)
    if contacts:
        assert library('set_contacts', library.robot, (1 << len(contacts)) - 1) == 0
    out, M = np.empty(model.m), np.empty((model.m, model.m))

    def statuses(state, efforts=tau):
        """Of functions of efforts, and, last, of those without: M has no rates either."""
        x = state.data
        step = library.robot, x, efforts, 1e-3, 2, None, None, np.empty_like(x)
        yield library.linearize(state, efforts)
        yield library('forward_dynamics', library.robot, x, efforts, out)
        yield library('discretize', *step)
        yield library('inverse_dynamics', library.robot, x, np.zeros(model.m), out)
        yield library('mass_matrix', library.robot, x, M)

    rng = np.random.default_rng(9)
    for bad in (np.nan, np.inf):
        for part in ('H', 's', 'r'):
            state = model.random_state(rng)
            getattr(state, part).flat[rng.integers(0, 1 if part == 'H' else model.n)] = bad
            checked = 3 if part == 'r' else 5
            assert list(statuses(state))[:checked] == [-1] * checked, part
        assert list(statuses(model.random_state(rng), np.full(model.n, bad)))[:3] == [-1] * 3
    for R in (1.01 * np.eye(3), -np.eye(3), np.zeros((3, 3))):
        state = model.random_state(rng)
        state.data[:16].reshape(4, 4)[:3, :3] = R
        assert set(statuses(state)) == {-3}
    assert set(statuses(model.random_state(rng))) <= {0, -2}


def test_balls__are_held_where_they_touch_the_ground(tmp_path):
    path, legs = robots.path('quadruped'), ('FL', 'RR')
    model, rng = TreeModel.from_urdf(path), np.random.default_rng(11)
    standing = standing_posture(model, [Support(f'{leg}_foot') for leg in legs])
    tau, found = 5.0 * rng.normal(size=model.n), []
    for name, radius in (('sharp', ':0'), ('shapes', '')):
        texts = [f'{leg}_foot{radius}' for leg in legs]
        options = '--contacts', *texts, '--target', 'native', '--functions', '--name', 'robot'
        assert main(['export', 'quadruped', '-o', str(tmp_path / name), *options]) == 0
        built = build(tmp_path / name, tmp_path / f'build_{name}')
        library = Library(built / 'librobot.so', 'robot', model)
        supports = [foot.support for foot in read_feet(path, model, texts)]
        for state in (*(model.random_state(rng) for _ in range(3)), standing):
            at = Kinematics(model, state)
            L = Linearizer(model, [one.grounded(at).contact for one in supports])(state, tau)
            assert library.linearize(state, tau) == 0
            assert deviation(library.A, L.A) < 1e-11
            assert deviation(library.B, L.B) < 1e-11
            assert deviation(library.nu_dot, L.nu_dot) < 1e-11
        found.append(library.A.copy())
    assert deviation(found[1], found[0]) > 1e-3


@pytest.mark.parametrize('kind', ['spherical', 'floating'])
def test_joints_whose_positions_are_no_numbers_of_axes__are_refused(kind, tmp_path):
    with pytest.raises(ConfigurationError, match=r'a rotation or a pose .* lock it with --locked'):
        export(several_axes(kind, 'revolute'), tmp_path / 'new')
    assert list(tmp_path.iterdir()) == []

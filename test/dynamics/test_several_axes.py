# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joints with several axes: positions, A and B, steps, MuJoCo, and what cannot be read."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from support.close import assert_close
from support.dense_reference import DenseReference, retract
from support.finite_difference import derivative
from support.pinocchio_oracle import PinocchioOracle, pin
from support.trees import ALL_KINDS, TILTED_GRAVITY, every_kind_description

from geolin_ros import (
    Description,
    Joint,
    Linearizer,
    Link,
    State,
    TreeModel,
    forward_dynamics,
    inverse_dynamics,
)
from geolin_ros.description import Mimic
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ModelError, ShapeError, UnsupportedJointError


def make(base='floating', seed=61, kinds=ALL_KINDS, damping=0.3):
    rng = default_rng(seed)
    description = every_kind_description(rng, kinds=kinds, damping=damping)
    order = list(rng.permutation([joint.name for joint in description.joints]))
    model = TreeModel.from_description(
        description, base=base, gravity=TILTED_GRAVITY, joints=order
    )
    return description, model, rng


@pytest.fixture(scope='module', params=['floating', 'fixed'])
def base(request):
    return request.param


class TestPositions:
    def test_names__are_of_joint_and_axis(self):
        links = tuple(Link.from_mass(f'l{i}', 1.0, np.zeros(3), np.eye(3)) for i in range(6))
        kinds = ('spherical', 'cylindrical', 'se2', 'universal', 'floating')
        joints = tuple(Joint(kind[:2], kind, f'l{i}', f'l{i + 1}') for i, kind in enumerate(kinds))
        model = TreeModel.from_description(Description('all', links, joints), base='fixed')
        assert model.joint_names == (
            *('sp/rx', 'sp/ry', 'sp/rz'),
            *('cy/turn', 'cy/slide'),
            *('se/x', 'se/y', 'se/rz'),
            *('un/first', 'un/second'),
            *('fl/x', 'fl/y', 'fl/z', 'fl/rx', 'fl/ry', 'fl/rz'),
        )
        assert model.position_names == (
            *('sp/qx', 'sp/qy', 'sp/qz', 'sp/qw'),
            *('cy/turn', 'cy/slide'),
            *('se/x', 'se/y', 'se/cos', 'se/sin'),
            *('un/first', 'un/second'),
            *('fl/x', 'fl/y', 'fl/z', 'fl/qx', 'fl/qy', 'fl/qz', 'fl/qw'),
        )
        assert (model.n, model.n_s, model.m) == (16, 19, 16)
        neutral = model.neutral_state().s
        ones = [name for name, s in zip(model.position_names, neutral, strict=True) if s == 1.0]
        assert ones == ['sp/qw', 'se/cos', 'fl/qw']
        L = Linearizer(model)(model.neutral_state(), np.zeros(16))
        labels = set(map(str, L.columns))
        assert {'s.sp/rx [rad]', 's.cy/slide [m]', 's.se/y [m]', 'r.fl/z [m/s]'} <= labels

    @given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-9, 1.0, 3.0]))
    def test_difference_about_several_axes__returns_what_retract_took(self, seed, size):
        _, model, _ = make()
        rng = default_rng(seed)
        state, z = model.random_state(rng), rng.normal(size=2 * model.m)
        z *= size / max(1.0, np.abs(z).max()) / 2.0
        reached = state.retract(z)
        assert_close(state.difference(reached), z, 1e-12, scale=1.0)

    def test_retract__equals_matrix_exponentials_and_keeps_the_sign_of_quaternions(self, base):
        description, model, rng = make(base)
        state, z = model.random_state(rng), rng.normal(size=2 * model.m)
        expected = retract(DenseReference(description, model), state, z)
        reached, near = state.retract(z), state.retract(1e-3 * z)
        assert_close(reached.H, expected.H, 1e-13)
        assert_close(reached.r, expected.r, 1e-15)
        for joint in model.positions.groups:
            part = slice(joint.positions.stop - 4, joint.positions.stop)
            if reached.s[part] @ expected.s[part] < 0.0:  # the same rotation
                expected.s[part] *= -1.0
            if joint.axes.tolist() != [0, 1, 5]:
                assert near.s[part] @ state.s[part] > 0.99
        assert_close(reached.s, expected.s, 1e-13)
        oracle, z[model.m :] = PinocchioOracle.from_description(description, model), 0.0
        moved = oracle._to_pinocchio(z[: model.m])
        theirs = pin.integrate(oracle.pin_model, oracle.q(state), moved)
        ours = oracle.q(state.retract(z))
        assert pin.isSameConfiguration(oracle.pin_model, ours, theirs, 1e-12)

    def test_state__without_layout_or_of_another_size_cannot_step(self):
        _, model, rng = make()
        drawn = model.random_state(rng)
        state = State(drawn.H, drawn.s, drawn.v, drawn.r)
        assert forward_dynamics(model, state, np.zeros(model.n)).shape == (model.m,)
        for call in (
            lambda: state.retract(np.zeros(2 * model.m)),
            lambda: state.difference(drawn),
            lambda: model.state(drawn.H, drawn.r, drawn.v, drawn.r),
        ):
            with pytest.raises(ShapeError):
                call()
        whole = model.state(drawn.H, drawn.s, drawn.v, drawn.r)
        assert np.array_equal(whole.difference(drawn), np.zeros(2 * model.m))

    def test_quaternions_and_cos_sin__may_have_any_length(self):
        _, model, rng = make()
        state = model.random_state(rng)
        longer = state.copy()
        for joint in model.positions.groups:
            angles = joint.positions.stop - (2 if joint.axes.tolist() == [0, 1, 5] else 4)
            longer.s[angles : joint.positions.stop] *= 3.0
        nu_dot = rng.normal(size=model.m)
        expected = inverse_dynamics(model, state, nu_dot)
        assert_close(inverse_dynamics(model, longer, nu_dot), expected, 1e-12)


@pytest.mark.shows('Kim 2012: S_i(q_i)')
def test_jacobians__equal_the_dense_chain_rule(base):
    description, model, rng = make(base)
    state = model.random_state(rng, speed=2.0)
    at = Kinematics(model, state)
    nu = np.concatenate((state.v, state.r)) if base == 'floating' else state.r
    for link, expected in DenseReference(description, model).moving_links(state).items():
        assert_close(at.pose(link), expected.H, 1e-12, link)
        assert_close(at.jacobian(link), expected.J, 1e-12, link, scale=1.0)
        assert_close(at.jacobian_rate(link) @ nu, expected.bias, 1e-12, link, 1.0)
        assert_close(at.bias_acceleration(link), expected.bias, 1e-12, link, scale=1.0)


@pytest.mark.shows('Kim 2012: - their A and B')
def test_a_and_b__equal_compute_aba_derivatives(base):
    kinds = [kind for kind in ALL_KINDS if kind != 'universal']  # Pinocchio's is a composite
    description, model, rng = make(base, kinds=kinds)
    oracle = PinocchioOracle.from_description(description, model)
    state, tau = model.random_state(rng), rng.normal(size=model.n)
    A, B, nu_dot = oracle.linearization(state, tau)
    L, m = Linearizer(model)(state, tau), model.m
    assert_close(L.nu_dot, nu_dot, 1e-10)
    assert_close(L.A[m:], A[m:], 1e-10)
    assert_close(L.B, B, 1e-10)


class TestSteps:
    @pytest.mark.shows('Kim 2012: - their steps')
    @pytest.mark.parametrize('method', ['rkmk4', 'midpoint'])
    def test_phi_and_gamma__are_derivatives_of_the_step(self, base, method):
        """Of rkmk4 exactly; of midpoint to its order, so the step is short."""
        _, model, rng = make(base, seed=63)
        state, tau = model.random_state(rng, speed=0.5), 0.1 * rng.normal(size=model.n)
        linearizer, dt = Linearizer(model), 2e-2 if method == 'rkmk4' else 1e-5
        step, n = linearizer.discretize(state, tau, dt, method=method), model.n

        def reached(at, efforts):
            after = linearizer.discretize(at, efforts, dt, method=method).next_state
            z = step.next_state.difference(after)
            return z if base == 'floating' else np.concatenate((z[6 : 6 + n], z[12 + n :]))

        for k in rng.permutation(2 * model.m)[:4]:
            e = np.eye(2 * model.m)[k]
            column = derivative(lambda p, e=e: reached(state.retract(p * e), tau), 1e-3)
            assert_close(step.Phi[:, k], column, 1e-9, scale=1.0)
        e = np.eye(n)[int(rng.integers(n))]
        column = derivative(lambda p: reached(state, tau + p * e))
        assert_close(step.Gamma @ e, column, 1e-8)

    @pytest.mark.shows('Kim 2012: - their steps')
    @pytest.mark.parametrize(('method', 'order'), [('midpoint', 3), ('rkmk4', 5)])
    def test_next_state__has_the_local_order_of_its_method(self, method, order):
        _, model, rng = make(seed=64, damping=0.0)
        state, tau = model.random_state(rng, speed=0.5), 0.1 * rng.normal(size=model.n)
        linearizer, errors = Linearizer(model), []
        for dt in (4e-3, 2e-3):
            fine = state
            for _ in range(8):
                fine = linearizer.discretize(fine, tau, dt / 8, method='rkmk4').next_state
            coarse = linearizer.discretize(state, tau, dt, method=method).next_state
            errors.append(np.abs(coarse.difference(fine)).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


class TestReading:
    def test_floating_joint_of_a_urdf__below_the_root_is_an_inner_one(self):
        inertial = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        links = [f'<link name="{k}"><inertial>{inertial}</inertial></link>' for k in 'abc']
        text = (
            f'<robot name="pair">{"".join(links)}'
            '<joint name="free" type="floating"><parent link="b"/><child link="c"/></joint>'
            '<joint name="turn" type="continuous"><parent link="a"/><child link="b"/></joint>'
            '</robot>'
        )
        model = TreeModel.from_urdf(text)
        assert (model.base_link, model.n_s) == ('a', model.n + 1)
        assert model.joint_names == (
            *('turn', 'free/x', 'free/y', 'free/z', 'free/rx', 'free/ry', 'free/rz'),
        )
        assert TreeModel.from_urdf(text, base='fixed').m == 7

    @pytest.mark.parametrize(
        ('first', 'second', 'error', 'words'),
        [
            ({'kind': 'spherical', 'stiffness': 1.0}, {}, UnsupportedJointError, 'stiffness 1'),
            ({'kind': 'spherical', 'mimic': Mimic('k')}, {}, UnsupportedJointError, 'one axis'),
            ({'kind': 'spherical'}, {'mimic': Mimic('j')}, ModelError, 'several axes'),
            ({}, {'name': 'j/first'}, ModelError, "2 joints are named 'j/first'"),
            ({}, {'kind': 'universal', 'name': 'j'}, ModelError, "2 joints are named 'j',"),
            ({'kind': 'screw'}, {}, UnsupportedJointError, 'screw'),
            ({'second_axis': [2.0, 0.0, 0.0]}, {}, ModelError, 'parallel axes'),
            ({'second_axis': np.zeros(3)}, {}, ModelError, 'second_axis'),
        ],
    )
    def test_joint__says_what_is_wrong_with_it(self, first, second, error, words):
        links = tuple(Link.from_mass(name, 1.0, np.zeros(3), np.eye(3)) for name in 'abc')
        joints = (
            Joint(**{'name': 'j', 'kind': 'universal', 'parent': 'a', 'child': 'b', **first}),
            Joint(**{'name': 'k', 'kind': 'revolute', 'parent': 'b', 'child': 'c', **second}),
        )
        with pytest.raises(error, match=words):
            TreeModel.from_description(Description('robot', links, joints))

    def test_joint_left_out_of_the_order__cannot_be_locked(self):
        links = tuple(Link.from_mass(name, 1.0, np.zeros(3), np.eye(3)) for name in 'abc')
        ball = Joint('ball', 'spherical', 'a', 'b', effort_scale=2.0)
        joints = (ball, Joint('turn', 'revolute', 'b', 'c'))
        description = Description('robot', links, joints)
        with pytest.raises(ModelError, match="joint 'ball' is named 0 times in the order"):
            TreeModel.from_description(description, joints=['turn'])
        follower = dataclasses.replace(ball, mimic=Mimic('turn'))
        with pytest.raises(UnsupportedJointError, match="'spherical' and mimics 'turn'"):
            TreeModel.from_description(
                Description('robot', links, (follower, joints[1])), locked_joints={'turn': 0.1}
            )
        model = TreeModel.from_description(description, joints=['ball'])
        assert model.joint_names == ('ball/rx', 'ball/ry', 'ball/rz')
        assert model.effort_scale == (2.0, 2.0, 2.0)

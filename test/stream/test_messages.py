# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers to messages and back, as plain objects and as the messages of ROS."""

import numpy as np
import pytest
from support.close import assert_close
from support.messages import SECOND, forward_dynamics, linearization_summary, linearized_dynamics
from support.pinocchio_oracle import PinocchioOracle
from support.taking import Source

from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.errors import InputError, UnknownNameError
from geolin_ros.model import labels
from geolin_ros.stream.analysis import Analysis, Snapshot, analyse
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.message_fields import read_matrix
from geolin_ros.stream.outputs.messages import (
    ForwardDynamicsWriter,
    LinearizationWriter,
    SummaryWriter,
)
from geolin_ros.stream.outputs.reading import read_linearization

T0 = 7 * SECOND + 25
SETTINGS = {
    'continuous': StreamSettings(mass_matrix=True),
    'frozen': StreamSettings(reference='frozen', representation='mixed', torque_source='zero'),
    'discrete': StreamSettings(
        form='discrete', method='zoh', dt=0.01, representation='inertial', mass_matrix=True
    ),
}


def ros_message(name):
    return getattr(pytest.importorskip('geolin_msgs.msg'), name)()


KINDS = {
    'plain': (linearized_dynamics, forward_dynamics, linearization_summary),
    'ros': tuple(
        lambda name=name: ros_message(name)
        for name in ('LinearizedDynamics', 'ForwardDynamics', 'LinearizationSummary')
    ),
}


def answer_of(model, settings, seed=0):
    """Return a stream and its answer about a random state."""
    stream = LinearizationStream(model, settings)
    return stream, Source(model, seed).feed(stream, T0, early=5)


@pytest.fixture(params=KINDS)
def kinds(request):
    return KINDS[request.param]


@pytest.mark.parametrize('base', ['floating', 'fixed'])
@pytest.mark.parametrize('form', SETTINGS)
def test_linearization__comes_back_as_it_was(kinds, base, form):
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    settings = SETTINGS[form]
    _, answer = answer_of(model, settings)
    message = LinearizationWriter(kinds[0](), model, settings).write(answer)
    received = read_linearization(message)
    for name in ('A', 'B', 'nu_dot', 'drift'):
        np.testing.assert_array_equal(getattr(received, name), getattr(answer, name))
    state = answer.point.state
    np.testing.assert_array_equal(received.tau, answer.point.tau)
    assert_close(received.state.H, state.H, 1e-15)
    for name in ('s', 'v', 'r'):
        np.testing.assert_array_equal(getattr(received.state, name), getattr(state, name))
    if settings.mass_matrix:
        pinocchio = PinocchioOracle.read_urdf(robots.path('quadruped'), model)
        assert_close(received.mass_matrix, pinocchio.mass_matrix(state), 1e-12)
    else:
        assert received.mass_matrix.size == 0
    assert received.stamp == answer.point.stamp
    assert received.model_hash == model.hash
    assert received.joint_names == model.joint_names
    np.testing.assert_array_equal(received.gravity, model.gravity)
    assert received.columns == tuple(label.name for label in labels.state_labels(model))
    assert received.inputs == tuple(label.name for label in labels.input_labels(model))
    assert received.form == settings.form
    assert received.reference == settings.reference
    assert received.representation == settings.representation
    assert received.world_frame == ('odom' if base == 'floating' else 'base')
    assert message.compute_time == answer.compute_time
    assert message.odometry_stamp.nanosec == (20 if base == 'floating' else 0)
    if form == 'discrete':
        assert (received.method, received.dt) == ('zoh', 0.01)
        assert_close(received.next_state.H, answer.next_state.H, 1e-15)
        np.testing.assert_array_equal(received.next_state.v, answer.next_state.v)
    else:
        assert (received.method, received.dt, received.next_state) == ('none', 0.0, None)


@pytest.mark.parametrize(
    ('settings', 'expected'),
    [
        (SETTINGS['continuous'], ('MOVING', 'CONTINUOUS', 'NONE', 'BODY', 'MEASURED')),
        (SETTINGS['frozen'], ('FROZEN', 'CONTINUOUS', 'NONE', 'MIXED', 'ZERO')),
        (SETTINGS['discrete'], ('MOVING', 'DISCRETE', 'ZOH', 'INERTIAL', 'MEASURED')),
        *(
            (
                StreamSettings(form='discrete', method=method, torque_source='topic'),
                ('MOVING', 'DISCRETE', method.upper(), 'BODY', 'TOPIC'),
            )
            for method in ('rkmk4', 'euler', 'midpoint')
        ),
    ],
)
def test_enumerations__are_those_of_the_message(quadruped, settings, expected):
    kind = type(ros_message('LinearizedDynamics'))
    message = LinearizationWriter(kind(), quadruped, settings).message
    fields = ('reference', 'form', 'method', 'representation', 'effort_source')
    prefixes = ('REFERENCE', 'FORM', 'METHOD', 'REPRESENTATION', 'EFFORT')
    for field, prefix, word in zip(fields, prefixes, expected, strict=True):
        assert getattr(message, field) == getattr(kind, f'{prefix}_{word}')
    assert message.nu_dot_source == kind.NU_DOT_PREDICTED
    given = LinearizationWriter(kind(), quadruped, settings, effort_given=True).message
    assert given.effort_source == kind.EFFORT_GIVEN


def test_message__is_filled_again_and_again_in_place(kinds, quadruped):
    settings = StreamSettings()
    writer = LinearizationWriter(kinds[0](), quadruped, settings)
    for seed in range(3):
        _, answer = answer_of(quadruped, settings, seed)
        message = writer.write(answer)
        assert message is writer.message
        np.testing.assert_array_equal(read_matrix(message.a), answer.A)
    assert not len(message.contact_dynamics.contacts) + len(message.external_wrenches)
    assert not len(getattr(message, 'reference_rate', ()))
    assert not len(message.next_state.joint_positions)


def test_actuated_joints__are_the_columns_of_b(kinds):
    chosen = ('RL_hip_joint', 'FL_calf_joint')
    model = TreeModel.from_urdf(robots.path('quadruped'), actuated_joints=chosen)
    _, answer = answer_of(model, StreamSettings())
    message = LinearizationWriter(kinds[0](), model, StreamSettings()).write(answer)
    received = read_linearization(message)
    assert received.B.shape == (36, 2)
    assert received.inputs == tuple(f'tau.{name}' for name in chosen)
    np.testing.assert_array_equal(received.B, answer.B)


def test_forward_dynamics__holds_the_accelerations(kinds, quadruped):
    _, answer = answer_of(quadruped, StreamSettings())
    message = ForwardDynamicsWriter(kinds[1](), quadruped).write(answer)
    linear, angular = message.base_acceleration.linear, message.base_acceleration.angular
    base = (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)
    np.testing.assert_array_equal((*base, *message.joint_accelerations), answer.nu_dot)
    assert list(message.joint_names) == list(quadruped.joint_names)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (7, 25)
    assert message.header.frame_id == 'odom'


def test_summary__holds_sizes_and_counts(kinds, quadruped):
    stream, answer = answer_of(quadruped, StreamSettings())
    writer = SummaryWriter(kinds[2](), quadruped)
    message = writer.write(answer, stream.counts, 0.25)
    assert message.a_norm == np.abs(answer.A).max()
    assert message.b_norm == np.abs(answer.B).max()
    assert message.base_linear_acceleration == pytest.approx(np.linalg.norm(answer.nu_dot[:3]))
    assert message.base_angular_acceleration == pytest.approx(np.linalg.norm(answer.nu_dot[3:6]))
    assert message.joint_acceleration == np.abs(answer.nu_dot[6:]).max()
    assert np.cos(message.base_tilt) == pytest.approx(answer.point.state.H[2, 2])
    assert message.odometry_age == pytest.approx(5e-9)
    assert (message.received, message.published, message.dropped) == (1, 1, 0)
    assert message.latency == 0.25
    assert message.spectrum_stamp.sec == 0
    writer.analysis = Analysis(3 * SECOND, 4.0, 5.0, 6.0)
    message = writer.write(answer, stream.counts, 0.25)
    assert (message.spectrum_stamp.sec, message.largest_real_part) == (3, 4.0)
    assert (message.spectral_radius, message.mass_matrix_condition) == (5.0, 6.0)


def without_last_joint(message):
    message.joint_names = message.actuated_joints = message.joint_names[:-1]


BROKEN = {
    'matrix': (lambda m: setattr(m.b, 'rows', 35), InputError),
    'shapes': (without_last_joint, InputError),
    'representation': ({'representation': 0}, InputError),
    'joint_names': ({'actuated_joints': ['FL_hip']}, UnknownNameError),
}


@pytest.mark.parametrize('what', BROKEN)
def test_broken_message__is_refused_with_what_is_wrong(quadruped, what):
    break_it, error = BROKEN[what]
    _, answer = answer_of(quadruped, StreamSettings())
    writer = LinearizationWriter(linearized_dynamics(), quadruped, StreamSettings())
    message = writer.write(answer)
    vars(message).update(break_it) if isinstance(break_it, dict) else break_it(message)
    with pytest.raises(error, match=what):
        read_linearization(message)


@pytest.mark.parametrize('base', ['floating', 'fixed'])
def test_mass_matrix_condition__equals_pinocchios(base):
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    state = model.random_state(np.random.default_rng(0))
    A = Linearizer(model)(state, np.zeros(model.n)).A
    analysis = analyse(model, StreamSettings(), Snapshot(5, A, state))
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), model)
    expected = np.linalg.cond(oracle.mass_matrix(state))
    assert analysis.stamp == 5
    assert analysis.mass_matrix_condition == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(('form', 'real'), [('continuous', 2.0), ('discrete', np.nan)])
def test_eigenvalues__are_those_of_a(quadruped, form, real):
    snapshot = Snapshot(0, np.diag(np.linspace(-3.0, 2.0, 36)), quadruped.neutral_state())
    found = analyse(quadruped, StreamSettings(form=form), snapshot)
    assert found.largest_real_part == pytest.approx(real, nan_ok=True)
    assert found.spectral_radius == pytest.approx(3.0)

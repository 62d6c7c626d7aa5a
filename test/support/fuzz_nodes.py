# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All nodes without their graphs, and messages that each has to answer."""

import functools
from pathlib import Path

import numpy as np
from geolin_control.feedback_messages import GainsWriter, read_gains
from geolin_control.feedback_stream import FeedbackStream
from geolin_control.regulator import Reference, Regulator, RegulatorSettings
from geolin_estimation.base_stream import START_SAMPLES, BaseSettings, BaseStream
from geolin_estimation.imu_input import ImuTopic
from geolin_estimation.torque_stream import TorqueSettings, TorqueStream
from rosbags.typesys import get_types_from_msg

from geolin_ros.control.posture import standing_posture
from geolin_ros.errors import InputError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.offline.message_types import (
    CONTACT,
    CONTACT_STATES,
    JOINT_STATE,
    LINEARIZATION,
    ODOMETRY,
    WRENCH,
    empty_message,
    known_types,
    share_arrays,
)
from geolin_ros.stream.inputs.contact_input import ContactSettings, FootForce
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import (
    LinearizationWriter,
    StateWriter,
    empty_linearization,
)
from geolin_ros.stream.outputs.reading import read_linearization
from geolin_ros.stream.requests import RequestAnswerer
from geolin_ros.stream.topics import Counts
from support.bags import START, Messages, Sample
from support.fuzz_messages import Input, Node
from support.standing import standing_robot
from support.taking import take

TRANSFORMS, IMU = 'tf2_msgs/msg/TFMessage', 'sensor_msgs/msg/Imu'
REFERENCE, GAINS = 'geolin_msgs/msg/ReferenceState', 'geolin_msgs/msg/FeedbackGains'
COVARIANT_WRENCH = 'geolin_msgs/msg/WrenchWithCovariance'
REQUEST = 'geolin_msgs/msg/LinearizeRequest'
SERVICE = Path(__file__).resolve().parents[2] / 'geolin_msgs' / 'srv' / 'Linearize.srv'
known_types().register(get_types_from_msg(SERVICE.read_text().split('---')[0], REQUEST))

FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'
PERIOD = 2_000_000

# ---- the robot and its messages


@functools.cache
def _robot():
    """A quadruped, what it stands on, and a state in which it does."""
    model, supports = standing_robot('quadruped')
    return model, supports, standing_posture(model, supports)


@functools.cache
def _make():
    return Messages(_robot()[0])


def _sample(stamp):
    model, _, posture = _robot()
    return Sample(stamp, posture, np.zeros(model.n))


def _stamped(kind, stamp, frame=''):
    message = empty_message(kind)
    message.header = _make().header(stamp, frame)
    return message


def _wrench(stamp, frame, kind=WRENCH):
    message = _stamped(kind, stamp, frame)
    message.wrench.force.z = 30.0
    return message


def _imu(stamp):
    message = _stamped(IMU, stamp, 'base')
    message.linear_acceleration.z = 9.81
    message.linear_acceleration_covariance = np.eye(3).ravel()
    return message


def _contacts(stamp):
    return _make().contact_states(stamp, FEET)


def _inputs(stream, kinds, **take_of):
    """Return the inputs of a stream, kinds by topic; some taken by a function of their own."""
    return {
        topic: Input(kind, take_of.get(topic) or functools.partial(take, stream, topic))
        for topic, kind in kinds.items()
    }


def _numbers(answer):
    return None if answer is None else np.concatenate([answer.A.ravel(), answer.B.ravel()])


# ---- the linearizer


def _linearizer():
    """With all that can come from topics beside odometry."""
    model, _, _ = _robot()
    wrenches = WrenchTopic('body', 'imu', 'body'), WrenchTopic('world', 'FL_calf', 'world')
    stream = LinearizationStream(
        model,
        StreamSettings(
            torque_source='topic',
            wrench_topics=wrenches,
            contacts=ContactSettings(source='topic'),
        ),
    )
    kinds = {
        'joint_states': JOINT_STATE,
        'odom': ODOMETRY,
        'joint_efforts': JOINT_STATE,
        'contact_states': CONTACT_STATES,
        **{about.topic: WRENCH for about in wrenches},
    }
    return _inputs(stream, kinds, joint_states=lambda m: _numbers(take(stream, 'joint_states', m)))


def _good_for_linearizer(stamp):
    sample = _sample(stamp)
    return [
        ('odom', _make().odometry(sample)),
        ('joint_efforts', _make().joint_state(sample)),
        ('contact_states', _contacts(stamp)),
        ('body', _wrench(stamp, 'imu')),
        ('world', _wrench(stamp, 'world')),
        ('joint_states', _make().joint_state(sample)),
    ]


def _linearizer_of_transforms():
    """With the base from transforms, and contacts as feet feel them."""
    model, _, _ = _robot()
    contacts = ContactSettings(
        'forces', tuple(map(Contact, FEET)), tuple(FootForce(foot, foot) for foot in FEET)
    )
    stream = LinearizationStream(model, StreamSettings(base_source='tf', contacts=contacts))
    kinds = {
        'joint_states': JOINT_STATE,
        'tf': TRANSFORMS,
        'tf_static': TRANSFORMS,
        'imu': IMU,
        **dict.fromkeys(FEET, WRENCH),
    }
    return _inputs(stream, kinds, joint_states=lambda m: _numbers(take(stream, 'joint_states', m)))


def _transform(stamp, frame, child):
    message = empty_message(TRANSFORMS)
    stamped = _stamped('geometry_msgs/msg/TransformStamped', stamp, frame)
    stamped.child_frame_id = child
    message.transforms = [stamped]
    return message


def _good_for_transforms(stamp):
    after = stamp + PERIOD
    return [
        ('tf_static', _transform(stamp, 'odom', 'floor')),
        ('tf', _transform(stamp, 'floor', 'base')),
        ('imu', _imu(after)),
        ('tf', _transform(after, 'floor', 'base')),
        *((foot, _wrench(after, foot)) for foot in FEET),
        ('joint_states', _make().joint_state(_sample(after))),
    ]


# ---- the torque estimator


def _torque_estimator():
    model, _, _ = _robot()
    stream = TorqueStream(
        model,
        TorqueSettings(
            imu_topics=(ImuTopic('imu', 'base'),),
            wrench_topics=(WrenchTopic('force', 'FL_foot', 'body'),),
            wrench_messages='with_covariance',
            joint_effort=1.0,
        ),
    )

    def on_joint_state(message):
        estimate = take(stream, 'joint_states', message)
        return None if estimate is None else np.append(estimate.tau, estimate.wrenches)

    kinds = {'joint_states': JOINT_STATE, 'imu': IMU, 'force': COVARIANT_WRENCH}
    return _inputs(stream, kinds, joint_states=on_joint_state)


def _good_for_torque_estimator(stamp):
    found = []
    for now in (stamp, stamp + PERIOD):
        force = _wrench(now, 'FL_foot', COVARIANT_WRENCH)
        force.covariance.rows = force.covariance.cols = 6
        force.covariance.data = np.eye(6).ravel()
        joints = _make().joint_state(_sample(now))
        found += [('imu', _imu(now)), ('force', force), ('joint_states', joints)]
    return found


# ---- the state estimator


def _state_estimator():
    """With contacts by efforts, which takes most of what joint states hold."""
    model, _, _ = _robot()
    contacts = ContactSettings('efforts', tuple(map(Contact, FEET)))
    stream = BaseStream(model, BaseSettings(ImuTopic('imu', 'base'), contacts))

    def on_joint_state(message):
        answer = take(stream, 'joint_states', message)
        return (
            None if answer is None else np.concatenate([np.ravel(x) for x in answer.estimate[:-1]])
        )

    kinds = {'joint_states': JOINT_STATE, 'imu': IMU}
    return _inputs(stream, kinds, joint_states=on_joint_state)


def _good_for_state_estimator(stamp):
    found = [('imu', _imu(stamp + k * PERIOD)) for k in range(START_SAMPLES)]
    for k, rates in ((START_SAMPLES, np.zeros(0)), (START_SAMPLES + 1, np.zeros(12))):
        now = stamp + k * PERIOD
        joints = _make().joint_state(_sample(now), velocity=rates)
        found += [('imu', _imu(now)), ('joint_states', joints)]
    return found


# ---- the LQR node


def _lqr_node():
    model, supports, _ = _robot()
    stream = FeedbackStream(model, supports, RegulatorSettings(), StreamSettings(), Counts())
    stream.is_active = True

    def on_joint_state(message):
        command = take(stream, 'joint_states', message)
        return None if command is None else command.efforts

    def on_linearization(message):
        take(stream, 'linearization', message)
        stream.design()

    kinds = {
        'joint_states': JOINT_STATE,
        'odom': ODOMETRY,
        'contact_states': CONTACT_STATES,
        'reference': REFERENCE,
        'linearization': LINEARIZATION,
    }
    return _inputs(stream, kinds, joint_states=on_joint_state, linearization=on_linearization)


def _good_for_lqr_node(stamp):
    model, _, posture = _robot()
    reference = _stamped(REFERENCE, stamp)
    reference.joint_names = list(model.joint_names)
    StateWriter(reference.state, model.n).write(posture)
    share_arrays(reference)
    sample = _sample(stamp)
    return [
        ('odom', _make().odometry(sample)),
        ('contact_states', _contacts(stamp)),
        ('reference', reference),
        ('linearization', _linearization(stamp)),
        ('joint_states', _make().joint_state(sample)),
    ]


@functools.cache
def _linearization(stamp):
    """What the linearizer says of the robot as it stands."""
    model, _, _ = _robot()
    settings = StreamSettings(contacts=ContactSettings(source='topic'))
    stream = LinearizationStream(model, settings)
    sample = _sample(stamp)
    take(stream, 'odom', _make().odometry(sample))
    take(stream, 'contact_states', _contacts(stamp))
    message = _empty_linearization()
    writer = LinearizationWriter(message, model, settings, make_contact=_empty_contact)
    writer.write(take(stream, 'joint_states', _make().joint_state(sample)))
    return share_arrays(message)


def _empty_linearization():
    model, _, _ = _robot()
    return empty_linearization(lambda name: empty_message(f'geolin_msgs/msg/{name}'), model)


def _empty_contact():
    return empty_message(CONTACT)


# ---- the service


class _Response:
    """A geolin_msgs/srv/Linearize_Response."""

    success, message, linearization = False, '', None


def _service():
    model, _, _ = _robot()
    settings = StreamSettings(service_rate=10_000, service_budget=1e9)  # nobody else waits
    answerer = RequestAnswerer(model, settings, _empty_linearization, _empty_contact)

    def linearize(request):
        response = answerer.answer(request, _Response(), START)
        if not response.success:
            raise InputError(response.message)
        return np.append(response.linearization.a.data, response.linearization.b.data)

    return {'linearize': Input(REQUEST, linearize)}


def _good_for_service(stamp):
    model, _, posture = _robot()
    plain, full = empty_message(REQUEST), empty_message(REQUEST)
    for request in (plain, full):
        StateWriter(request.state, model.n).write(posture)
        share_arrays(request)
    full.joint_names, full.joint_efforts = list(model.joint_names), np.zeros(model.n)
    full.contacts = _contacts(stamp).contacts
    wrench = empty_message('geolin_msgs/msg/ExternalWrench')
    wrench.link, wrench.kind, wrench.wrench.force.x = 'imu', 1, 5.0
    full.external_wrenches = [wrench]
    full.override_gravity, full.gravity.z = True, -1.6
    full.reference, full.form, full.method, full.representation = 1, 2, 2, 2
    full.dt = 0.01
    return [('linearize', plain), ('linearize', full)]


# ---- whoever hears the answers


def _consumer():
    def linearization(message):
        return read_linearization(message).A.shape

    def gains(message):
        return read_gains(message)[2].shape

    return {'linearization': Input(LINEARIZATION, linearization), 'gains': Input(GAINS, gains)}


def _good_for_consumer(stamp):
    return [('linearization', _linearization(stamp)), ('gains', _gains())]


@functools.cache
def _gains():
    """What the LQR node says of the robot as it stands."""
    model, supports, posture = _robot()
    regulator = Regulator(model, supports)
    regulator.follow(Reference(posture))
    assert regulator.redesign()
    writer = GainsWriter(lambda: empty_message(GAINS), _empty_contact, model)
    message = writer.write(regulator.gains, regulator.source, START, 'world', 0.0)
    message.feedforward = np.array(message.feedforward)
    return share_arrays(message)


NODES = {
    'linearizer': Node(_linearizer, _good_for_linearizer),
    'linearizer_of_transforms': Node(_linearizer_of_transforms, _good_for_transforms),
    'torque_estimator': Node(_torque_estimator, _good_for_torque_estimator),
    'state_estimator': Node(_state_estimator, _good_for_state_estimator),
    'lqr_node': Node(_lqr_node, _good_for_lqr_node),
    'service': Node(_service, _good_for_service),
    'consumer': Node(_consumer, _good_for_consumer),
}

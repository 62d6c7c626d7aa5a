# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All nodes without their graphs: what each hears as bytes, and messages that it has to answer.

Bytes are serialized messages, one after the other: the number of its input, its length in two
bytes, its CDR. What is no message at all is left out, as the middleware does.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from geolin_control.feedback_messages import gains_message, read_gains
from geolin_control.feedback_stream import FeedbackStream
from geolin_control.regulator import Reference, Regulator
from geolin_estimation.base_stream import START_SAMPLES, BaseSettings, BaseStream
from geolin_estimation.imu_input import ImuTopic
from geolin_estimation.torque_stream import TorqueSettings, TorqueStream
from rosbags.typesys import get_types_from_msg

from geolin_ros.control.posture import standing_posture
from geolin_ros.errors import GeolinError, InputError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.offline.bags import (
    CONTACT,
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    LINEARIZATION,
    ODOMETRY,
    TRANSFORMS,
    WRENCH,
    empty_message,
    known_types,
    share_arrays,
)
from geolin_ros.stream.contacts import ContactSettings, FootForce
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.wrench_input import WrenchTopic
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.outputs.messages import (
    LinearizationWriter,
    StateWriter,
    empty_linearization,
)
from geolin_ros.stream.outputs.reading import read_linearization
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.requests import RequestAnswerer
from geolin_ros.stream.topic_stream import Counts
from support.bags import START, Messages, Sample
from support.standing import standing_robot
from support.taking import take

REFERENCE, GAINS = 'geolin_msgs/msg/ReferenceState', 'geolin_msgs/msg/FeedbackGains'
COVARIANT_WRENCH = 'geolin_msgs/msg/WrenchWithCovariance'
REQUEST = 'geolin_msgs/msg/LinearizeRequest'
SERVICE = Path(__file__).resolve().parents[2] / 'geolin_msgs' / 'srv' / 'Linearize.srv'
known_types().register(get_types_from_msg(SERVICE.read_text().split('---')[0], REQUEST))

EMPTY_CONTACT = functools.partial(empty_message, CONTACT)
FEET = 'FL_foot', 'FR_foot', 'RL_foot', 'RR_foot'
PERIOD = 2_000_000
LATER = START + 3600 * 10**9
STEP_BACK = 10**10
"""So far back [ns] a stamp is of a clock that was set, never one that is only late."""


class Input(NamedTuple):
    """Type of a message, and what takes it: returns the numbers of an answer if there is one."""

    kind: str
    take: Callable[[Any], Any]


@dataclass(frozen=True)
class Node:
    """A node without its graph.

    Attributes
    ----------
    make
        Returns the inputs, by name, of a new one.
    good
        Returns (name, message) from a stamp [ns] on, for every input, with an answer to the last.
    """

    make: Callable[[], dict[str, Input]]
    good: Callable[[int], list[tuple[str, Any]]]

    def reads(self, data: bytes) -> bool:
        """Take what bytes hold, then what is good.

        Returns
        -------
        bool
            Whether each input has taken one of the bytes' messages, and the last was answered.
        """
        inputs = self.make()
        taken, _, answer = heard(inputs, _messages(inputs, data))
        fresh, _, lively = heard(inputs, self.good(LATER))
        if lively is None:  # what was late is not when clocks are set back
            fresh, _, lively = heard(inputs, self.good(LATER - STEP_BACK))
        assert lively is not None, f'of good messages only {fresh} are taken'
        return taken == set(inputs) and answer is not None

    def seeds(self) -> list[bytes]:
        """Return what is good, in bytes."""
        parts, inputs = [], self.make()
        for name, message in self.good(START):
            body = bytes(known_types().serialize_cdr(message, inputs[name].kind))
            number = list(inputs).index(name)
            parts.append(bytes([number]) + len(body).to_bytes(2, 'little') + body)
        return [b''.join(parts)]


def _messages(inputs, data):
    names = list(inputs)
    while len(data) > 3:
        name, length = names[data[0] % len(names)], int.from_bytes(data[1:3], 'little')
        body, data = data[3 : 3 + length], data[3 + length :]
        try:
            yield name, known_types().deserialize_cdr(body, inputs[name].kind)
        except Exception:
            continue


def heard(inputs, messages):
    """Return the inputs that took a message, those that refused one, with the error, the answer.

    The latter is to the last message.
    """
    taken, refused, answer = set(), [], None
    for name, message in messages:
        try:
            with np.errstate(all='ignore'):
                answer = inputs[name].take(message)
        except GeolinError as error:
            refused.append((name, error))
            answer = None
            continue
        taken.add(name)
        if answer is not None:
            assert np.isfinite(answer).all(), f'{name} is answered by NaN or inf'
    return taken, refused, answer


# ---- the robot and its messages


@functools.cache
def _robot():
    """A quadruped, what it stands on, and a state in which it does."""
    model, supports = standing_robot('quadruped')
    return model, supports, standing_posture(model, supports)


def _make():
    return Messages(_robot()[0])


def _sample(stamp):
    model, _, posture = _robot()
    return Sample(stamp, posture, np.zeros(model.n))


def _odometry(stamp):
    return 'odom', _make().odometry(_sample(stamp))


def _joint_state(stamp, topic='joint_states', **changes):
    return topic, _make().joint_state(_sample(stamp), **changes)


def _contacts(stamp):
    return 'contact_states', _make().contact_states(stamp, FEET)


def _stamped(kind, stamp, frame=''):
    message = empty_message(kind)
    message.header = _make().header(stamp, frame)
    return message


def _wrench(topic, stamp, frame, kind=WRENCH):
    message = _stamped(kind, stamp, frame)
    message.wrench.force.z = 30.0
    return topic, message


def _imu(stamp):
    message = _stamped(IMU, stamp, 'base')
    message.linear_acceleration.z = 9.81
    message.linear_acceleration_covariance = np.eye(3).ravel()
    return 'imu', message


def _transform(topic, stamp, frame, child):
    message = empty_message(TRANSFORMS)
    stamped = _stamped('geometry_msgs/msg/TransformStamped', stamp, frame)
    stamped.child_frame_id = child
    message.transforms = [stamped]
    return topic, message


def _inputs(stream, kinds, numbers, **take_of):
    """Return the inputs of a stream, kinds by topic; some taken by a function of their own.

    ``numbers`` returns those of an answer to a joint state.
    """

    def on_joint_state(message):
        answer = take(stream, 'joint_states', message)
        if answer is None:
            return None
        return np.concatenate([np.ravel(part) for part in numbers(answer)])

    take_of['joint_states'] = on_joint_state
    return {
        topic: Input(kind, take_of.get(topic) or functools.partial(take, stream, topic))
        for topic, kind in {'joint_states': JOINT_STATE, **kinds}.items()
    }


# ---- the linearizer, with all that can come from topics


def _linearizer():
    wrenches = WrenchTopic('body', 'imu', 'body'), WrenchTopic('world', 'FL_calf', 'world')
    settings = StreamSettings(
        torque_source='topic', wrench_topics=wrenches, contacts=ContactSettings(source='topic')
    )
    kinds = {'odom': ODOMETRY, 'joint_efforts': JOINT_STATE, 'contact_states': CONTACT_STATES}
    kinds |= {about.topic: WRENCH for about in wrenches}
    return _inputs(LinearizationStream(_robot()[0], settings), kinds, lambda L: (L.A, L.B))


def _good_for_linearizer(stamp):
    return [
        _odometry(stamp),
        _joint_state(stamp, 'joint_efforts'),
        _contacts(stamp),
        _wrench('body', stamp, 'imu'),
        _wrench('world', stamp, 'world'),
        _joint_state(stamp),
    ]


def _linearizer_of_transforms():
    """With the base from transforms, and contacts as feet feel them."""
    contacts = ContactSettings(
        'forces', tuple(map(Contact, FEET)), tuple(FootForce(foot, foot) for foot in FEET)
    )
    stream = LinearizationStream(_robot()[0], StreamSettings(base_source='tf', contacts=contacts))
    kinds = {'tf': TRANSFORMS, 'tf_static': TRANSFORMS, 'imu': IMU, **dict.fromkeys(FEET, WRENCH)}
    return _inputs(stream, kinds, lambda L: (L.A, L.B))


def _good_for_transforms(stamp):
    after = stamp + PERIOD
    return [
        _transform('tf_static', stamp, 'odom', 'floor'),
        _transform('tf', stamp, 'floor', 'base'),
        _imu(after),
        _transform('tf', after, 'floor', 'base'),
        *(_wrench(foot, after, foot) for foot in FEET),
        _joint_state(after),
    ]


# ---- the estimators


def _torque_estimator():
    settings = TorqueSettings(
        imu_topics=(ImuTopic('imu', 'base'),),
        wrench_topics=(WrenchTopic('force', 'FL_foot', 'body'),),
        wrench_messages='with_covariance',
        joint_effort=1.0,
    )
    kinds = {'imu': IMU, 'force': COVARIANT_WRENCH}
    return _inputs(TorqueStream(_robot()[0], settings), kinds, lambda x: (x.tau, x.wrenches))


def _good_for_torque_estimator(stamp):
    found = []
    for now in (stamp, stamp + PERIOD):
        topic, force = _wrench('force', now, 'FL_foot', COVARIANT_WRENCH)
        force.covariance.rows = force.covariance.cols = 6
        force.covariance.data = np.eye(6).ravel()
        found += [_imu(now), (topic, force), _joint_state(now)]
    return found


def _state_estimator():
    """With contacts by efforts, which takes most of what joint states hold."""
    contacts = ContactSettings('efforts', tuple(map(Contact, FEET)))
    stream = BaseStream(_robot()[0], BaseSettings(ImuTopic('imu', 'base'), contacts))
    return _inputs(stream, {'imu': IMU}, lambda answer: answer.estimate[:-1])


def _good_for_state_estimator(stamp):
    found = [_imu(stamp + k * PERIOD) for k in range(START_SAMPLES)]
    for k, rates in ((START_SAMPLES, np.zeros(0)), (START_SAMPLES + 1, np.zeros(12))):
        now = stamp + k * PERIOD
        found += [_imu(now), _joint_state(now, velocity=rates)]
    return found


# ---- the LQR node


def _lqr_node():
    values = default_values('lqr_node') | {'supports': [f'{foot}:0.02' for foot in FEET]}
    stream = FeedbackStream(_robot()[0], values, Counts())
    stream.is_active = True

    def on_linearization(message):
        take(stream, 'linearization', message)
        stream.design()

    kinds = {'odom': ODOMETRY, 'contact_states': CONTACT_STATES}
    kinds |= {'reference': REFERENCE, 'linearization': LINEARIZATION}
    return _inputs(stream, kinds, lambda x: (x.efforts,), linearization=on_linearization)


def _good_for_lqr_node(stamp):
    model, _, posture = _robot()
    reference = _stamped(REFERENCE, stamp)
    reference.joint_names = list(model.joint_names)
    StateWriter(reference.state, model.n).write(posture)
    share_arrays(reference)
    return [
        _odometry(stamp),
        _contacts(stamp),
        ('reference', reference),
        ('linearization', _linearization(stamp)),
        _joint_state(stamp),
    ]


@functools.cache
def _linearization(stamp):
    """What the linearizer says of the robot as it stands."""
    settings = StreamSettings(contacts=ContactSettings(source='topic'))
    stream = LinearizationStream(_robot()[0], settings)
    for topic, message in (_odometry(stamp), _contacts(stamp), _joint_state(stamp)):
        answer = take(stream, topic, message)
    message = _empty_linearization()
    LinearizationWriter(message, _robot()[0], settings, make_contact=EMPTY_CONTACT).write(answer)
    return share_arrays(message)


def _empty_linearization():
    return empty_linearization(lambda name: empty_message(f'geolin_msgs/msg/{name}'), _robot()[0])


# ---- the service


def _service():
    settings = StreamSettings(service_rate=10_000, service_budget=1e9)  # nobody else waits
    answerer = RequestAnswerer(_robot()[0], settings, _empty_linearization, EMPTY_CONTACT)

    def linearize(request):
        response = SimpleNamespace(success=False, message='', linearization=None)
        answerer.answer(request, response, START)
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
    full.contacts = _contacts(stamp)[1].contacts
    wrench = empty_message('geolin_msgs/msg/ExternalWrench')
    wrench.link, wrench.kind, wrench.wrench.force.x = 'imu', 1, 5.0
    full.external_wrenches = [wrench]
    full.override_gravity, full.gravity.z = True, -1.6
    full.reference, full.form, full.method, full.representation = 1, 2, 2, 2
    full.dt = 0.01
    return [('linearize', plain), ('linearize', full)]


# ---- whoever hears the answers


def _consumer():
    return {
        'linearization': Input(LINEARIZATION, lambda m: read_linearization(m).A.shape),
        'gains': Input(GAINS, lambda m: read_gains(m)[2].shape),
    }


@functools.cache
def _gains():
    """What the LQR node says of the robot as it stands."""
    model, supports, posture = _robot()
    regulator = Regulator(model, supports)
    regulator.follow(Reference(posture))
    assert regulator.redesign()
    made = regulator.gains, regulator.source, START, 'world', 0.0
    message = gains_message(lambda name: empty_message(f'geolin_msgs/msg/{name}'), model, *made)
    message.feedforward = np.array(message.feedforward)
    return share_arrays(message)


NODES = {
    'linearizer': Node(_linearizer, _good_for_linearizer),
    'linearizer_of_transforms': Node(_linearizer_of_transforms, _good_for_transforms),
    'torque_estimator': Node(_torque_estimator, _good_for_torque_estimator),
    'state_estimator': Node(_state_estimator, _good_for_state_estimator),
    'lqr_node': Node(_lqr_node, _good_for_lqr_node),
    'service': Node(_service, _good_for_service),
    'consumer': Node(
        _consumer, lambda stamp: [('linearization', _linearization(stamp)), ('gains', _gains())]
    ),
}

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What takes bytes from outside, each as a function of bytes that may raise nothing.

A `GeolinError` says what is wrong and is what is wanted; anything else is a bug.
"""

import contextlib
import functools
import tempfile
import warnings
from pathlib import Path

import numpy as np

from geolin_ros import TreeModel, robots, urdf
from geolin_ros.description import apply_overlay
from geolin_ros.description.overlay import parse_overlay
from geolin_ros.errors import GeolinError, ModelWarning
from geolin_ros.offline.message_types import JOINT_STATE, LINEARIZATION, ODOMETRY, known_types
from geolin_ros.offline.recording import Recording
from geolin_ros.stream.contact_input import ContactSettings
from geolin_ros.stream.feedback_messages import frames_in_force, read_gains, read_reference
from geolin_ros.stream.linearization_stream import LinearizationStream
from geolin_ros.stream.parameter_file import default_values, read_parameter_file
from geolin_ros.stream.parameters import model_options, stream_settings
from geolin_ros.stream.reading import read_linearization
from geolin_ros.stream.settings import StreamSettings
from support.bags import FOLDER, Messages, flight, quadruped

CONTACT_STATES = 'geolin_msgs/msg/ContactStates'
REFERENCE = 'geolin_msgs/msg/ReferenceState'
GAINS = 'geolin_msgs/msg/FeedbackGains'
SECOND = 1_000_000_000
SAMPLE = 7  # of a flight
MOST_JOINTS = 60
"""Larger models are read but not built: that takes longer than an execution may."""


def _forgiving(function):
    @functools.wraps(function)
    def target(data):
        with contextlib.suppress(GeolinError), warnings.catch_warnings():
            warnings.simplefilter('error')
            warnings.simplefilter('ignore', ModelWarning)
            function(data)

    return target


@_forgiving
def urdf_bytes(data):
    """A description as bytes; what can be read can be built or says why not."""
    description = urdf.read(data)
    if len(description.joints) <= MOST_JOINTS:
        TreeModel.from_description(description)


@_forgiving
def urdf_text(data):
    """A description as the text of a message."""
    urdf.read_text(data.decode('utf-8', 'surrogateescape'))


@functools.cache
def _description():
    return urdf.read(robots.path('quadruped'))


@_forgiving
def overlay(data):
    """An overlay over the quadruped."""
    description = apply_overlay(_description(), parse_overlay(data.decode('utf-8', 'replace')))
    TreeModel.from_description(description)


@_forgiving
def parameters(data):
    """A ROS parameter file, and what a node makes of it."""
    with _file(data, '.yaml') as path:
        values = default_values() | read_parameter_file(path)
        stream_settings(values)
        model_options(values)


@_forgiving
def bag(data):
    """A bag of either storage, told apart by the first byte."""
    suffix = ('.mcap', '.db3')[data[:1] > b'\x7f']
    with _file(data[1:], suffix) as path, Recording([path]) as recording:
        for _ in recording.messages(recording.topics):
            pass


@contextlib.contextmanager
def _file(data, suffix):
    folder = '/dev/shm' if Path('/dev/shm').is_dir() else None
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / f'file{suffix}'
        path.write_bytes(data)
        yield path


@functools.cache
def _stream():
    """A stream that takes every kind of message, and a sample of what it answers."""
    model, _ = quadruped()
    contacts = ContactSettings(source='topic')
    settings = StreamSettings(torque_source='effort', contacts=contacts)
    return LinearizationStream(model, settings), Messages(model), flight(model, SAMPLE + 1)


def _serialized(kind, message):
    return bytes(known_types().serialize_cdr(message, kind))


def _taken():
    stream, _, _ = _stream()
    model = stream.model
    return {
        JOINT_STATE: stream.on_joint_state,
        ODOMETRY: stream.on_odometry,
        CONTACT_STATES: stream.on_contact_states,
        LINEARIZATION: read_linearization,
        REFERENCE: lambda message: read_reference(message, model, None),
        GAINS: read_gains,
    }


def messages(data):
    """Serialized messages, one after the other; afterwards a good one is answered.

    Each is: its kind, its length in two bytes, its CDR. What is no message at all is left out as
    the middleware does.
    """
    stream, make, samples = _stream()
    taken = _taken()
    kinds = list(taken)
    while len(data) > 3:
        kind, length = kinds[data[0] % len(kinds)], int.from_bytes(data[1:3], 'little')
        body, data = data[3 : 3 + length], data[3 + length :]
        try:
            message = known_types().deserialize_cdr(body, kind)
        except Exception:
            continue
        with contextlib.suppress(GeolinError), np.errstate(all='ignore'):
            taken[kind](message)
            if kind == CONTACT_STATES:
                frames_in_force(message)
    stream.forget()
    sample = samples[SAMPLE]
    stream.on_contact_states(make.make(CONTACT_STATES, header=make.header(0), contacts=[]))
    stream.on_odometry(make.odometry(sample))
    answer = stream.on_joint_state(make.joint_state(sample))
    assert np.isfinite(answer.A).all()


def _message_seeds():
    _, make, samples = _stream()
    kinds = list(_taken())
    joints = _serialized(JOINT_STATE, make.joint_state(samples[0]))
    base = _serialized(ODOMETRY, make.odometry(samples[0]))
    pair = [(ODOMETRY, base), (JOINT_STATE, joints)]
    from geolin_ros.offline.message_types import empty_message

    alone = [
        [(kind, _serialized(kind, empty_message(kind)))]
        for kind in (CONTACT_STATES, LINEARIZATION, REFERENCE, GAINS)
    ]
    return [
        b''.join(
            bytes([kinds.index(kind)]) + len(body).to_bytes(2, 'little') + body
            for kind, body in sequence
        )
        for sequence in (pair, pair[1:], *alone)
    ]


def _urdf_seeds():
    return [robots.path(name).read_bytes() for name in ('quadruped', 'humanoid')] + [
        b'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        b'<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
        b'<mimic joint="j" multiplier="2"/></joint></robot>'
    ]


def _overlay_seeds():
    return [
        b'joints:\n  "*_calf_joint": {rotor_inertia: 1.0e-4, gear_ratio: 9.1, damping: 0.1}\n'
        b'payloads:\n  - {frame: base, mass: 2.0, com: [0, 0, 0.1], '
        b'inertia: [0.01, 0.01, 0.01, 0, 0, 0]}\n'
    ]


def _parameter_seeds():
    file = Path(__file__).resolve().parents[2] / 'config' / 'linearizer.yaml'
    return [file.read_bytes(), b'a: {ros__parameters: {max_skew: 0.1, overlay: "joints: {}"}}']


def _bag_seeds():
    file = FOLDER / 'demo' / 'demo.mcap'
    return [b'\x00' + file.read_bytes()[:4000], b'\xff' + b'SQLite format 3\x00']


TARGETS = {
    'urdf_bytes': (urdf_bytes, _urdf_seeds),
    'urdf_text': (urdf_text, _urdf_seeds),
    'overlay': (overlay, _overlay_seeds),
    'parameters': (parameters, _parameter_seeds),
    'bag': (bag, _bag_seeds),
    'messages': (messages, _message_seeds),
}

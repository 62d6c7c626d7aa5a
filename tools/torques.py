# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Forces of the ground that torque_estimator finds on real robots, beside force sensors."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from geolin_estimation.torque_stream import TorqueStream, torque_settings
from recordings import evenly, imu_of, joints_of, logged, normal_forces, urdf_with_imu
from scipy.signal import butter, sosfiltfilt

from geolin_ros import TreeModel
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.message_fields import write_stamp
from geolin_ros.stream.parameters.file import default_values

LATEST = 0.1
"""Sensors are looked for within this of the estimate [s]."""


class Force(NamedTuple):
    """A force over time, measured and estimated [N], and how it is compared."""

    name: str
    measured: np.ndarray
    estimated: np.ndarray
    period: float
    """[s]"""
    cutoff: float
    """Of the filter that both pass forwards and backwards [Hz]."""


class Comparison(NamedTuple):
    """How an estimate agrees with a sensor that comes ``late`` [s] after it."""

    late: float
    correlation: float
    slope: float
    error: float
    """Root mean square [N]."""
    measured: float
    """The same of what is measured."""


def estimated(model, values, time, joint_rows, imu=None):
    """Return the wrenches (N, k, 6) on the links of a stream; NaN before its first answer.

    ``joint_rows`` are positions, rates and efforts or None, (N, n) each; ``imu`` (N, 6).
    """
    names = list(model.joint_names)
    stream = TorqueStream(model, torque_settings(default_values('torque_estimator') | values))
    found = np.full((time.size, len(stream.links), 6), np.nan)
    position, rate, effort = joint_rows
    for k, t in enumerate(time):
        stamp = SimpleNamespace()
        write_stamp(stamp, 1_000_000_000 + round(t * 1e9))
        header = SimpleNamespace(stamp=stamp, frame_id='imu')
        messages = []
        if imu is not None:
            gyro, acceleration = (
                SimpleNamespace(**dict(zip('xyz', map(float, x), strict=True)))
                for x in (imu[k, :3], imu[k, 3:])
            )
            message = SimpleNamespace(
                header=header,
                angular_velocity=gyro,
                linear_acceleration=acceleration,
                angular_velocity_covariance=[0.0] * 9,
                linear_acceleration_covariance=[0.0] * 9,
            )
            messages.append(('imu', message))
        joints = SimpleNamespace(
            header=header,
            name=names,
            position=position[k],
            velocity=rate[k],
            effort=[] if effort is None else effort[k],
        )
        for topic, message in (*messages, ('joint_states', joints)):
            for answer in stream.take(topic, message):
                found[k] = answer.wrenches
    return found


def hopper():
    """Yield the vertical force of the foot of a leg that hops on a rail."""
    log, folder = logged('hopper_teststand', '2019-07-04_16-25-06')
    model = TreeModel.from_urdf(
        folder.parent / 'teststand.urdf',
        base='fixed',
        locked_joints={'joint_z': 0.0},  # the rail has no encoder, and hands push what is on it
        overlay={'joints': {'?FE': {'rotor_inertia': 4.5e-6, 'gear_ratio': 9.0}}},
    )
    s, effort = (joints_of(log, field, model.joint_names) for field in ('position', 'effort'))
    differentiator, rate = Differentiator(50.0), np.zeros_like(s)
    for k, t in enumerate(log.time):
        differentiator.add(round(t * 1e9), s[k])
        rate[k] = 0.0 if differentiator.rate is None else differentiator.rate
    values = {
        'base': 'fixed',
        'unknown_wrenches': ['contact'],
        'deviation.joint_effort': 0.05,
        'deviation.unknown_force': 50.0,
        'deviation.unknown_moment': 1e-3,
    }
    wrench = estimated(model, values, log.time, (s, rate, effort))[:, 0]
    up = [_foot(model, angles)[2, :3] @ w[:3] for angles, w in zip(s, wrench, strict=True)]
    yield Force(
        'foot', log.topics['/contact/force'].fields['force'][:, 2], np.array(up), 1e-3, 20.0
    )


def icub():
    """Yield the forces of the feet of a robot that walks, and their sum."""
    log, folder = logged('icub_walking')
    names = log.topics['/joint_states'].message.name
    model = TreeModel.from_urdf(urdf_with_imu(folder), joints=list(names))
    s, rate = (joints_of(log, field, model.joint_names) for field in ('position', 'velocity'))
    values = {
        'imu_topics': ['imu imu'],
        'unknown_wrenches': ['l_sole', 'r_sole'],
        'acceleration_cutoff': 10.0,
        'deviation.unknown_force': 300.0,
        'deviation.unknown_moment': 3.0,
    }
    rows = s, rate, None
    feet = estimated(model, values, evenly(log), rows, imu_of(log))[:, :, 2]
    measured = normal_forces(log, ('l_sole', 'r_sole'))
    for k, name in enumerate(('left foot', 'right foot')):
        yield Force(name, measured[:, k], feet[:, k], 0.01, 5.0)
    yield Force('both feet', measured.sum(axis=1), feet.sum(axis=1), 0.01, 5.0)


def _foot(model, s):
    state = model.state(np.eye(4), s, np.zeros(6), np.zeros(model.n))
    return Kinematics(model, state).pose('contact')


def compared(force):
    """Return the comparison at the delay of the sensor where the error is the least."""
    sections = butter(2, force.cutoff, output='sos', fs=1.0 / force.period)
    known = np.isfinite(force.estimated)
    a, b = (sosfiltfilt(sections, x[known]) for x in (force.measured, force.estimated))
    edge = round(3.0 * LATEST / force.period)
    most = round(LATEST / force.period)

    def at(lag):
        x, y = a[edge + lag : a.size - edge + lag], b[edge:-edge]
        error = float(np.sqrt(np.mean((x - y) ** 2)))
        correlation, slope = np.corrcoef(x, y)[0, 1], np.polyfit(x, y, 1)[0]
        size = float(np.sqrt(np.mean(x**2)))
        return Comparison(lag * force.period, float(correlation), float(slope), error, size)

    return min(map(at, range(-most, most + 1)), key=lambda found: found.error)


HEAD = (
    'recording',
    'force',
    'sensor late [ms]',
    'correlation',
    'slope',
    'error [N]',
    'measured [N]',
)

TEXT = """\
Vertical ground forces by torque_estimator without force sensors, beside measured ones: root mean
square, the same filter, the sensor shifted by its delay. hopper_teststand, 20 Hz: from motor
currents and joint positions. icub_walking, 5 Hz: from IMU and joint motion without torques; the
sum hardly varies, so only its error counts."""


def of_forces():
    """Yield recording, force, and what `compared` says of it."""
    for name, forces in (('hopper_teststand', hopper), ('icub_walking', icub)):
        for force in forces():
            yield name, force.name, compared(force)

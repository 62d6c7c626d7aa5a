# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages as plain objects with arrays, or as bag readers give them."""

import functools
from types import SimpleNamespace

import numpy as np

from geolin_ros.offline.bags import empty_message

SECOND = 1_000_000_000


def stamp(nanoseconds):
    """Return a builtin_interfaces/Time."""
    sec, nanosec = divmod(nanoseconds, SECOND)
    return SimpleNamespace(sec=sec, nanosec=nanosec)


def header(nanoseconds, frame_id=''):
    """Return a std_msgs/Header."""
    return SimpleNamespace(stamp=stamp(nanoseconds), frame_id=frame_id)


def vector(values):
    """Return a geometry_msgs/Vector3 or Point."""
    return SimpleNamespace(**dict(zip('xyz', map(float, values), strict=True)))


def quaternion(values):
    """Return a geometry_msgs/Quaternion from (x, y, z, w)."""
    return SimpleNamespace(**dict(zip('xyzw', map(float, values), strict=True)))


def joint_state(nanoseconds, names, position, velocity, effort):
    """Return a sensor_msgs/JointState."""
    return SimpleNamespace(
        header=header(nanoseconds),
        name=list(names),
        position=np.array(position, dtype=float),
        velocity=np.array(velocity, dtype=float),
        effort=np.array(effort, dtype=float),
    )


def pose(place, turn):
    """Return a geometry_msgs/Pose."""
    return SimpleNamespace(position=vector(place), orientation=quaternion(turn))


def twist(values):
    """Return a geometry_msgs/Twist from [linear; angular]."""
    return SimpleNamespace(linear=vector(values[:3]), angular=vector(values[3:]))


def odometry(nanoseconds, place, turn, twist_values, child_frame_id='base', frame_id='odom'):
    """Return a nav_msgs/Odometry, of unknown covariance; that of the pose is left out."""
    return SimpleNamespace(
        header=header(nanoseconds, frame_id),
        child_frame_id=child_frame_id,
        pose=SimpleNamespace(pose=pose(place, turn)),
        twist=SimpleNamespace(twist=twist(twist_values), covariance=np.zeros(36)),
    )


def wrench(values):
    """Return a geometry_msgs/Wrench from [force; torque]."""
    return SimpleNamespace(force=vector(values[:3]), torque=vector(values[3:]))


def wrench_stamped(nanoseconds, values, frame_id=''):
    """Return a geometry_msgs/WrenchStamped."""
    return SimpleNamespace(header=header(nanoseconds, frame_id), wrench=wrench(values))


linearized_dynamics, forward_dynamics, linearization_summary, empty_contact_state = (
    functools.partial(empty_message, f'geolin_msgs/msg/{name}')
    for name in ('LinearizedDynamics', 'ForwardDynamics', 'LinearizationSummary', 'ContactState')
)


def robot_state(n):
    """Return a geolin_msgs/RobotState of zeros."""
    message = empty_message('geolin_msgs/msg/RobotState')
    message.joint_positions, message.joint_rates = np.zeros(n), np.zeros(n)
    return message


def fill(message, plain):
    """Copy a plain object into a message of rclpy, or of a bag's types, and return the message."""
    for name, value in vars(plain).items():
        before = getattr(message, name)
        if isinstance(value, SimpleNamespace):
            fill(before, value)
        else:
            is_list = isinstance(value, np.ndarray) and not isinstance(before, np.ndarray)
            setattr(message, name, value.tolist() if is_list else value)
    return message


def random_quaternion(rng):
    """Return a unit quaternion (x, y, z, w), uniform over rotations."""
    values = rng.normal(size=4)
    return values / np.linalg.norm(values)


def contact_state(
    frame,
    kind=1,
    partner='',
    active=True,
    kp=0.0,
    kd=0.0,
    place=(0, 0, 0),
    turn=(0, 0, 0, 0),
    placement=((0, 0, 0), (0, 0, 0, 1)),
):
    """Return a geolin_msgs/ContactState as its readers take it; by default without a reference."""
    return SimpleNamespace(
        frame=frame,
        partner_frame=partner,
        kind=kind,
        active=active,
        kp=kp,
        kd=kd,
        reference=pose(place, turn),
        placement=pose(*placement),
    )


def contact_states(nanoseconds, *contacts):
    """Return a geolin_msgs/ContactStates."""
    return SimpleNamespace(header=header(nanoseconds), contacts=list(contacts))

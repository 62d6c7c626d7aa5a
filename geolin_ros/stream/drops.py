# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Why an input was not answered: one exception, one cause from a fixed list."""

from enum import Enum

from geolin_ros.errors import InputError


class Cause(Enum):
    """What was wrong with an input; the values are the keys of the diagnostics."""

    NO_MODEL = 'no robot description yet'
    NO_ODOMETRY = 'no odometry yet'
    NO_EFFORT = 'no efforts yet'
    NO_ACCELERATION = 'no accelerations yet'
    NO_VELOCITY = 'no velocity of the base yet'
    NO_WRENCH = 'wrench missing or too old'
    NO_CONTACTS = 'no contacts yet, or foot forces too old'
    CONTACT = 'contact not understood'
    SKEW = 'odometry too far from the joint state'
    BACKWARDS = 'stamp not after the last one'
    MISSING_JOINT = 'joint missing'
    JOINT_TWICE = 'joint named twice'
    LENGTH = 'array of wrong length'
    MISSING_VELOCITY = 'joint velocities missing'
    MISSING_EFFORT = 'joint efforts missing'
    NOT_FINITE = 'NaN or inf'
    QUATERNION = 'quaternion not of unit length'
    FRAME = 'frame not on the base link'
    NO_IMU = 'IMU missing or too old'
    IMU_FRAME = 'IMU in another frame'
    IMU_PART = 'IMU without acceleration or angular velocity'
    WRENCH_FRAME = 'wrench in another frame'
    COVARIANCE = 'covariance not positive definite'
    UNSOLVABLE = 'variables not determined'
    SINGULAR = 'singular inertia'
    CONTACTS = 'contacts that are no supports'
    REFERENCE = 'reference not usable'


EARLY = frozenset(cause for cause in Cause if cause.name.startswith('NO_'))
"""What every start in the middle of things brings with it: nothing is wrong with these inputs."""


class DroppedInput(InputError):  # noqa: N818 - an event, not a failure
    """An input that is dropped, with its `Cause`; the stream goes on with the next one."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which topic of a bag plays which role."""

from collections.abc import Mapping

from geolin_ros.errors import RecordingError, unknown_name
from geolin_ros.offline.message_types import (
    CONTACT_STATES,
    IMU,
    JOINT_STATE,
    ODOMETRY,
    STRING,
    TRANSFORMS,
)

ROLES = {
    'robot_description': STRING,
    'joint_states': JOINT_STATE,
    'odom': ODOMETRY,
    'tf': TRANSFORMS,
    'tf_static': TRANSFORMS,
    'imu': IMU,
    'joint_efforts': JOINT_STATE,
    'contact_states': CONTACT_STATES,
}
"""Type of each input; the keys are the node's names for them."""
ESTIMATOR = 'state_estimator'
"""Node whose joint states, with rates, and contact states go before what it made them of."""
SOLE_IS_ENOUGH = ('joint_states', 'odom', 'imu')


def assign(
    types: Mapping[str, str],
    chosen: Mapping[str, str],
    counts: Mapping[str, int],
    takes_estimates: bool = True,
) -> dict[str, str]:
    """Return the topic of each role.

    A role goes to the topic of its type that is named like it, in whatever namespace; joint
    states and odometry also to the only one of their type, or with their name inside its own.
    Of several with messages it goes to that of the state estimator.

    Parameters
    ----------
    types
        Message type of each topic of the bag.
    chosen
        Topics that the user gives, by role.
    counts
        Messages on each topic.
    takes_estimates
        False: of several to one that the state estimator did not publish.

    Raises
    ------
    UnknownNameError
        If the bag has no topic that was given.
    RecordingError
        If one has another type, or several could be meant.
    """
    found = {}
    for role, wanted in ROLES.items():
        if role in chosen:
            found[role] = _checked(chosen[role], role, wanted, types)
            continue
        of_type = [topic for topic, kind in types.items() if kind == wanted]
        candidates = [topic for topic in of_type if topic.rpartition('/')[2] == role]
        if not candidates and role in SOLE_IS_ENOUGH:
            taken = {*chosen.values(), *found.values()}
            of_type = [
                topic
                for topic in of_type
                if topic not in taken and topic.rpartition('/')[2] not in (*ROLES, 'imu_bias')
            ]
            candidates = [topic for topic in of_type if role in topic] or of_type
        if len(candidates) > 1:
            candidates = [topic for topic in candidates if counts[topic]] or candidates
            wanted_ones = [t for t in candidates if _is_estimate(t) == takes_estimates]
            candidates = wanted_ones if len(wanted_ones) == 1 else candidates
        if len(candidates) > 1:
            raise RecordingError(
                f'topics {", ".join(sorted(candidates))} could all be {role} ({wanted}), expected '
                f'one; choose with --{role.replace("_", "-")} TOPIC'
            )
        if candidates:
            found[role] = candidates[0]
    return found


def _is_estimate(topic: str) -> bool:
    return topic.split('/')[-2:-1] == [ESTIMATOR]


def _checked(topic: str, role: str, wanted: str, types: Mapping[str, str]) -> str:
    if topic not in types:
        raise unknown_name('topic', topic, types, 'the bag')
    if types[topic] != wanted:
        raise RecordingError(f'topic {topic} has type {types[topic]}, expected {wanted} as {role}')
    return topic

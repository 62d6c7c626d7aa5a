# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Qualities of service of the nodes' topics, all of them free to be overridden by parameters."""

import copy
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

LATCHED = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
# As LATCHED, of several publishers.
LATCHED_BY_MANY = QoSProfile(
    depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)
# Sensor data with room for 40 ms at 500 Hz: a busy machine then loses nothing.
SENSOR_DATA = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
# As SENSOR_DATA, with room for two seconds at 2 kHz.
KEPT = QoSProfile(depth=4000, reliability=ReliabilityPolicy.BEST_EFFORT)
OVERRIDABLE = QoSOverridingOptions(
    (
        QoSPolicyKind.HISTORY,
        QoSPolicyKind.DEPTH,
        QoSPolicyKind.RELIABILITY,
        QoSPolicyKind.DURABILITY,
    )
)


def overridable(profile: QoSProfile) -> dict[str, Any]:
    """Return options of an endpoint whose QoS parameters may override: rclpy writes into it."""
    return {'qos_profile': copy.copy(profile), 'qos_overriding_options': OVERRIDABLE}

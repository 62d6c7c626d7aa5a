# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics: types of messages, readers of their bytes, and qualities of service.

All of the latter are free to be overridden by parameters.
"""

import copy
import importlib
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message

from geolin_ros.stream.inputs.serialized import InputReader

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


def name_of(kind: Any) -> str:
    """Return the name of a type: ``'sensor_msgs/msg/Imu'``."""
    return f'{kind.__module__.partition(".")[0]}/msg/{kind.__name__}'


def type_of(name: str) -> Any:
    """Return the type of a name, None if its package is not installed or has none such."""
    package, _, kind = name.partition('/msg/')
    try:
        return getattr(importlib.import_module(f'{package}.msg'), kind)
    except (ImportError, AttributeError):
        return None


def input_reader(kind: Any) -> InputReader:
    """Return a reader of a type of `stream.inputs.serialized.VIEWS`; it raises what rclpy does."""
    return InputReader(name_of(kind), lambda data: deserialize_message(data, kind))

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Types of messages by their names, and readers of their bytes."""

import importlib
from typing import Any

from rclpy.serialization import deserialize_message

from geolin_ros.stream.inputs.serialized import InputReader


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

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as plain data: links and joints with names, before any numbering or merging.

The URDF reader and descriptions written in code both end here; `geolin_ros.model` starts here.
"""

from geolin_ros.description.elements import (
    JOINT_KINDS,
    SEVERAL_AXES_KINDS,
    SINGLE_AXIS_KINDS,
    Description,
    Joint,
    Limits,
    Link,
    Mimic,
)
from geolin_ros.description.locking import lock_joints
from geolin_ros.description.overlay import apply_overlay, attach_payloads, parse_overlay
from geolin_ros.description.topology import check_tree

__all__ = [
    'JOINT_KINDS',
    'SEVERAL_AXES_KINDS',
    'SINGLE_AXIS_KINDS',
    'Description',
    'Joint',
    'Limits',
    'Link',
    'Mimic',
    'apply_overlay',
    'attach_payloads',
    'check_tree',
    'lock_joints',
    'parse_overlay',
]

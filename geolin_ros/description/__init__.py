# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as plain data: links and joints with names, before any numbering or merging.

The URDF reader and descriptions written in code both end here; `geolin_ros.model` starts here.
"""

from geolin_ros.description.checks import (
    SHORTEST_AXIS,
    check_tree,
    check_values,
    stands_on_world,
    tree_findings,
)
from geolin_ros.description.elements import (
    JOINT_KINDS,
    SEVERAL_AXES_KINDS,
    SINGLE_AXIS_KINDS,
    ContactKind,
    Description,
    Joint,
    Limits,
    Link,
    Loop,
    Mimic,
    constraint_of,
    mass_properties,
)
from geolin_ros.description.findings import (
    SEVERITIES,
    Finding,
    Refused,
    Severity,
    merged,
    raise_errors,
)
from geolin_ros.description.locking import lock_joints
from geolin_ros.description.overlay import apply_overlay, attach_payloads, parse_overlay

__all__ = [
    'JOINT_KINDS', 'SEVERAL_AXES_KINDS', 'SEVERITIES', 'SHORTEST_AXIS', 'SINGLE_AXIS_KINDS',
    'ContactKind', 'Description', 'Finding', 'Joint', 'Limits', 'Link', 'Loop', 'Mimic', 'Refused',
    'Severity', 'apply_overlay', 'attach_payloads', 'check_tree', 'check_values', 'constraint_of',
    'lock_joints', 'mass_properties', 'merged', 'parse_overlay', 'raise_errors', 'stands_on_world',
    'tree_findings',
]  # fmt: skip

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as plain data: links and joints with names, before any numbering or merging.

The URDF reader and descriptions written in code both end here; `geolin_ros.model` starts here.
"""

from geolin_ros.description.checks import (
    SHORTEST_AXIS,
    check_values,
    stands_on_world,
    tree_findings,
)
from geolin_ros.description.elements import (
    SEVERITIES,
    SINGLE_AXIS_KINDS,
    ContactKind,
    Description,
    Finding,
    Joint,
    Limits,
    Link,
    Loop,
    Mimic,
    Refused,
    Severity,
    constraint_of,
    mass_properties,
    merged,
    raise_errors,
)
from geolin_ros.description.overlay import (
    apply_overlay,
    attach_payloads,
    lock_joints,
    parse_overlay,
)
from geolin_ros.renamed import old_names

__all__ = [
    'SEVERITIES', 'SHORTEST_AXIS', 'SINGLE_AXIS_KINDS',
    'ContactKind', 'Description', 'Finding', 'Joint', 'Limits', 'Link', 'Loop', 'Mimic', 'Refused',
    'Severity', 'apply_overlay', 'attach_payloads', 'check_values', 'constraint_of',
    'lock_joints', 'mass_properties', 'merged', 'parse_overlay', 'raise_errors', 'stands_on_world',
    'tree_findings',
]  # fmt: skip
__getattr__ = old_names(__name__)

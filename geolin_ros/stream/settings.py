# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a stream does with its inputs; the node's parameters of the same names fill it."""

from dataclasses import dataclass
from typing import Literal

from geolin_ros.discretization import Method
from geolin_ros.frames import Representation
from geolin_ros.linearization import Reference
from geolin_ros.stream.base_input import TwistFrame

TorqueSource = Literal['effort', 'zero', 'topic']
Form = Literal['continuous', 'discrete']


@dataclass(frozen=True)
class StreamSettings:
    """See the parameter table of the node for meanings, units and bounds."""

    twist_frame: TwistFrame = 'child'
    child_frame: str = ''
    quaternion_tolerance: float = 0.01
    max_skew: float = 0.05
    torque_source: TorqueSource = 'effort'
    max_rate: float = 0.0
    form: Form = 'continuous'
    dt: float = 0.002
    method: Method = 'midpoint'
    reference: Reference = 'moving'
    representation: Representation = 'body'

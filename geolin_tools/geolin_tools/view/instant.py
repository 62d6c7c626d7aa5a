# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What is shown of one moment: where a robot is, A and B there, and the forces on it."""

from dataclasses import dataclass, field

import numpy as np

from geolin_ros.control.support import Support
from geolin_ros.model.state import State
from geolin_ros.stream.outputs.forces import Force
from geolin_ros.typing import Array


@dataclass(frozen=True, eq=False)
class Instant:
    """One moment of a robot.

    Attributes
    ----------
    time
        [s], from when the source says.
    state
        Where the robot is.
    A : (2 m, 2 m)
    B : (2 m, n_u)
        Empty where there is no linearization yet.
    dt
        Step of the discrete form [s]; 0 if A and B are continuous.
    forces
        On the robot.
    supports
        What it stands on.
    paths
        Places (N + 1, 3) of base and feet in the plan of a robot that walks [m].
    remark
        What a reader has to know about it, a sentence.
    """

    time: float
    state: State
    A: Array = field(default_factory=lambda: np.zeros((0, 0)))
    B: Array = field(default_factory=lambda: np.zeros((0, 0)))
    dt: float = 0.0
    forces: tuple[Force, ...] = ()
    supports: tuple[Support, ...] = ()
    paths: tuple[Array, ...] = ()
    remark: str = ''

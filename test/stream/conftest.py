# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from geolin_ros import Description, Joint, Link, TreeModel, robots
from geolin_ros.spatial.se3 import exp


@pytest.fixture(scope='session')
def quadruped():
    return TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture(scope='session')
def sensor_robot():
    """A base with one arm; a camera is fixed to the base, turned and shifted."""
    rotational = np.diag((0.1, 0.2, 0.25))
    links = (
        Link.from_mass('base', 5.0, np.array((0.1, 0.0, -0.05)), rotational),
        Link.from_mass('arm', 1.0, np.array((0.0, 0.3, 0.0)), 0.1 * rotational),
        Link('camera'),
    )
    joints = (
        Joint('shoulder', 'revolute', 'base', 'arm', axis=np.array((0.0, 0.0, 1.0))),
        Joint('mount', 'fixed', 'base', 'camera', placement=exp((0.3, -0.2, 0.1, 0.5, -1.0, 0.7))),
    )
    return TreeModel.from_description(Description('sensor robot', links, joints))

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A contact is the same after it was a message."""

import numpy as np
import pytest

pytest.importorskip('rosbags')

from geolin_ros.control.support import Support
from geolin_ros.linearization.contacts import Contact, Loop
from geolin_ros.offline.message_types import CONTACT, empty_message
from geolin_ros.stream.inputs.contact_state import read_contact, write_contact

POSE = np.array([[0.0, -1, 0, 0.1], [1, 0, 0, -0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]])
GAINS = {'kp': 50.0, 'kd': 14.0}


@pytest.mark.parametrize(
    'contact',
    [
        Contact('FL_foot'),
        Contact('RR_foot', 'surface', **GAINS, reference=POSE, placement=POSE),
        Support.sole('FL_foot', 0.1, 0.05, (0.02, 0.0, -0.01)).contact,
        Loop('FL_foot', 'FR_foot', 'point', **GAINS, reference=POSE, active=False),
    ],
    ids=['plain', 'held', 'sole', 'loop'],
)
def test_contact__survives_its_message(quadruped, contact):
    message = empty_message(CONTACT)
    write_contact(message, contact, quadruped)
    found = read_contact(quadruped, message)
    assert type(found) is type(contact)
    for name, value in vars(contact).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(getattr(found, name), value, atol=1e-15)
        else:
            assert getattr(found, name) == value, name

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The interface files of geolin_msgs."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / 'geolin_msgs'
INTERFACES = sorted([*PACKAGE.glob('msg/*.msg'), *PACKAGE.glob('srv/*.srv')])


def test_interfaces__are_all_built_and_bound_no_array() -> None:
    built = re.findall(r'(?:msg|srv)/\w+\.(?:msg|srv)', (PACKAGE / 'CMakeLists.txt').read_text())
    assert built == [f'{i.parent.name}/{i.name}' for i in INTERFACES]
    for interface in INTERFACES:
        arrays = re.findall(r'^[\w/]+(\[.*?\])\s', interface.read_text(), re.MULTILINE)
        assert set(arrays) <= {'[]'}, interface


def test_numbers__survive_the_wire() -> None:
    serialization = pytest.importorskip('rclpy.serialization')
    messages = pytest.importorskip('geolin_msgs.msg')
    sent = messages.LinearizedDynamics(model_name='näme', floating_base=True, dt=0.1)
    sent.a.rows, sent.a.cols = 2, 3
    sent.a.data.extend([0.0, -0.0, 1e-308, float('inf'), 0.1, -1.7976931348623157e308])
    sent.contact_dynamics.contacts.append(messages.ContactState(frame='sole', kind=2))
    received = serialization.deserialize_message(
        serialization.serialize_message(sent), messages.LinearizedDynamics
    )
    assert received == sent
    assert received.a.data.tobytes() == sent.a.data.tobytes()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The interface files of geolin_msgs."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / 'geolin_msgs'
INTERFACES = sorted([*PACKAGE.glob('msg/*.msg'), *PACKAGE.glob('srv/*.srv')])
FIELD = re.compile(r'(?P<type>[\w/]+(?P<array>\[[^\]]*\])?)\s+(?P<name>\w+)\s*(?P<value>=)?')


def fields(interface: Path) -> list[tuple[str, str | None, bool]]:
    """Return name, array brackets and whether it is commented, of every field and constant.

    A comment stands behind the field, or above the block of fields that it is for.
    """
    found, above = [], False
    for line in interface.read_text().splitlines()[3:]:
        if line.startswith('#') and not line.startswith('# ----'):
            above = True
        elif match := FIELD.match(line):
            found.append((match['name'], match['array'], above or '#' in line))
        else:
            above = False
    return found


def test_interfaces__are_all_built() -> None:
    built = re.findall(r'(?:msg|srv)/\w+\.(?:msg|srv)', (PACKAGE / 'CMakeLists.txt').read_text())
    assert built == [f'{i.parent.name}/{i.name}' for i in INTERFACES]


@pytest.mark.parametrize('interface', INTERFACES, ids=lambda file: file.stem)
def test_fields__are_commented(interface: Path) -> None:
    assert fields(interface)
    assert [name for name, _, commented in fields(interface) if not commented] == []


@pytest.mark.parametrize('interface', INTERFACES, ids=lambda file: file.stem)
def test_arrays__are_unbounded(interface: Path) -> None:
    assert {array for _, array, _ in fields(interface)} <= {None, '[]'}


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

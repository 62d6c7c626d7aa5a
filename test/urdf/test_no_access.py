# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A description from the network or from a bag opens no file and no connection."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from geolin_ros import robots
from geolin_ros.errors import UrdfError
from geolin_ros.urdf import read_text

ROOT = Path(__file__).parents[2]
LINK = '<link name="a">{}</link>'
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
ROBOT = '<robot name="r">{}</robot>'
TEXTS = [
    *(
        ROBOT.format(LINK.format(MESH.format(name)))
        for name in ('package://other/mesh.stl', 'file:///etc/passwd', 'http://127.0.0.1/a.dae')
    ),
    ROBOT.format('<xacro:include filename="/etc/passwd"/>'),
    '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude">'
    '<xi:include href="file:///etc/passwd"/><link name="a"/></robot>',
    f'<?xml-stylesheet href="file:///etc/passwd"?>{ROBOT.format(LINK)}',
    f'<!DOCTYPE robot SYSTEM "http://127.0.0.1/robot.dtd">{ROBOT.format(LINK)}',
    '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
    f'<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>{ROBOT.format(LINK)}',
    str(robots.path('quadruped')),
    '/etc/robot.urdf.xacro',
]
PROGRAM = """
import json, sys
from geolin_ros.errors import GeolinError
from geolin_ros.stream.parameters.model_reading import read_model
from geolin_ros.stream.parameters.file import default_values

ACCESSES = 'open', 'socket.', 'os.listdir', 'os.scandir', 'subprocess.', 'urllib.', 'os.exec'
robot, *texts = json.loads(sys.stdin.read())
values = default_values() | {'base': 'fixed'}
read_model(robot, values, print)  # all imports and their files come before
accesses = []
sys.addaudithook(lambda event, _: event.startswith(ACCESSES) and accesses.append(event))
read = 0
for text in texts:
    try:
        read_model(text, values, lambda sentence: None)
        read += 1
    except GeolinError:
        pass
seen = list(accesses)
open('/dev/null').close()
assert accesses, 'the hook sees nothing'
print(json.dumps([read, seen]))
"""


def test_description_that_was_sent__opens_nothing():
    robot = robots.path('quadruped').read_text()
    run = subprocess.run(
        [sys.executable, '-c', PROGRAM],
        input=json.dumps([robot, *TEXTS, robot]),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    read, accesses = json.loads(run.stdout.splitlines()[-1])
    assert read == 6  # meshes, an include and a style sheet that nobody looks at, and the robot
    assert accesses == []


@pytest.mark.parametrize('name', [str(robots.path('quadruped')), 'robot.urdf.xacro', ''])
def test_name_of_a_file__is_no_description(name):
    with pytest.raises(UrdfError, match='not well-formed'):
        read_text(name)

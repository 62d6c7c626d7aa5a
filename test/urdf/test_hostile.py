# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile documents are refused fast; what comes from a network or a bag opens nothing."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from geolin_ros import robots
from geolin_ros.errors import ModelWarning, UrdfError
from geolin_ros.urdf import read, read_text
from geolin_ros.urdf.safe_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS

ROOT = Path(__file__).parents[2]
ROBOT = '<robot name="r"><link name="a"/>{}</robot>'
MESH = '<link name="b"><visual><geometry><mesh filename="{}"/></geometry></visual></link>'
WITH_DTD = {
    'billion laughs': '<!DOCTYPE robot [<!ENTITY e0 "ha">'
    + ''.join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    + ']><robot name="r"><link name="&e9;"/></robot>',
    'quadratic blowup': f'<!DOCTYPE robot [<!ENTITY e "{"x" * 100_000}">]>'
    + ROBOT.format('&e;' * 10_000),
    'external entity': '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<robot name="&x;"><link name="a"/></robot>',
    'parameter entity': '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>'
    + ROBOT.format(''),
    'external DTD': '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/robot.dtd">' + ROBOT.format(''),
    'plain doctype': '<!DOCTYPE robot>' + ROBOT.format(''),
}


@contextmanager
def in_time(seconds=10.0):
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


@pytest.mark.parametrize('case', WITH_DTD)
def test_dtd__is_refused(case):
    for source in (WITH_DTD[case], WITH_DTD[case].encode('utf-16')):
        with in_time(), pytest.raises(UrdfError, match=r'DTD or entity.*remove the <!DOCTYPE'):
            read(source)


def test_names__are_expanded_to_nothing():
    with pytest.warns(ModelWarning, match='undefined entity: line 1, .*: read as urdfdom'):
        assert read('<robot name="&x;"><link name="a"/></robot>').name == '&x;'
    for name in (str(robots.path('quadruped')), 'robot.urdf.xacro', ''):
        with pytest.raises(UrdfError, match='not well-formed'):
            read_text(name)


TOO_LARGE = {
    'text': (lambda: ROBOT.format(f'<!--{"x" * MAX_BYTES}-->'), f'bytes, .* most {MAX_BYTES}'),
    'depth': (lambda: '<robot name="r">' + '<link name="a">' * 200_000, f'than {MAX_DEPTH}'),
    'elements': (lambda: ROBOT.format('<a/>' * 4_000_000), f'more than {MAX_ELEMENTS} elements'),
    'links': (
        lambda: ROBOT.format(''.join(f'<link name="l{i}"/>' for i in range(10_000))),
        '10001 links, expected at most 10000',
    ),
    'number': (
        lambda: ROBOT.format(
            f'<link name="b"><inertial><mass value="{"1" * 15_000_000}"/></inertial></link>'
        ),
        r'15000\d{3} characters, expected at most',
    ),
}


@pytest.mark.parametrize('what', TOO_LARGE)
def test_size__is_bounded(what, tmp_path):
    make, says = TOO_LARGE[what]
    text, file = make(), tmp_path / 'big.urdf'
    file.write_text(text)
    for source in (text, text.encode(), file) if what == 'text' else (text,):
        with in_time(), pytest.raises(UrdfError, match=says):
            read(source)


@pytest.mark.parametrize('filler', ['<!--{}-->', '<a b="{}"/>', '{}'])
def test_bulk_within_the_bound__is_read_in_time(filler):
    with in_time():
        assert read(ROBOT.format(filler.format('x' * 19_000_000))).name == 'r'


def test_long_chain__needs_no_recursion():
    chain = ''.join(
        f'<link name="l{i}"/><joint name="j{i}" type="fixed"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/></joint>'
        for i in range(3_000)
    )
    assert len(read(f'<robot name="r">{chain}<link name="l3000"/></robot>').joints) == 3_000


SENT = [
    *(
        ROBOT.format(MESH.format(name)).replace('<link name="a"/>', '')
        for name in ('package://other/mesh.stl', 'file:///etc/passwd', 'http://127.0.0.1/a.dae')
    ),
    ROBOT.format('<xacro:include filename="/etc/passwd"/>'),
    '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude">'
    '<xi:include href="file:///etc/passwd"/><link name="a"/></robot>',
    '<?xml-stylesheet href="file:///etc/passwd"?>' + ROBOT.format(''),
    *WITH_DTD.values(),
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
        input=json.dumps([robot, *SENT, robot]),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    read, accesses = json.loads(run.stdout.splitlines()[-1])
    assert read == 6  # meshes, an include and a style sheet that nobody looks at, and the robot
    assert accesses == []

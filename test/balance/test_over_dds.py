# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and simulator as processes, and what `make balance` says of them."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.processes import Program
from support.robots import example_robot
from support.standing import standing_robot

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

from geolin_control.feedback_messages import gains_message
from geolin_demos.balance.baseline import Row, markdown
from geolin_demos.balance.cases import Moment
from geolin_demos.balance.robot import leads
from geolin_demos.balance.robots import simulator_of, standing_parameters
from geolin_demos.sim.world import text_of

from geolin_msgs import msg
from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import design
from geolin_ros.control.posture import standing_posture
from geolin_ros.ros.bringup import NODES, chain

pytestmark = pytest.mark.usefixtures('ros_domain')

LQR = {
    'name': '4 feet',
    'impulse': 0.06,
    'pushes': [1.0],
    'stands': True,
    'fallen': None,
    'peak_error': 0.03,
    'settling': 0.3,
    'latency': [0.001, 0.002],
    'periods': 8500,
    'missed': 0,
}
ROW = Row('quadruped, 0', LQR, LQR, (0.07, 0.08), *[(np.arange(3.0), np.arange(3.0))] * 2)
FALLEN = ROW._replace(lqr=LQR | {'stands': False, 'fallen': 1.7, 'missed': 3})


def balance(*arguments):
    command = [sys.executable, '-m', 'geolin_demos.balance', '--skip-largest']
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, timeout=500
    )


def test_quadruped__stands_on_the_odometry_of_the_state_estimator(tmp_path):
    """The processes of standing.launch.py, as `ros2 launch` starts them."""
    command = [sys.executable, '-m', 'geolin_demos.balance.robot', '--robot', 'quadruped']
    robot = simulator_of('quadruped')
    files = tmp_path / 'shared.yaml', *(tmp_path / f'{name}.yaml' for name in NODES)
    files[0].write_text(json.dumps(standing_parameters(robot, 'quadruped')))
    feet = ','.join(map(text_of, robot.feet.values()))
    nodes = []
    for node, file in zip(chain(feet, {}, {}, publish_efforts=True), files[1:], strict=True):
        file.write_text(json.dumps({'/**': {'ros__parameters': node.parameters}}))
        words = ['--ros-args', '-r', f'__node:={node.name}', '--params-file', files[0]]
        words += ['--params-file', file]
        for topic, name in node.remappings.items():
            words += ['-r', f'{topic}:={name}']
        executable = Path(sys.executable).parent / node.name
        with (tmp_path / f'{node.name}.txt').open('w') as log:
            nodes.append(Program([executable, *words], stdout=log, stderr=subprocess.STDOUT))
    options = {'capture_output': True, 'text': True, 'timeout': 400}
    words = '--estimated', '--cases=4 feet', '--pushes=1'
    found = subprocess.run([*command, *words], **options)
    for node in nodes:
        node.send_signal(signal.SIGINT)
    assert found.returncode == 0, found.stdout + found.stderr
    assert re.search(r'^PASS  4 feet, J 0.06 s: stands', found.stdout, re.MULTILINE)
    assert [node.wait(60) for node in nodes] == [0, 0, 0]
    said = (tmp_path / 'linearizer.txt').read_text()
    assert 'twist' not in said, said  # it is that of a filter, but right


@pytest.mark.parametrize(('source', 'is_led'), [('model', False), ('linearization', True)])
def test_robot__is_held_until_there_are_gains_of_the_linearizer(source, is_led):
    model, balls = standing_robot('quadruped')
    point = equilibrium(model, standing_posture(model, balls), balls)
    made = design(model, point), source, 1, 'odom', 0.1
    message = gains_message(lambda name: getattr(msg, name)(), model, *made)
    graph = SimpleNamespace(gains=message, efforts=point.tau)
    here = Moment(point.state, point.tau, point.supports, 0, 0.0)
    assert leads(graph, model)(here) == is_led
    assert not leads(SimpleNamespace(gains=message, efforts=point.tau + 1.0), model)(here)
    moved = point.state.retract(np.full(36, 0.01))
    assert not leads(graph, model)(here._replace(state=moved))


def test_table__says_what_stood_what_was_missed_and_what_is_infeasible():
    text = markdown([ROW, FALLEN], ['solo, 4 - 3 - 4 feet: no posture'])
    assert text.startswith('1 of 2 cases stand.\n\nJ: impulse over m g.')
    table, _, refused = text.strip().rpartition('\n\n')
    assert refused == '- infeasible: solo, 4 - 3 - 4 feet: no posture'
    head, _, first, second = (
        [cell.strip() for cell in line.split(' | ')] for line in table.splitlines()[-4:]
    )
    assert len(head) == len(first) == len(second) == 10
    at = head.index('missed')
    assert (first[head.index('LQR')], first[at]) == ('stands', '0 of 8500')
    assert (second[head.index('LQR')], second[at]) == ('falls 1.7 s', '3 of 8500')


def test_robot_that_can_do_nothing__is_told_why_and_fails(tmp_path):
    """On two balls nobody stands still; test_cases.py has robots that can do some cases."""
    table, bolt = tmp_path / 'table.md', example_robot('bolt')
    found = balance(f'--robot={bolt}', '--feet=FL_FOOT,FR_FOOT', f'--table={table}')
    assert found.returncode == 1
    for said in (found.stdout, table.read_text()):
        assert 'are points on a line, and no force of the ground catches a fall about it' in said

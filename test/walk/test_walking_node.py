# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""walking_node and linearizer as processes, a simulated robot that asks them over DDS."""

import json
import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip('mujoco')
pytest.importorskip('geolin_msgs.msg')

import rclpy
from geolin_demos.balance.robots import overlay
from geolin_demos.demo.__main__ import as_arguments, published
from geolin_demos.demo.processes import Child
from geolin_demos.sim.simulator import Simulator
from geolin_demos.sim.world import text_of
from geolin_demos.walk.course import Course, prepare, walk
from geolin_demos.walk.graph import WalkGraph
from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walker import contacts_of
from support.environment import PROGRAMS

from geolin_msgs.msg import ContactState
from geolin_msgs.srv import LinearizeAlong
from geolin_ros import Linearizer, TreeModel, robots
from geolin_ros.linearization.along import ARRAYS
from geolin_ros.stream.message_fields import read_matrix
from geolin_ros.stream.requests import read_trajectory, write_request

ROBOT = robots.path('quadruped')
MODEL = TreeModel.from_urdf(ROBOT, overlay=json.loads(overlay()))
FEET = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
PARAMETERS = {
    'linearizer': {'service.budget': 1.0, 'contact_source': 'topic', 'service.rate': 1000},
    'walking_node': {'dynamics': 'service', 'service_timeout': 1.0, 'command_timeout': 0.0},
}


class Stage:
    """The simulated robot, in this process."""

    def __init__(self):
        self.simulator = Simulator(ROBOT, MODEL, FEET)
        self.node = rclpy.create_node('simulator', start_parameter_services=False)
        self.graph = WalkGraph(self.node, self.simulator, published(ROBOT))
        self.killed = None
        self.client = self.node.create_client(LinearizeAlong, 'linearizer/linearize_along')

    def stand(self):
        """Put the robot on its feet again; return how to ask."""
        prepare(self.simulator)
        return self.graph.begin()

    def ask(self, request):
        """Return the linearizer's answer."""
        assert self.client.wait_for_service(30.0)
        answer = self.client.call_async(request)
        end = time.monotonic() + 30.0
        while not answer.done() and time.monotonic() < end:
            self.graph._executor.spin_once(timeout_sec=0.1)
        return answer.result()


@pytest.fixture
def stage(ros_domain, request):
    """Run nodes; parameters of the walking node may be others."""
    changes = getattr(request, 'param', {})
    supports = [text_of(foot) for foot in Simulator(ROBOT, MODEL, FEET).feet.values()]
    walker = PARAMETERS['walking_node'] | {'supports': supports} | changes
    given = PARAMETERS | {'walking_node': walker}
    if walker['dynamics'] == 'library':
        del given['linearizer']
    rclpy.init()
    children, found = [], None
    try:
        for name, parameters in given.items():
            arguments = as_arguments(parameters | {'overlay': overlay()})
            children.append(Child(name, PROGRAMS[name], arguments, {}))
        found = Stage()
        found.pids = {child.name: child.pid for child in children}
        yield found
    finally:
        for child in children:
            child.interrupt()
        statuses = {child.pid: child.finish() for child in children}
        if found is not None:
            found.graph.close()
            found.node.destroy_node()
        rclpy.shutdown()
    assert statuses == {pid: -9 if pid == found.killed else 0 for pid in statuses}


def test_robot__walks_on_plans_by_a_service_and_stops_while_it_does_not_answer(stage):
    course, ask = Course(), stage.stand()
    steps = walk(stage.simulator, ask, lambda _: Command(0.4), 60.0, course)
    answers = [next(steps) for _ in range(80)]
    assert np.abs(course.mean_velocity(0.8, 1.58) - [0.4, 0.0, 0.0]).max() < 0.05
    assert set(course.phases) == {Phase.WALK}
    os.kill(stage.pids['linearizer'], signal.SIGSTOP)
    try:
        next(step for step in steps if step.phase is Phase.STAND or course.fallen)
        assert course.fallen is None
        assert len(course.phases) < 80 + 100  # two seconds
        for _ in range(15):
            next(steps)
        assert set(course.phases[-15:]) == {Phase.STAND}
        assert np.abs(course.velocities[-1]).max() < 0.03
    finally:
        os.kill(stage.pids['linearizer'], signal.SIGCONT)
    end = time.monotonic() + 30.0
    next(step for step in steps if step.phase is Phase.WALK or time.monotonic() > end)
    for _ in range(40):
        next(steps)
    assert course.fallen is None
    assert course.velocities[-1][0] > 0.3

    plan = answers[-1].plan
    states, efforts = read_matrix(plan.states), read_matrix(plan.efforts)
    assert states.shape == (26, len(MODEL.neutral_state().data))
    assert efforts.shape == (25, 12)
    assert read_matrix(plan.wrenches).shape == (25, 12)
    flags = np.array(plan.in_force).reshape(25, 4)
    assert list(plan.feet) == FEET
    assert {tuple(row) for row in flags} >= {
        (True, False, False, True),
        (False, True, True, False),
    }
    assert {contact.frame for contact in plan.gains.contacts} == set(np.array(FEET)[flags[0]])

    # the same bytes as in the library
    contacts = contacts_of(stage.simulator.feet.values())
    in_force = [tuple(np.array(FEET)[row]) for row in flags]
    trajectory = states, efforts, np.array(plan.times), in_force
    request = LinearizeAlong.Request()
    write_request(request, ContactState, MODEL, contacts, trajectory)
    response = stage.ask(request)
    assert response.success, response.message
    by_service = read_trajectory(response.trajectory, contacts, in_force)
    in_process = Linearizer(MODEL, contacts).along(*trajectory[:3], contacts=in_force)
    assert by_service.first == in_process.first
    for name in ARRAYS:
        found, expected = getattr(by_service, name), getattr(in_process, name)
        assert found.shape == expected.shape
        assert found.tobytes() == expected.tobytes(), name

    # what is wrong is named, and the node lives on
    right, request.model_hash = request.model_hash, 'another'
    refused = stage.ask(request)
    assert not refused.success
    assert 'request is about model another, expected' in refused.message
    request.model_hash = right
    assert stage.ask(request).success

    # a robot that lies is damped; put on its feet, and the clock set back, it stands again
    ask, state = stage.stand(), stage.simulator.state
    state.H[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    state.r[:] = 1.0
    answer = ask(0.02, state, [False] * 4, Command(0.4))
    assert answer.phase is Phase.DAMPING
    limits = MODEL.limits.effort[MODEL.actuated]
    np.testing.assert_allclose(answer.law(0.0, state), -0.05 * limits, atol=1e-9)


@pytest.mark.parametrize('stage', [{'dynamics': 'library'}], indirect=True)
def test_robot__walks_without_a_linearizer_and_is_damped_when_the_walking_node_dies(
    stage, monkeypatch
):
    course, ask, powers = Course(), stage.stand(), []
    steps = walk(stage.simulator, ask, lambda _: Command(0.4), 60.0, course)
    last = next(step for step in steps if len(course.phases) == 80)
    assert np.abs(course.mean_velocity(0.8, 1.58) - [0.4, 0.0, 0.0]).max() < 0.05
    assert set(course.phases) == {Phase.WALK}
    stage.killed = stage.pids['walking_node']
    os.kill(stage.killed, signal.SIGKILL)
    monkeypatch.setattr('geolin_demos.walk.graph.PATIENCE', 2.0)
    for step in steps:
        state = stage.simulator.state
        if step.phase is Phase.DAMPING:
            powers.append(step.law(0.0, state) @ state.r)
    # its last law holds for 0.1 s; then efforts brake, until the run is over
    assert last.law.until == pytest.approx(0.1)
    assert course.phases[80:84] == [Phase.WALK] * 4
    assert set(course.phases[84:]) == {Phase.DAMPING}
    assert len(powers) > 40
    assert max(powers) < 0.0

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of clocks, services and processes that only a graph shows, one function each.

Each gets a `Stage` and returns the `Outcome` that the node has to report.
"""

import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter

from rosgraph_msgs.msg import Clock

from geolin_msgs.msg import ContactState
from geolin_msgs.srv import Linearize
from geolin_ros.stream.parameters.linearizer import BY_NAME
from geolin_ros.stream.topic_stream import Cause
from support.fault_stage import Outcome, nanoseconds
from support.messages import SECOND
from support.processes import Program

MILLISECOND = SECOND // 1000
DRILLS = {}


def drill(name):
    """Register a drill under what stands in the evidence."""
    return functools.partial(DRILLS.setdefault, name)


# ---- clocks


@drill('simulated time, set back twice')
def simulated_time(stage):
    """After a reset no odometry of the time before is used."""
    robot = stage.robot
    clock = robot.graph.node.create_publisher(Clock, '/clock', 10)
    drops = Counter()
    assert robot.set_parameters(use_sim_time=True) == (True, '')
    robot.wait_for(clock.get_subscription_count)

    def show(nanoseconds):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(nanoseconds, SECOND)
        clock.publish(message)

    for _ in range(2):
        stage.good()
        before, after = robot.time, robot.tick(-20_000)
        jumps = robot.process.log.count('clock jumped by')
        while robot.process.log.count('clock jumped by') == jumps:
            show(before)  # again and again: endpoints know of each other at different times
            show(after)
            stage.rest(0.1)
        stage.send(robot.make_joint_state(robot.tick()))
        drops[Cause.NO_ODOMETRY] += 1
        stage.good()
    assert robot.set_parameters(use_sim_time=False) == (True, '')
    robot.graph.node.destroy_publisher(clock)
    robot.tick(60_000)
    return Outcome(drops)


# ---- requests


def largest_request(robot):
    """Return a request of as many contacts as may be."""
    request = Linearize.Request()
    request.state.base_pose.orientation.w = 1.0
    request.state.joint_positions = request.state.joint_rates = [0.1] * robot.model.n
    links = robot.model.link_names[: BY_NAME['service.size'].default]
    request.contacts = [
        ContactState(frame=link, kind=ContactState.KIND_SURFACE, active=True) for link in links
    ]
    return request


@drill('the service flooded at its limits: 125 requests a second of 16 contacts')
def flooded_service(stage):
    """More than may be, each as large as may be, and the robot at 500 Hz is answered.

    As it is without them, but for the tenth of the time that requests may take and what refusals
    take, of both processes: on a busy machine neither keeps up with 500 Hz.
    """
    robot = stage.robot
    request = largest_request(robot)
    robot.linearize(request)  # loads what it needs
    stage.rest(1.0)
    futures = []

    def answered_at_500_hz(asks):
        before, due = len(robot.linearizations), time.monotonic()
        for k in range(1000):
            stamp = robot.tick(2)
            stage.send(robot.make_joint_state(stamp), robot.make_odometry(stamp))
            if asks and k % 4 == 0:
                futures.append(robot.linearize_later(request))
            due = max(due + 0.002, time.monotonic())
            robot.wait_for(lambda due=due: time.monotonic() >= due)
        stage.rest(0.5)
        return len(robot.linearizations) - before

    replies = Counter()
    for _ in range(5):  # on a busy machine few requests reach the node, too few to be refused
        alone, flooded = answered_at_500_hz(asks=False), answered_at_500_hz(asks=True)
        replies = Counter(
            'answered'
            if future.result().success
            else re.search(r'raise parameter (service\.\w+)', future.result().message)[1]
            for future in futures
            if future.done()  # the queue of a service holds ten: some never come
        )
        robot.forget_requests(futures)
        futures.clear()
        assert replies['answered'] > 0, replies
        if replies['service.budget']:
            break
    assert replies['service.budget'] > 0, replies
    assert flooded > 0.4 * alone, f'{flooded} answered, {alone} alone; requests: {replies}'
    return Outcome(lost=None, follows=(Cause.SKEW,))


# ---- processes


@contextlib.contextmanager
def deaf_consumer(topic, environment):
    """A reliable subscription in a stopped process: it acknowledges nothing."""
    code = (
        'import sys, rclpy; from geolin_msgs.msg import LinearizedDynamics\n'
        'rclpy.init(); node = rclpy.create_node("deaf")\n'
        'node.create_subscription(LinearizedDynamics, sys.argv[1], print, 1)\n'
        'print("ready", flush=True); sys.stdin.read()'
    )
    process = Program(
        [sys.executable, '-c', code, topic],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | environment,
    )
    try:
        assert process.stdout.readline() == b'ready\n'
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate()


@drill('a consumer that never reads, then is stopped')
def deaf(stage):
    robot = stage.robot
    topic = f'{robot.node_name}/linearization'
    with deaf_consumer(topic, robot.graph.environment) as process:
        robot.wait_for(lambda: robot.graph.node.count_subscribers(topic) == 2)
        for _ in range(100):
            stage.good()
        process.send_signal(signal.SIGSTOP)
        for _ in range(200):
            stage.good()
    return Outcome()


@drill('the node stopped for a second (SIGSTOP, SIGCONT)')
def stopped(stage):
    robot = stage.robot
    pid = robot.process.process.pid
    os.kill(pid, signal.SIGSTOP)
    for _ in range(500):
        stage.good(answer=False)
        robot.graph.executor.spin_once(timeout_sec=0.002)
    os.kill(pid, signal.SIGCONT)
    return Outcome(lost=None, follows=(Cause.SKEW,))


@drill('lifecycle transitions at 500 Hz')
def transitions(stage):
    """Nothing is published while inactive; afterwards the odometry of before is too old."""
    robot = stage.robot
    timer = robot.graph.node.create_timer(0.002, lambda: stage.good(answer=False))
    silences = []
    try:
        for _ in range(3):
            assert robot.change_state('deactivate')
            start = robot.time
            robot.wait_for(lambda: not robot.joint_states.get_subscription_count())
            robot.wait_for(lambda start=start: robot.time > start + 200 * MILLISECOND)
            silences.append((start, robot.time))
            assert robot.change_state('activate')
            robot.wait_for(lambda: robot.joint_states.get_subscription_count())
            heard = len(robot.linearizations)
            robot.wait_for(lambda heard=heard: len(robot.linearizations) > heard + 30)
    finally:
        robot.graph.node.destroy_timer(timer)
    for stamp in map(nanoseconds, robot.linearizations):
        assert not any(start < stamp <= end for start, end in silences)
    return Outcome(lost=None, follows=(Cause.SKEW, Cause.NO_ODOMETRY))

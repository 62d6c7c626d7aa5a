# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node as a process of its own, and the other side of its graph, over DDS.

Nothing here sleeps: `Graph.wait_for` spins until a condition holds or its deadline is over.
"""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from support.environment import PROGRAMS, ROOT, with_checkout
from support.messages import SECOND, fill, joint_state, odometry, random_quaternion
from support.nursery import nursery
from support.processes import Program

rclpy = pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from lifecycle_msgs.srv import ChangeState, GetState  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rcl_interfaces.srv import GetParameters, SetParametersAtomically  # noqa: E402
from rclpy.context import Context  # noqa: E402
from rclpy.event_handler import PublisherEventCallbacks  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import (  # noqa: E402
    DurabilityPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_sensor_data,
)
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from geolin_msgs.msg import (  # noqa: E402
    ForwardDynamics,
    LinearizationSummary,
    LinearizedDynamics,
)
from geolin_msgs.srv import Linearize  # noqa: E402
from geolin_ros import robots  # noqa: E402
from geolin_ros.ros.linearizer import TOPIC_NAMES  # noqa: E402

OUTPUTS = 'linearization', 'forward_dynamics', 'summary'
START = 120.0
"""Deadline [s] of a start: kernels may have to be compiled."""
PATIENCE = 60.0  # on a busy machine too
"""Deadline [s] of what happens at once, but for a machine that has much else to do."""
AGAIN = 10.0
"""Until a message that was not answered is sent again [s]."""
AT_ONCE = 1.0
"""Most that one look at a condition counts [s]."""
LATCHED = QoSProfile(
    depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
)
RELIABLE = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
_namespaces = itertools.count(1)


class Process:
    """A node's process.

    Parameters
    ----------
    folder
        Where its log and parameter file go.
    parameters
        Values by name; written into a parameter file, as ``ros2 launch`` does.
    namespace, arguments
        Of the node, and what else stands behind ``--ros-args``.
    module
        What is run, one of `PROGRAMS`; or the path of a program.
    wrapper
        Command that runs it, in a place of its own.
    environment
        Changes of ours; None removes a variable.
    forked
        Whether it may be forked off a process that has imported what it takes.
    """

    def __init__(
        self,
        folder,
        parameters=None,
        namespace='/',
        arguments=(),
        module='linearizer',
        wrapper=(),
        environment=None,
        forked=False,
    ):
        self.folder = Path(folder)
        self.log_file = self.folder / 'log.txt'
        parameter_file = self.folder / 'parameters.yaml'
        parameter_file.write_text(
            json.dumps({'/**': {'ros__parameters': parameters}}) if parameters else ''
        )
        variables = with_checkout() | {'ROS_LOG_DIR': str(self.folder)} | (environment or {})
        variables = {name: value for name, value in variables.items() if value is not None}
        words = (
            *('--ros-args', '-r', f'__ns:={namespace}'),
            *(('--params-file', str(parameter_file)) if parameters else ()),
            *arguments,
        )
        program = (module,) if module.endswith('.py') else ('-m', PROGRAMS[module])
        if forked and nursery().suits(variables):
            self.log_file.write_text('')
            self.process = nursery().start(module, words, variables, self.log_file)
            return
        with self.log_file.open('w') as log:
            self.process = Program(
                [*wrapper, sys.executable, *program, *words],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=variables,
                cwd=ROOT,
                lasts=True,
            )

    @property
    def log(self):
        """All that the process has printed so far."""
        return self.log_file.read_text()

    def check_runs(self):
        """Fail with the log if the process has ended."""
        status = self.process.poll()
        assert status is None, f'the node ended with status {status}:\n{self.log}'

    def wait(self, timeout=30.0):
        """Wait for the end of the process and return its exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # rclpy has faulthandler print what it does
            self.process.wait()
            pytest.fail(f'the node does not end within {timeout} s:\n{self.log}')

    def stop(self, number=signal.SIGINT, timeout=30.0):
        """Ask the process to end; it must do so with status 0 and say nothing of exceptions."""
        self.check_runs()
        self.process.send_signal(number)
        status = self.wait(timeout)
        assert status == 0, f'exit status {status}:\n{self.log}'
        assert 'Traceback' not in self.log, self.log
        assert 'Exception ignored' not in self.log, self.log

    def takes_signals(self):
        """Whether the program has taken SIGTERM over, which Python itself leaves alone."""
        status = Path(f'/proc/{self.process.pid}/status').read_text()
        (caught,) = (line.split()[1] for line in status.splitlines() if line[:7] == 'SigCgt:')
        return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)

    def interrupt_again_and_again(self, period=0.01, timeout=PATIENCE):
        """Send SIGINT and SIGTERM by turns until the process has ended; return its status."""
        deadline = time.monotonic() + timeout
        for number in itertools.cycle((signal.SIGINT, signal.SIGTERM)):
            if time.monotonic() > deadline:
                self.wait(period)
            self.process.send_signal(number)
            try:
                return self.process.wait(period)
            except subprocess.TimeoutExpired:
                period *= 1.02  # else a busy machine has no time for the end itself

    def shared_memory(self):
        """Return the names in /dev/shm that the process uses."""
        return shared_memory(self.process.pid)

    def end(self, timeout=30.0):
        """End the process if a test has left it running, by force if it does not do so itself."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self):
        """End the process by SIGKILL: shared memory that it writes to may stay locked."""
        self.process.kill()
        self.process.wait()


def shared_memory(pid):
    """Return the names in /dev/shm that a process uses for DDS, and those of their mutexes."""
    proc = Path(f'/proc/{pid}')
    used = [line.split()[-1] for line in (proc / 'maps').read_text().splitlines()]
    for descriptor in (proc / 'fd').iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since
            used.append(os.readlink(descriptor))
    of_dds = '/dev/shm/fastdds_', '/dev/shm/fastrtps_'  # the latter of Jazzy
    names = {Path(path).name for path in used if path.startswith(of_dds)}
    return names | {f'sem.{name}_mutex' for name in names}


def left_behind(names):
    """Return those in /dev/shm that no process uses; peers keep ports open to write to them."""
    left = names & set(os.listdir('/dev/shm'))
    for process in Path('/proc').glob('[0-9]*') if left else ():
        with contextlib.suppress(OSError):  # it has ended, or is of another user
            left -= shared_memory(process.name)
    return left


class Graph:
    """A context and a node of the test, apart from those of the process under test.

    Parameters
    ----------
    domain
        Other than the one that tests share; ``environment`` brings processes there.
    """

    def __init__(self, domain=None):
        self.environment = {} if domain is None else {'ROS_DOMAIN_ID': str(domain)}
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node(
            f'test_{os.getpid()}',
            context=self.context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        nursery()  # before tests change the environment

    def publisher(self, kind, topic, qos):
        """Return a publisher without rclpy's callbacks, which call what it has deprecated."""
        silent = PublisherEventCallbacks(use_default_callbacks=False)
        return self.node.create_publisher(kind, topic, qos, event_callbacks=silent)

    def wait_for(self, condition, timeout=PATIENCE, process=None, every=0.0):
        """Spin until ``condition()`` is true and return its value.

        A condition that spins itself, by another time limit, would starve subscriptions: rclpy
        then begins anew with the first that has a message. Time in which this process itself had
        to rest does not count. One that sends is looked at ``every`` so many seconds, or it would
        send as fast as answers come.
        """
        begin, left = time.monotonic(), timeout
        while not (value := condition()):
            if process is not None:
                process.check_runs()
            log = '' if process is None else f':\n{process.log}'
            assert left > 0.0, f'{condition.__qualname__}: not within {timeout} s{log}'
            self.executor.spin_once(timeout_sec=0.02)
            while (rest := begin + every - time.monotonic()) > 0.0:
                self.executor.spin_once(timeout_sec=rest)
            begin, before = time.monotonic(), begin
            left -= min(begin - before, AT_ONCE)
        return value

    def call(self, client, request, process=None, timeout=10.0, attempts=4):
        """Call a service; return the response and the client that got it.

        A server may know its client later than the client knows the server, and cannot answer a
        call in between: users ask again, each time as another client, and so does this.
        """
        for attempt in range(1, attempts + 1):
            self.wait_for(client.service_is_ready, START, process)
            future = client.call_async(request)
            try:
                self.wait_for(future.done, timeout, process)
                break
            except AssertionError:
                client.remove_pending_request(future)
                if attempt == attempts:
                    raise
                again = self.node.create_client(client.srv_type, client.srv_name)
                self.node.destroy_client(client)
                client = again
        return future.result(), client

    def listed(self, start):
        """Return the full names on the graph that begin so."""
        listed = self.node.get_node_names_and_namespaces()
        names = (f'{place.rstrip("/")}/{name}' for name, place in listed)
        return [name for name in names if name.startswith(start)]

    def close(self):
        """Leave the graph."""
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()


class Client:
    """What a robot and a user are to one node: publishers, collectors, service calls.

    The stamps that it makes are those of a clock of its own, so that nothing depends on how fast
    the test runs.

    Parameters
    ----------
    graph
        Where it lives.
    folder
        Of the node's log.
    model
        The robot whose joints are published.
    inputs
        Quality of service of what it publishes.
    module
        What is started, a name of `environment.PROGRAMS`.
    """

    def __init__(self, graph, folder, model, inputs=qos_profile_sensor_data, module='linearizer'):
        self.graph, self.model, self.folder = graph, model, folder
        self.namespace = f'/robot{os.getpid()}_{next(_namespaces)}'
        self.node_name = f'{self.namespace}/{module}'
        self.process, self.module = None, module
        self.environment = graph.environment
        self.time = 1000 * SECOND
        self.rng = np.random.default_rng(0)
        node = graph.node
        self.joint_states = graph.publisher(JointState, self.topic('joint_states'), inputs)
        self.efforts = graph.publisher(JointState, self.topic('joint_efforts'), inputs)
        self.odom = graph.publisher(Odometry, self.topic('odom'), inputs)
        self.description = None
        self.linearizations, self.forward_dynamics, self.summaries = [], [], []
        self.diagnostics, self.reported_at = [], 0
        self._known_drops = Counter()
        self.asked_again = 0
        for kind, name, received in zip(
            (LinearizedDynamics, ForwardDynamics, LinearizationSummary),
            OUTPUTS,
            (self.linearizations, self.forward_dynamics, self.summaries),
            strict=True,
        ):
            topic = f'{self.node_name}/{name}'
            node.create_subscription(kind, topic, received.append, RELIABLE)
        # early, so that the node knows of them before the first call
        self._services = {
            kind: node.create_client(kind, f'{self.node_name}/{name}')
            for kind, name in (
                (Linearize, 'linearize'),
                (SetParametersAtomically, 'set_parameters_atomically'),
                (GetParameters, 'get_parameters'),
                (ChangeState, 'change_state'),
                (GetState, 'get_state'),
            )
        }
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, RELIABLE)

    def topic(self, name):
        """Return a topic of the robot."""
        return f'{self.namespace}/{name}'

    # ---- the process

    def start(self, *arguments, **parameters):
        """Start the node; dots in parameter names are written as two underscores."""
        self.process = Process(
            self.folder,
            {name.replace('__', '.'): value for name, value in parameters.items()},
            self.namespace,
            arguments,
            self.module,
            environment=self.environment,
            forked=True,
        )
        return self.process

    def serve(self, **parameters):
        """Start a node of the robot, of its bundled file by default; wait until it answers."""
        if self.description is None and 'robot_description_file' not in parameters:
            parameters['robot_description_file'] = str(robots.path(self.model.name))
        self.start(**parameters)
        self.wait_until_active()
        self.wait_until_serving()
        self.shake_hands()

    def wait_for(self, condition, timeout=PATIENCE):
        """As `Graph.wait_for`; fails at once if the node ends."""
        return self.graph.wait_for(condition, timeout, self.process)

    def wait_until_active(self):
        """Wait until inputs and outputs are connected."""
        subscriptions = [
            s for s in self.graph.node.subscriptions if s.topic_name.startswith(self.node_name)
        ]
        assert len(subscriptions) >= len(OUTPUTS)

        def connected():
            inputs = (self.joint_states, self.odom, self.efforts)
            return all(p.get_subscription_count() for p in inputs) and all(
                s.get_publisher_count() for s in subscriptions
            )

        self.wait_for(connected, START)

    def wait_until_matched(self):
        """Wait until the node knows our ends of inputs and outputs, as we know its."""
        self.wait_until_active()
        topics = [f'publishers of {self.topic(name)}' for name in ('joint_states', 'odom')]
        topics += [f'subscribers of {self.node_name}/{name}' for name in OUTPUTS]

        def matched():
            values = self.next_diagnostics()[2]
            return all(int(values.get(topic, 0)) for topic in topics)

        self.wait_for(matched)

    def shake_hands(self):
        """Send until an answer comes: endpoints know of each other at different times."""

        def all_heard():
            stamp = self.tick(100)
            self.send(self.make_joint_state(stamp), self.make_odometry(stamp))
            return self.linearizations and self.forward_dynamics and self.summaries

        self.wait_for(all_heard)
        self.ask()

    def wait_until_serving(self, robot=None):
        """Wait until the node serves ``robot`` (by default the client's)."""
        name = robot or self.model.name
        self.wait_for(lambda: f'serve {name}:' in self.process.log, START)

    # ---- inputs

    def tick(self, milliseconds=10):
        """Return the next stamp [ns]."""
        self.time += milliseconds * 1_000_000
        return self.time

    def make_odometry(self, stamp, **options):
        """Return a random odometry about the base link, or as the options say."""
        options = {
            'place': self.rng.normal(size=3),
            'turn': random_quaternion(self.rng),
            'twist_values': self.rng.normal(size=6),
            'child_frame_id': self.model.base_link,
            **options,
        }
        return fill(Odometry(), odometry(stamp, **options))

    def make_joint_state(self, stamp, names=None, **changes):
        """Return a random joint state; changes replace whole fields."""
        names = list(names or self.model.joint_names)
        s, r, tau = self.rng.uniform(-1.0, 1.0, (3, len(names)))
        message = fill(JointState(), joint_state(stamp, names, s, r, tau))
        for field, value in changes.items():
            setattr(message, field, value)
        return message

    def describe(self, text, qos=LATCHED):
        """Publish a robot description that stays for those who come later."""
        if self.description is None:
            self.description = self.graph.publisher(String, self.topic('robot_description'), qos)
        self.description.publish(String(data=text))

    def send(self, joints=None, base=None):
        """Publish odometry, then a joint state."""
        if base is not None:
            self.odom.publish(base)
        if joints is not None:
            self.joint_states.publish(joints)

    def ask(self, joints=None, base=None, timeout=PATIENCE):
        """Publish a joint state with odometry of the same stamp; return the linearization."""
        stamp = self.tick()
        joints = joints or self.make_joint_state(stamp)
        return self.send_until_answered(joints, base or self.make_odometry(stamp), timeout)

    def send_until_answered(self, joints, base=None, timeout=PATIENCE):
        """Publish, and return the linearization with the stamp of the joint state.

        Again after a while: shared memory loses messages best effort of and to a process that had
        to rest for more than a second.
        """
        due = 0.0

        def answered():
            nonlocal due
            if time.monotonic() > due:
                due = time.monotonic() + AGAIN
                self.send(joints, base)
            return self.answer_to(joints)

        return self.wait_for(answered, timeout)

    def answer_to(self, joints):
        """Return the linearization with the stamp of a joint state, or None."""
        for message in reversed(self.linearizations):
            if message.header.stamp == joints.header.stamp:
                return message
        return None

    def answer_soon(self, joints, timeout=0.3):
        """Return the linearization with the stamp of a joint state, or None if none comes."""
        deadline = time.monotonic() + timeout
        while (answer := self.answer_to(joints)) is None and time.monotonic() < deadline:
            self.graph.executor.spin_once(timeout_sec=0.01)
        return answer

    # ---- what the node says of itself

    def _on_diagnostics(self, message, info):
        for status in message.status:
            if status.name == self.node_name:
                values = {item.key: item.value for item in status.values}
                self.diagnostics.append((status.level, status.message, values))
                self.reported_at = info['source_timestamp']

    def next_diagnostics(self):
        """Wait for a report that is sent from now on; return level, message and values.

        Earlier ones may still wait here to be read.
        """
        now = time.time_ns()
        return self.wait_for(lambda: self.reported_at > now and self.diagnostics[-1])

    def new_drops(self):
        """Return the drops by cause since the last call.

        From the next report, or from the one after it: one without news may have been on its way
        when the messages were sent.
        """
        before = self._known_drops
        for _ in range(2):
            self._known_drops = drops_of(self.next_diagnostics()[2])
            if self._known_drops != before:
                break
        return self._known_drops - before

    # ---- services

    def call(self, kind, request, **patience):
        """Call a service of the node and return the response; see `Graph.call`."""
        asked = self._services[kind]
        response, self._services[kind] = self.graph.call(asked, request, self.process, **patience)
        self.asked_again += self._services[kind] is not asked
        return response

    def linearize(self, request):
        """Call ~/linearize, again if what was asked before, cold perhaps, took too long."""
        while 'service.budget' in (response := self.call(Linearize, request)).message:
            end = time.monotonic() + 0.2
            self.wait_for(lambda end=end: time.monotonic() > end)
        return response

    def linearize_later(self, request):
        """Call ~/linearize, once, and return the future of its response."""
        return self._services[Linearize].call_async(request)

    def forget_requests(self, futures):
        """Wait no longer for responses to `linearize_later`."""
        for future in futures:
            self._services[Linearize].remove_pending_request(future)

    def set_parameters(self, **values):
        """Set parameters together; return success and reason."""
        result = self.call(SetParametersAtomically, parameter_request(values)).result
        return result.successful, result.reason

    def get_parameters(self, *names):
        """Return values of parameters, as they read back."""
        return self.call(GetParameters, GetParameters.Request(names=names)).values

    def change_state(self, label, timeout=START):
        """Ask for a lifecycle transition; return whether it succeeded."""
        request = ChangeState.Request()
        request.transition.label = label
        try:
            return self.call(ChangeState, request, timeout=timeout, attempts=1).success
        except AssertionError:
            if self.state() == STATE_AFTER[label]:  # done, but the answer was lost
                return True
            raise

    def state(self):
        """Return the label of the lifecycle state."""
        return self.call(GetState, GetState.Request()).current_state.label

    def close(self):
        """Stop the node if it runs."""
        if self.process is not None and self.process.process.poll() is None:
            self.process.stop()


def drops_of(values):
    """Return the drops by cause in the values of a report."""
    prefix = 'dropped: '
    drops = {key.removeprefix(prefix): n for key, n in values.items() if key.startswith(prefix)}
    return Counter({cause: int(count) for cause, count in drops.items()})


def set_and_wait(client, values, timeout=START):
    """Set parameters of a node and wait until it serves with them."""
    served = client.process.log.count(f'serve {client.model.name}')
    assert client.set_parameters(**values) == (True, '')
    client.wait_for(
        lambda: client.process.log.count(f'serve {client.model.name}') > served, timeout
    )
    if TOPIC_NAMES & set(values):  # it has subscribed anew
        client.wait_until_matched()


def parameter_request(values):
    """Return the request that sets parameters together; two underscores stand for a dot."""
    return SetParametersAtomically.Request(
        parameters=[
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()
        ]
    )


STATE_AFTER = {
    'configure': 'inactive',
    'activate': 'active',
    'deactivate': 'inactive',
    'cleanup': 'unconfigured',
    'shutdown': 'finalized',
}

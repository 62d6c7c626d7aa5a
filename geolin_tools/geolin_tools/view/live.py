# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot on the graph: its joint states, and what the linearizer publishes about it."""

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_msgs.msg import LinearizationSummary, LinearizedDynamics, WalkingPlan
from geolin_ros.dynamics.kinematics import Kinematics, Points
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.ros.running import init
from geolin_ros.ros.topics import LATCHED
from geolin_ros.stream.contacts import read_contact
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.message_fields import read_matrix, read_pose
from geolin_ros.stream.outputs.markers import contact_forces, external_forces
from geolin_ros.stream.outputs.reading import read_linearization
from geolin_ros.stream.requests import read_wrench
from geolin_ros.stream.topic_stream import Cause, DroppedInput, nanoseconds
from geolin_ros.typing import Array
from geolin_tools.view.source import Health, Instant, Source, feet_finder

LATEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PERIODS = {'linearization': 0.1, 'summary': 0.1, 'diagnostics': 0.2}
"""Least time from one message of a topic to the next [s]; of others there is none."""
STEP = 0.01  # from one look to the next while it waits [s]
NICE = 5  # added to the niceness of a process that watches: the node comes first
WORD = 3.0  # from one sentence about what is waited for to the next [s]
DIRECTIONS = {'forward': (1.0, 0.0), 'back': (-1.0, 0.0), 'left': (0.0, 1.0), 'right': (0.0, -1.0)}
PLAN_TIME = 1_000_000_000  # after this long a plan is no longer drawn [ns]
PUSH_TIME = 0.1  # how long a push lasts [s]


class Watcher:
    """Keeps the newest message of each topic of a running node, and sends pushes.

    It subscribes with a depth of 1 and takes messages when it is asked to: what came between is
    overwritten in the middleware, and costs neither it nor the node what reading it would. It
    takes them from the subscriptions: an executor would wake up for each. The linearizer is
    named in full, remaps are ``from:=to``.

    ``newest`` holds messages by what they are: linearization, summary, diagnostics, joint_states,
    odom, plan, robot_description; ``counts`` how many of each were taken.
    """

    def __init__(self, node: str, remaps: Sequence[str] = ()) -> None:
        self.newest: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
        arguments = [text for remap in remaps for text in ('-r', remap)]
        init(['--ros-args', *arguments] if arguments else [])
        self._node: Node = rclpy.create_node(
            'geolin_view', enable_rosout=False, start_parameter_services=False
        )
        topics: tuple[tuple[str, Any, str, QoSProfile], ...] = (
            ('robot_description', String, 'robot_description', LATCHED),
            ('linearization', LinearizedDynamics, f'{node}/linearization', LATEST),
            ('summary', LinearizationSummary, f'{node}/summary', LATEST),
            ('diagnostics', DiagnosticArray, '/diagnostics', QoSProfile(depth=10)),
            ('joint_states', JointState, 'joint_states', LATEST),
            ('odom', Odometry, 'odom', LATEST),
            ('plan', WalkingPlan, 'walking_node/plan', LATEST),
        )
        # messages are taken: no executor calls back
        self._subscriptions = {
            name: self._node.create_subscription(kind, topic, lambda message: None, profile)
            for name, kind, topic, profile in topics
        }
        self._full_name, self._due = node, dict.fromkeys(self._subscriptions, 0.0)
        self._push = self._node.create_publisher(WrenchStamped, 'push', 10)

    def poll(self) -> bool:
        """Take what has come of each topic that is due; return whether anything has."""
        now, before = time.monotonic(), self.counts.total()
        for name, subscription in self._subscriptions.items():
            if now < self._due[name]:
                continue
            while (message := _take(subscription)) is not None:
                if name != 'diagnostics' or self._is_of_node(message):
                    self.newest[name] = message
                    self.counts[name] += 1
                    self._due[name] = now + PERIODS.get(name, 0.0)
                    break
        return self.counts.total() > before

    def _is_of_node(self, message: DiagnosticArray) -> bool:
        return any(f'/{status.name.lstrip("/")}' == self._full_name for status in message.status)

    @property
    def has_listeners(self) -> bool:
        """Whether somebody takes pushes."""
        return bool(self._push.get_subscription_count())

    def push(self, frame: str, force: Sequence[float]) -> None:
        """Ask for a push by a force (3,) in axes of the world frame [N]."""
        message = WrenchStamped()
        message.header.frame_id = frame
        message.header.stamp = self._node.get_clock().now().to_msg()
        place = message.wrench.force
        place.x, place.y, place.z = (float(value) for value in force)
        self._push.publish(message)

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_node()
        rclpy.try_shutdown()


def _take(subscription: Any) -> Any:
    """Return a message that has come, or None."""
    with subscription.handle:  # it stays until the message is taken
        taken = subscription.handle.take_message(subscription.msg_type, False)
    return None if taken is None else taken[0]


class Live(Source):
    """What is newest on the graph; when the node takes another robot, that one.

    ``urdf`` and ``overlay`` are those of `wait_for`.
    """

    def __init__(
        self,
        watcher: Watcher,
        model: TreeModel,
        description: str | Path,
        urdf: Path | None = None,
        overlay: Path | None = None,
    ) -> None:
        self._watcher, self._urdf, self._overlay = watcher, urdf, overlay
        self._counts: dict[str, int] = {}
        self._pushing: Any = None
        self._hash = ''
        self._adopt(model, description)

    def _adopt(self, model: TreeModel, description: str | Path) -> None:
        self.model, self.description = model, description
        self._joints = JointInput(model)
        self._supports = feet_finder(model, description)
        self._instant = Instant(0.0, model.neutral_state())
        self._world = ''
        self._paths: tuple[Array, ...] = ()
        self._planned = 0

    @classmethod
    def wait_for(
        cls,
        watcher: Watcher,
        urdf: Path | None,
        overlay: Path | None,
        say: Callable[[str], object],
        is_over: Callable[[], bool] = lambda: False,
    ) -> 'Live | None':
        """Return the robot as soon as its description and a linearization have come.

        ``urdf`` is a description instead of the topic's, ``overlay`` what the node reads beside
        it. ``say`` is called every few seconds with what is waited for; ``is_over`` ends the wait:
        None is returned.
        """
        word = time.monotonic() + WORD
        while not is_over():
            if not watcher.poll():
                time.sleep(STEP)
            description, message = _description(watcher, urdf), watcher.newest.get('linearization')
            if description is not None and message is not None:
                model = _model_of(message, description, overlay)
                found = cls(watcher, model, description, urdf, overlay)
                found._hash = message.model_hash
                return found
            if time.monotonic() > word:
                missing = ['robot_description'] if description is None else []
                missing += ['the linearizer'] if message is None else []
                say(f'waits for {" and ".join(missing)}')
                word = time.monotonic() + WORD
        return None

    def _is_known(self, message: Any) -> bool:
        """Return whether a linearization is about our robot, which may be replaced by its own."""
        if message.model_hash == self._hash:
            return True
        description = _description(self._watcher, self._urdf)
        if self._hash and description is not None:
            try:
                self._adopt(_model_of(message, description, self._overlay), description)
            except GeolinError:  # its description is still to come
                return False
        self._hash = message.model_hash
        return True

    def add_controls(self, gui: Any) -> None:
        """Add the buttons that push."""
        with gui.add_folder('push'):
            size = gui.add_slider(
                'impulse [m g s]', min=0.0, max=0.15, step=0.005, initial_value=0.04
            )
            buttons = gui.add_button_group('push', tuple(DIRECTIONS))
            self._pushing = gui.add_markdown('')
        buttons.on_click(lambda event: self.push(event.target.value, size.value))

    def push(self, direction: str, impulse: float) -> None:
        """Ask the simulator for a push of an impulse [m g s] in a direction of the base."""
        force = impulse * self.model.total_mass * 9.81 / PUSH_TIME
        axis = self._instant.state.H[:2, 0]
        x, y = axis / max(float(np.linalg.norm(axis)), 1e-9)
        along, left = DIRECTIONS[direction]
        across = force * (along * x - left * y), force * (along * y + left * x)
        self._watcher.push(self._world, (*across, 0.0))
        if self._watcher.has_listeners:
            self._pushing.content = f'{force:.0f} N for {PUSH_TIME:g} s, {direction}'
        else:
            self._pushing.content = 'nobody takes pushes: they are for `make balance`'

    def newest(self) -> Instant | None:
        """Return the newest state, with the newest A and B."""
        self._watcher.poll()
        counts, newest = dict(self._watcher.counts), self._watcher.newest
        fresh = {name for name, count in counts.items() if count != self._counts.get(name)}
        self._counts = counts
        if 'plan' in fresh:  # which may come alone
            self._take_plan(newest['plan'])
        if not fresh & {'linearization', 'joint_states', 'odom'}:
            return None
        message, joints = newest['linearization'], newest.get('joint_states')
        if not self._is_known(message):
            return None
        if 'linearization' in fresh:
            self._instant = self._linearized(message)
        stamp = nanoseconds(message.header.stamp)
        state = self._instant.state
        if joints is not None and nanoseconds(joints.header.stamp) > stamp:
            stamp = nanoseconds(joints.header.stamp)
            if 'joint_states' in fresh:
                self._move(state, joints, newest.get('odom'))
        paths = self._paths if abs(stamp - self._planned) < PLAN_TIME else ()
        return self._instant._replace(time=stamp * 1e-9, state=state.copy(), paths=paths)

    def _linearized(self, message: Any) -> Instant:
        received = read_linearization(message)
        at = Kinematics(self.model, received.state)
        self._world = received.world_frame
        dynamics = message.contact_dynamics
        contacts = tuple(read_contact(self.model, contact) for contact in dynamics.contacts)
        wrenches = map(read_wrench, message.external_wrenches)
        forces = contact_forces(at, contacts, np.array(dynamics.wrenches))
        return Instant(
            0.0,
            received.state,
            received.A,
            received.B,
            received.dt,
            forces + external_forces(at, wrenches),
            self._supports(contacts),
        )

    def _move(self, state: State, joints: Any, odometry: Any) -> None:
        """Take joint states and odometry that are newer than the linearization."""
        positions = state.s.copy()
        with contextlib.suppress(DroppedInput):  # of other joints, or a part of them
            self._joints.read(joints, 'position', positions, Cause.LENGTH)
            state.s[:] = positions
            if odometry is not None and self.model.base == 'floating':
                with contextlib.suppress(GeolinError):
                    state.H[:] = read_pose(odometry.pose.pose)

    def _take_plan(self, message: Any) -> None:
        """Take the paths of base and feet of a robot that walks, of one that has fallen none."""
        self._planned, self._paths = nanoseconds(message.header.stamp), ()
        if message.gains.model_hash == self.model.hash and message.phase != message.PHASE_DAMPING:
            states = read_matrix(message.states)
            frames = [self.model.frame(name) for name in message.feet]
            feet = Points(self.model, frames)(states).p.swapaxes(0, 1)
            self._paths = (states[:, [3, 7, 11]], *feet)

    def health(self) -> Health | None:
        """Return what summary and diagnostics say."""
        newest = self._watcher.newest
        summary, diagnostics = newest.get('summary'), newest.get('diagnostics')
        if summary is None:
            return None
        values = {}
        if diagnostics is not None:
            status = diagnostics.status[0]
            values = {'node': status.message} | {one.key: one.value for one in status.values}
        stamp = nanoseconds(summary.header.stamp) * 1e-9
        return Health(stamp, summary.latency, summary.dropped, values)

    def close(self) -> None:
        """Leave the graph."""
        self._watcher.close()


def _description(watcher: Watcher, urdf: Path | None) -> str | Path | None:
    """Return the given file, else the text that came on the topic, None if none has."""
    described = watcher.newest.get('robot_description')
    return urdf or (described and described.data)


def _model_of(message: Any, description: str | Path, overlay: Path | None) -> TreeModel:
    """Return the robot of a geolin_msgs/LinearizedDynamics, read as its publisher reads it.

    Raises `ConfigurationError` if the description has other joints than the message.
    """
    g = message.gravity
    options: dict[str, Any] = {
        'base': 'floating' if message.floating_base else 'fixed',
        'gravity': (g.x, g.y, g.z),
        'mimic': 'exact' if message.dependent_joints else 'independent',
        'overlay': overlay,
        'locked_joints': {joint.name: joint.position for joint in message.locked_joints},
    }
    read = TreeModel.from_file if isinstance(description, Path) else TreeModel.from_urdf
    model = read(description, **options)
    names = tuple(message.joint_names)
    if model.joint_names != names:
        model = read(description, **options, joints=names)
    if model.joint_names != names:
        raise ConfigurationError(
            f'the linearizer has joints {", ".join(names)}, its description '
            f'{", ".join(model.joint_names)}; give the right one by --urdf'
        )
    return model

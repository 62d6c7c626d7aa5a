# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the consumer received, as plain numbers.

Messages are anything with the fields of their ROS type.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolin_demos.demo.referee import Coordinates
from geolin_ros.model.state import State
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.message_memory import read_matrix
from geolin_ros.typing import Array, IntArray

KEPT = 24
"""Linearizations that are kept with A and B, spread over the measured time."""


@dataclass(frozen=True)
class Operation:
    """One linearization message, unpacked."""

    stamp: int
    state: State
    tau: Array
    A: Array
    B: Array
    nu_dot: Array

    @classmethod
    def from_message(cls, message: Any) -> 'Operation':
        """Unpack a geolin_msgs/LinearizedDynamics in continuous form."""
        pose, twist = message.state.base_pose, message.state.base_twist
        H = np.eye(4)
        H[:3, :3] = rotation(pose.orientation)
        H[:3, 3] = _vector(pose.position)
        state = State(
            H,
            message.state.joint_positions,
            np.concatenate((_vector(twist.linear), _vector(twist.angular))),
            message.state.joint_rates,
        )
        return cls(
            nanoseconds(message.header.stamp),
            state,
            np.array(message.joint_efforts),
            read_matrix(message.a),
            read_matrix(message.b),
            np.array(message.nu_dot),
        )


class Recording:
    """Collects messages; the measured time starts with the first linearization.

    Parameters
    ----------
    duration
        Measured time [s].
    now
        System clock [ns], the one of the stamps.
    """

    def __init__(self, duration: float, now: Callable[[], int] = time.time_ns) -> None:
        self.duration = duration
        self._now = now
        self._received: dict[str, int] = {}
        self.description: str | None = None
        self.joint_names: list[str] = []
        self.start: int | None = None
        self._base: dict[int, tuple[Array, Array]] = {}
        self._rates: dict[int, Array] = {}
        self._answers: dict[int, tuple[int, int, Array]] = {}
        self.kept: list[Any] = []
        self.delays: list[float] = []
        self.latencies: list[float] = []
        self.node_counts = 0, 0, 0

    # ---- messages in

    def on_description(self, message: Any) -> None:
        """Take a std_msgs/String."""
        self._count('robot_description')
        self.description = message.data

    def on_odometry(self, message: Any) -> None:
        """Take a nav_msgs/Odometry."""
        self._count('odom')
        if not self.is_over:
            twist = message.twist.twist
            v = np.concatenate((_vector(twist.linear), _vector(twist.angular)))
            turn = message.pose.pose.orientation
            self._base[nanoseconds(message.header.stamp)] = v, rotation(turn) @ v[:3]

    def on_joint_state(self, message: Any) -> None:
        """Take a sensor_msgs/JointState."""
        self._count('joint_states')
        if not self.is_over:
            self.joint_names = message.name
            self._rates[nanoseconds(message.header.stamp)] = np.array(message.velocity)

    def on_linearization(self, message: Any) -> None:
        """Take a geolin_msgs/LinearizedDynamics."""
        arrival = self._now()
        self._count('linearization')
        if self.start is None:
            self.start = arrival
        stamp = nanoseconds(message.header.stamp)
        self._answers[stamp] = (
            arrival,
            nanoseconds(message.odometry_stamp),
            np.array(message.nu_dot),
        )
        self.delays.append((arrival - stamp) * 1e-9)
        due = (arrival - self.start) * 1e-9 >= len(self.kept) * self.duration / KEPT
        if due and len(self.kept) < KEPT:
            self.kept.append(message)

    def on_summary(self, message: Any) -> None:
        """Take a geolin_msgs/LinearizationSummary."""
        self._count('summary')
        self.node_counts = message.received, message.published, message.dropped
        self.latencies.append(message.latency)

    def _count(self, topic: str) -> None:
        self._received[topic] = self.received(topic) + 1

    def received(self, topic: str) -> int:
        """Return how many messages came on a topic."""
        return self._received.get(topic, 0)

    @property
    def is_over(self) -> bool:
        """Whether the measured time has passed; linearizations are still taken then."""
        return self.start is not None and (self._now() - self.start) * 1e-9 > self.duration

    # ---- numbers out

    @property
    def coordinates(self) -> Coordinates:
        """Names and order of the linearizations."""
        message = self.kept[0]
        return Coordinates(
            tuple(message.joint_names),
            message.base_frame,
            _vector(message.gravity),
            6 if message.floating_base else 0,
        )

    def operations(self, count: int) -> list[Operation]:
        """Return ``count`` of the kept linearizations, spread out."""
        chosen = np.unique(np.linspace(0, len(self.kept) - 1, count).round().astype(int))
        return [Operation.from_message(self.kept[k]) for k in chosen]

    @property
    def joint_state_stamps(self) -> IntArray:
        """(N,) of all joint states [ns], in order."""
        return np.array(sorted(self._rates), dtype=np.int64)

    @property
    def answered_stamps(self) -> IntArray:
        """(K,) of the linearizations [ns] up to the last joint state, in order."""
        last = max(self._rates, default=0)
        return np.array(sorted(t for t in self._answers if t <= last), dtype=np.int64)

    def motion(self) -> tuple[IntArray, Array, Array]:
        """Return where odometry and joint states meet: stamps (N,) [ns], nu (N, m), and more.

        The third is the base velocity in world axes (N, 3). Joints are in the order of the
        linearizations. Of a fixed base no odometry is expected.
        """
        m, floats = self.coordinates.m, self.coordinates.base > 0
        base = self._base if floats else dict.fromkeys(self._rates, (np.zeros(0), np.zeros(3)))
        stamps = sorted(base.keys() & self._rates.keys())
        names = self.coordinates.joint_names if stamps else ()
        order = [self.joint_names.index(name) for name in names]
        nu = [np.concatenate((base[t][0], self._rates[t][order])) for t in stamps]
        world = [base[t][1] for t in stamps]
        return (
            np.array(stamps, dtype=np.int64),
            np.array(nu).reshape(-1, m),
            np.array(world).reshape(-1, 3),
        )

    def accelerations(self) -> tuple[IntArray, Array, int]:
        """Return stamps (K,) [ns] and nu_dot (K, m), and how many more were left out.

        Left out are those about an odometry of another stamp than the joint state's.
        """
        stamps = self.answered_stamps.tolist()
        floats = self.coordinates.base > 0
        exact = [t for t in stamps if self._answers[t][1] == t or not floats]
        nu_dot = np.array([self._answers[t][2] for t in exact])
        return (
            np.array(exact, dtype=np.int64),
            nu_dot.reshape(-1, self.coordinates.m),
            len(stamps) - len(exact),
        )


def rotation(quaternion: Any) -> Array:
    """Return R (3, 3) = 1 + 2 w q^ + 2 q^ q^ of a geometry_msgs/Quaternion of unit length."""
    x, y, z, w = quaternion.x, quaternion.y, quaternion.z, quaternion.w
    q = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R: Array = np.eye(3) + 2.0 * w * q + 2.0 * q @ q
    return R


def _vector(message: Any) -> Array:
    return np.array([message.x, message.y, message.z])

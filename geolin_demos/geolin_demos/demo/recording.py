# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the consumer received, as plain numbers.

Messages are anything with the fields of their ROS type.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.stream.geometry import read_pose, twist_numbers
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.outputs.reading import ReceivedLinearization, read_linearization
from geolin_ros.typing import Array, IntArray

KEPT = 24
"""Linearizations that are kept with A and B, spread over the measured time."""


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
        self._received: Counter[str] = Counter()
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
        self._received['robot_description'] += 1
        self.description = message.data

    def on_odometry(self, message: Any) -> None:
        """Take a nav_msgs/Odometry."""
        self._received['odom'] += 1
        if not self.is_over:
            v = np.array(twist_numbers(message.twist.twist))
            H = read_pose(message.pose.pose)
            self._base[nanoseconds(message.header.stamp)] = v, H[:3, :3] @ v[:3]

    def on_joint_state(self, message: Any) -> None:
        """Take a sensor_msgs/JointState."""
        self._received['joint_states'] += 1
        if not self.is_over:
            self.joint_names = message.name
            self._rates[nanoseconds(message.header.stamp)] = np.array(message.velocity)

    def on_linearization(self, message: Any) -> None:
        """Take a geolin_msgs/LinearizedDynamics."""
        arrival = self._now()
        self._received['linearization'] += 1
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
        self._received['summary'] += 1
        self.node_counts = message.received, message.published, message.dropped
        self.latencies.append(message.latency)

    def received(self, topic: str) -> int:
        """Return how many messages came on a topic."""
        return self._received[topic]

    @property
    def is_over(self) -> bool:
        """Whether the measured time has passed; linearizations are still taken then."""
        return self.start is not None and (self._now() - self.start) * 1e-9 > self.duration

    # ---- numbers out

    @property
    def is_floating(self) -> bool:
        """Whether the base moves."""
        return bool(self.kept[0].floating_base)

    @property
    def _m(self) -> int:
        """Number of velocities."""
        return len(self.kept[0].nu_dot)

    def linearizations(self) -> list[ReceivedLinearization]:
        """Return those that were kept.

        Raises `InputError` or `UnknownNameError` if a message contradicts itself.
        """
        return [read_linearization(message) for message in self.kept]

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
        base = (
            self._base
            if self.is_floating
            else dict.fromkeys(self._rates, (np.zeros(0), np.zeros(3)))
        )
        stamps = sorted(base.keys() & self._rates.keys())
        names = self.kept[0].joint_names if stamps else ()
        order = [self.joint_names.index(name) for name in names]
        nu = [np.concatenate((base[t][0], self._rates[t][order])) for t in stamps]
        world = [base[t][1] for t in stamps]
        return (
            np.array(stamps, dtype=np.int64),
            np.array(nu).reshape(-1, self._m),
            np.array(world).reshape(-1, 3),
        )

    def accelerations(self) -> tuple[IntArray, Array, int]:
        """Return stamps (K,) [ns] and nu_dot (K, m), and how many more were left out.

        Left out are those about an odometry of another stamp than the joint state's.
        """
        stamps = self.answered_stamps.tolist()
        exact = [t for t in stamps if self._answers[t][1] == t or not self.is_floating]
        nu_dot = np.array([self._answers[t][2] for t in exact])
        return (
            np.array(exact, dtype=np.int64),
            nu_dot.reshape(-1, self._m),
            len(stamps) - len(exact),
        )

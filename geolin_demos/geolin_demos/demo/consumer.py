# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's consumer: listens to robot and node for a while and checks what it received."""

import argparse
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from geolin_demos.demo.checks import (
    check_accelerations,
    check_answered,
    check_linearizations,
    referee_for,
)
from geolin_demos.demo.processes import INTERRUPTED, run_on_graph
from geolin_msgs.msg import LinearizedDynamics
from geolin_ros.ros.programs import stop_on_signals
from geolin_ros.ros.running import make_executor
from geolin_ros.ros.topics import LATCHED
from geolin_ros.stream.message_fields import twist_numbers
from geolin_ros.stream.outputs.reading import ReceivedLinearization, read_linearization
from geolin_ros.stream.topic_stream import nanoseconds
from geolin_ros.typing import Array, IntArray

GREY, ZERO = '#7b8794', '#eceff2'
DECADES = 6  # of the colours, below the largest entry


def draw(received: ReceivedLinearization, output: Path) -> None:
    """Save the picture; the suffix of ``output`` chooses the format.

    Raises `OSError` if the file cannot be written.
    """
    from geolin_tools.modes import draw_poles
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    A, B, m = received.A, received.B, len(received.nu_dot)
    k, n = B.shape
    base = m - len(received.tau)
    figure = Figure(figsize=(16.0, 6.0), layout='constrained', facecolor='white')
    title = f'{received.model_name}: {n} joints, {k} states, {n} inputs'
    figure.suptitle(title, fontsize=15, fontweight='bold')
    left, middle, right = figure.subplots(1, 3, width_ratios=(k, n + 0.1 * k, k))
    top = 10.0 ** np.ceil(np.log10(max(np.abs(A).max(), np.abs(B).max(), 1e-9)))
    norm = SymLogNorm(top * 10.0**-DECADES, vmin=-top, vmax=top, linscale=0.5)
    names, starts = ('Hsvr', [0, base, m, m + base]) if base else ('sr', [0, m])
    edges = np.array([*starts, k]) - 0.5
    middles = 0.5 * (edges[1:] + edges[:-1])
    for axes, name, matrix in ((left, 'A', A), (middle, 'B', B)):
        image = axes.imshow(np.ma.masked_equal(matrix, 0.0), norm=norm, cmap='RdBu_r')
        share = np.count_nonzero(matrix) / matrix.size
        axes.set_title(f'{name}, {share:.0%} not zero', loc='left')
        axes.set_facecolor(ZERO)  # where entries are zero
        axes.set_yticks(middles, [f'{letter}\u0307' for letter in names], fontsize=13)
        axes.tick_params(length=0)
        for edge in edges[1:-1]:
            axes.axhline(edge, color=GREY, linewidth=0.8)
    left.set_xticks(middles, list(names), fontsize=13)
    middle.set_xticks([0.5 * n - 0.5], ['τ'], fontsize=13)
    for edge in edges[1:-1]:
        left.axvline(edge, color=GREY, linewidth=0.8)
    figure.colorbar(image, ax=middle, shrink=0.82, label='entries in SI units')
    draw_poles(right, np.linalg.eigvals(A))
    right.set_title('Eigenvalues of A: decaying to the left, growing to the right', loc='left')
    figure.savefig(output, dpi=120)


KEPT = 24  # linearizations of which A and B are checked, spread over the measured time
LAST_ANSWERS = 0.5  # to wait for after the measured time [s]
STEP = 5.0  # between signs of life [s]


class Consumer:
    """Takes what robot and node publish.

    The measured time begins with the first linearization after something has come of all others.

    ``kept`` are the linearizations to check.
    """

    def __init__(self, node: Node, duration: float, is_described: bool) -> None:
        self._node, self._duration = node, duration
        self._start: float | None = None
        self._asked: list[int] = []
        self._answers: dict[int, tuple[Array, Array]] = {}
        self._delays: list[float] = []
        self.kept: list[Any] = []
        self.descriptions: list[str] = []
        listen, linearization = node.create_subscription, '/linearizer/linearization'
        joints = listen(JointState, 'joint_states', self._on_joint_state, qos_profile_sensor_data)
        listen(LinearizedDynamics, linearization, self._on_linearization, 10)
        self._others: dict[str, list[Any]] = {joints.topic_name: self._asked}
        if is_described:
            described = listen(String, 'robot_description', self._on_description, LATCHED)
            self._others[described.topic_name] = self.descriptions
        self._topics = {**self._others, linearization: self.kept}

    def _on_description(self, message: String) -> None:
        self.descriptions.append(message.data)

    def _on_joint_state(self, message: JointState) -> None:
        if not self.is_over:
            self._asked.append(nanoseconds(message.header.stamp))

    def _on_linearization(self, message: LinearizedDynamics) -> None:
        if self._start is None:
            if not all(self._others.values()):
                return  # publishers are found one after the other
            self._start = time.monotonic()
            print(f'listening for {self._duration:g} s ...', flush=True)
        stamp, rates = nanoseconds(message.header.stamp), message.state.joint_rates
        twist = twist_numbers(message.state.base_twist) if message.floating_base else ()
        self._answers[stamp] = np.concatenate((twist, rates)), np.array(message.nu_dot)
        self._delays.append(1e-9 * (time.time_ns() - stamp))
        due = time.monotonic() - self._start >= len(self.kept) * self._duration / KEPT
        if due and len(self.kept) < KEPT:
            self.kept.append(message)

    @property
    def is_over(self) -> bool:
        """Whether the measured time has passed; linearizations are still taken then."""
        return self._start is not None and time.monotonic() > self._start + self._duration

    def missing(self) -> list[str]:
        """Return a line for every topic on which nothing came, with what is known about it."""
        lines = []
        for topic in (topic for topic, received in self._topics.items() if not received):
            has = self._node.count_publishers(topic)
            lines.append(f'{topic}: no {"message of its publisher" if has else "publisher"}')
        return lines

    def listen(self, patience: float, stop: Event) -> None:
        """Spin until the measured time is over, or ``patience`` [s] before it, or ``stop``."""
        executor = make_executor()
        executor.add_node(self._node)
        begin = printed = time.monotonic()
        while not (stop.is_set() or self.is_over):
            executor.spin_once(timeout_sec=0.1)
            now = time.monotonic()
            if self._start is None and now - begin > patience:
                break
            if self._start is None and now - printed > STEP:
                printed = now
                print(f'  {now - begin:.0f} s, {"; ".join(self.missing())}', flush=True)
        end = time.monotonic() + LAST_ANSWERS
        while not stop.is_set() and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        executor.shutdown()

    def report(self, description: str | Path, picture: Path) -> bool:
        """Print numbers and verdicts, save the picture; return whether every check passed.

        ``description`` is URDF text, or the path of an MJCF file. Raises `GeolinError` if it or a
        message cannot be used; `OSError` if the picture cannot be saved.
        """
        received = [read_linearization(message) for message in self.kept]
        last, size = received[-1], len(serialize_message(self.kept[-1]))
        states, n = last.B.shape
        asked = np.array(sorted(self._asked), dtype=np.int64)
        answered = np.array(sorted(self._answers), dtype=np.int64)
        found = [self._answers[stamp] for stamp in answered.tolist()]
        nu, nu_dot = (np.array(values) for values in zip(*found, strict=True))
        p50, p99 = 1e3 * np.percentile(self._delays, (50, 99))
        print(
            f'\nrobot     {last.model_name}: {len(last.joint_names)} joints, {states} states; '
            f'A {states} x {states}, B {states} x {n}, {size / 1000:.1f} kB a message\n'
            f'rate      {_rate(asked):.1f} joint states/s, '
            f'{_rate(answered):.1f} linearizations/s\n'
            f'latency   p50 {p50:.3f} ms, p99 {p99:.3f} ms from stamp to consumer'
        )
        verdicts = (
            check_linearizations(received, referee_for(description, last)),
            check_accelerations(answered, nu, nu_dot, len(last.nu_dot) - len(last.tau)),
            check_answered(asked, answered),
        )
        print(*verdicts, sep='\n')
        draw(last, picture)
        print(f'picture   {picture}', flush=True)
        return all(verdict.passed for verdict in verdicts)


def _rate(stamps: IntArray) -> float:
    """Return how many a second, between the first and the last."""
    return (stamps.size - 1) / max(1e-9 * np.ptp(stamps), 1e-9) if stamps.size else 0.0


def main() -> int:
    """Listen and report; return 0 if every check passes, 1 if not, 130 if interrupted."""
    parser = argparse.ArgumentParser(
        prog='python -m geolin_demos.demo.consumer', description=__doc__
    )
    add = parser.add_argument
    add('--duration', type=float, default=5.0, help='measured time [s]')
    add('--output', type=Path, default=Path('geolin_demo.png'), help='picture')
    add('--robot', type=Path, help='MJCF file, which no topic brings')
    add('--patience', type=float, default=120.0, help='until the first linearization [s]')
    options = parser.parse_args()
    stop = stop_on_signals()

    def run() -> int:
        node = rclpy.create_node('demo_consumer', start_parameter_services=False)
        consumer = Consumer(node, options.duration, options.robot is None)
        print('wait for robot and node; a first start compiles for half a minute', flush=True)
        consumer.listen(options.patience, stop)
        missing = consumer.missing()
        node.destroy_node()
        if stop.is_set():
            return INTERRUPTED
        if missing:
            words = 'FAIL  expected messages that did not come', *missing
            print(*words, sep='\n      ', file=sys.stderr)
            return 1
        description = options.robot or consumer.descriptions[-1]
        return int(not consumer.report(description, options.output))

    return run_on_graph('consumer', run)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of a stream into tables of samples, with the accelerations that were measured."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.offline.points import Points, tuples
from geolin_ros.stream.linearization_stream import Answer
from geolin_ros.stream.operating_points import OperatingPoints
from geolin_ros.typing import Array, IntArray

BLOCK = 1024
"""Samples that are taken together; results do not depend on it."""
UNEVEN = 1.5
"""Neighbours of a sample further apart than this ratio: one between them is missing."""
LONGEST_STEP = 0.1
"""Rates are not differentiated over more than this [s]."""


class Samples(NamedTuple):
    """T samples, one row each."""

    stamp: IntArray
    """[ns] of the joint states"""
    odometry_stamp: IntArray
    """[ns]; zero with a fixed base"""
    tau: Array
    """(T, n) efforts that were measured or asked for"""
    points: Points
    measured: Array
    """(T, m) rates of body twist and joint rates, by differences; NaN without two neighbours"""

    def part(self, rows: slice | IntArray) -> 'Samples':
        """Return some of the samples."""
        return Samples(
            self.stamp[rows],
            self.odometry_stamp[rows],
            self.tau[rows],
            self.points.part(rows),
            self.measured[rows],
        )

    @property
    def size(self) -> int:
        """T."""
        return len(self.stamp)


def join(parts: list[Samples]) -> Samples:
    """Return tables below each other."""
    if len(parts) == 1:
        return parts[0]
    points = zip(*(part.points for part in parts), strict=True)
    stamp, odometry, tau, _, measured = zip(*parts, strict=True)
    return Samples(
        np.concatenate(stamp),
        np.concatenate(odometry),
        np.concatenate(tau),
        Points(*(np.concatenate(values) for values in points)),
        np.concatenate(measured),
    )


def tabulate(stream: OperatingPoints, answers: Iterable[Answer]) -> Iterator[Samples]:
    """Yield the answers of a stream as tables of about `BLOCK` samples."""
    collector = _Collector(stream)
    for answer in answers:
        collector.add(answer)
        if collector.count >= BLOCK + 2:
            yield collector.take(is_last=False)
    if collector.count:
        yield collector.take(is_last=True)


class _Collector:
    """Collects samples until there are neighbours on both sides."""

    def __init__(self, stream: OperatingPoints) -> None:
        self._stream = stream
        self._rows: list[tuple[int, int, Array, Array, Array, Array]] = []
        self._contacts: list[tuple[Closure, ...]] = []
        self._taken = 0  # of the rows, which stay as neighbours

    @property
    def count(self) -> int:
        return len(self._rows)

    def add(self, answer: Answer) -> None:
        tau, wrenches = self._stream.forces
        table = np.empty((len(wrenches), 6))
        for k, wrench in enumerate(wrenches):
            table[k, :3], table[k, 3:] = wrench.force, wrench.moment
        self._rows.append(
            (
                answer.stamp,
                answer.odometry_stamp,
                answer.tau.copy(),
                answer.state.data.copy(),
                np.array(tau),
                table,
            )
        )
        self._contacts.append(self._stream.contacts)

    def take(self, is_last: bool) -> Samples:
        """Return all rows but those taken before, and the last one unless it is the end."""
        columns = (np.array(values) for values in zip(*self._rows, strict=True))
        stamp, odometry, tau, states, forces, wrenches = columns
        points = Points(states, forces, wrenches, tuples(self._contacts))
        measured = measured_accelerations(self._stream.model, stamp, odometry, states)
        table = Samples(stamp, odometry, tau, points, measured)
        end = len(stamp) if is_last else len(stamp) - 1
        found = table.part(slice(self._taken, end))
        self._rows, self._contacts = self._rows[end - 1 :], self._contacts[end - 1 :]
        self._taken = 1
        return found


def measured_accelerations(
    model: TreeModel, stamp: IntArray, odometry_stamp: IntArray, states: Array
) -> Array:
    """Return (T, m) rates of body twist and joint rates by differences over both neighbours.

    The twist is differentiated over the stamps of its odometry, to which it belongs. NaN where a
    neighbour is missing, or not about as far as the other one.
    """
    n, m, n_q = model.n, model.m, states.shape[1] - 22 - model.n
    rates = states[:, 22 + n_q :]
    measured = np.full((len(states), m), np.nan)
    measured[:, m - n :] = _rate(stamp, rates)
    if model.base == 'floating':
        measured[:, :6] = _rate(odometry_stamp, states[:, 16 + n_q : 22 + n_q])
    return measured


def _rate(stamp: IntArray, values: Array) -> Array:
    """Return the derivative of the parabola through each sample and its two neighbours."""
    found = np.full(values.shape, np.nan)
    if len(stamp) < 3:
        return found
    steps = np.diff(stamp) * 1e-9
    a, b = steps[:-1, np.newaxis], steps[1:, np.newaxis]
    before, here, after = values[:-2], values[1:-1], values[2:]
    is_even = (np.maximum(a, b) <= UNEVEN * np.minimum(a, b)) & (np.minimum(a, b) > 0.0)
    is_even &= np.maximum(a, b) <= LONGEST_STEP
    with np.errstate(divide='ignore', invalid='ignore'):
        slope = ((after - here) / b * a + (here - before) / a * b) / (a + b)
    found[1:-1] = np.where(is_even, slope, np.nan)
    return found

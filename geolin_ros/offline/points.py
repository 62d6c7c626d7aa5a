# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded messages through the stream of a node: operating points, and those as arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from math import floor
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.offline.recording import Recorded
from geolin_ros.offline.source import Source
from geolin_ros.stream.linearization_stream import LinearizationStream, OperatingPoint
from geolin_ros.stream.topic_stream import DroppedInput
from geolin_ros.typing import Array, IntArray

Watch = Callable[[Iterable[Any], int], Iterable[Any]]
"""Wraps messages, of which there are so many, to show how far the work is."""
Neighbours: TypeAlias = tuple[OperatingPoint, OperatingPoint, OperatingPoint]
"""A point between the one before and the one after it; itself where there is none."""
UNEVEN = 1.5
"""Neighbours of a sample further apart than this ratio: one between them is missing."""
FASTEST = 1e9
"""Stamps are whole nanoseconds: no rate is higher [Hz]."""
LONGEST_STEP = 0.1
"""Rates are not differentiated over more than this [s]."""


class Points(NamedTuple):
    """T operating points, one row each: numbers in the dataset, and stamps [ns].

    ``state`` (T, 22 + n_s + n) has rows of `State.data`, ``tau`` (T, n) the efforts that were
    measured or asked for, ``efforts`` those to linearize under, ``measured`` (T, m) accelerations,
    NaN without two neighbours. ``odometry_stamp`` is zero with a fixed base.
    """

    row: IntArray
    stamp: IntArray
    odometry_stamp: IntArray
    state: Array
    tau: Array
    efforts: Array
    wrenches: list[tuple[Wrench, ...]]
    contacts: list[tuple[Closure, ...]]
    measured: Array


def feed(
    stream: LinearizationStream, messages: Iterable[Recorded]
) -> Iterator[tuple[Recorded, Any]]:
    """Yield messages with what a stream answers; a node's timer goes by the recording's clock."""
    settings, start, ticks = stream.settings, None, 0
    period = round(1e9 / settings.timer_rate) if settings.trigger == 'timer' else 0
    for recorded in messages:
        if period:
            start = recorded.time if start is None else start
            earlier, ticks = ticks, (recorded.time - start) // period
            if ticks > earlier:
                yield from ((recorded, answer) for answer in stream.take('timer', None))
        yield from ((recorded, a) for a in stream.take(recorded.role, recorded.message))


def point_stream(source: Source, on_drop: Callable[[DroppedInput], object]) -> LinearizationStream:
    """Return a stream that answers with operating points, on memory of their own."""
    stream = LinearizationStream(source.model, source.settings)
    stream.answer_at, stream.on_drop = OperatingPoint.copy, on_drop
    return stream


def recorded_points(
    stream: LinearizationStream, source: Source, watch: Watch = lambda items, total: items
) -> Iterator[OperatingPoint]:
    """Yield the operating points of a bag, as a `point_stream` pairs its messages.

    Raises `RecordingError` if a bag is damaged; what is before that has been given out.
    """
    messages = source.recording.messages(source.inputs)
    for _, point in feed(stream, watch(messages, source.message_count)):
        yield point


def chooser(every: int = 1, rate: float | None = None) -> Callable[[int], bool]:
    """Return what says of each stamp [ns] in turn whether its sample is taken.

    That is every N-th, or, with a rate [Hz], the first of each period. Raises
    `ConfigurationError` if one of them is not positive, or a rate above `FASTEST`.
    """
    if every < 1:
        raise ConfigurationError(f'every is {every}, expected at least 1')
    if rate is None:
        number = count()
        return lambda stamp: next(number) % every == 0
    if not 0.0 < rate <= FASTEST:
        raise ConfigurationError(f'rate is {rate} Hz, expected more than 0, at most {FASTEST:g}')
    start, last = None, -1

    def is_first(stamp: int) -> bool:
        nonlocal start, last
        start = stamp if start is None else start
        # a thousandth of a period belongs to the next one: stamps are rounded to nanoseconds
        earlier, last = last, floor((stamp - start) * rate * 1e-9 + 1e-3)
        return last != earlier

    return is_first


def neighbours(points: Iterable[OperatingPoint]) -> Iterator[Neighbours]:
    """Yield each point with those beside it."""
    before = here = None
    for after in chain(points, (None,)):
        if here is not None:
            yield before or here, here, after or here
        before, here = here, after


def tabulate(model: TreeModel, rows: Sequence[tuple[int, Neighbours]]) -> Points:
    """Return numbered points as arrays, with the accelerations that were measured there.

    Those are rates of body twist and joint rates by differences over both neighbours. The twist is
    differentiated over the stamps of its odometry, to which it belongs. NaN where a neighbour is
    missing, or not about as far as the other one.
    """
    numbers, points = zip(*rows, strict=True)
    sides = list(zip(*points, strict=True))
    here, twist = sides[1], 16 + model.n_s
    states = [np.array([point.state.data for point in side]) for side in sides]
    stamps = np.array([[point.stamp for point in side] for side in sides])
    odometry = np.array([[point.odometry_stamp for point in side] for side in sides])
    measured = [_rate(stamps, [state[:, twist + 6 :] for state in states])]
    if model.base == 'floating':
        measured.insert(0, _rate(odometry, [state[:, twist : twist + 6] for state in states]))
    return Points(
        np.array(numbers),
        stamps[1],
        odometry[1],
        states[1],
        np.array([point.tau for point in here]),
        np.array([point.efforts for point in here]),
        [point.wrenches for point in here],
        [point.contacts for point in here],
        np.concatenate(measured, axis=1),
    )


def _rate(stamps: IntArray, values: Sequence[Array]) -> Array:
    """Return the derivative of the parabola through values before, here and after."""
    a, b = (step[:, np.newaxis] * 1e-9 for step in np.diff(stamps, axis=0))
    before, here, after = values
    shorter, longer = np.minimum(a, b), np.maximum(a, b)
    is_even = (longer <= UNEVEN * shorter) & (shorter > 0.0) & (longer <= LONGEST_STEP)
    with np.errstate(divide='ignore', invalid='ignore'):
        slope = ((after - here) / b * a + (here - before) / a * b) / (a + b)
    return np.where(is_even, slope, np.nan)

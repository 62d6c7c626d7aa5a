# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages into streams, where a test wants the newest answer, or the cause of a drop."""

import contextlib

import numpy as np
import pytest

from geolin_ros.stream.topic_stream import DroppedInput
from support.messages import joint_state, odometry, random_quaternion


def take(stream, topic, message):
    """Hand a message over; return the newest answer, None where there is none."""
    answer = None
    for answer in stream.take(topic, message):  # noqa: B007 - the last one is wanted
        pass
    return answer


@contextlib.contextmanager
def dropped(cause, match=None):
    """What is inside has to drop an input by this cause, with words that match."""
    with pytest.raises(DroppedInput, match=match) as drop:
        yield
    assert drop.value.cause is cause


class Source:
    """Messages of a robot in random motion."""

    def __init__(self, model, seed=0):
        self.model, self.rng = model, np.random.default_rng(seed)

    def odometry(self, stamp, **options):
        place, turn = self.rng.normal(size=3), random_quaternion(self.rng)
        return odometry(stamp, place, turn, self.rng.normal(size=6), **options)

    def joint_state(self, stamp):
        numbers = self.rng.uniform(-1.0, 1.0, (3, self.model.n))
        return joint_state(stamp, self.model.joint_names, *numbers)

    def feed(self, stream, stamp, early=0):
        """Hand over odometry, some nanoseconds early, and a joint state; return the answer."""
        if self.model.base == 'floating':
            take(stream, 'odom', self.odometry(stamp - early))
        return take(stream, 'joint_states', self.joint_state(stamp))

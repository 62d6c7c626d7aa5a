# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages into streams, where a test wants the newest answer, or the cause of a drop."""

import contextlib

import pytest

from geolin_ros.stream.drops import DroppedInput


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

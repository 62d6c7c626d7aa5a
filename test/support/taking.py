# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages into streams, where a test wants the newest answer."""


def take(stream, topic, message):
    """Hand a message over; return the newest answer, None where there is none."""
    answer = None
    for answer in stream.take(topic, message):  # noqa: B007 - the last one is wanted
        pass
    return answer

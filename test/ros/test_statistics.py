# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
from collections import Counter

import pytest

from geolin_ros.stream.topic_stream import Cause, Counts

diagnostics = pytest.importorskip('geolin_ros.ros.diagnostics')


def test_warning__is_said_at_once_then_throttled_by_kind(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr(diagnostics.time, 'monotonic', lambda: now[0])
    log = diagnostics.ThrottledLog(said.append, period=5.0)
    for now[0], kind in ((0.0, 'a'), (0.1, 'a'), (0.1, 'b'), (4.9, 'a'), (5.0, 'a'), (10.0, 'a')):
        log(kind, f'{kind} at {now[0]}')
    expected = ['a at 0.0', 'b at 0.1', 'a at 5.0 (and 2 like it before)', 'a at 10.0']
    assert said == expected


@pytest.mark.parametrize(
    ('received', 'drops', 'level', 'text'),
    [
        (0, {}, 'STALE', 'no joint states'),
        (3, {Cause.LENGTH: 3}, 'ERROR', 'none of 3 joint states could be used'),
        (2, {Cause.LENGTH: 1}, 'WARN', '1 of 2 joint states dropped'),
        (3, {Cause.NO_MODEL: 3}, 'WARN', '3 of 3 joint states dropped'),  # kernels compile
        (2, {Cause.NO_MODEL: 1, Cause.LENGTH: 1}, 'ERROR', 'none of 2 joint states could be used'),
    ],
)
def test_diagnostics__judge_the_time_since_the_last_report(received, drops, level, text):
    messages = pytest.importorskip('diagnostic_msgs.msg')
    time = pytest.importorskip('rclpy.time')
    found = diagnostics.Diagnostics('node', 'robot', 'linearizations', 'odometry')
    counts = Counts(received=7, answered=6, drops=Counter({Cause.SKEW: 1}))
    found.report(time.Time(), None, counts, None)
    counts.received += received
    counts.answered += received - sum(drops.values())
    counts.drops.update(drops)
    (status,) = found.report(time.Time(), None, counts, None).status
    assert (status.level, status.message) == (getattr(messages.DiagnosticStatus, level), text)

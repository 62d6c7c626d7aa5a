# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The node under faults: it lives, says nothing stale, and accounts for every joint state."""

import pytest
from support.fault_drills import DRILLS, largest_request
from support.fault_stage import Footprint

MOST_GROWTH = 30_000  # kB


@pytest.fixture(scope='module')
def at_first(stage):
    """What the node holds once it has loaded all that it needs; kernels of contacts stay."""
    robot = stage.robot
    assert robot.linearize(largest_request(robot)).success
    return Footprint.of(robot.process.process.pid)


@pytest.mark.parametrize('name', DRILLS)
def test_fault__is_survived_and_accounted_for(stage, at_first, name):
    account = stage.run(name, DRILLS[name])
    assert account.recovery < 5.0


def test_node__holds_no_more_than_before_the_faults(stage, at_first):
    now = Footprint.of(stage.robot.process.process.pid)
    assert now.threads <= at_first.threads + 2
    assert now.files <= at_first.files + 2
    assert now.kilobytes < at_first.kilobytes + MOST_GROWTH

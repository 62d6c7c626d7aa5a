# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a law wants, whenever it wants it: efforts stay within limits and move slowly."""

import numpy as np
import pytest
from geolin_control.effort_guard import EffortGuard, GuardSettings
from hypothesis import given
from hypothesis import strategies as st

from geolin_ros import TreeModel, robots
from geolin_ros.control.weights import effort_limits
from geolin_ros.errors import ConfigurationError

LIMITS = np.array([23.7, 45.0])
PERIOD = 0.002

number = st.floats(allow_nan=True, allow_infinity=True, width=64)
pair = st.tuples(number, number).map(np.array)
call = st.tuples(
    st.sampled_from(['feedback', 'damp', 'release']),
    st.floats(-0.1, 1.0, allow_nan=False),
    pair,
    pair,
)


def give(guard, kind, time, wanted, rates):
    if kind == 'feedback':
        return guard.feedback(time, wanted, rates)
    return guard.damp(time, rates) if kind == 'damp' else guard.release(time)


@given(st.lists(call, max_size=30))
def test_efforts__stay_within_limits_and_change_slowly(calls):
    guard = EffortGuard(LIMITS)
    time, before, last, step = 0.0, np.zeros(2), None, 0.02
    for kind, gap, wanted, rates in calls:
        time += gap
        share = 0.0 if gap > guard.settings.longest_gap else guard.share
        efforts = give(guard, kind, time, wanted, rates)
        if last is not None and 0.0 <= time - last <= 0.02:
            step = time - last
        elapsed = 0.0 if last is None else step
        allowed = 2.0 * LIMITS * elapsed / guard.settings.full_swing_time
        assert np.all(np.abs(efforts) <= LIMITS)
        assert np.all(np.abs(efforts - before) <= allowed + 1e-12)
        most = share + guard.settings.longest_gap / guard.settings.ramp_time + 1e-12
        assert 0.0 <= guard.share <= min(most, 1.0)
        before, last = efforts, time


def test_feedback__is_reached_after_the_ramp_and_not_before():
    guard = EffortGuard(LIMITS, GuardSettings(ramp_time=0.1))
    wanted = np.array([10.0, -50.0])  # the second is beyond its limit
    shares = []
    for k in range(101):
        efforts = guard.feedback(k * PERIOD, wanted, np.zeros(2))
        shares.append(efforts[0] / wanted[0])
    assert shares[0] == 0.0
    np.testing.assert_allclose(shares[:50], np.arange(50) / 50, atol=1e-12)
    np.testing.assert_allclose(efforts, [10.0, -45.0])


def test_damping__opposes_the_motion_and_then_feedback_starts_anew():
    guard = EffortGuard(LIMITS, GuardSettings(damping_time=0.05))
    for k in range(200):
        guard.feedback(k * PERIOD, np.array([10.0, 10.0]), np.zeros(2))
    assert guard.share == 1.0
    rates = np.array([1.0, -100.0])
    for k in range(200, 300):
        efforts = guard.damp(k * PERIOD, rates)
    np.testing.assert_allclose(efforts, [-0.05 * 23.7, 45.0])
    assert guard.share == 0.0


def test_feedback__that_is_not_finite_is_damping():
    guard, other = EffortGuard(LIMITS), EffortGuard(LIMITS)
    for k in range(10):
        efforts = guard.feedback(k * PERIOD, np.array([np.nan, 1.0]), np.ones(2))
        np.testing.assert_array_equal(efforts, other.damp(k * PERIOD, np.ones(2)))


def test_limits_and_settings__have_to_be_positive():
    with pytest.raises(ConfigurationError, match=r'ramp_time is 0\.0 s'):
        EffortGuard(LIMITS, GuardSettings(ramp_time=0.0))
    text = robots.path('quadruped').read_text().replace('effort="', 'effort="0" was="', 1)
    with pytest.raises(ConfigurationError, match=r"joint '\w+' .* has effort limit 0\.0"):
        effort_limits(TreeModel.from_urdf(text))

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from geolin_ros.stream.inputs.differentiation import Differentiator

MS = 1_000_000


def rates(signal, stamps, cutoff):
    """Return the rate after each sample, and the differentiator."""
    differentiator = Differentiator(cutoff)
    found = []
    for stamp in stamps:
        differentiator.add(int(stamp), np.array(signal(stamp * 1e-9), dtype=float))
        found.append(differentiator.rate)
    return found, differentiator


def test_rate__of_a_ramp_is_its_slope_at_once():
    slope = np.array((2.0, -3.0))
    found, _ = rates(lambda t: slope * t, [0, 3 * MS, 4 * MS, 9 * MS], 5.0)
    assert found[0] is None
    for rate in found[1:]:
        np.testing.assert_allclose(rate, slope, rtol=1e-12)


@pytest.mark.parametrize(('cutoff', 'step'), [(10.0, 5), (20.0, 2), (40.0, 1)])
def test_rate__of_a_parabola_lags_by_the_delay(cutoff, step):
    """The filter's answer to a rate that grows by 1 a second is late by exactly its delay."""
    stamps = np.arange(0, 2000, step) * MS
    found, differentiator = rates(lambda t: [0.5 * t * t], stamps, cutoff)
    late = stamps[-1] * 1e-9 - found[-1][0]
    share = -np.expm1(-2 * np.pi * cutoff * step * 1e-3)
    exact = (1.0 / share - 1.0) * step * 1e-3 + 0.5 * step * 1e-3  # of the recursion, summed up
    assert late == pytest.approx(exact, rel=1e-6)
    assert differentiator.delay == pytest.approx(exact, abs=0.6e-3 * step)


def test_filter__passes_slow_and_halves_the_power_at_the_cutoff():
    cutoff, stamps = 5.0, np.arange(0, 4000) * MS
    for frequency, gain in ((1.0, 1.0), (5.0, np.sqrt(0.5)), (50.0, 0.1)):
        omega = 2 * np.pi * frequency
        found, _ = rates(lambda t, w=omega: [np.sin(w * t) / w], stamps, cutoff)
        amplitude = np.abs(np.array(found[2000:])).max()
        assert amplitude == pytest.approx(gain, rel=0.05)


@pytest.mark.parametrize('stamp', [-5 * MS, 1700 * MS])
def test_jump__starts_anew(stamp):
    differentiator = Differentiator(10.0)
    for t in (0, MS):
        differentiator.add(t, np.array([t * 1e-9]))
    differentiator.add(stamp, np.array([5.0]))
    assert differentiator.rate is None
    differentiator.add(stamp + MS, np.array([5.002]))
    assert differentiator.rate[0] == pytest.approx(2.0)


def test_forgetting__starts_anew():
    differentiator = Differentiator(10.0)
    for t in (0, MS):
        differentiator.add(t, np.array([1.0]))
    differentiator.forget()
    assert differentiator.rate is None
    differentiator.add(2 * MS, np.array([1.0]))
    assert differentiator.rate is None

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What recordings can tell, on an arm whose delays, units and motions are known."""

import dataclasses
import re

import numpy as np
import pytest

pytest.importorskip('scipy')

from geolin_tools.identification import Prior, Signals, choose_prior, examine, find_delay, identify

from geolin_ros import TreeModel, inverse_dynamics

ARM = """<robot name="arm"><link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="{mass}"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.15"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="20"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.4"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="100" velocity="20"/></joint></robot>"""
LATE = 0.013


def arm(mass=2.0):
    return TreeModel.from_urdf(ARM.format(mass=mass), base='fixed', coulomb_friction=True)


def motion(seconds=8.0, late=0.0, waves=(2.0, 5.0, 8.5), size=0.4):
    """Return what an arm with another mass measures, efforts ``late`` after the motion."""
    time = np.arange(0.0, seconds, 0.01)
    rng, truth = np.random.default_rng(1), arm(2.4)
    wave = np.outer((1.0, 1.3), waves)

    def moved(t):
        angle = wave * t + np.outer((0.3, 1.1), np.arange(len(waves)))
        s, r, a = np.sin(angle), wave * np.cos(angle), -(wave**2) * np.sin(angle)
        return (size * part.sum(axis=1) for part in (s, r, a))

    def effort(t):
        s, r, a = moved(t)
        return inverse_dynamics(truth, truth.state(np.eye(4), s, np.zeros(6), r), a) + 0.3 * r

    s, r = (np.array(rows) for rows in zip(*[tuple(moved(t))[:2] for t in time], strict=True))
    tau = np.array([effort(t - late) for t in time]) + 0.02 * rng.normal(size=s.shape)
    return Signals('arm', time, s, r, tau)


@pytest.fixture(scope='module')
def good():
    return motion()


def test_examine__finds_nothing_wrong_with_a_good_recording(good):
    found = examine(arm(), good)
    assert found.problems == ()
    assert found.rate == pytest.approx(100.0)
    assert abs(found.delay) < 1e-3
    assert 0.5 * found.possible < found.determined <= found.possible
    assert (np.abs(found.factors - 1.2) < 0.3).all()


def test_identify__takes_out_a_delay_that_it_found():
    assert find_delay(arm(), motion(late=-LATE)) == pytest.approx(-LATE, abs=1e-3)
    signals = motion(late=LATE)
    (sentence,) = examine(arm(), signals).problems
    assert '--delay auto' in sentence
    with_delay, without = (identify(arm(), [signals], delay=delay) for delay in (0.0, None))
    assert without.delay == pytest.approx(LATE, abs=1e-3)
    assert (without.after < 0.5 * with_delay.after).all()


@pytest.mark.long
def test_choose_prior__is_nearly_the_best_on_a_motion_that_it_never_saw():
    train, tried = [motion(), motion(waves=(1.7, 4.2, 9.0))], motion(waves=(2.6, 6.0, 7.5))
    chosen = choose_prior(arm(), train)
    left = {
        prior: identify(arm(), train, [tried], prior=prior).unexplained().mean()
        for prior in {chosen, *(Prior(t, s, ()) for t in (0.1, 1.0) for s in (True, False))}
    }
    assert left[chosen] <= 1.1 * min(left.values())


def test_identify__tries_each_of_several_recordings_by_what_the_others_say():
    first, second = motion(), motion(waves=(1.7, 4.2, 9.0))
    both, other = identify(arm(), [first, second]), identify(arm(), [second], [first])
    count = len(other.predicted)
    assert np.array_equal(both.predicted[:count], other.predicted)
    assert len(both.predicted) == len(both.aside.measured) > 1.5 * count
    assert len(both.trained.measured) > 1.9 * len(other.trained.measured)


def test_identify__takes_joints_that_hardly_move_and_efforts_that_nobody_measured():
    signals, rng = motion(), np.random.default_rng(0)
    small = 0.012 / np.abs(signals.position[:, 1]).max()  # 24 mrad, rates full of noise
    position, rate = signals.position * [1.0, small], signals.rate * [1.0, small]
    rate[:, 1] += 0.2 * rng.normal(size=len(rate))
    position[:, 1] += 0.004 * rng.normal(size=len(rate))
    changed = dataclasses.replace(
        signals, position=position, rate=rate, effort=signals.effort * [1.0, np.nan]
    )
    assert 'elbow' not in {name for name, _ in identify(arm(), [changed]).joint_values()}


def test_find_delay__does_not_guess_from_one_frequency_nor_where_joints_do_not_agree():
    late, early = motion(late=0.05), motion(late=-0.05)
    effort = np.stack((late.effort[:, 0], early.effort[:, 1]), axis=1)
    one = dataclasses.replace(motion(waves=(4.0,)), effort=np.ones((800, 2)))
    for signals in (
        *(dataclasses.replace(late, effort=effort), one),
        dataclasses.replace(motion(), effort=None),
    ):
        assert np.isnan(find_delay(arm(), signals))


@pytest.mark.parametrize(
    ('change', 'says'),
    [
        (lambda m: {'position': np.rad2deg(m.position), 'rate': np.rad2deg(m.rate)}, 'degrees'),
        (lambda m: {'effort': m.effort * [1.0, 0.05]}, "'elbow' are 0.0.* times .* amperes"),
        (lambda m: {'effort': m.effort - [0.0, 250.0]}, "'elbow' reach 25.* limit is 100: amp"),
        (lambda m: {'effort': m.effort * [-1.0, 1.0]}, "'shoulder' have the sign opposite"),
        (lambda m: {'effort': m.effort * [1.0, np.nan]}, None),
    ],
)
def test_examine__says_which_units_are_mistaken(good, change, says):
    found = examine(arm(), dataclasses.replace(good, **change(good)))
    text = ' '.join(found.problems)
    assert (not text) if says is None else re.search(says, text)


def test_examine__says_what_does_not_move_and_what_is_sampled_too_slowly(good):
    still = dataclasses.replace(
        good, position=good.position * [1.0, 0.0], rate=good.rate * [1.0, 0.0]
    )
    found, full = examine(arm(), still), examine(arm(), good)
    assert 'joints elbow do not move' in ' '.join(found.problems)
    assert found.determined < full.determined
    assert found.condition > 10.0 * full.condition
    slow = Signals(
        'slow', *(getattr(good, f)[::4] for f in ('time', 'position', 'rate', 'effort'))
    )
    assert 'samples a second' in ' '.join(examine(arm(), slow).problems)

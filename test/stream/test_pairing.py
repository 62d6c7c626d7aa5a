# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Pairing by interpolation; that of the newest odometry is tested with the odometry."""

import numpy as np
import pytest
from support.close import assert_close
from support.finite_difference import exp
from support.messages import SECOND
from support.taking import Source, dropped, take

from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.inputs.pairing import BaseSample, Interpolated
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.linearization_stream import LinearizationStream

pin = pytest.importorskip('pinocchio')
T0 = 100 * SECOND
MS = 1_000_000


def samples(count=4, step=20 * MS, seed=0):
    rng = np.random.default_rng(seed)
    return [
        BaseSample(T0 + k * step, exp(rng.normal(size=6)), rng.normal(size=6))
        for k in range(count)
    ]


@pytest.fixture
def pairing():
    pairing = Interpolated(max_skew=0.03)
    for sample in samples():
        pairing.add(sample)
    return pairing


@pytest.mark.parametrize('milliseconds', [0, 1, 10, 20, 33, 47, 60])
def test_base__is_where_pinocchio_interpolates_it(pairing, quadruped, milliseconds):
    state = quadruped.neutral_state()
    age = pairing.at(T0 + milliseconds * MS, state)
    k, rest = divmod(milliseconds, 20)
    first = samples()[k]
    second = samples()[min(k + 1, 3)]
    expected = pin.SE3.Interpolate(pin.SE3(first.H), pin.SE3(second.H), rest / 20)
    assert_close(state.H, expected.homogeneous, 1e-13)
    assert_close(state.v, first.v + rest / 20 * (second.v - first.v), 1e-14)
    assert age == pytest.approx(rest * 1e-3)


def test_constant_twist__is_followed_exactly(quadruped):
    v, H = np.array((0.3, -0.2, 0.1, 1.0, -2.0, 0.5)), samples()[0].H
    pairing = Interpolated(max_skew=1.0)
    for t in (0.0, 0.5):
        pairing.add(BaseSample(T0 + round(t * SECOND), H @ exp(t * v), v))
    state = quadruped.neutral_state()
    pairing.at(T0 + 200 * MS, state)
    assert_close(state.H, H @ exp(0.2 * v), 1e-14)
    assert_close(state.v, v, 1e-15)


@pytest.mark.parametrize(('milliseconds', 'side'), [(-1, 'before'), (61, 'after')])
def test_joint_state__outside_is_refused(pairing, quadruped, milliseconds, side):
    with dropped(Cause.SKEW, f'the nearest odometry {side} it is'):
        pairing.at(T0 + milliseconds * MS, quadruped.neutral_state())


def test_gap__is_not_bridged(quadruped):
    pairing = Interpolated(max_skew=0.03)
    for sample in samples(2, step=100 * MS):
        pairing.add(sample)
    with pytest.raises(DroppedInput, match=r'\+0.0500 s away from the joint state, expected at'):
        pairing.at(T0 + 50 * MS, quadruped.neutral_state())


def test_clock_that_was_set_back__empties_it(pairing, quadruped):
    pairing.add(samples()[0]._replace(stamp=T0 - 2 * SECOND))
    assert not pairing.is_ready(T0)
    with pytest.raises(DroppedInput):
        pairing.at(T0, quadruped.neutral_state())


class TestStream:
    """Joint states wait for the odometry after them."""

    @pytest.fixture
    def stream(self, quadruped):
        return LinearizationStream(quadruped, StreamSettings(pairing='interpolate', max_skew=0.05))

    def joints(self, model, milliseconds):
        return Source(model, milliseconds).joint_state(T0 + milliseconds * MS)

    def base(self, milliseconds):
        return Source(None, milliseconds).odometry(T0 + milliseconds * MS)

    def test_answers__come_with_the_later_odometry_in_order(self, stream, quadruped):
        take(stream, 'odom', self.base(0))
        for t in (1, 5, 9, 12):
            assert take(stream, 'joint_states', self.joints(quadruped, t)) is None
        stamps = []
        for answer in stream.take('odom', self.base(10)):
            stamps.append(answer.stamp)
            np.testing.assert_array_equal(
                answer.state.s, self.joints(quadruped, (answer.stamp - T0) // MS).position
            )
            assert answer.odometry_stamp == T0
        assert stamps == [T0 + t * MS for t in (1, 5, 9)]
        counts = stream.counts
        assert (counts.received, counts.answered, counts.dropped) == (4, 3, 0)

    def test_joint_state_between_odometries__is_answered_at_once(self, stream, quadruped):
        for t in (0, 10):
            take(stream, 'odom', self.base(t))
        answer = take(stream, 'joint_states', self.joints(quadruped, 4))
        assert answer.stamp == T0 + 4 * MS
        assert_close(answer.odometry_age, 4e-3, 1e-9)

    def test_waiting__is_part_of_what_is_measured(self, stream, quadruped):
        import time

        take(stream, 'odom', self.base(0))
        before = time.perf_counter()
        take(stream, 'joint_states', self.joints(quadruped, 1))
        after = time.perf_counter()
        time.sleep(0.01)
        answer = take(stream, 'odom', self.base(10))
        assert before < answer.received_at < after
        assert answer.compute_time < time.perf_counter() - answer.received_at - 0.01

    def test_odometry_that_does_not_come__is_not_waited_for_forever(self, stream, quadruped):
        take(stream, 'odom', self.base(0))
        for t in (1, 50):
            take(stream, 'joint_states', self.joints(quadruped, t))
        with dropped(Cause.SKEW, r'has waited for 0.0510 s for an odometry'):
            take(stream, 'joint_states', self.joints(quadruped, 52))
        assert stream.counts.drops == {Cause.SKEW: 1}

    def test_patient_joint_states__are_answered_whichever_topic_comes_first(self, quadruped):
        """As a bag that is replayed into a node that could not follow for a while."""
        times = range(0, 2000, 2)
        joints = [('joint_states', self.joints(quadruped, t)) for t in times]
        bases = [('odom', self.base(t)) for t in times[:-10:5]]
        for pairing in ('newest', 'interpolate'):
            answers = []
            for order in (
                sorted(bases + joints, key=lambda m: nanoseconds(m[1].header.stamp)),
                joints + bases,
                bases + joints,
            ):
                stream = LinearizationStream(
                    quadruped, StreamSettings(pairing=pairing, max_wait=1e6)
                )
                stream.on_drop = lambda drop: None
                answers.append(
                    {
                        answer.stamp: answer.A.copy()
                        for topic, message in [*order, ('end', None)]
                        for answer in stream.take(topic, message)
                    }
                )
                assert stream.counts.received == stream.counts.answered + stream.counts.dropped
            expected = len(times) if pairing == 'newest' else 5 * len(bases) - 4
            for found in answers:
                assert list(found) == list(answers[0])
                assert len(found) == expected
                for stamp, A in found.items():
                    np.testing.assert_array_equal(A, answers[0][stamp])

    def test_patience__has_an_end(self, quadruped):
        stream = LinearizationStream(quadruped, StreamSettings(max_wait=0.02))
        take(stream, 'odom', self.base(0))
        for t in (10, 20, 30):
            assert take(stream, 'joint_states', self.joints(quadruped, t)) is None
        with pytest.raises(DroppedInput, match=r'has waited for 0.0210 s .* max_wait'):
            take(stream, 'joint_states', self.joints(quadruped, 31))
        stamps = [answer.stamp for answer in stream.take('odom', self.base(25))]
        assert stamps == [T0 + 20 * MS]

    @pytest.mark.parametrize('first', ['joint states', 'odometry'])
    def test_max_rate__counts_those_that_wait_and_those_that_need_not(self, quadruped, first):
        stream = LinearizationStream(
            quadruped, StreamSettings(pairing='interpolate', max_rate=250.0)
        )
        messages = [('joint_states', self.joints(quadruped, t)) for t in range(1, 10)]
        messages.insert(0 if first == 'odometry' else 9, ('odom', self.base(10)))
        take(stream, 'odom', self.base(0))
        stamps = [answer.stamp for message in messages for answer in stream.take(*message)]
        assert stamps == [T0 + t * MS for t in (1, 5, 9)]
        assert stream.counts.skipped == 6

    def test_forgetting__starts_anew(self, stream, quadruped):
        take(stream, 'odom', self.base(500))
        take(stream, 'joint_states', self.joints(quadruped, 501))
        stream.forget()
        take(stream, 'odom', self.base(0))
        take(stream, 'joint_states', self.joints(quadruped, 5))
        assert take(stream, 'odom', self.base(10)).stamp == T0 + 5 * MS
        assert stream.counts.dropped == 0

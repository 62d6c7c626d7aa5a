# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The regulator: it makes gains of what comes, keeps them, and lets go when it must."""

from dataclasses import replace

import numpy as np
import pytest
from geolin_control.gain_bank import build, squat
from geolin_control.regulator import Measured, Mode, Reference, Regulator, RegulatorSettings
from support.standing import stance

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.lqr import design
from geolin_ros.control.posture import standing_posture
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InfeasibleError, InputError, UnknownNameError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.spatial import se3

PERIOD = 0.002


def regulator(**settings):
    model, supports, state = stance('quadruped')
    made = Regulator(model, supports, RegulatorSettings(**settings))
    made.follow(Reference(state))
    assert made.redesign()
    return made, state


def measured(state, scale=1.0, turn=(0.0, 0.0, 0.0)):
    """What a linearizer says about a state: here that of an equilibrium, B scaled.

    Its contact forces are in axes of the points that are turned.
    """
    model, supports, _ = stance('quadruped')
    point, axes = equilibrium(model, state, supports), se3.exp([0.0, 0.0, 0.0, *turn])
    contacts = tuple(replace(s.contact, placement=s.placement @ axes) for s in point.supports)
    C = Linearizer(model, contacts)(point.state, point.tau)
    forces = C.wrench_by_state, C.wrench_by_tau
    return Measured(point.state, point.tau, C.A, scale * C.B, *forces, contacts)


def test_gains__are_made_of_a_linearization_that_is_calm_and_near():
    model, supports, state = stance('quadruped')
    held, _ = regulator()
    own = held.gains.K
    expected = design(model, equilibrium(model, state, supports)).K
    np.testing.assert_allclose(own, expected, atol=1e-9 * np.abs(own).max())
    assert not held.redesign()  # nothing is new

    def made_of(outside):
        held.newest = outside
        assert held.redesign()
        return held.gains.K / size

    size = np.abs(own).max()
    own = own / size
    halved = made_of(measured(state, 0.5))
    assert np.abs(halved - own).max() > 0.1
    turned = made_of(measured(state, 0.5, turn=(0.3, -0.8, 0.5)))  # points have no axes
    np.testing.assert_allclose(turned, halved, atol=1e-3)
    np.testing.assert_allclose(made_of(measured(state)), own, atol=1e-3)  # warm
    moving = measured(state, 0.5)
    moving.state.v[0] = 1.0
    np.testing.assert_allclose(made_of(moving), own, atol=1e-3)


def test_supports__are_changed_with_gains_of_their_own():
    model, supports, state = stance('quadruped')
    at = Kinematics(model, state)
    lifted = {supports[3].frame: at.pose(supports[3].frame)[:3, 3] + [0.0, 0.0, 0.05]}
    on_three = standing_posture(model, supports[:3], start=state, feet=lifted)
    held, _ = regulator()
    held.follow(Reference(on_three))
    held.stand_on([s.frame for s in supports[:3]])
    assert held.redesign()
    assert held.gains.contacts == held.standing_on == tuple(s.frame for s in supports[:3])
    with pytest.raises(UnknownNameError, match=r"support 'hand'.*the supports"):
        held.stand_on(['hand'])
    with pytest.raises(ConfigurationError, match='has no supports'):
        Regulator(model, [])


def test_infeasible_posture__keeps_the_gains_and_says_why():
    held, state = regulator()
    before = held.gains
    leaning = state.copy()
    leaning.H[:3, :3] = se3.exp([0.0, 0.0, 0.0, 0.0, 0.7, 0.0])[:3, :3]
    held.follow(Reference(leaning))
    with pytest.raises(InfeasibleError):
        held.redesign()
    assert held.gains is before
    assert 'support polygon' in held.failure
    assert held.failure in held.warning
    assert not held.redesign()  # not tried again until something changes
    held.follow(Reference(state))
    assert held.redesign()
    assert not held.warning


def commands(held, state, first, last):
    """Return what the motors get from one period to another, with fresh linearizations."""
    found = []
    for k in range(first, last):
        held.linearized_at = k * PERIOD
        found.append(held.command(k * PERIOD, state))
    return found


@pytest.mark.parametrize(
    ('feet', 'why'),
    [(2, 'no area'), (0, '0 supports')],  # two in front, and none
)
def test_contacts_without_gains__are_damped_until_they_are_left(feet, why):
    _, supports, _ = stance('quadruped')
    held, state = regulator(anchor=True)
    all_feet = held.standing_on
    commands(held, state, 0, 200)
    held.stand_on([s.frame for s in supports[:feet]])
    with pytest.raises((InfeasibleError, ConfigurationError)):
        held.redesign()
    found = commands(held, state, 200, 400)
    timeout = round(held.settings.contacts_timeout / PERIOD)
    assert {command.mode for command in found[: timeout + 1]} == {Mode.FEEDBACK}
    assert {command.mode for command in found[timeout + 1 :]} == {Mode.DAMPING}
    standing_on = ', '.join(all_feet[:feet]) or 'no contacts'
    assert found[-1].reason.startswith(f'no gains for {standing_on}: ')
    assert why in found[-1].reason
    held.stand_on(all_feet)
    held.redesign()
    assert commands(held, state, 400, 402)[-1].mode is Mode.FEEDBACK


@pytest.mark.parametrize('scale', [-1.0, 1e3, np.nan])
def test_linearization_of_another_world__is_refused_and_the_gains_stay(scale):
    held, state = regulator()
    before = held.gains
    held.newest = measured(state, scale)
    with pytest.raises(InputError, match=r'B of the linearization is .* look at the'):
        held.redesign()
    assert held.gains is before
    assert held.failure.startswith('B of the linearization')


@pytest.mark.parametrize('why', ['no linearization', 'beyond the trust region'])
def test_feedback__gives_way_to_damping(why):
    held, state = regulator()
    found = commands(held, state, 0, 250)
    assert [command.mode for command in found] == [Mode.DAMPING] + 249 * [Mode.FEEDBACK]
    moved = state.copy()
    moved.r[:] = 1.0
    if why == 'no linearization':
        held.linearized_at = -1.5
    else:
        moved.H[2, 3] -= 0.26
    for k in range(250, 270):
        command = held.command(k * PERIOD, moved)
        assert command.mode is Mode.DAMPING
        assert why in command.reason
    np.testing.assert_allclose(command.efforts, -0.05 * np.array(held.model.limits.effort))


@pytest.mark.parametrize(('timeout', 'mode'), [(0.5, Mode.DAMPING), (0.0, Mode.FEEDBACK)])
def test_linearization_that_never_comes__is_waited_for_from_the_first_feedback_on(timeout, mode):
    held, state = regulator(gains_timeout=timeout)
    first = 1e4
    found = [held.command(first + k * PERIOD, state) for k in range(300)]
    assert {command.mode for command in found[1:250]} == {Mode.FEEDBACK}
    assert {command.mode for command in found[252:]} == {mode}
    assert (mode is Mode.DAMPING) == ('no linearization for 0.60 s' in found[-1].reason)
    held.linearized_at = first + 300 * PERIOD
    assert held.command(first + 300 * PERIOD, state).mode is Mode.FEEDBACK


def test_moving_reference_that_stops_to_come__is_at_rest():
    held, state = regulator(gains_timeout=0.0)
    going, still = state.copy(), held.settings.reference_timeout
    going.v[0], going.r[:] = 0.2, 0.1
    for k in range(300):
        held.follow(Reference(going))
        command = held.command(k * PERIOD, state)
        assert not held.warning
    led = command.efforts
    found, warned = [], []
    for k in range(300, 500):
        found.append(held.command(k * PERIOD, state).efforts)
        warned.append(held.warning)
    last = round(still / PERIOD)
    np.testing.assert_allclose(found[last - 2], led, atol=1e-9)
    assert not any(warned[: last - 1])
    np.testing.assert_allclose(found[-1], held.gains.feedforward, atol=1e-9)
    assert np.abs(led - found[-1]).max() > 1.0
    assert 'its velocities count as zero' in warned[-1]
    held.follow(Reference(going))
    for k in range(500, 520):
        command = held.command(k * PERIOD, state)
    np.testing.assert_allclose(command.efforts, led, atol=1e-9)
    assert not held.warning


def test_bank__gives_gains_at_once_and_for_no_other_contacts():
    model, supports, state = stance('quadruped')
    height = float(state.H[2, 3])
    points = squat(model, supports, [height, height - 0.03], state)
    bank = build(model, [points], tolerance=np.inf)
    held = Regulator(model, supports, bank=bank)
    held.follow(Reference(points[1].state))
    np.testing.assert_array_equal(held.gains.K, bank.gains(held.standing_on, points[1].state).K)
    assert held.gains.solution is None or held.gains.solution.residual < 1e-9
    for k in range(3):  # no linearization is waited for
        command = held.command(10.0 + k * PERIOD, points[1].state)
    assert command.mode is Mode.FEEDBACK
    held.stand_on([s.frame for s in supports[:3]])
    with pytest.raises(UnknownNameError, match='the gain bank'):
        held.redesign()
    found = [held.command(10.0 + k * PERIOD, points[1].state) for k in range(3, 200)]
    assert found[0].mode is Mode.FEEDBACK
    assert found[-1].mode is Mode.DAMPING
    assert 'the gain bank' in found[-1].reason
    held.stand_on([s.frame for s in supports])
    assert held.command(10.4, points[1].state).mode is Mode.FEEDBACK
    assert not held.failure

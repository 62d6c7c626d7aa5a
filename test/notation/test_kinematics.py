# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobians and accelerations of frames: Pinocchio, dense chain rule, differences."""

from functools import partial

import numpy as np
import pytest
from support.close import assert_close, deviation
from support.finite_difference import derivative, exp
from support.moving_robots import ARBITRARY, EXPRESSIONS, NAMES, PINOCCHIO, ROBOTS, MovingRobot
from support.pinocchio_oracle import pin

from geolin_ros import Linearizer, State, TreeModel, forward_dynamics, robots
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import (
    ConfigurationError,
    InputError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
)
from geolin_ros.model.tree import Frame
from geolin_ros.spatial import frames
from geolin_ros.spatial.frames import MovingFrame


class Case(MovingRobot):
    """A robot in motion, with Pinocchio's results for it."""

    def __init__(self, name, base):
        super().__init__(name, base)
        self.at = Kinematics(self.model, self.state)
        known = self.oracle.pin_model.existFrame
        links = [name for name in self.model.link_names if known(name, pin.FrameType.BODY)]
        self.links = links[::4]

    def ask(self, what, link, representation):
        """Return what Pinocchio says of a link, in our order of coordinates."""
        model, data = self.oracle.pin_model, self.oracle.data
        q, nu = self.oracle.q(self.state), self.oracle.velocity(self.state)
        pin.computeJointJacobiansTimeVariation(model, data, q, nu)
        pin.forwardKinematics(model, data, q, nu, self.oracle._to_pinocchio(self.nu_dot))
        pin.updateFramePlacements(model, data)
        frame = model.getFrameId(link, pin.FrameType.BODY)
        if what == 'pose':
            return data.oMf[frame].homogeneous
        found = getattr(pin, what)(model, data, frame, PINOCCHIO[representation])
        return found[:, self.oracle.order] if 'Jacobian' in what else found.vector

    def moved(self, t, nu_dot):
        """Return the kinematics a time t later."""
        return Kinematics(self.model, self.along(t, nu_dot))


def frame_later(expressed_in, t):
    """Return where a frame is a time t later; a name stays a name."""
    if isinstance(expressed_in, str):
        return expressed_in
    return MovingFrame(expressed_in.H @ exp(t * expressed_in.v), expressed_in.v)


@pytest.fixture(scope='module', params=ROBOTS, ids=' '.join)
def case(request):
    return Case(*request.param)


@pytest.fixture(scope='module')
def quadruped():
    return Case('quadruped', 'floating')


@pytest.mark.shows(
    'Traversaro 2019: Eqs. (17)-(26)',
    'Traversaro 2019: Eqs. (70)-(74)',
    'Traversaro 2019: - its time derivative',
    'Traversaro 2019: Eqs. (46)-(48)',
)
@pytest.mark.parametrize('name', NAMES)
def test_kinematics__are_pinocchios(case, name):
    """Its classical acceleration of LOCAL_WORLD_ALIGNED is apparent, plain ones are intrinsic."""
    at, nu_dot = case.at, case.nu_dot
    classical = 'Classical' if name == 'mixed' else ''
    for link in case.links:
        assert_close(at.pose(link), case.ask('pose', link, name), 1e-14, link, scale=1.0)
        for ours, theirs in (
            (at.twist, 'Velocity'),
            (at.jacobian, 'Jacobian'),
            (at.jacobian_rate, 'JacobianTimeVariation'),
            (partial(at.intrinsic_acceleration, nu_dot=nu_dot), 'Acceleration'),
            (partial(at.apparent_acceleration, nu_dot=nu_dot), f'{classical}Acceleration'),
        ):
            expected = case.ask(f'getFrame{theirs}', link, name)
            found = ours(link, expressed_in=name)
            assert_close(found, expected, 1e-13, f'{theirs} of {link}', scale=1.0)


@pytest.mark.shows('Traversaro 2019: - its time derivative')
@pytest.mark.parametrize('base', EXPRESSIONS)
@pytest.mark.parametrize('expressed_in', EXPRESSIONS)
def test_jacobian__fits_twist_and_acceleration_and_has_its_rate(case, expressed_in, base):
    at, nu, still = case.at, case.at.velocity(base), np.zeros(case.model.m)
    link = case.links[-1]
    of = {'expressed_in': expressed_in, 'base': base}
    J, J_dot = at.jacobian(link, **of), at.jacobian_rate(link, **of)
    assert_close(J @ nu, at.twist(link, expressed_in=expressed_in), 1e-12, link, scale=1.0)
    acceleration = at.apparent_acceleration(link, case.nu_dot, **of)
    assert_close(J @ case.nu_dot + J_dot @ nu, acceleration, 1e-12, link, scale=1.0)
    assert_close(J_dot @ nu, at.bias_acceleration(link, **of), 1e-12, link, scale=1.0)

    def later(t):
        D, C = frame_later(expressed_in, t), frame_later(base, t)
        return case.moved(t, still).jacobian(link, expressed_in=D, base=C)

    rate = derivative(later)
    assert_close(J_dot, rate, 1e-9, scale=max(1.0, np.abs(rate).max()))


@pytest.mark.shows('Traversaro 2019: Eqs. (77)-(79)')
@pytest.mark.parametrize('base', EXPRESSIONS)
def test_acceleration__follows_the_rate_of_the_numbers_of_the_velocity(case, base):
    body, link = case.nu_dot, case.links[-1]
    nu_dot = derivative(lambda t: case.moved(t, body).velocity(frame_later(base, t)))
    for acceleration in (case.at.apparent_acceleration, case.at.intrinsic_acceleration):
        of_base = partial(acceleration, link, expressed_in='mixed')
        assert_close(of_base(nu_dot, base=base), of_base(body), 1e-9)


@pytest.mark.shows('Traversaro 2019: Eqs. (75)')
def test_doubly_mixed_jacobian__is_equation_75_by_hand(quadruped):
    link, R = quadruped.links[-1], quadruped.state.H[:3, :3]
    J = quadruped.ask('getFrameJacobian', link, 'mixed').copy()
    J[:, :6] = J[:, :6] @ np.kron(np.eye(2), R.T)
    assert_close(quadruped.at.jacobian(link, expressed_in='mixed', base='mixed'), J, 1e-13)


class Rolling:
    """A contact frame C that moves on its link: ^L H_C(t) = placement exp(t sliding)."""

    placement = exp(np.array([0.02, -0.03, -0.1, 0.3, 0.2, -0.5]))
    sliding = np.array([0.4, -0.3, 0.0, 1.5, 2.0, -1.0])

    def __init__(self, case):
        self.case, self.link = case, case.links[-1]

    def along(self, t):
        """Return kinematics and C[A] a time t later."""
        at = self.case.moved(t, np.zeros(self.case.model.m))
        placement = self.placement @ exp(t * self.sliding)
        return at, at.contact_frame(self.link, placement, sliding=self.sliding)


@pytest.fixture(scope='module')
def rolling(quadruped):
    return Rolling(quadruped)


@pytest.mark.shows('Traversaro 2019: Eqs. (81)')
def test_contact_jacobian__is_equation_81_and_takes_wrenches_at_the_contact(rolling):
    """Twist of the link-fixed frame that is at C now, origin of C, axes of the world.

    Eq. (82): power of a wrench at C in world axes = that of its joint efforts J'f.
    """
    at, C = rolling.along(0.0)
    own = rolling.case.model.frame(rolling.link)
    frozen = Frame(own.body, own.placement @ rolling.placement)
    J = at.jacobian(rolling.link, expressed_in=C, base='mixed')
    assert_close(J, at.jacobian(frozen, expressed_in='mixed', base='mixed'), 1e-13)
    of_link = rolling.case.ask('getFrameJacobian', rolling.link, 'mixed')
    away = at.pose(rolling.link)[:3, :3] @ rolling.placement[:3, 3]
    expected = np.vstack((of_link[:3] - np.cross(away, of_link[3:], axisb=0).T, of_link[3:]))
    expected[:, :6] = expected[:, :6] @ np.kron(np.eye(2), rolling.case.state.H[:3, :3].T)
    assert_close(J, expected, 1e-13, 'Pinocchio')
    f = np.arange(1.0, 7.0)
    power = frames.wrench_map(C, at.frame(rolling.link)) @ f @ at.twist(rolling.link)
    assert_close(J.T @ f @ at.velocity('mixed'), power, 1e-12)


@pytest.mark.shows('Traversaro 2019: Eqs. (81)')
def test_contact_jacobian_rate__follows_the_rolling_contact(rolling):
    def J(t):
        at, C = rolling.along(t)
        return at.jacobian(rolling.link, expressed_in=C, base='mixed')

    at, C = rolling.along(0.0)
    expected = derivative(J)
    assert_close(at.jacobian_rate(rolling.link, expressed_in=C, base='mixed'), expected, 1e-9)
    stuck = at.contact_frame(rolling.link, rolling.placement)
    forgotten = at.jacobian_rate(rolling.link, expressed_in=stuck, base='mixed')
    assert deviation(forgotten, expected) > 0.05, 'the contact moves'


def test_frames_of_the_base_twist__change_nothing_of_a_fixed_base():
    case = Case('quadruped', 'fixed')
    for link in case.links:
        J = case.at.jacobian(link, expressed_in='mixed')
        assert J.shape == (6, case.model.n)
        for base in (*NAMES, ARBITRARY):
            assert_close(case.at.jacobian(link, expressed_in='mixed', base=base), J, 0.0)
    with pytest.raises(ConfigurationError, match="representation is 'spatial'"):
        case.at.velocity('spatial')


def test_errors__name_the_source(case):
    model, at, link = case.model, case.at, case.links[0]
    broken, small = case.state.copy(), State(np.eye(4), np.zeros(2), np.zeros(6), np.zeros(2))
    broken.s[0] = np.nan
    for error, what, call in (
        (UnknownNameError, 'no_such_link', lambda: at.jacobian('no_such_link')),
        (ConfigurationError, 'spatial', lambda: at.jacobian(link, expressed_in='spatial')),
        (ShapeError, 'nu_dot', lambda: at.apparent_acceleration(link, np.zeros(3))),
        (ShapeError, 'sliding', lambda: at.contact_frame(link, np.eye(4), sliding=np.zeros(3))),
        (ShapeError, '2 joint positions', lambda: Kinematics(model, small)),
        (NotFiniteError, 'NaN or inf', lambda: Kinematics(model, broken)),
    ):
        with pytest.raises(error, match=what):
            call()


def test_fixed_base__with_a_twist_is_refused():
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    state = model.neutral_state()
    state.v[0] = 1.0
    tau, rows = np.zeros(model.n), np.stack([model.neutral_state().data, state.data])
    for who, call in (
        ('state', lambda: Kinematics(model, state)),
        ('state', lambda: Linearizer(model)(state, tau)),
        ('state', lambda: Linearizer(model, ['FL_foot'])(state, tau)),
        ('state', lambda: forward_dynamics(model, state, tau)),
        ('sample 1', lambda: forward_dynamics(model, rows, np.zeros((2, model.n)))),
        ('sample 1', lambda: Linearizer(model).batch(rows, np.zeros((2, model.n)))),
    ):
        with pytest.raises(InputError, match=f'{who}.* base twist .* expected zeros: the base of'):
            call()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from support.close import assert_close, deviation
from support.finite_difference import derivative, derivative_by_state, retract
from support.pinocchio_oracle import PinocchioOracle
from support.states import seen_from
from support.trees import tree_description

from geolin_ros import Contact, Linearizer, Loop, TreeModel, robots
from geolin_ros.errors import (
    ConfigurationError,
    InputError,
    NotFiniteError,
    ShapeError,
    UnknownNameError,
)
from geolin_ros.linearization.discretization import zero_order_hold
from geolin_ros.spatial import se3

METHODS = ('euler', 'zoh', 'midpoint', 'rkmk4')
BASES = ('floating', 'fixed')
STEPS = (2e-3, 1e-3, 5e-4)
STEPS_OF_HIGH_ORDER = (8e-3, 4e-3, 2e-3)  # finer ones end in rounding


class Case:
    """A quadruped in motion, and its flow as fine as numbers allow."""

    def __init__(self, base):
        self.model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
        rng = np.random.default_rng(5)
        self.state = self.model.random_state(rng)
        self.lin = Linearizer(self.model)
        self.tau = self._efforts_of_moderate_acceleration(rng)
        self.width = 2 * self.model.m

    def _efforts_of_moderate_acceleration(self, rng):
        """Return efforts with accelerations of a few units: far from equilibrium, but not wild."""
        L = self.lin(self.state, np.zeros(self.model.n))
        wanted = rng.uniform(-8.0, 8.0, self.model.n)
        joints = slice(self.model.m - self.model.n, None)
        return np.linalg.solve(L.B[self.model.m :][joints], wanted - L.nu_dot[joints])

    def step(self, dt, method='rkmk4', **options):
        return self.lin.discretize(self.state, self.tau, dt, method=method, **options)

    def flow(self, dt, substeps=16):
        """Return state, Phi and Gamma after ``dt``, composed of small rkmk4 steps."""
        state, Phi = self.state, np.eye(self.width)
        Gamma = np.zeros((self.width, self.model.n))
        for _ in range(substeps):
            small = self.lin.discretize(state, self.tau, dt / substeps, method='rkmk4')
            state = small.next_state
            Phi, Gamma = small.Phi @ Phi, small.Phi @ Gamma + small.Gamma
        return state, Phi, Gamma

    def own(self, z):
        """Return [s; r] of a fixed base, all of z of a floating one."""
        n = self.model.n
        fixed = np.concatenate((z[6 : 6 + n], z[12 + n :]))
        return z if self.model.base == 'floating' else fixed


@pytest.fixture(scope='module', params=BASES)
def case(request):
    return Case(request.param)


@pytest.fixture(scope='module')
def floating():
    return Case('floating')


def assert_order(errors, expected):
    """Errors at halved steps must fall by 2^expected, within 0.1 of the exponent."""
    found = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(found - expected) < 0.1), f'orders {found}, expected {expected}'


@pytest.mark.shows('Bos 2022: Eq. (11) as a statement on flows')
def test_flow__equals_differences_of_pinocchios_flow(floating):
    """The yardstick of the other tests, by another integrator, dynamics and derivative."""
    model, dt = floating.model, 0.02
    n, m = model.n, model.m
    oracle = PinocchioOracle.read_urdf(robots.path('quadruped'), model)

    def displacement(start, tau):
        """Integrate z = log(g^-1 g(t)) about the start, zdot = J_r^-1(z) f(g exp z)."""

        def rate(_, z):
            at = retract(start, z)
            f = np.concatenate((at.v, at.r, oracle.forward_dynamics(at, tau)))
            f[:6] = se3.right_jacobian_inverse(z[:6]) @ f[:6]
            return f

        solved = solve_ivp(rate, (0.0, dt), np.zeros(2 * m), 'DOP853', rtol=1e-13, atol=1e-14)
        return solved.y[:, -1]

    end, Phi, Gamma = floating.flow(dt, substeps=64)
    assert_close(
        retract(floating.state, displacement(floating.state, floating.tau)).data, end.data, 1e-11
    )

    def end_by_state(start):
        return end.difference(retract(start, displacement(start, floating.tau)))

    def end_by_effort(tau):
        return end.difference(retract(floating.state, displacement(floating.state, tau)))

    rng = np.random.default_rng(6)
    z, du = rng.normal(size=2 * m), rng.normal(size=n)
    by_state = derivative(lambda t: end_by_state(retract(floating.state, t * z)))
    assert_close(Phi @ z, by_state, 1e-9)
    by_effort = derivative(lambda t: end_by_effort(floating.tau + t * du))
    assert_close(Gamma @ du, by_effort, 1e-9)


@pytest.mark.parametrize('reference', ['moving', 'frozen'])
@pytest.mark.parametrize(
    ('method', 'by_state', 'of_state'),
    [('euler', 2, 2), ('zoh', 2, 3), ('midpoint', 3, 3), ('rkmk4', 5, 5)],
)
def test_local_errors__have_the_orders_of_the_table(case, method, by_state, of_state, reference):
    errors = []
    for dt in STEPS_OF_HIGH_ORDER if by_state == 5 else STEPS:
        end, Phi, Gamma = case.flow(dt)
        found = case.step(dt, method, reference=reference)
        drift = case.state.difference(end)
        missed = end.difference(found.next_state)
        if reference == 'frozen':
            missed = found.defect - case.own(drift)
            if case.model.base == 'floating':
                J = se3.right_jacobian_inverse(drift[:6])
                Phi[:6], Gamma[:6] = J @ Phi[:6], J @ Gamma[:6]
        by_effort = deviation(found.Gamma, Gamma, scale=1.0)
        errors.append((deviation(found.Phi, Phi), by_effort, np.linalg.norm(missed)))
    orders = by_state, by_state, of_state
    for of_one, order in zip(zip(*errors, strict=True), orders, strict=True):
        assert_order(of_one, order)


@pytest.mark.parametrize('reference', ['moving', 'frozen'])
def test_zoh__is_the_exponential_of_the_augmented_matrix(case, reference):
    for dt in (1e-4, 0.01, 0.3):
        L = seen_from(case.lin(case.state, case.tau), reference).copy()
        k, n = L.B.shape
        f = case.lin(case.state, case.tau).frozen().drift
        augmented = np.zeros((k + n + 1, k + n + 1))
        augmented[:k] = np.column_stack((L.A, L.B, f))
        expected = expm(dt * augmented)
        found = case.step(dt, 'zoh', reference=reference)
        assert_close(found.Phi, expected[:k, :k], 1e-12)
        assert_close(found.Gamma, expected[:k, k:-1], 1e-12)
        reached = case.state.retract(expected[:k, -1])
        assert_close(found.next_state.data, reached.data, 1e-12)
        if reference == 'frozen':
            assert_close(found.defect, expected[:k, -1], 1e-12)


def kinematic_rows_above(dense, upper, rng):
    """Return the matrix whose upper rows are those of a linearization's positions."""
    A = dense.copy()
    A[:upper] = 0.0
    A[:upper, upper:] = np.eye(upper, A.shape[0] - upper)
    if upper >= 6:
        A[:6, :6] = -se3.cross(rng.normal(size=6))
    return A


@pytest.mark.parametrize('norm', [0.0, 1e-9, 0.3, 0.5, 1.0, 17.0, 200.0, 3000.0])
@pytest.mark.parametrize(('k', 'upper'), [(9, 0), (9, 4), (1, 0), (24, 12), (36, 18), (50, 7)])
def test_zero_order_hold__equals_blocks_of_one_exponential(k, upper, norm):
    rng = np.random.default_rng([k, upper])
    A = kinematic_rows_above(rng.normal(size=(k, k)) - 2.0 * np.sqrt(k) * np.eye(k), upper, rng)
    B, dt = rng.normal(size=(k, 1 + k // 3)), 0.01
    A[upper:] *= norm / dt / np.linalg.norm(A[upper:], 1)
    n = B.shape[1]
    X = dt * np.block([[A, B], [np.zeros((n, k + n))]])
    expected = expm(X)
    Phi, Gamma = zero_order_hold(A, B, dt)
    # Squaring loses what the exponential's own condition does, at most about |X| roundings.
    tolerance = 1e-14 * (10.0 + np.linalg.norm(X, 1))
    assert_close(Phi, expected[:k, :k], tolerance)
    assert_close(Gamma, expected[:k, k:], tolerance)


def access_everything():
    """Run by `kernels/test_bounds.py` where every access is checked."""
    for k, upper in ((9, 0), (1, 0), (36, 18), (50, 7)):
        test_zero_order_hold__equals_blocks_of_one_exponential(k, upper, 17.0)


@pytest.mark.parametrize('method', ['midpoint', 'rkmk4'])
def test_defect__leads_from_the_reference_to_the_next_state(floating, method):
    dt = 0.01
    ahead = floating.step(dt, method).next_state
    offset = 0.1 * np.random.default_rng(8).normal(size=floating.width)
    reference = ahead.retract(offset)
    found = floating.step(dt, method, next_reference=reference)
    assert_close(reference.retract(found.defect).data, ahead.data, 1e-13)
    assert_close(found.next_state.data, ahead.data, 0.0)

    def seen_from_reference(start):
        end = floating.lin.discretize(start, floating.tau, dt, method=method).next_state
        return reference.difference(end)

    expected = derivative_by_state(seen_from_reference, floating.state, floating.width)
    tolerance = 1e-9 if method == 'rkmk4' else 5e-3  # midpoint: third order in dt, see above
    assert_close(found.Phi, expected, tolerance)
    plain = floating.step(dt, method).Phi
    assert deviation(plain[:6], expected[:6]) > 1e-2, 'without the chart it is another matrix'


@pytest.mark.parametrize('method', METHODS)
def test_discretization__is_complete_and_owns_its_arrays(case, method):
    model, n = case.model, case.model.n
    for reference in ('moving', 'frozen'):
        first = case.step(0.01, method, reference=reference)
        names = 'Phi', 'Gamma', 'defect', 'nu_dot', 'next_state'
        kept = [getattr(first, name).copy() for name in names]
        case.lin.discretize(model.neutral_state(), np.zeros(n), 0.002, method=method)
        for name, was in zip(names[:4], kept[:4], strict=True):
            assert np.array_equal(getattr(first, name), was)
        assert np.array_equal(first.next_state.data, kept[4].data)
        assert first.Phi.shape == (case.width, case.width) == (len(first.columns),) * 2
        assert first.Gamma.shape == (case.width, n) == (case.width, len(first.inputs))
        assert (first.dt, first.method, first.reference) == (0.01, method, reference)
        assert_close(first.nu_dot, case.lin.forward_dynamics(case.state, case.tau), 1e-12)


WRONG = {
    **{
        f'dt {dt}': ({'dt': dt}, ConfigurationError, 'dt is')
        for dt in (0.0, -1, np.nan, np.inf, '1')
    },
    'method': ({'method': 'rk4'}, ConfigurationError, 'rkmk4'),
    'reference': ({'reference': 'still'}, ConfigurationError, 'still'),
    'tau': ({'tau': np.zeros(3)}, ShapeError, 'tau'),
}


@pytest.mark.parametrize(('given', 'error', 'what'), WRONG.values(), ids=WRONG)
def test_discretize__names_what_it_was_given(floating, given, error, what):
    right = {'state': floating.state, 'tau': floating.tau, 'dt': 0.01}
    with pytest.raises(error, match=what):
        floating.lin.discretize(**{**right, **given})


def test_discretize__of_two_references_or_a_broken_state_is_refused(floating):
    with pytest.raises(ConfigurationError, match='next_reference'):
        floating.step(0.01, reference='frozen', next_reference=floating.state)
    broken = floating.state.copy()
    broken.r[0] = np.nan
    for method in METHODS:
        with pytest.raises(NotFiniteError, match='r of robot'):
            floating.lin.discretize(broken, floating.tau, 0.01, method=method)
    with pytest.raises(NotFiniteError, match='the state of robot'):
        floating.step(0.01, next_reference=broken)
    fixed = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    with pytest.raises(InputError, match=r'base twist .* is fixed'):
        Linearizer(fixed).discretize(floating.state, floating.tau, 0.01)


@pytest.mark.parametrize('method', METHODS)
def test_discretize__of_an_endless_step_says_so(floating, method):
    with pytest.raises(NotFiniteError, match='finite number'):
        floating.step(1e308, method)


def trajectory_of(model, rng, count=6):
    """Return nodes that are no motion of a robot, efforts and times."""
    width = 2 * model.m
    states = [model.random_state(rng)]
    if model.base == 'fixed':
        states[0].v[:] = 0.0
    for _ in range(count):
        states.append(states[-1].retract(0.02 * rng.normal(size=width)))
    times = np.cumsum([0.0, *rng.uniform(0.005, 0.03, count)])
    return states, rng.normal(size=(count, model.n)), times


def quadruped_on(sets, base='floating'):
    feet = [f'{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')]
    model = TreeModel.from_urdf(robots.path('quadruped'), base=base)
    lin = Linearizer(model, [Contact(foot, kd=40.0) for foot in feet])
    return lin, [[feet[k] for k in numbers] for numbers in sets]


def quadruped_on_a_loop():
    lin, _ = quadruped_on([])
    lin.contacts = [Contact('FL_foot'), Loop('RL_foot', 'FR_foot', 'point')]
    names = [contact.name for contact in lin.contacts]
    return lin, [names, names[:1], names[1:]] * 2


def quadruped_on_dependent_points():
    """Two points of one body: of their six rows five are independent."""
    lin, _ = quadruped_on([])
    lin.contacts = [Contact('FL_foot'), Contact('FL_calf'), Contact('RR_foot')]
    return lin, [('FL_foot', 'FL_calf'), ('RR_foot',), ('FL_calf', 'RR_foot')] * 2


def robot_with_joints_of_several_axes():
    kinds = 'spherical', 'revolute', 'universal'
    robot = tree_description(np.random.default_rng(2), (0, 1, 0), kinds)
    return Linearizer(TreeModel.from_description(robot)), [()] * 6


ALONG = {
    'trot': lambda: quadruped_on([(0, 3), (0, 1, 2, 3), (1, 2), (), (0, 3), (2,)]),
    'fixed base': lambda: quadruped_on([(), (), (0,), (), (), (1, 2)], 'fixed'),
    'loops': quadruped_on_a_loop,
    'dependent points': quadruped_on_dependent_points,
    'joints of several axes': robot_with_joints_of_several_axes,
}


@pytest.mark.parametrize('name', ALONG)
def test_along__equals_discretize_node_by_node(name):
    lin, sets = ALONG[name]()
    states, tau, times = trajectory_of(lin.model, np.random.default_rng(3))
    lin.along(states, tau + 1.0, times, contacts=sets[::-1])
    plan = lin.along(states, tau, times, contacts=sets, out=lin.along.room(9))
    assert len(plan) == 6
    assert plan.in_force == tuple(map(tuple, sets))
    for k, names in enumerate(sets):
        lin.activate(names)
        dt = times[k + 1] - times[k]
        step = lin.discretize(states[k], tau[k], dt, method='zoh', next_reference=states[k + 1])
        assert_close(plan.A[k], step.Phi, 1e-12)
        assert_close(plan.B[k], step.Gamma, 1e-12)
        assert_close(plan.c[k], step.defect, 1e-12)
        L = lin(states[k], tau[k])
        assert_close(plan.nu_dot[k], L.nu_dot, 1e-12)
        own = [plan.first[contact.name] for contact in L.contacts]
        size = plan.wrenches.shape[1] // max(1, len(lin.contacts))
        rows = [row + e for row in own for e in range(size)]
        assert_close(plan.wrenches[k, rows], L.wrenches, 1e-12)
        assert_close(plan.wrench_by_state[k, rows], L.wrench_by_state, 1e-12)
        assert_close(plan.wrench_by_tau[k, rows], L.wrench_by_tau, 1e-12)
        others = np.setdiff1d(np.arange(plan.wrenches.shape[1]), rows)
        assert not plan.wrenches[k, others].any()
        assert not plan.wrench_by_state[k, others].any()


@pytest.mark.parametrize('threads', [1, 3])
def test_along__of_many_trajectories_is_that_of_each(threads):
    lin, sets = quadruped_on([(0, 3), (), (1, 2)] * 2)
    made = [trajectory_of(lin.model, np.random.default_rng(seed)) for seed in range(7)]
    kept = [trajectory[-3:] for trajectory in made]
    states, tau, times = (list(each) for each in zip(*made, strict=True))
    chosen = [sets, None, sets[::-1], *[sets] * 4]
    for _ in range(2):  # workers are used again, and made again for other contacts
        plans = lin.along.many(states, tau, times, contacts=chosen, threads=threads)
        for k, plan in enumerate(plans):
            one = lin.along(*kept[k], contacts=chosen[k])
            for name in ('A', 'B', 'c', 'nu_dot', 'wrenches', 'wrench_by_state', 'wrench_by_tau'):
                np.testing.assert_array_equal(getattr(plan, name), getattr(one, name))
        lin.contacts = [dataclasses.replace(contact, kd=30.0) for contact in lin.contacts]
    with pytest.raises(ShapeError, match=r'\[7, 6, 7, 7\] trajectories'):
        lin.along.many(states, tau[1:], times)
    with pytest.raises(ConfigurationError, match='threads is 0'):
        lin.along.many(states, tau, times, threads=0)
    tau[5][3, 0] = np.nan
    with pytest.raises(NotFiniteError, match='trajectory 5: node 3: '):
        lin.along.many(states, tau, times, threads=threads)


def test_along__names_what_is_wrong():
    lin, _ = quadruped_on([])
    states, tau, times = trajectory_of(lin.model, np.random.default_rng(3))
    with pytest.raises(ConfigurationError, match='numbers that increase'):
        lin.along(states, tau, times[::-1])
    with pytest.raises(ShapeError, match=r'times have shape \(6,\)'):
        lin.along(states, tau, times[1:])
    with pytest.raises(ShapeError, match='2 sets, expected 6'):
        lin.along(states, tau, times, contacts=[(), ()])
    with pytest.raises(UnknownNameError, match='FL_paw'):
        lin.along(states, tau, times, contacts=[('FL_paw',)] * 6)
    with pytest.raises(ShapeError, match='room for 2 intervals'):
        lin.along(states, tau, times, out=lin.along.room(2))
    with pytest.raises(ShapeError, match='other contacts'):
        lin.along(states, tau, times, out=Linearizer(lin.model).along.room(6))
    tau[3, 0] = 1e300
    with pytest.raises(NotFiniteError, match='node 3: '):
        lin.along(states, tau, times)
    rows = np.stack([state.data for state in states])
    rows[-1, 16] = np.nan
    with pytest.raises(NotFiniteError, match=f'node {len(rows) - 1}: '):
        lin.along(rows, tau * 0.0, times)
    lin.contacts = [Contact('FL_foot'), Contact('FL_foot')]
    with pytest.raises(ConfigurationError, match='expected different names'):
        lin.along(states, tau, times)
    model = TreeModel.from_urdf(robots.path('quadruped'), base='fixed')
    moving = model.neutral_state()
    moving.v[0] = 1.0
    with pytest.raises(InputError, match='base twist'):
        Linearizer(model).along([moving, moving], np.zeros((1, model.n)), [0.0, 0.1])

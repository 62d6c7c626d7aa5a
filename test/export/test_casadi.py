# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Functions for CasADi of an exported library, and their Jacobians, against Pinocchio."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from geolin_tools.export import Build, export
from scipy.linalg import expm
from support.c_library import build, needs_tools
from support.close import deviation
from support.constrained_reference import ConstrainedReference
from support.finite_difference import ad, derivative_by_vector
from support.pinocchio_oracle import PinocchioOracle, pin

from geolin_ros import Contact, Linearizer, TreeModel, robots
from geolin_ros.spatial import se3

casadi = pytest.importorskip('casadi')
from benchmarks import casadi_peer  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / 'examples' / 'swing_up.py'
LEGS = 'FL', 'FR', 'RL', 'RR'

pytestmark = [needs_tools, pytest.mark.filterwarnings('ignore::geolin_ros.errors.ModelWarning')]


class Exported:
    """A library, and Pinocchio's model of the robot; x = [position; quaternion; s; v; r]."""

    def __init__(self, path, model, contacts, folder):
        name = export(
            model, folder / 'source', contacts=contacts, build=Build(['native'], (), casadi=True)
        )
        built = build(folder / 'source', folder / 'build', '-DCMAKE_C_FLAGS=-Wall -Wextra -Werror')
        self.library = str(built / f'lib{name}_casadi.so')
        self.model, self.contacts = model, contacts
        self.oracle = PinocchioOracle.read_urdf(path, model)
        self.size = 2 * model.n + 13

    def function(self, name):
        """Return values and Jacobians by all arguments, as CasADi finds and combines them."""
        external = casadi.external(name, self.library)
        given = [casadi.MX.sym(f'x{k}', external.size_in(k)) for k in range(external.n_in())]
        results = external.call(given)
        slopes = [casadi.jacobian(result, each) for result in results for each in given]
        whole = casadi.Function('whole', given, [*results, *slopes])
        return lambda *values: [np.array(each) for each in whole.call(list(values))]

    def state(self, x):
        """Return the state of x."""
        n, state = self.model.n, self.model.neutral_state()
        state.H[:3, 3] = x[:3]
        state.H[:3, :3] = se3.rotation_from_quaternion(x[3:7] / np.linalg.norm(x[3:7]))
        state.s[:], state.v[:], state.r[:] = x[7 : 7 + n], x[7 + n : 13 + n], x[13 + n :]
        return state

    def tau(self, u):
        """Return efforts of all joints."""
        tau = np.zeros(self.model.n)
        tau[self.model.actuated] = u
        return tau

    def by_z(self, x):
        """Return the derivative of x exp(z) by z."""
        slope = np.zeros((x.size, 2 * self.model.m))
        slope[:7, :6], slope[7:, 6:] = pose_by_z(x[:7]), np.eye(x.size - 7)
        return slope

    def check_direction(self, slope, x):
        """A quaternion counts by its direction alone."""
        assert np.abs(slope[:, 3:7] @ x[3:7]).max() < 1e-9 * np.abs(slope).max()

    def held(self, in_force):
        """Return the contacts that are in force."""
        return [contact for contact, on in zip(self.contacts, in_force, strict=False) if on]

    def accelerate(self, x, u, in_force=()):
        """Return Pinocchio's nu_dot, in contact by its constraint dynamics."""
        state, tau, held = self.state(x), self.tau(u), self.held(in_force)
        if held:
            return ConstrainedReference(self.oracle, held).derivatives(state, tau).nu_dot
        return self.oracle.forward_dynamics(state, tau)

    def move(self, x, velocity, acceleration):
        """Return x moved, by pin.integrate."""
        oracle, m = self.oracle, self.model.m
        q = oracle.q(self.state(x))
        q[3:7] = x[3:7] / np.linalg.norm(x[3:7])
        q = pin.integrate(oracle.pin_model, q, oracle._to_pinocchio(velocity))
        s = [q[joint.idx_q + at] for joint, at in oracle.positions]
        return np.concatenate((q[:7], s, x[x.size - m :] + acceleration))

    def step(self, x, u, dt, in_force):
        """Return x after an explicit midpoint step."""
        m = self.model.m
        middle = self.move(x, *0.5 * dt * np.array((x[-m:], self.accelerate(x, u, in_force))))
        return self.move(x, *dt * np.array((middle[-m:], self.accelerate(middle, u, in_force))))


def pose_by_z(pose):
    """Return the derivative (7, 6) of position and quaternion by z: R z, and q (z, 0) / 2."""
    a, b, c, d = pose[3:]
    slope = np.zeros((7, 6))
    slope[:3, :3] = se3.rotation_from_quaternion(pose[3:] / np.linalg.norm(pose[3:]))
    slope[3:, 3:] = 0.5 * np.array([[d, -c, b], [c, d, -a], [-b, a, d], [-a, -b, -c]])
    return slope


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    """A quadruped and its feet; one joint is not actuated."""
    path = robots.path('quadruped')
    names = TreeModel.from_urdf(path).joint_names
    model = TreeModel.from_urdf(path, actuated_joints=names[:-1])
    feet = [Contact(f'{leg}_foot') for leg in LEGS]
    return Exported(path, model, feet, tmp_path_factory.mktemp('quadruped'))


def test_fd__is_that_of_Pinocchio(robot):
    fd, linearization = robot.function('fd'), casadi.external('linearization', robot.library)
    external, model = casadi.external('fd', robot.library), robot.model
    assert (external.name_in(), external.name_out()) == (['x', 'tau'], ['nu_dot'])
    rng, sizes = np.random.default_rng(9), (robot.size, len(model.actuated_joints))
    points = [tuple(rng.normal(size=size) for size in sizes) for _ in range(8)]
    many = external.map(8, 'thread', 2)
    found = np.array(many(*(np.column_stack(part) for part in zip(*points, strict=True)))).T
    for (x, u), nu_dot in zip(points, found, strict=True):
        state, tau = robot.state(x), robot.tau(u)
        A, B, expected = robot.oracle.linearization(state, tau)
        value, by_x, by_u = fd(x, u)
        assert deviation(nu_dot, expected) < 1e-9
        assert deviation(value[:, 0], expected) < 1e-9
        assert deviation(by_x @ robot.by_z(x), A[model.m :]) < 1e-9
        assert deviation(by_u, B[model.m :, model.actuated]) < 1e-9
        robot.check_direction(by_x, x)
        L = Linearizer(model)(state, tau)
        for matrix, own in zip(linearization(x, u), (L.A, L.B), strict=True):
            assert deviation(np.array(matrix), own) < 1e-12


def test_contact_fd__is_that_of_Pinocchio(robot):
    contact_fd, model = robot.function('contact_fd'), robot.model
    rng = np.random.default_rng(5)
    for in_force in ([0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 1], [1, 1, 1, 1]):
        x, u = rng.normal(size=robot.size), rng.normal(size=len(model.actuated_joints))
        state, tau, held = robot.state(x), robot.tau(u), robot.held(in_force)
        nu_dot, forces, by_x, by_u, by_set, forces_by_x, forces_by_u, forces_by_set = contact_fd(
            x, u, in_force
        )
        expected = ConstrainedReference(robot.oracle, held).derivatives(state, tau)
        rows, by_z = np.repeat(in_force, 3) == 1, robot.by_z(x)
        assert deviation(nu_dot[:, 0], expected.nu_dot) < 1e-9
        assert deviation(by_u, expected.nu_dot_by_tau[:, model.actuated]) < 1e-9
        assert not any(each.any() for each in (forces[~rows], forces_by_x[~rows]))
        assert not any(each.any() for each in (by_set, forces_by_set))
        assert deviation(by_x @ by_z, expected.nu_dot_by_state) < 1e-9
        robot.check_direction(by_x, x)
        if held:
            assert deviation(forces[rows, 0], expected.lam) < 1e-9
            assert deviation(forces_by_x[rows] @ by_z, expected.lam_by_state) < 1e-9
            assert deviation(forces_by_u[rows], expected.lam_by_tau[:, model.actuated]) < 1e-9


def test_inverse_dynamics__are_those_of_Pinocchio(robot):
    inverse_dynamics, rng = robot.function('inverse_dynamics'), np.random.default_rng(6)
    for _ in range(3):
        x, nu_dot = rng.normal(size=robot.size), rng.normal(size=robot.model.m)
        efforts, by_x, by_nu_dot = inverse_dynamics(x, nu_dot)
        state = robot.state(x)
        slopes = robot.oracle.inverse_dynamics_derivatives(state, nu_dot)
        assert deviation(efforts[:, 0], robot.oracle.inverse_dynamics(state, nu_dot)) < 1e-9
        assert deviation(by_x @ robot.by_z(x), np.hstack(slopes)) < 1e-9
        assert deviation(by_nu_dot, robot.oracle.mass_matrix(state)) < 1e-9
        robot.check_direction(by_x, x)
        fd = casadi.external('fd', robot.library)  # does not see the wrench on the base
        u = rng.normal(size=fd.size1_in(1))
        assert deviation(np.array(fd(x, u))[:, 0], robot.accelerate(x, u)) < 1e-9


@pytest.mark.parametrize('held', [[0, 0, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
def test_step__is_a_midpoint_step_of_Pinocchio(robot, held):
    step, rng, dt = robot.function('step'), np.random.default_rng(7), 2e-2
    x, u = rng.normal(size=robot.size), rng.normal(size=len(robot.model.actuated_joints))
    found, by_x, by_u, by_dt, *_ = step(x, u, dt, held)
    assert deviation(found[:, 0], robot.step(x, u, dt, held)) < 1e-9
    for slope, function, at in (
        (by_x, lambda x: robot.step(x, u, dt, held), x),
        (by_u, lambda u: robot.step(x, u, dt, held), u),
        (by_dt, lambda t: robot.step(x, u, t[0], held), np.array([dt])),
    ):
        expected = derivative_by_vector(function, at, step=1e-2 if at is x else 1e-3)
        assert deviation(slope, expected) < 1e-8
    robot.check_direction(by_x, x)


def test_tangent_chart__is_that_of_Pinocchio(robot):
    displace, difference = robot.function('displace'), robot.function('difference')
    rng = np.random.default_rng(8)
    for size in (0.0, 1e-9, 1e-3, 1.0, 3.1):
        pose, z = rng.normal(size=7), rng.normal(size=6)
        z[3:] *= size / np.linalg.norm(z[3:])
        moved, by_pose, by_z = displace(pose, z)
        moved, M = moved[:, 0], pin.exp6(z)
        first, last = (
            pin.XYZQUATToSE3(np.concatenate((p[:3], p[3:] / np.linalg.norm(p[3:]))))
            for p in (pose, moved)
        )
        assert deviation(last.homogeneous, (first * M).homogeneous) < 1e-12
        assert abs(np.linalg.norm(moved[3:]) - 1.0) < 1e-14
        J = expm(np.block([[-ad(z), np.eye(6)], [np.zeros((6, 12))]]))[:6, 6:]
        assert deviation(J, pin.Jexp6(z)) < 1e-7  # which loses digits at small angles
        assert deviation(by_z, pose_by_z(moved) @ J) < 1e-9
        expected = pose_by_z(moved) @ M.inverse().action
        assert deviation(by_pose @ pose_by_z(pose), expected) < 1e-9
        other = np.concatenate((moved[:3], -2.0 * moved[3:]))
        found, by_pose, by_other = difference(pose, other)
        assert deviation(found[:, 0], z) < 1e-9
        assert deviation(by_other @ pose_by_z(other), np.linalg.inv(J)) < 1e-9
        expected = -np.linalg.solve(J, M.inverse().action)
        assert deviation(by_pose @ pose_by_z(pose), expected) < 1e-9
        for slope, numbers in ((by_pose, pose), (by_other, other)):
            assert np.abs(slope[:, 3:] @ numbers[3:]).max() < 1e-9


def test_benchmark__measures_in_one_round(robot, monkeypatch, capsys):
    """Without adam: in its place the library is compared with itself."""
    again = casadi.external('jac_fd', robot.library)
    monkeypatch.setattr(casadi_peer, 'adams', lambda urdf: again)
    words = ['', str(robots.path('quadruped')), robot.library, '--states', '2', '--runs', '1']
    monkeypatch.setattr('sys.argv', words)
    casadi_peer.main()
    assert re.search(r'\| ours \| [\d.]+ (?s:.*)\| 0\.0e\+00 \|', capsys.readouterr().out)


def test_swing_up__ends_upright_in_pinocchio():
    example = runpy.run_path(str(EXAMPLE))
    states, efforts = example['swing_up']()
    model = pin.buildModelFromXML(
        example['PENDULUM']
        .replace('continuous', 'revolute')
        .replace('<axis', '<limit lower="-9" upper="9" effort="1" velocity="1"/><axis')
    )
    data, x = model.createData(), np.zeros(4)
    dt = example['DURATION'] / example['STEPS']
    for u in efforts:

        def rate(x, u=u):
            return np.concatenate((x[2:], pin.aba(model, data, x[:2], x[2:], np.array([u, 0.0]))))

        k_1 = rate(x)
        k_2 = rate(x + 0.5 * dt * k_1)
        k_3 = rate(x + 0.5 * dt * k_2)
        x = x + dt / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + rate(x + dt * k_3))
    assert np.abs(x - [np.pi, 0.0, 0.0, 0.0]).max() < 1e-4
    assert np.abs(states[-1] - x).max() < 1e-4
    assert np.abs(efforts).max() <= example['LIMIT'] + 1e-6

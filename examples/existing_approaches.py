# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""All eight rows of [Bos 2022, Table 1], each computed its own way, with its error and its cost.

``python -m examples.existing_approaches``: the quadruped at one attitude and at the singularity of
Euler angles. Every approach makes A in its own coordinates, from the description of the robot and
not from the A of another row; A is carried to z = log(g^-1 g') and compared with Pinocchio's, that
of Pinocchio in Euler angles with ours. Times are the least of many calls from Python, all in this
run. CasADi (``pip install casadi``) differentiates automatically and symbolically; without it its
rows say so.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pinocchio
from numpy.typing import NDArray

from examples.compare_representations import (
    EulerAngles,
    Quaternion,
    Somersault,
    rates_by_pinocchio,
)
from examples.compare_representations import forward_differences as by_forward_differences
from geolin_papers import bos_2022
from geolin_papers.lie_groups import SE3, euclidean, linearize, product
from geolin_ros import State, robots
from geolin_ros.spatial import se3

Array = NDArray[np.float64]
Linearize = Callable[[State], Array]
EXACT = 1e-9
GENERIC, SINGULAR = 40.0, 90.0  # degrees


class Approach(NamedTuple):
    """A way to A, in coordinates of its own."""

    row: str
    """Of Table 1."""
    here: str
    recursive: bool
    linearize: Linearize
    coordinates: EulerAngles | Quaternion | None = None
    derivatives: bool = True


class Judged(NamedTuple):
    """What came of an approach."""

    approach: Approach
    error: float
    at_singularity: float
    seconds: float


def approaches(robot: Somersault) -> Iterator[Approach]:
    """Yield the rows of Table 1 in its order, those that need CasADi only where it is."""
    yield Approach(
        'Geometric linearization', 'any Lie group, differences of order 6', False, on_group(robot)
    )
    yield Approach(
        'Sensitivity on Lie groups', 'dense Jacobians, NumPy', False, by_jacobians(robot)
    )
    yield Approach(
        'Recursive algorithms', 'forward dynamics alone', True,
        lambda at: robot.lin.forward_dynamics(at, robot.tau), derivatives=False,
    )  # fmt: skip
    yield Approach(
        'Finite differences', '37 forward dynamics, forward', False,
        lambda at: by_forward_differences(robot, at),
    )  # fmt: skip
    euler = EulerAngles()
    if find_spec('casadi') is not None:
        yield Approach(
            'Lagrangian derivation', 'symbolic by CasADi, Euler angles', False,
            by_lagrangian(robot), euler,
        )  # fmt: skip
        yield Approach(
            'Automatic differentiation', 'of RNEA by CasADi, Euler angles', True,
            by_automatic_differentiation(robot, 'euler'), euler,
        )  # fmt: skip
        yield Approach(
            'Automatic differentiation', 'of RNEA by CasADi, quaternion', True,
            by_automatic_differentiation(robot, 'quaternion'), Quaternion(),
        )  # fmt: skip
    yield Approach(
        'Analytical derivation', 'Pinocchio, Euler angles as six joints', True,
        PinocchioInEulerAngles(robot), euler,
    )  # fmt: skip
    yield Approach('This manuscript', 'its tables, NumPy', True, by_tables(robot))
    yield Approach('This manuscript', 'geolin_ros', True, lambda at: robot.lin(at, robot.tau).A)


def on_group(robot: Somersault) -> Linearize:
    """Return A by `geolin_papers.lie_groups.linearize` of the field alone."""
    model, n = robot.model, robot.model.n
    group = product(SE3, euclidean(n), euclidean(6), euclidean(n))

    def field(g: tuple[Array, ...], tau: Array) -> Array:
        at = State(*g)
        return np.concatenate((at.v, at.r, robot.lin.forward_dynamics(at, tau)))

    def linearized(at: State) -> Array:
        return linearize(group, field, (at.H, at.s, at.v, at.r), robot.tau)[0]

    assert model.base == 'floating'
    return linearized


def by_tables(robot: Somersault) -> Linearize:
    """Return A by Tables 4 to 9, damping added: the paper has none."""
    model, m = robot.model, robot.model.m
    damping = model.tree.damping[model.own_coordinate]

    def linearized(at: State) -> Array:
        tau = robot.tau - damping * at.r
        A, B, _ = bos_2022.linearization(model.tree, at.H, at.s, at.v, at.r, tau, model.gravity)
        A[m:, m + 6 :] -= B[m:] * damping
        return A

    return linearized


def by_jacobians(robot: Somersault) -> Linearize:
    """Return A from the body Jacobian J of every body and its derivatives, without recursion.

    With J_j x J_k = dJ_j/ds_k for j above k, B_k the twist of what is above joint k, D_k the same
    of accelerations: V = J nu, A = J nudot + sum_l r_l B_l x J_l, dV/ds_k = B_k x J_k.
    """
    model, tree, m = robot.model, robot.model.tree, robot.model.m
    damping = np.concatenate((np.zeros(6), tree.damping))
    paths = [[] for _ in tree.parent]
    for i in range(1, tree.parent.size):
        paths[i] = [*paths[tree.parent[i]], i]

    def linearized(at: State) -> Array:
        upward = np.concatenate((at.H[:3, :3].T @ -model.gravity, np.zeros(3)))
        nu = np.concatenate((at.v, at.r))
        poses = [np.eye(4)]
        for i in range(1, tree.parent.size):
            here = np.eye(4)
            here[:3, :3], here[:3, 3] = tree.rotation[i], tree.translation[i]
            c = tree.v_start[i]
            step = here @ se3.exp(tree.subspace[c] * at.s[c])
            poses.append(poses[tree.parent[i]] @ step)
        jacobians = []
        for i, path in enumerate(paths):
            J, back = np.zeros((6, m)), se3.inverse(poses[i])
            J[:, :6] = se3.adjoint(back)
            for k in path:
                c = tree.v_start[k]
                J[:, 6 + c] = se3.adjoint(back @ poses[k]) @ tree.subspace[c]
            jacobians.append(J)
        M = sum(J.T @ tree.inertia[i] @ J for i, J in enumerate(jacobians))
        bias = sum(
            J.T @ body(i, J, at, nu, np.zeros(m), upward)[0] for i, J in enumerate(jacobians)
        )
        applied = np.concatenate((np.zeros(6), robot.tau)) - damping * nu
        nu_dot = np.linalg.solve(M, applied - bias)
        D = np.zeros((m, 2 * m))
        for i, J in enumerate(jacobians):
            F, dF = body(i, J, at, nu, nu_dot, upward)
            D += J.T @ dF
            for k in paths[i]:  # dJ/ds_k' F
                c = 6 + tree.v_start[k]
                above = [*range(6), *(6 + tree.v_start[j] for j in paths[tree.parent[k]])]
                D[above, c] += (-se3.cross(J[:, c]) @ J[:, above]).T @ F
        D[:, m:] += np.diag(damping)
        A = np.zeros((2 * m, 2 * m))
        A[:6, :6], A[:m, m:], A[m:] = -se3.cross(at.v), np.eye(m), -np.linalg.solve(M, D)
        return A

    def body(
        i: int, J: Array, at: State, nu: Array, nu_dot: Array, upward: Array
    ) -> tuple[Array, Array]:
        """Return wrench (6,) of body i and its derivative (6, 2 m)."""
        inertia, columns = tree.inertia[i], [6 + tree.v_start[k] for k in paths[i]]
        alpha = nu_dot.copy()
        alpha[:6] += upward
        B, D, dV, dA = [], [], np.zeros((6, 2 * m)), np.zeros((6, 2 * m))
        twist, rate = J[:, :6] @ nu[:6], J[:, :6] @ alpha[:6]
        for c in columns:
            B.append(twist)
            D.append(rate)
            twist, rate = twist + J[:, c] * nu[c], rate + J[:, c] * alpha[c]
        cross = se3.cross
        A = rate + sum(
            (nu[c] * cross(b) @ J[:, c] for b, c in zip(B, columns, strict=True)), np.zeros(6)
        )
        dA[:, :6] = J[:, :6] @ cross(upward)
        dV[:, m:] = J
        for k, c in enumerate(columns):
            dV[:, c] = cross(B[k]) @ J[:, c]
            dA[:, c] = cross(D[k]) @ J[:, c]
            dA[:, m + c] += cross(B[k]) @ J[:, c]
            for el, e in enumerate(columns):
                moved = cross(cross(B[min(k, el)]) @ J[:, c]) @ J[:, e]
                if el < k:
                    moved = moved + cross(B[el]) @ cross(J[:, e]) @ J[:, c]
                dA[:, c] += nu[e] * moved
            above = [*range(6), *columns[:k]]
            dA[:, [m + j for j in above]] -= nu[c] * cross(J[:, c]) @ J[:, above]
        momentum = inertia @ twist
        f, t = se3.cross3(momentum[:3]), se3.cross3(momentum[3:])
        gyroscopic = -np.block([[np.zeros((3, 3)), f], [f, t]]) + se3.cross_wrench(twist) @ inertia
        return inertia @ A + se3.cross_wrench(twist) @ momentum, inertia @ dA + gyroscopic @ dV

    return linearized


class Symbolic:
    """The robot in CasADi: body twists, accelerations and wrenches of symbols."""

    def __init__(self, robot: Somersault) -> None:
        import casadi

        if hasattr(casadi.GlobalOptions, 'setNumpyMode'):  # as before 3.8
            casadi.GlobalOptions.setNumpyMode(-1)
        self.ca: Any = casadi
        self.robot, self.tree, self.n = robot, robot.model.tree, robot.model.n
        self.gravity = robot.model.gravity
        self.damping = np.concatenate((np.zeros(6), self.tree.damping))

    def to_child(self, R: Any, o: Any, v: Any) -> Any:
        """Return a twist of the parent in the child with pose (R, o)."""
        ca = self.ca
        return ca.vertcat(R.T @ (v[:3] - self.ca.skew(o) @ v[3:]), R.T @ v[3:])

    def cross(self, v: Any, y: Any) -> Any:
        """Return v x y of two twists."""
        ca = self.ca
        linear = self.ca.skew(v[3:]) @ y[:3] + self.ca.skew(v[:3]) @ y[3:]
        return ca.vertcat(linear, self.ca.skew(v[3:]) @ y[3:])

    def cross_wrench(self, v: Any, f: Any) -> Any:
        """Return v xb* f of a twist and a wrench."""
        ca = self.ca
        turned = self.ca.skew(v[3:]) @ f[3:] + self.ca.skew(v[:3]) @ f[:3]
        return ca.vertcat(self.ca.skew(v[3:]) @ f[:3], turned)

    def poses(self, s: Any) -> list[tuple[Any, Any]]:
        """Return the pose of every body in its parent; of the base nothing."""
        ca, tree, found = self.ca, self.tree, [(None, None)]
        for i in range(1, tree.parent.size):
            c = int(tree.v_start[i])
            u, w = tree.subspace[c, :3], np.array(se3.cross3(tree.subspace[c, 3:]))
            sin, cos = ca.sin(s[c]), ca.cos(s[c])
            R = ca.SX.eye(3) + sin * w + (1 - cos) * (w @ w)
            o = s[c] * u + (1 - cos) * (w @ u) + (s[c] - sin) * (w @ w @ u)
            found.append((tree.rotation[i] @ R, tree.translation[i] + tree.rotation[i] @ o))
        return found

    def inverse_dynamics(self, R: Any, s: Any, nu: Any, nu_dot: Any) -> Any:
        """Return [base wrench; efforts] by the recursive Newton-Euler algorithm."""
        ca, tree, poses = self.ca, self.tree, self.poses(s)
        V = [nu[:6]]
        A = [nu_dot[:6] + ca.vertcat(R.T @ -self.gravity, ca.SX.zeros(3))]
        for i in range(1, tree.parent.size):
            p, c = int(tree.parent[i]), int(tree.v_start[i])
            joint = tree.subspace[c] * nu[6 + c]
            V.append(self.to_child(*poses[i], V[p]) + joint)
            own = tree.subspace[c] * nu_dot[6 + c] + self.cross(V[i], joint)
            A.append(self.to_child(*poses[i], A[p]) + own)
        F = [
            tree.inertia[i] @ A[i] + self.cross_wrench(V[i], tree.inertia[i] @ V[i])
            for i in range(tree.parent.size)
        ]
        tau = ca.SX.zeros(self.n)
        for i in range(tree.parent.size - 1, 0, -1):
            p, c, (Q, o) = int(tree.parent[i]), int(tree.v_start[i]), poses[i]
            tau[c] = ca.dot(ca.DM(tree.subspace[c]), F[i])
            force = Q @ F[i][:3]
            F[p] = F[p] + ca.vertcat(force, Q @ F[i][3:] + self.ca.skew(o) @ force)
        return ca.vertcat(F[0], tau) + self.damping * nu

    def energies(self, R: Any, o: Any, s: Any, nu: Any) -> tuple[Any, Any]:
        """Return kinetic and potential energy."""
        ca, tree, poses = self.ca, self.tree, self.poses(s)
        V, world, kinetic, potential = [nu[:6]], [(R, o)], 0, 0
        for i in range(tree.parent.size):
            if i > 0:
                p, c, (Q, t) = int(tree.parent[i]), int(tree.v_start[i]), poses[i]
                V.append(self.to_child(Q, t, V[p]) + tree.subspace[c] * nu[6 + c])
                world.append((world[p][0] @ Q, world[p][1] + world[p][0] @ t))
            M = tree.inertia[i]
            kinetic += V[i].T @ M @ V[i] / 2
            moment = np.array([M[5, 1], M[3, 2], M[4, 0]])  # m c
            centre = M[0, 0] * world[i][1] + world[i][0] @ moment
            potential -= ca.dot(ca.DM(self.gravity), centre)
        return kinetic, potential

    def rotation(self, angles: Any) -> tuple[Any, Any]:
        """Return R = Rz(yaw) Ry(pitch) Rx(roll), and W with w = W (roll', pitch', yaw')."""
        ca = self.ca
        (cr, cp, cy), (sr, sp, sy) = ([f(angles[e]) for e in range(3)] for f in (ca.cos, ca.sin))
        x = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, cr, -sr), ca.horzcat(0, sr, cr))
        y = ca.vertcat(ca.horzcat(cp, 0, sp), ca.horzcat(0, 1, 0), ca.horzcat(-sp, 0, cp))
        z = ca.vertcat(ca.horzcat(cy, -sy, 0), ca.horzcat(sy, cy, 0), ca.horzcat(0, 0, 1))
        W = ca.vertcat(
            ca.horzcat(1, 0, -sp), ca.horzcat(0, cr, sr * cp), ca.horzcat(0, -sr, cr * cp)
        )
        return z @ y @ x, W

    def velocity(self, R: Any, W: Any, q_dot: Any) -> Any:
        """Return [base twist; rates] of the rates of (o, roll, pitch, yaw, s)."""
        return self.ca.vertcat(R.T @ q_dot[:3], W @ q_dot[3:6], q_dot[6:])

    def in_euler_angles(self, force: Any, q: Any, q_dot: Any, q_ddot: Any) -> Linearize:
        """Return A from Q(q, q_dot, q_ddot) = (0; tau), q = (o, roll, pitch, yaw, s)."""
        ca, robot, m = self.ca, self.robot, 6 + self.n
        of = ca.Function('of', [q, q_dot, q_ddot], [force, ca.jacobian(force, q_ddot)])
        by = ca.Function(
            'by', [q, q_dot, q_ddot], [ca.jacobian(force, q), ca.jacobian(force, q_dot)]
        )
        applied, chart = np.concatenate((np.zeros(6), robot.tau)), EulerAngles()

        def linearized(at: State) -> Array:
            x = chart.coordinates(at)
            bias, M = of(x[:m], x[m:], np.zeros(m))
            M = np.array(M)
            accelerations = np.linalg.solve(M, applied - np.array(bias)[:, 0])
            A = np.zeros((2 * m, 2 * m))
            A[:m, m:] = np.eye(m)
            A[m:] = -np.linalg.solve(M, np.hstack(by(x[:m], x[m:], accelerations)))
            return A

        return linearized


def by_lagrangian(robot: Somersault) -> Linearize:
    """Return A from d/dt dT/dq_dot - dT/dq + dU/dq, expressions of the whole robot."""
    sym = Symbolic(robot)
    ca, m = sym.ca, 6 + sym.n
    q, q_dot, q_ddot = (ca.SX.sym(name, m) for name in ('q', 'q_dot', 'q_ddot'))
    R, W = sym.rotation(q[3:6])
    kinetic, potential = sym.energies(R, q[:3], q[6:], sym.velocity(R, W, q_dot))
    momentum = ca.gradient(kinetic, q_dot)
    force = ca.jtimes(momentum, q, q_dot) + ca.jtimes(momentum, q_dot, q_ddot)
    force += ca.gradient(potential - kinetic, q) + sym.damping * q_dot
    return sym.in_euler_angles(force, q, q_dot, q_ddot)


def by_automatic_differentiation(robot: Somersault, coordinates: str) -> Linearize:
    """Return A from the inverse dynamics, differentiated operation by operation."""
    sym = Symbolic(robot)
    ca, m, n = sym.ca, 6 + sym.n, sym.n
    if coordinates == 'euler':
        q, q_dot, q_ddot = (ca.SX.sym(name, m) for name in ('q', 'q_dot', 'q_ddot'))
        R, W = sym.rotation(q[3:6])
        nu = sym.velocity(R, W, q_dot)
        nu_dot = ca.jtimes(nu, q, q_dot) + ca.jtimes(nu, q_dot, q_ddot)
        wrench = sym.inverse_dynamics(R, q[6:], nu, nu_dot)
        return sym.in_euler_angles(ca.jacobian(nu, q_dot).T @ wrench, q, q_dot, q_ddot)
    q, s, nu, nu_dot = (ca.SX.sym(*of) for of in (('q', 4), ('s', n), ('nu', m), ('nu_dot', m)))
    x, y, z, w = ca.vertsplit(q / ca.norm_2(q))
    v = ca.vertcat(x, y, z)
    R = (w * w - v.T @ v) * ca.SX.eye(3) + 2 * v @ v.T + 2 * w * ca.skew(v)
    force = sym.inverse_dynamics(R, s, nu, nu_dot)
    turned = ca.vertcat(q[3] * nu[3:6] + ca.cross(q[:3], nu[3:6]), -q[:3].T @ nu[3:6]) / 2
    upper = ca.vertcat(R @ nu[:3], turned, nu[6:])
    of = ca.Function('of', [q, s, nu, nu_dot], [force, ca.jacobian(force, nu_dot)])
    k = 2 * m + 1
    everything = ca.vertcat(q, s, nu)
    by = ca.Function(
        'by', [q, s, nu, nu_dot], [ca.jacobian(upper, everything), ca.jacobian(force, everything)]
    )
    applied = np.concatenate((np.zeros(6), robot.tau))

    def linearized(at: State) -> Array:
        given = (se3.quaternion_from_rotation(at.H[:3, :3]), at.s, np.concatenate((at.v, at.r)))
        bias, M = of(*given, np.zeros(m))
        M = np.array(M)
        above, below = by(*given, np.linalg.solve(M, applied - np.array(bias)[:, 0]))
        A = np.zeros((k, k))  # no column of the position o
        A[: m + 1, 3:] = above
        A[m + 1 :, 3:] = -np.linalg.solve(M, np.array(below))
        return A

    return linearized


class PinocchioInEulerAngles:
    """A by computeABADerivatives, the base moved by three prismatic and three revolute joints."""

    def __init__(self, robot: Somersault) -> None:
        chain, at = pinocchio.Model(), 0
        kinds = ('PX', 'PY', 'PZ', 'RZ', 'RY', 'RX')
        for kind in kinds:
            joint = getattr(pinocchio, f'JointModel{kind}')()
            at = chain.addJoint(at, joint, pinocchio.SE3.Identity(), kind)
        frame = pinocchio.Frame(
            'end', at, 0, pinocchio.SE3.Identity(), pinocchio.FrameType.OP_FRAME
        )
        index = chain.addFrame(frame)
        legs = pinocchio.buildModelFromUrdf(str(robots.path('quadruped')))
        self.theirs = pinocchio.appendModel(chain, legs, index, pinocchio.SE3.Identity())
        self.data, self.robot = self.theirs.createData(), robot
        names = ('PX', 'PY', 'PZ', 'RX', 'RY', 'RZ', *robot.model.joint_names)
        joints = [self.theirs.joints[self.theirs.getJointId(name)] for name in names]
        self.order = np.array([joint.idx_v for joint in joints])
        self.damping = np.concatenate(
            (np.zeros(6), robot.model.tree.damping[robot.model.own_coordinate])
        )

    def __call__(self, at: State) -> Array:
        """Return A of (o, roll, pitch, yaw, s; rates)."""
        x, m = EulerAngles().coordinates(at), 6 + at.s.size
        q, v, effort = np.zeros((3, m))
        q[self.order], v[self.order] = x[:m], x[m:]
        effort[self.order] = np.concatenate((np.zeros(6), self.robot.tau)) - self.damping * x[m:]
        return rates_by_pinocchio(self.theirs, self.data, q, v, effort, self.order, self.damping)


def error(robot: Somersault, approach: Approach, degrees: float) -> float:
    """Return max|A - A*| / max|A*| in z; infinite where A cannot be made."""
    at = robot.state(degrees)
    referee = robot.referee.linearize(at, robot.tau)
    if approach.here.startswith('Pinocchio'):
        referee = robot.lin(at, robot.tau).A.copy()
    try:
        A = np.array(approach.linearize(at))
        if approach.coordinates is not None:
            nu_dot = robot.lin.forward_dynamics(at, robot.tau).copy()
            A = approach.coordinates.chart(at, nu_dot).back(A)
    except np.linalg.LinAlgError:
        return float('inf')
    found = float(np.abs(A - referee).max() / np.abs(referee).max())
    return found if np.isfinite(found) else float('inf')


def least_time(call: Callable[[], object], seconds: float) -> float:
    """Return the shortest of many calls."""
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or not np.isfinite(best):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return float(best)


def judge(robot: Somersault, approach: Approach, seconds: float) -> Judged:
    """Return errors and cost of an approach."""
    at = robot.state(GENERIC)
    cost = least_time(lambda: approach.linearize(at), seconds)
    if not approach.derivatives:
        return Judged(approach, np.nan, np.nan, cost)
    errors = (error(robot, approach, degrees) for degrees in (GENERIC, SINGULAR))
    return Judged(approach, *errors, cost)


def table(judged: Sequence[Judged]) -> str:
    """Return the rows in Markdown; the last one is ours."""
    heads = ('Row of Table 1', 'Here', 'SF', 'MB', 'RF', 'ED', 'Error of A', 'at pitch 90')
    lines = [f'| {" | ".join((*heads, "us", "times ours"))} |', '|---' * 10 + '|']
    for row in judged:
        of, ours = row.approach, judged[-1].seconds
        ticks = ['yes', 'yes', 'yes' if of.recursive else 'no', '-']
        numbers = ['-', '-']
        if of.derivatives:
            ticks[0] = 'yes' if row.at_singularity < 1e3 * row.error + EXACT else 'no'
            ticks[3] = 'yes' if row.error < EXACT else 'no'
            numbers = [
                f'{value:.1e}' if value < 1.0 else 'singular'
                for value in (row.error, row.at_singularity)
            ]
        cost = (f'{1e6 * row.seconds:.0f}', f'{row.seconds / ours:.1f}')
        lines.append(f'| {" | ".join((of.row, of.here, *ticks, *numbers, *cost))} |')
    return '\n'.join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge all rows and print them."""
    parser = argparse.ArgumentParser(
        prog='python -m examples.existing_approaches', description=__doc__.partition('\n')[0]
    )
    parser.add_argument('--seconds', type=float, default=1.0, help='of calls a row (default 1)')
    options = parser.parse_args(arguments)
    if not options.seconds > 0.0:
        parser.error(f'--seconds is {options.seconds}, expected more than 0')
    robot = Somersault()
    print(table([judge(robot, approach, options.seconds) for approach in approaches(robot)]))
    if find_spec('casadi') is None:
        print('\nnot here: Lagrangian derivation, automatic differentiation; pip install casadi')


if __name__ == '__main__':
    main()

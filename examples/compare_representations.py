#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare four ways to linearize one robot while it turns over [Bos 2022, Table 1].

The quadruped somersaults: its base is turned about its y axis by 0 to 360 degrees, everything else
kept. At each attitude A is made in four kinds of coordinates, each carried to z = log(g^-1 g') by
the exact change of coordinates and compared with Pinocchio:

- Euler angles (roll, pitch, yaw) and their rates, exact derivatives;
- a quaternion kept at unit length, exact derivatives;
- z itself, by forward differences;
- z itself, by this package.

A second test predicts a disturbed motion linearly in each kind, as a controller would, against the
nonlinear dynamics. Results: a picture and a table in Markdown.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio
from numpy.typing import NDArray

from geolin_papers.trajectory import transition
from geolin_ros import Linearizer, State, TreeModel, robots
from geolin_ros.spatial import se3

Array = NDArray[np.float64]

DIFFERENCE = 1e-6  # of the forward differences, as [Bos 2022, section 5]
DISTURBANCE = 0.02  # in each of H, s, v, r: m, rad, m/s, rad/s
HORIZON, STEPS = 0.02, 4  # of the prediction [s]
EXACT_BELOW = 1e-10  # errors of A that count as rounding
SMOOTH_BELOW = 10.0  # largest entry of A over its median: no singularity
SINGULAR_ABOVE = 1e8  # no number of this size means anything here
INK, GREY = '#1f2933', '#7b8794'
LINES = (  # colour, width and dashes of each approach
    ('#b23a2e', 1.4, '-'),
    ('#c98a1b', 3.2, '-'),
    ('#6b7f94', 1.4, '--'),
    ('#1d4e79', 1.4, '-'),
)


class Somersault:
    """The robot at every attitude: state, efforts, A by this package and by Pinocchio."""

    def __init__(self) -> None:
        self.model = TreeModel.from_urdf(robots.path('quadruped'))
        self.lin = Linearizer(self.model)
        rng = np.random.default_rng(2)
        drawn = self.model.random_state(rng)
        self.s, self.r = drawn.s, drawn.r
        self.v = np.array([0.5, -0.2, 1.0, 0.3, 4.5, -0.4])
        self.tau = rng.normal(size=self.model.n)
        self.disturbance = DISTURBANCE * rng.choice([-1.0, 1.0], 2 * self.model.m)
        self.referee = Pinocchio(self.model)

    def state(self, degrees: float) -> State:
        """Return the state with the base turned about y."""
        H = se3.exp([0.0, 0.0, 0.0, 0.0, np.radians(degrees), 0.0])
        H[:3, 3] = (0.4, -0.3, 1.0)
        return State(H, self.s, self.v, self.r)


class Pinocchio:
    """A by Pinocchio's computeABADerivatives, its kinematic rows [-(v x), 0, 1, 0] added."""

    def __init__(self, model: TreeModel) -> None:
        path = str(robots.path('quadruped'))
        self.theirs = pinocchio.buildModelFromUrdf(path, pinocchio.JointModelFreeFlyer())
        self.data, self.model = self.theirs.createData(), model
        joints = [self.theirs.joints[self.theirs.getJointId(name)] for name in model.joint_names]
        self.positions = [joint.idx_q for joint in joints]
        self.order = np.array([*range(6), *(joint.idx_v for joint in joints)])
        self.damping = np.concatenate((np.zeros(6), self.theirs.damping[self.order[6:]]))

    def linearize(self, state: State, tau: Array) -> Array:
        """Return A (2 m, 2 m)."""
        m = self.model.m
        q, nu, effort = pinocchio.neutral(self.theirs), np.zeros(m), np.zeros(m)
        q[:7] = pinocchio.SE3ToXYZQUAT(pinocchio.SE3(state.H))
        q[self.positions] = state.s
        ours = np.concatenate((state.v, state.r))
        nu[self.order] = ours
        effort[self.order] = np.concatenate((np.zeros(6), tau)) - self.damping * ours
        A = rates_by_pinocchio(self.theirs, self.data, q, nu, effort, self.order, self.damping)
        A[:6, :6] = -pinocchio.Motion(state.v).action
        return A


def rates_by_pinocchio(
    theirs: pinocchio.Model,
    data: pinocchio.Data,
    q: Array,
    nu: Array,
    effort: Array,
    order: NDArray[np.int64],
    damping: Array,
) -> Array:
    """Return A (2 m, 2 m) of positions whose rates are nu, in ``order``, damping added."""
    by_q, by_v, by_tau = pinocchio.computeABADerivatives(theirs, data, q, nu, effort)
    square, m = np.ix_(order, order), order.size
    upper = np.triu(by_tau)
    inverse_mass = (upper + np.triu(upper, 1).T)[square]
    A = np.zeros((2 * m, 2 * m))
    A[:m, m:] = np.eye(m)
    A[m:, :m], A[m:, m:] = by_q[square], by_v[square] - inverse_mass * damping
    return A


class Chart(NamedTuple):
    """Coordinates x about a state: x = L z + N y, z = T x; y is what a constraint forbids."""

    T: Array
    """(2 m, k) dz/dx."""
    T_dot: Array
    """(2 m, k) its rate along the motion."""
    L: Array
    """(k, 2 m) dx/dz, T L = 1."""
    N: Array
    """(k, k - 2 m) orthonormal, T N = 0."""
    N_dot: Array
    """(k, k - 2 m) its rate."""

    def linearization(self, A: Array) -> Array:
        """Return A of x from that of z: y stays, and with T N = 0 it moves x by N_dot y."""
        return self.L @ (A @ self.T - self.T_dot) - self.N @ self.N_dot.T

    def back(self, A: Array) -> Array:
        """Return A of z from that of x."""
        return (self.T @ A + self.T_dot) @ self.L

    def flow(self, Phi: Array, after: 'Chart') -> Array:
        """Return Phi of x from that of z, into the chart after the step."""
        return after.L @ Phi @ self.T + after.N @ self.N.T


class EulerAngles:
    """x = (o, roll, pitch, yaw, s; rates): R = Rz(yaw) Ry(pitch) Rx(roll), singular at pitch 90.

    The body's angular velocity is w = W (roll', pitch', yaw').
    """

    def coordinates(self, state: State) -> Array:
        """Return x of a state."""
        R = state.H[:3, :3]
        angles = euler_angles(R)
        rates = np.linalg.solve(rate_map(*angles[:2])[0], state.v[3:])
        return np.concatenate((state.H[:3, 3], angles, state.s, R @ state.v[:3], rates, state.r))

    def state(self, x: Array) -> State:
        """Return the state at x."""
        m = x.size // 2
        H, W = np.eye(4), rate_map(*x[3:5])[0]
        H[:3, :3], H[:3, 3] = rotation(x[3:6]), x[:3]
        v = np.concatenate((H[:3, :3].T @ x[m : m + 3], W @ x[m + 3 : m + 6]))
        return State(H, x[6:m], v, x[m + 6 :])

    def difference(self, x: Array, y: Array) -> Array:
        """Return y - x, angles taken the short way."""
        d = y - x
        d[3:6] = (d[3:6] + np.pi) % (2.0 * np.pi) - np.pi
        return d

    def chart(self, state: State, nu_dot: Array) -> Chart:
        """Return T: z_H = (R' do; W dangles), z_v = d(R' odot; W rates)."""
        m = 6 + state.s.size
        R, u, w = state.H[:3, :3], state.v[:3], state.v[3:]
        W, by, by_by = rate_map(*euler_angles(R)[:2])
        rates = np.linalg.solve(W, w)
        W_dot = by[0] * rates[0] + by[1] * rates[1]
        accelerations = np.linalg.solve(W, nu_dot[3:6] - W_dot @ rates)
        V, V_dot = np.zeros((3, 3)), np.zeros((3, 3))  # d(W rates)/dangles
        for k in range(2):
            by_dot = by_by[k][0] * rates[0] + by_by[k][1] * rates[1]
            V[:, k] = by[k] @ rates
            V_dot[:, k] = by_dot @ rates + by[k] @ accelerations
        T, T_dot = np.eye(2 * m), np.zeros((2 * m, 2 * m))
        for at in (0, m):
            o, angles = slice(at, at + 3), slice(at + 3, at + 6)
            T[o, o], T_dot[o, o] = R.T, -se3.cross3(w) @ R.T
            T[angles, angles], T_dot[angles, angles] = W, W_dot
        T[m : m + 3, 3:6], T[m + 3 : m + 6, 3:6] = se3.cross3(u) @ W, V
        T_dot[m : m + 3, 3:6] = se3.cross3(nu_dot[:3]) @ W + se3.cross3(u) @ W_dot
        T_dot[m + 3 : m + 6, 3:6] = V_dot
        none = np.zeros((2 * m, 0))
        return Chart(T, T_dot, np.linalg.inv(T), none, none)


class Quaternion:
    """x = (o, q, s, v, r), q = (x, y, z, w) of length 1: one coordinate more than there is room.

    R(q) normalises, so that length is a motion of its own: q' = q (w; 0) / 2 keeps it.
    """

    def coordinates(self, state: State) -> Array:
        """Return x of a state."""
        q = se3.quaternion_from_rotation(state.H[:3, :3])
        return np.concatenate((state.H[:3, 3], q, state.s, state.v, state.r))

    def state(self, x: Array) -> State:
        """Return the state at x."""
        n = (x.size - 13) // 2
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = se3.rotation_from_quaternion(x[3:7]), x[:3]
        return State(H, x[7 : 7 + n], x[7 + n : 13 + n], x[13 + n :])

    def difference(self, x: Array, y: Array) -> Array:
        """Return y - x with the sign of y's quaternion next to x's."""
        d = y - x
        if x[3:7] @ y[3:7] < 0.0:
            d[3:7] = -y[3:7] - x[3:7]
        return d

    def chart(self, state: State, nu_dot: Array) -> Chart:
        """Return T: z_H = (R' do; 2 E' dq), E (4, 3) with q' = E w / 2; N = q."""
        k = 12 + 2 * state.s.size
        R, w = state.H[:3, :3], state.v[3:]
        q = se3.quaternion_from_rotation(R)
        E = quaternion_map(q)
        q_dot = 0.5 * E @ w
        T, T_dot, L = np.zeros((k, k + 1)), np.zeros((k, k + 1)), np.zeros((k + 1, k))
        T[:3, :3], T_dot[:3, :3], L[:3, :3] = R.T, -se3.cross3(w) @ R.T, R
        T[3:6, 3:7], T_dot[3:6, 3:7], L[3:7, 3:6] = 2.0 * E.T, 2.0 * quaternion_map(q_dot).T, E / 2
        T[6:, 7:] = L[7:, 6:] = np.eye(k - 6)
        N, N_dot = np.zeros((k + 1, 1)), np.zeros((k + 1, 1))
        N[3:7, 0], N_dot[3:7, 0] = q, q_dot
        return Chart(T, T_dot, L, N, N_dot)


def euler_angles(R: Array) -> Array:
    """Return roll, pitch, yaw."""
    return np.array(
        [
            np.arctan2(R[2, 1], R[2, 2]),
            np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])),
            np.arctan2(R[1, 0], R[0, 0]),
        ]
    )


def rotation(angles: Array) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    R = np.eye(3)
    for axis in (2, 1, 0):
        z = np.zeros(6)
        z[3 + axis] = angles[axis]
        R = R @ se3.exp(z)[:3, :3]
    return R


def rate_map(roll: float, pitch: float) -> tuple[Array, list[Array], list[list[Array]]]:
    """Return W, its derivatives by roll and pitch, and their derivatives; det W = cos pitch."""
    cr, sr, cp, sp = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch)
    W = np.array([[1.0, 0.0, -sp], [0.0, cr, sr * cp], [0.0, -sr, cr * cp]])
    by_roll = np.array([[0.0, 0.0, 0.0], [0.0, -sr, cr * cp], [0.0, -cr, -sr * cp]])
    by_pitch = np.array([[0.0, 0.0, -cp], [0.0, 0.0, -sr * sp], [0.0, 0.0, -cr * sp]])
    roll_roll = np.array([[0.0, 0.0, 0.0], [0.0, -cr, -sr * cp], [0.0, sr, -cr * cp]])
    roll_pitch = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -cr * sp], [0.0, 0.0, sr * sp]])
    pitch_pitch = np.array([[0.0, 0.0, sp], [0.0, 0.0, -sr * cp], [0.0, 0.0, -cr * cp]])
    return W, [by_roll, by_pitch], [[roll_roll, roll_pitch], [roll_pitch, pitch_pitch]]


def quaternion_map(q: Array) -> Array:
    """Return E (4, 3) with q (w; 0) = E w for q = (x, y, z, w)."""
    x, y, z, s = q
    return np.array([[s, -z, y], [z, s, -x], [-y, x, s], [-x, -y, -z]])


def forward_differences(somersault: Somersault, state: State) -> Array:
    """Return A of z from 2 m + 1 evaluations of the forward dynamics."""
    lin, tau, m = somersault.lin, somersault.tau, somersault.model.m

    def field(at: State) -> Array:
        return np.concatenate((at.v, at.r, lin.forward_dynamics(at, tau)))

    here = field(state)
    A = np.array(
        [(field(state.retract(DIFFERENCE * e)) - here) / DIFFERENCE for e in np.eye(2 * m)]
    ).T
    A[:6, :6] -= se3.cross(state.v)
    return A


@dataclass(frozen=True)
class Approach:
    """A row of the table, and what it gives at every attitude."""

    name: str
    coordinates: EulerAngles | Quaternion | None
    """None: z itself."""
    by_differences: bool
    states: int
    evaluations: str
    error: Array
    """Of A in z, max|A - A*| / max|A*|, A* by Pinocchio."""
    largest: Array
    """Largest entry of A in its own coordinates."""
    prediction: Array
    """Error of the predicted disturbance, |z - z*| / |z*|."""

    @property
    def exact(self) -> bool:
        """Whether A is right to rounding where it is not singular."""
        return float(np.median(self.error)) < EXACT_BELOW

    @property
    def singularity_free(self) -> bool:
        """Whether no attitude stands out."""
        return float(self.largest.max() / np.median(self.largest)) < SMOOTH_BELOW


def compare(somersault: Somersault, degrees: Array) -> list[Approach]:
    """Return the four approaches at the given attitudes."""
    k, one = 2 * somersault.model.m, '1 linearization'
    attitudes = [Attitude(somersault, float(angle)) for angle in degrees]

    def approach(
        name: str,
        coordinates: EulerAngles | Quaternion | None,
        states: int,
        evaluations: str,
        by_differences: bool = False,
    ) -> Approach:
        curves = [attitude.judge(coordinates, by_differences) for attitude in attitudes]
        return Approach(
            name, coordinates, by_differences, states, evaluations, *np.array(curves).T
        )

    return [
        approach('Euler angles, exact derivatives', EulerAngles(), k, one),
        approach('Quaternion with constraint, exact derivatives', Quaternion(), k + 1, one),
        approach('Finite differences on the group', None, k, f'{k + 1} forward dynamics', True),
        approach('geolin_ros', None, k, one),
    ]


class Attitude:
    """The robot at one attitude: A, its referee, and a disturbed motion over the horizon."""

    def __init__(self, somersault: Somersault, degrees: float) -> None:
        self.somersault, self.state = somersault, somersault.state(degrees)
        self.disturbed = self.state.retract(somersault.disturbance)
        taus = np.tile(somersault.tau, (STEPS, 1))
        motion, self.disturbed_motion = (
            transition(somersault.lin, start, taus, HORIZON / STEPS, 'rkmk4')
            for start in (self.state, self.disturbed)
        )
        self.end, (self.Phi, _) = motion.states[-1], motion.sensitivity()
        self.true = self.end.difference(self.disturbed_motion.states[-1])
        self.referee = somersault.referee.linearize(self.state, somersault.tau)
        L = somersault.lin(self.state, somersault.tau)
        self.A, self.nu_dot = L.A.copy(), L.nu_dot.copy()

    def judge(
        self, kind: EulerAngles | Quaternion | None, by_differences: bool
    ) -> tuple[float, float, float]:
        """Return the three numbers of `Approach`."""
        if kind is None:
            A = forward_differences(self.somersault, self.state) if by_differences else self.A
            in_z, predicted = A, self.Phi @ self.somersault.disturbance
        else:
            chart = kind.chart(self.state, self.nu_dot)
            A = chart.linearization(self.A)
            in_z, predicted = chart.back(A), self.predict(kind, chart)
        error = np.abs(in_z - self.referee).max() / np.abs(self.referee).max()
        missed = np.linalg.norm(predicted - self.true) / np.linalg.norm(self.true)
        return float(error), float(np.abs(A).max()), float(missed)

    def predict(self, kind: EulerAngles | Quaternion, chart: Chart) -> Array:
        """Return z of the disturbed motion at the end, predicted linearly in x."""
        nu_dot = self.somersault.lin.forward_dynamics(self.end, self.somersault.tau)
        after = kind.chart(self.end, nu_dot)
        offset = kind.difference(kind.coordinates(self.state), kind.coordinates(self.disturbed))
        x = kind.coordinates(self.end) + chart.flow(self.Phi, after) @ offset
        return self.end.difference(kind.state(x))


def table(approaches: Sequence[Approach]) -> str:
    """Return the comparison in Markdown.

    Columns as [Bos 2022, Table 1]: singularity-free and exact derivatives as measured here; the
    base moves in all rows, and all but differences stand on one recursive linearization.
    """
    heads = (
        *('Approach', 'Singularity-free', 'Moving base', 'Recursive', 'Exact', 'States', 'Takes'),
        *('Error of A', 'at worst', 'Largest entry of A', 'at worst'),
        *('Error of prediction', 'at worst'),
    )
    lines = [f'| {" | ".join(heads)} |', '|---' * len(heads) + '|']
    for row in approaches:
        ticks = (row.singularity_free, True, not row.by_differences, row.exact)
        numbers = [
            f'{value:.1e}' if value < SINGULAR_ABOVE else 'singular'
            for values in (row.error, row.largest, row.prediction)
            for value in (np.median(values), np.max(values))
        ]
        answers = ['yes' if tick else 'no' for tick in ticks]
        cells = (row.name, *answers, str(row.states), row.evaluations, *numbers)
        lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines)


def draw(degrees: Array, approaches: Sequence[Approach], path: Path) -> None:
    """Draw the three curves of every approach over the attitude."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 11.0), layout='constrained', facecolor='white')
    FigureCanvasAgg(figure)
    figure.suptitle(
        'One somersault, four kinds of coordinates', color=INK, fontsize=15, fontweight='bold'
    )
    ahead = f'{HORIZON * 1e3:.0f} ms ahead'
    panels = (
        ('error', (1e-15, 1e2), 'Error of A, carried to z, against Pinocchio'),
        ('largest', (1e1, 1e9), 'Largest entry of A in its own coordinates [SI]'),
        (
            'prediction',
            (5e-3, 2e3),
            f'Error of a disturbance of {DISTURBANCE} in each state, predicted {ahead} '
            'by the exact linear map',
        ),
    )
    all_axes = figure.subplots(3, 1, sharex=True)
    for axes, (field, limits, title) in zip(all_axes, panels, strict=True):
        for angle in (90.0, 270.0):
            axes.axvline(angle, color=GREY, linewidth=0.8, linestyle=':')
        axes.axvline(180.0, color=GREY, linewidth=0.8)
        for row, (colour, width, dashes) in zip(approaches, LINES, strict=True):
            if field == 'prediction' and row.by_differences:
                continue  # the same coordinates as ours
            axes.semilogy(
                degrees,
                getattr(row, field),
                color=colour,
                linewidth=width,
                linestyle=dashes,
                label=row.name,
            )
        axes.set_title(title, color=INK, loc='left', fontsize=11)
        axes.set_xlim(0.0, 360.0)
        axes.set_ylim(*limits)  # at its singularities the curve of Euler angles leaves the picture
        axes.set_xticks(np.arange(0.0, 361.0, 45.0))
        axes.grid(axis='y', color='#e4e7eb', linewidth=0.8)
        axes.set_axisbelow(True)
        axes.tick_params(which='both', colors=INK, length=0)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ('left', 'bottom'))
            spine.set_color(GREY)
    all_axes[-1].set_xlabel('base turned about its y axis [degrees]', color=INK)
    top = all_axes[0].get_xaxis_transform()
    for angle, text in ((90.0, 'nose down'), (180.0, 'upside down'), (270.0, 'nose up')):
        all_axes[0].text(angle + 3.0, 0.97, text, transform=top, color=GREY, fontsize=9, va='top')
    figure.legend(
        *all_axes[0].get_legend_handles_labels(),
        loc='outside lower center',
        ncols=2,
        frameon=False,
        labelcolor=INK,
    )
    figure.savefig(path, dpi=120)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print the table, save it and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--step', type=float, default=1.0, help='of the attitude [degrees]')
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('compare_representations.png'),
        help='where the picture goes; the table goes beside it as .md '
        '(default compare_representations.png)',
    )
    options = parser.parse_args(arguments)
    if not 0.0 < options.step <= 90.0:
        parser.error(f'--step is {options.step}, expected more than 0 and at most 90 degrees')
    degrees = np.arange(0.0, 360.0 + 0.5 * options.step, options.step)
    approaches = compare(Somersault(), degrees)
    written = table(approaches)
    print(written)
    options.output.with_suffix('.md').write_text(f'{written}\n', encoding='utf-8')
    draw(degrees, approaches, options.output)
    print(f'\nsaved as {options.output} and {options.output.with_suffix(".md")}')


if __name__ == '__main__':
    main()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Plant errors in packing and in each pass of the engine; the self-check has to find them.

    python tools/planted_errors.py [NAME ...]

Each error is one edit of one line, run in a process of its own with kernels as plain Python (see
`plain_python`). Found means: of the robots below one has a certificate that fails, or a
linearization that is refused. Ends with 1 if an error is not found, or its line is gone.
"""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import plain_python

KERNELS = Path(__file__).parents[1] / 'geolin_ros' / 'kernels'


class Error(NamedTuple):
    """One edit: the first place of ``old`` in a file becomes ``new``."""

    file: str
    old: str
    new: str

    @property
    def name(self) -> str:
        """What `main` calls it."""
        return f'{self.file}: {self.old} -> {self.new}'


def _errors(file: str, *edits: tuple[str, str]) -> list[Error]:
    return [Error(file, *edit) for edit in edits]


ERRORS = [
    *_errors(  # packing: axes, placements, inertias, parameters of joints, columns
        'packing/layout.py',
        ('x = helper - axis * (axis @ helper)', 'x = helper + axis * (axis @ helper)'),
        (
            'np.column_stack((x, np.cross(axis, x), axis))',
            'np.column_stack((x, np.cross(x, axis), axis))',
        ),
        ('placement = up @ rotation @ turns[i]', 'placement = up @ rotation.T @ turns[i]'),
        ('record[T : T + 3] = up @ (translation', 'record[T : T + 3] = up.T @ (translation'),
        ('tree.armature[c], [', '1.001 * tree.armature[c], ['),
        ('tree.armature[c], [', '0.0, ['),
        ('passive = tree.damping,', 'passive = np.roll(tree.damping, 1),'),
        ('tree.stiffness, tree.rest', 'tree.stiffness, 0.0 * tree.rest'),
        ('mass, turn.T @ (com - origin)', 'mass, turn @ (com - origin)'),
        (' + mass * hat(com) @ hat(com)) @ turn', ') @ turn'),
        ('central = turn.T @ (', 'central = turn @ ('),
        (
            'record[MASS], record[COM : COM + 3] = mass,',
            'record[MASS], record[COM : COM + 3] = mass * (1.0 + 1e-6),',
        ),
        (
            'bodies[1:, COORDINATE] = chains.rate[1:]',
            'bodies[1:, COORDINATE] = np.sort(chains.rate[1:])[::-1]',
        ),
        ('int(j < i < ends[j] and not together)', 'int(j < i <= ends[j] and not together)'),
    ),
    *_errors(
        'packing/contact_layout.py',
        (
            'turned = packed.turns[bodies[c]].T @ poses[c][:3]',
            'turned = packed.turns[bodies[c]] @ poses[c][:3]',
        ),
        ('np.linalg.inv(references[c])[:3].ravel()', 'references[c][:3].ravel()'),
        (
            'record[STIFFNESS], record[DAMPING] = gains[c]',
            'record[DAMPING], record[STIFFNESS] = gains[c]',
        ),
    ),
    *_errors(
        'packing/own_layout.py',
        ('leaders[actuated], 2 *', 'leaders[actuated[::-1]], 2 *'),
        (
            'subspace[: len(group.subspace)] = group.subspace',
            'subspace[: len(group.subspace)] = group.subspace[::-1]',
        ),
    ),
    *_errors(  # the passes, in their order
        'engine/linearization.py',
        (
            'get(floats, linkage(i) + at.BETA) * get(x, 16 + coordinate(ints, i))',
            'get(floats, linkage(i) + at.BETA) * get(x, 16 + i - 1)',
        ),
        (
            'put(ws, work(i) + at.EFFORT, get(inputs, c) - torque)',
            'put(ws, work(i) + at.EFFORT, get(inputs, c) + torque)',
        ),
        (
            'put(ws, stiffness(ints, ws, i, i), get(floats, link + at.STIFFNESS))',
            'put(ws, stiffness(ints, ws, i, i), 0.0)',
        ),
        (
            'store4(ws, here + at.POSE + 4, cos * ey - sin * ex)',
            'store4(ws, here + at.POSE + 4, cos * ey + sin * ex)',
        ),
        ('floats, link + at.T) + (alpha * s) * z', 'floats, link + at.T) - (alpha * s) * z'),
        (
            'store4(ws, here + at.S, beta * cross(o, z) + alpha * z)',
            'store4(ws, here + at.S, beta * cross(z, o) + alpha * z)',
        ),
        ('up = with_lane(zero - g, 3, 0.0)', 'up = with_lane(g, 3, 0.0)'),
        (
            'Sd_lin, Sd_ang = cross(w, S_lin) + cross(u, S_ang), cross(w, S_ang)',
            'Sd_lin, Sd_ang = cross(w, S_lin) - cross(u, S_ang), cross(w, S_ang)',
        ),
        (
            'store4(ws, here + at.AV, load4(ws, above + at.AV) + r * Sd_lin)',
            'store4(ws, here + at.AV, load4(ws, above + at.AV))',
        ),
        ('(with_lane(zero, 1, hc) - h1 * c)', '(with_lane(zero, 1, hc) + h1 * c)'),
        ('p = m * u + cross(w, h)', 'p = m * u - cross(w, h)'),
        ('f = m * a + (cross(b, h) + cross(w, p))', 'f = m * a + (cross(b, h) - cross(w, p))'),
        ('uh = 2.0 * (u0 * h0 + u1 * h1 + u2 * h2)', 'uh = u0 * h0 + u1 * h1 + u2 * h2'),
        ('J2 = cross(w, I2) + (w0 * I1 - w1 * I0)', 'J2 = cross(w, I2) - (w0 * I1 - w1 * I0)'),
        (
            'Fu = with_lane(Fu, 3, lane(Fu, 3) - get(ws, here + at.EFFORT))',
            'Fu = with_lane(Fu, 3, lane(Fu, 3))',
        ),
        (
            'load8(ws, here + at.S)) + get(floats, linkage(i) + at.BALLASTED)',
            'load8(ws, here + at.S))',
        ),
        ('r8, r4 = minus(r8, Ut, U), minus(r4, Ut, Fu)', 'r8, r4 = minus(r8, Ut, U), r4'),
        (
            'plus(rows8(ws, above + at.N, 8), minus(N, Ut, FN), 1.0)',
            'plus(rows8(ws, above + at.N, 8), N, 1.0)',
        ),
        (
            'store8(ws, at.G + 8 * e, select(1 << axis, zero, other) - factor * row)',
            'store8(ws, at.G + 8 * e, select(1 << axis, zero, other) + factor * row)',
        ),
        (
            'minus_qdd = u + lane_sum(load8(ws, here + at.UT) * a)',
            'minus_qdd = u - lane_sum(load8(ws, here + at.UT) * a)',
        ),
        (
            'y4 = -1.0 * (get(ws, here + at.D_INVERSE) * load4(ws, here + at.FU) + dot(Ut, f4))',
            'y4 = -1.0 * (get(ws, here + at.D_INVERSE) * load4(ws, here + at.FU) - dot(Ut, f4))',
        ),
        (
            'cross(d, Sl) + cross(b, Sa) + (cross(w, Sdl) + cross(u, Sda))',
            'cross(d, Sl) + cross(b, Sa) + cross(w, Sdl)',
        ),
        (
            'store8(ws, here + at.JUMP, 2.0 * join(Sdl, Sda))',
            'store8(ws, here + at.JUMP, join(Sdl, Sda))',
        ),
        (
            'turned_wrench = join(cross(Sa, f), cross(Sl, f) + cross(Sa, t))',
            'turned_wrench = join(cross(Sa, f), cross(Sa, t))',
        ),
        (
            'P_s = P_s + times_rows(ws, N, load8(ws, here + at.S))',
            'P_s = P_s - times_rows(ws, N, load8(ws, here + at.S))',
        ),
        (
            'y = -1.0 * (inverse * load8(ws, here + at.FN) + dot(Ut, fwd))',
            'y = -1.0 * (inverse * load8(ws, here + at.FN))',
        ),
        (
            'u_r = select(above, dot(S, P_r) + select(own, slope, zero), zero)',
            'u_r = select(above, dot(S, P_r), zero)',
        ),
        (
            'u_t = select(above, dot(S, P_t) - select(own, splat8(1.0), zero), zero)',
            'u_t = select(above, dot(S, P_t) - select(own, splat8(1.001), zero), zero)',
        ),
        (
            'u_s = select(below, F0 * d0 + F1 * d1 + F2 * d2, zero)',
            'u_s = select(below, F0 * d0 + F1 * d1 - F2 * d2, zero)',
        ),
        (
            'u_s = u_s + select(below, dot(FN, S_lanes), zero)',
            'u_s = u_s - select(below, dot(FN, S_lanes), zero)',
        ),
        (
            'a_r = plus(a_r, entries(ws, work(j) + at.JUMP), own)',
            'a_r = plus(a_r, entries(ws, work(j) + at.SDD), own)',
        ),
        (
            'put_six(out, (m + e) * k + m, minus_w[e], minus_u[e] + K[e])',
            'put_six(out, (m + e) * k + m, minus_w[e], minus_u[e] - K[e])',
        ),
        (
            'gravity, K = skew_rows(zero - load4(ws, at.UPWARD))',
            'gravity, K = skew_rows(load4(ws, at.UPWARD))',
        ),
        (
            'put_six(out, e * k, minus_w[e], minus_u[e])',
            'put_six(out, e * k, minus_u[e], minus_w[e])',
        ),
        (
            'k, to = displacement(ws, row - 5) + at.YN, (m + row) * 2 * m',
            'k, to = displacement(ws, row - 5) + at.YN, (m + row - 1) * 2 * m',
        ),
    ),
    *_errors(
        'plain/passes.py',
        (
            'ws[rows + 12 * (3 + e) + 11] -= ws[f + 3 + e]',
            'ws[rows + 12 * (3 + e) + 11] += ws[f + 3 + e]',
        ),
        (
            'ws[about + e] -= x[4 * a + e] * x[4 * a + 3]',
            'ws[about + e] += x[4 * a + e] * x[4 * a + 3]',
        ),
    ),
    *_errors(
        'engine/contact_rows.py',
        (
            'put_lane(cw, W + r, axis, cross(origin, axis))',
            'put_lane(cw, W + r, axis, cross(axis, origin))',
        ),
        (
            'bias = dot(A, rows) + kd * dot(V, rows) + combine(turning, f)',
            'bias = dot(A, rows) + kd * dot(V, rows)',
        ),
        (
            'pulled = kp * load8(cw, record + on.ERROR)',
            'pulled = -kp * load8(cw, record + on.ERROR)',
        ),
    ),
    *_errors(
        'engine/contact_linearization.py',
        ('f = f - u * load8(ws, body + at.UT)', 'f = f + u * load8(ws, body + at.UT)'),
        (
            'u = -get(ws, body + at.D_INVERSE) * load8(cw, u_path + 8 * step)',
            'u = get(ws, body + at.D_INVERSE) * load8(cw, u_path + 8 * step)',
        ),
    ),
    *_errors(
        'engine/contact_rows.py',
        (
            'change = sign * dot(entries(ws, work(j) + at.S), turn)',
            'change = -sign * dot(entries(ws, work(j) + at.S), turn)',
        ),
        (
            'plus(plus(by_one, by_two, 1.0), rows, kd)',
            'plus(plus(by_one, by_two, -1.0), rows, kd)',
        ),
    ),
    *_errors(
        'engine/mimic_rows.py',
        (
            'u = lane_sum(load8(ws, body + at.S) * f - effort)',
            'u = lane_sum(load8(ws, body + at.S) * f + effort)',
        ),
    ),
]


class _Edited(importlib.machinery.SourceFileLoader):
    """Loads a module as an error leaves it."""

    def __init__(self, name: str, path: str, error: Error) -> None:
        super().__init__(name, path)
        self._error = error

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_text(encoding='utf-8')
        return compile(source.replace(self._error.old, self._error.new, 1), self.path, 'exec')


class _Finder:
    """Finds that module."""

    def __init__(self, error: Error) -> None:
        self._error = error
        self._name = 'geolin_ros.kernels.' + error.file.removesuffix('.py').replace('/', '.')

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        file = str(KERNELS / self._error.file)
        return importlib.util.spec_from_file_location(
            name, file, loader=_Edited(name, file, self._error)
        )


def is_found() -> bool:
    """Return whether a certificate fails; kernels are those that are imported now."""
    import numpy as np

    from geolin_ros import Linearizer, TreeModel, Wrench, robots
    from geolin_ros.description import Description, Joint, Link, Mimic
    from geolin_ros.errors import GeolinError
    from geolin_ros.linearization.contacts import Contact, Loop, anchored
    from geolin_ros.verification.certificate import Certifier, Claim, Form

    rng = np.random.default_rng(1)
    kinds = ('se2', 'prismatic', 'helical', 'spherical', 'universal', 'revolute', 'revolute')
    links = [
        Link.from_mass(
            f'link{i}', 1.0 + 0.1 * i, 0.1 * rng.normal(size=3), np.diag([0.3, 0.4, 0.5])
        )
        for i in range(len(kinds) + 1)
    ]
    joints = []
    for i, kind in enumerate(kinds, 1):
        placement = np.eye(4)
        placement[:3, 3] = rng.normal(size=3)
        placement[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        placement[:3, :3] *= np.linalg.det(placement[:3, :3])
        springs = {} if kind in ('spherical', 'se2') else {'stiffness': 3.0, 'rest': 0.1}
        joints.append(
            Joint(
                f'joint{i}', kind, f'link{(i - 1) // 2}', f'link{i}', placement,
                axis=rng.normal(size=3), second_axis=rng.normal(size=3),
                pitch=0.3 * (kind == 'helical'), damping=0.1 * i, friction=0.2, rotor_inertia=0.01,
                gear_ratio=3.0, mimic=Mimic('joint6', 0.7, 0.1) if i == 7 else None, **springs,
            )
        )  # fmt: skip
    every = Description('every kind', tuple(links), tuple(joints))
    names = [f'joint{i}' for i in (6, 2, 1, 5, 3, 4)]  # another order than the bodies'
    tilted = (1.0, -2.0, -9.0)
    order = TreeModel.from_urdf(robots.path('quadruped')).joint_names[::-1]
    legged = TreeModel.from_urdf(robots.path('quadruped'), gravity=tilted, joints=order)
    feet = [
        Contact('FL_foot', 'point', kp=90.0, kd=20.0),
        Contact('RR_calf', 'surface', kp=90.0, kd=20.0),
    ]
    loop = [Loop('FR_foot', 'RL_calf', 'surface', kp=9.0, kd=3.0)]
    cases: list[tuple[TreeModel, list[Any]]] = [
        (legged, []),
        (TreeModel.from_description(every, joints=names, coulomb_friction=True), []),
        (legged, list(feet)),
        (legged, list(loop)),
    ]
    for model, contacts in cases:
        state, tau = model.random_state(rng), rng.normal(size=model.n)
        wrenches = [
            Wrench(model.link_names[-1], (1.0, 2.0, 30.0), (0.1, 0.2, 0.3), kind=kind)
            for kind in ('body', 'world', 'world_oriented')
        ]
        held = anchored(model, model.random_state(rng), contacts)
        try:
            L = Linearizer(model, held)(state, tau, wrenches=wrenches)
        except GeolinError:
            return True
        claim = Claim(state, tau, L.A, L.B, L.nu_dot, wrenches, held)
        if Certifier(model, Form(), rng).check(claim).failed:
            return True
    return False


def run(error: Error | None) -> bool | None:
    """Return whether an error is found, in a process of its own; None if that ends otherwise."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            plain_python.install()
            if error is not None:
                sys.meta_path.insert(0, _Finder(error))  # type: ignore[arg-type]
            code = int(is_found())
        except Exception as problem:  # an error may break whatever it likes
            print(f'{type(problem).__name__}: {problem}', file=sys.stderr)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return {0: False, 1: True}.get(os.waitstatus_to_exitcode(status))


def main(wanted: list[str]) -> int:
    """Run the errors whose name holds one of ``wanted``, all without any."""
    for part in wanted:
        if not any(part in error.name for error in ERRORS):
            print(f'{part!r} is in the name of no error, expected a part of FILE: OLD -> NEW')
            return 1
    if run(None) is not False:
        print('without any error the certificates fail, or cannot be made')
        return 1
    chosen = [e for e in ERRORS if not wanted or any(part in e.name for part in wanted)]
    gone = [e for e in ERRORS if e.old not in (KERNELS / e.file).read_text(encoding='utf-8')]
    for error in gone:
        print(f'LINE GONE  {error.name}')
    missed = 0
    for error in chosen:
        found = run(error)
        missed += found is not True
        words = {True: 'found', False: 'NOT FOUND', None: 'BROKEN'}[found]
        print(f'{words:10} {error.name}', flush=True)
    print(f'{len(chosen) - missed} of {len(chosen)} planted errors found')
    return int(missed > 0 or len(gone) > 0)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

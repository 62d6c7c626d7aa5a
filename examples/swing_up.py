# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Swing up a double pendulum by Opti and IPOPT, on the forward dynamics of a C library.

The first joint alone has a motor. The robot is exported with functions for CasADi, built, and
loaded by `casadi.external`; its Jacobian is exact. Needs casadi, CMake and a C compiler.
"""

import subprocess
import tempfile
from pathlib import Path

import casadi
import numpy as np
from geolin_tools.export import Build, export

from geolin_ros import TreeModel

LINK = """<link name="{name}"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.083" iyy="0.083" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 0 {z}"/><axis xyz="0 1 0"/></joint>"""
PENDULUM = (
    '<robot name="acrobot"><link name="world_link"/>'
    + LINK.format(name='upper')
    + LINK.format(name='lower')
    + JOINT.format(name='shoulder', parent='world_link', child='upper', z=0)
    + JOINT.format(name='elbow', parent='upper', child='lower', z=-1)
    + '</robot>'
)
STEPS, DURATION, LIMIT = 60, 3.0, 15.0
"""Of the trajectory; its time [s]; of the motor [N m]."""


def swing_up() -> tuple[np.ndarray, np.ndarray]:
    """Return states [s; r] (STEPS + 1, 4) and efforts of the shoulder (STEPS,)."""
    model = TreeModel.from_urdf(PENDULUM, base='fixed', actuated_joints=['shoulder'])
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder, 'source'), Path(folder, 'build')
        name = export(model, source, build=Build(['native'], casadi=True))
        for words in (['-S', source, '-B', built], ['--build', built]):
            subprocess.run(['cmake', *map(str, words)], check=True, capture_output=True)
        fd = casadi.external('fd', str(built / f'lib{name}_casadi.so'))
        x, u, dt = casadi.MX.sym('x', 4), casadi.MX.sym('u'), DURATION / STEPS

        def rate(x: casadi.MX) -> casadi.MX:
            return casadi.vertcat(x[2:], fd(x, u))

        k_1 = rate(x)
        k_2 = rate(x + 0.5 * dt * k_1)
        k_3 = rate(x + 0.5 * dt * k_2)
        k_4 = rate(x + dt * k_3)
        step = casadi.Function('step', [x, u], [x + dt / 6.0 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)])
        opti = casadi.Opti()
        X, U = opti.variable(4, STEPS + 1), opti.variable(1, STEPS)
        opti.minimize(casadi.sumsqr(U) / STEPS)
        opti.subject_to(X[:, 1:] == step.map(STEPS)(X[:, :-1], U))
        opti.subject_to(X[:, 0] == 0)
        opti.subject_to(X[:, -1] == casadi.DM([np.pi, 0.0, 0.0, 0.0]))
        opti.subject_to(opti.bounded(-LIMIT, U, LIMIT))
        opti.set_initial(X[0, :], np.linspace(0.0, np.pi, STEPS + 1))
        opti.solver(
            'ipopt', {'ipopt.hessian_approximation': 'limited-memory', 'ipopt.print_level': 0}
        )
        found = opti.solve()
        return np.array(found.value(X)).T, np.array(found.value(U)).ravel()


if __name__ == '__main__':
    states, efforts = swing_up()
    print(f'upright after {DURATION:g} s at {states[-1].round(6)}, {abs(efforts).max():.2f} N m')

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians of forward dynamics in CasADi: `jac_fd` of an exported library, and adam's C code.

``python -m benchmarks.casadi_peer ROBOT.urdf libROBOT_casadi.so``, in an environment of its own
with adam-robotics and liecasadi: needs nothing of ours but the library. Processor time a state, in
a `map` over many; adam's expressions by CasADi's machine, with ``--compile`` as generated C too.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import casadi
import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81, 0.0, 0.0, 0.0])
FLAGS = ['-O3', '-march=native', '-shared', '-fPIC']


def adams(urdf: str) -> casadi.Function:
    """Return the derivatives of nu_dot by x and by tau, x as in the library."""
    from adam import Representations
    from adam.casadi import KinDynComputations

    tree = ElementTree.parse(urdf).getroot()
    kinds = 'revolute', 'continuous'
    joints = [j.get('name') for j in tree.iter('joint') if j.get('type') in kinds]
    robot, n = KinDynComputations(urdf, joints, gravity=GRAVITY), len(joints)
    robot.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    x, tau = casadi.SX.sym('x', 13 + 2 * n), casadi.SX.sym('tau', n)
    p, q, s, v, r = casadi.vertsplit(x, [0, 3, 7, 7 + n, 13 + n, 13 + 2 * n])
    axis, w = casadi.skew(q[:3]), q[3]
    R = casadi.SX.eye(3) + (2 * w * axis + 2 * axis @ axis) / casadi.sumsqr(q)
    H = casadi.vertcat(casadi.horzcat(R, p), casadi.DM([[0, 0, 0, 1]]))
    nu_dot = robot.aba(H, s, v, r, tau)
    return casadi.Function('adams', [x, tau], [casadi.jacobian(nu_dot, by) for by in (x, tau)])


def compiled(function: casadi.Function, folder: str, compiler: str) -> casadi.Function:
    """Return it as generated and compiled C."""
    source = Path(folder, 'adams.c')
    name = function.generate(source.name)
    shutil.move(name, source)
    subprocess.run([compiler, *FLAGS, str(source), '-o', f'{folder}/adams.so', '-lm'], check=True)
    return casadi.external('adams', f'{folder}/adams.so')


def microseconds(function: casadi.Function, given: list[np.ndarray], runs: int) -> float:
    """Return the median processor time a state [us]."""
    many, times = function.map(given[0].shape[1]), []
    buffer, evaluate = many.buffer()  # no conversions
    flat = [values.ravel('F') for values in given]
    results = [np.empty(many.numel_out(k)) for k in range(many.n_out())]
    for k in range(many.n_in()):
        buffer.set_arg(k, memoryview(flat[k]))
    for k, result in enumerate(results):
        buffer.set_res(k, memoryview(result))
    for _ in range(runs):
        start = time.process_time()
        evaluate()
        times.append(time.process_time() - start)
    return 1e6 * statistics.median(times) / given[0].shape[1]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.casadi_peer', description=__doc__)
    parser.add_argument('robot', help='URDF')
    parser.add_argument('library', help='lib<name>_casadi.so of geolin export')
    parser.add_argument('--states', type=int, default=64, help='in one call')
    parser.add_argument('--runs', type=int, default=20, help='calls')
    parser.add_argument('--compile', metavar='CC', help='compiler, which takes minutes')
    options = parser.parse_args()
    ours = casadi.external('jac_fd', options.library)
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(ours.size1_in(k), options.states)) for k in range(ours.n_in())]
    print('| | us a state | s to make | differs by |\n|---|---|---|---|')
    print(f'| ours | {microseconds(ours, given, options.runs):.1f} | | |', flush=True)
    expected = [np.array(value) for value in ours(*(each[:, 0] for each in given))]

    def line(words: str, make: Callable[[], casadi.Function]) -> casadi.Function:
        start = sum(os.times()[:4])
        function = make()
        spent = sum(os.times()[:4]) - start
        away = max(
            np.abs(np.array(value) - other).max() / np.abs(other).max()
            for value, other in zip(
                function(*(each[:, 0] for each in given[: function.n_in()])), expected, strict=True
            )
        )
        time_us = microseconds(function, given, options.runs)
        print(f'| {words} | {time_us:.1f} | {spent:.0f} | {away:.1e} |', flush=True)
        return function

    machine = line("adam, CasADi's machine", lambda: adams(options.robot))
    if options.compile:
        with tempfile.TemporaryDirectory() as folder:
            line('adam, generated C', lambda: compiled(machine, folder, options.compile))


if __name__ == '__main__':
    main()

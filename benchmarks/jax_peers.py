# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics by peers that are written in JAX, on the processor, per state.

``python -m benchmarks.jax_peers ROBOT.urdf``, in an environment of its own with jax,
adam-robotics, mujoco-mjx, brax and frax: needs nothing of ours. Each is differentiated forward by
positions, rates and efforts, compiled (jit), in double precision, on one core: all states and
columns at once (vmap), or, adam, which vmap refuses, one after another (map). A peer has a process
and a time limit of its own; one that does not finish says why, which is a result too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ONE_THREAD = '--xla_cpu_multi_thread_eigen=false'
COMPILED = 'compiled'

Problem = tuple[Callable[..., Any], tuple[Any, ...]]
"""Forward dynamics, and its arguments at all states."""


def main() -> None:
    """Run each peer and print a table."""
    parser = argparse.ArgumentParser(
        prog='python -m benchmarks.jax_peers', description=__doc__.partition('\n')[0]
    )
    parser.add_argument('robot', help='URDF')
    parser.add_argument('--peers', nargs='+', choices=PEERS, default=list(PEERS))
    parser.add_argument('--states', type=int, default=64, help='in one call')
    parser.add_argument('--runs', type=int, default=20, help='calls')
    parser.add_argument('--seconds', type=float, default=300.0, help='that a peer may take')
    parser.add_argument('--measure', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.peers[0], options.robot, options.states, options.runs)
        return
    print(f'{Path(options.robot).stem}, {options.states} states\n')
    print('| peer | us a state | s to compile | |\n|---|---|---|---|')
    for peer in options.peers:
        print(f'| {peer} | {" | ".join(outcome(peer, options))} |', flush=True)


def outcome(peer: str, options: argparse.Namespace) -> tuple[str, str, str]:
    """Return time and time to compile of a peer, and why one of them is missing."""
    command = [sys.executable, '-m', 'benchmarks.jax_peers', options.robot, '--measure']
    command += ['--peers', peer, '--states', f'{options.states}', '--runs', f'{options.runs}']
    environment = {
        **os.environ,
        'JAX_PLATFORMS': 'cpu',
        'JAX_ENABLE_X64': '1',
        'XLA_FLAGS': ONE_THREAD,
    }
    limit, reason = options.seconds, ''
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=environment
        )
        output = done.stdout
        if done.returncode:
            errors = [text for text in done.stderr.splitlines() if 'Error' in text]
            reason = (errors or [f'status {done.returncode}'])[-1][:200]
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b'').decode()
        doing = 'running' if COMPILED in output else 'compiling'
        reason = f'still {doing} after {limit:g} s'
    found: dict[str, float] = {}
    for text in output.splitlines():
        if text.startswith('{'):
            found |= json.loads(text)
    microseconds, first = found.get('microseconds'), found.get(COMPILED)
    return (
        '' if microseconds is None else f'{microseconds:.0f}',
        '' if first is None else f'{first:.0f}',
        reason.replace('|', ' '),
    )


def measure(name: str, path: str, states: int, runs: int) -> None:
    """Time one peer and print what is found as soon as it is."""
    import jax
    import numpy as np

    peer, differentiated = PEERS[name]
    function, arguments = peer(path, states)
    derivative = jax.jit(differentiated(function))
    taken = []
    for run in range(runs + 1):
        start = time.perf_counter()
        found = jax.block_until_ready(derivative(*arguments))
        taken.append(time.perf_counter() - start)
        if run == 0:
            print(json.dumps({COMPILED: taken.pop()}), flush=True)
            for thread in Path('/proc/self/task').iterdir():
                os.sched_setaffinity(int(thread.name), {min(os.sched_getaffinity(0))})
            if not all(np.isfinite(block).all() for block in jax.tree.leaves(found)):
                raise ArithmeticError(f'derivatives of {name} hold NaN or inf')
    print(json.dumps({'microseconds': 1e6 * statistics.median(taken) / states}))


def at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivatives at all states, vectorized."""
    import jax

    return jax.vmap(jax.jacfwd(function, (0, 1, 2)))


def one_after_another(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivatives at all states, a loop over states and columns."""
    import jax
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    def at(state: tuple[Any, ...]) -> Any:
        flat, restored = ravel_pytree(state)

        def column(direction: Any) -> Any:
            return jax.jvp(lambda x: function(*restored(x)), (flat,), (direction,))[1]

        return jax.lax.map(column, jnp.eye(flat.size))

    return lambda *given: jax.lax.map(at, given)


def drawn(states: int, positions: int, rates: int, unit: slice | None) -> tuple[Any, ...]:
    """Return positions, with a unit quaternion where there is one, rates and efforts."""
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(1)
    q = rng.normal(size=(states, positions))
    if unit is not None:
        q[:, unit] /= np.linalg.norm(q[:, unit], axis=1, keepdims=True)
    return jnp.array(q), *(jnp.array(rng.normal(size=(states, rates))) for _ in range(2))


def adam(path: str, states: int) -> Problem:
    """Return forward dynamics by adam's mass matrix and bias force."""
    import jax.numpy as jnp
    from adam import Representations
    from adam.jax import KinDynComputations

    joints = [
        joint.get('name')
        for joint in ElementTree.parse(path).getroot().findall('joint')
        if joint.get('type') in ('revolute', 'continuous', 'prismatic')
    ]
    robot = KinDynComputations(path, joints)
    robot.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    H, n = jnp.eye(4), len(joints)

    def accelerations(s: Any, nu: Any, tau: Any) -> Any:
        M, h = robot.mass_matrix(H, s), robot.bias_force(H, s, nu[:6], nu[6:])
        return jnp.linalg.solve(M, tau - h)

    return accelerations, drawn(states, n, 6 + n, None)


def mjx(path: str, states: int) -> Problem:
    """Return forward dynamics of MJX, without constraints."""
    from mujoco import mjx as computations

    from benchmarks.mujoco_model import free_model

    plain = free_model(Path(path))
    model = computations.put_model(plain)
    data = computations.make_data(model)

    def accelerations(qpos: Any, qvel: Any, force: Any) -> Any:
        at = data.replace(qpos=qpos, qvel=qvel, qfrc_applied=force)
        return computations.forward(model, at).qacc

    return accelerations, drawn(states, plain.nq, plain.nv, slice(3, 7))


def brax(path: str, states: int) -> Problem:
    """Return forward dynamics of Brax in generalized coordinates, without constraints."""
    from brax import kinematics
    from brax.generalized import dynamics, mass
    from brax.generalized.base import State
    from brax.io import mjcf

    from benchmarks.mujoco_model import free_model

    system = mjcf.load_model(free_model(Path(path)))

    def accelerations(q: Any, v: Any, tau: Any) -> Any:
        state = State.init(q, v, *kinematics.forward(system, q, v))
        state = mass.matrix_inv(system, dynamics.transform_com(system, state), 0)
        return state.mass_mx_inv @ dynamics.forward(system, state, tau)

    return accelerations, drawn(states, system.q_size(), system.qd_size(), slice(3, 7))


def frax(path: str, states: int) -> Problem:
    """Return forward dynamics of frax."""
    from frax.core.robot import Robot

    robot = Robot(path, floating_base='quaternion')

    def accelerations(q: Any, v: Any, tau: Any) -> Any:
        return robot.forward_dynamics(q, v, tau, None)

    return accelerations, drawn(states, robot.nq, robot.nv, slice(3, 7))


PEERS = {
    'adam-robotics': (adam, one_after_another),
    'mujoco-mjx': (mjx, at_once),
    'brax': (brax, at_once),
    'frax': (frax, at_once),
}


if __name__ == '__main__':
    main()

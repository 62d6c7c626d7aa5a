# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of forward dynamics by peers that are written in JAX, on the processor, per state.

``python -m benchmarks.jax_peers ROBOT.urdf``, in an environment of its own with jax,
adam-robotics, mujoco and mujoco-mjx: needs nothing of ours. Both are differentiated forward
(jacfwd) by positions, rates and efforts, compiled (jit), in double precision: MJX all states at
once (vmap), adam, which vmap refuses, one after another (map).
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np

STATES, RUNS = 64, 20


def main() -> None:
    """Time both, and say so where one cannot be run."""
    jax.config.update('jax_enable_x64', True)
    peers = ('adam-robotics', adam, one_after_another), ('mujoco-mjx', mjx, jax.vmap)
    for name, peer, over_all in peers:
        try:
            function, arguments = peer(sys.argv[1])
            one = jax.jacfwd(function, tuple(range(len(arguments))))
            derivative = jax.jit(over_all(one))
            start = time.perf_counter()
            jax.block_until_ready(derivative(*arguments))
            first = time.perf_counter() - start
            found = min(timed(derivative, arguments) for _ in range(RUNS))
            print(
                f'{name}: {1e6 * found / STATES:.0f} us a state, {first:.1f} s to compile',
                flush=True,
            )
        except Exception as error:  # a peer that does not run is a result too
            print(f'{name} does not run: {type(error).__name__}: {str(error)[:200]}')


def one_after_another(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of all states."""
    return lambda *given: jax.lax.map(lambda state: function(*state), given)


def timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    """Return the time of one call [s]."""
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - start


def adam(path: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return forward dynamics by adam's mass matrix and bias force."""
    from adam import Representations
    from adam.jax import KinDynComputations

    joints = [
        joint.get('name')
        for joint in ElementTree.parse(path).getroot().findall('joint')
        if joint.get('type') in ('revolute', 'continuous', 'prismatic')
    ]
    robot = KinDynComputations(path, joints)
    robot.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)
    rng, n = np.random.default_rng(1), len(joints)
    H = jnp.eye(4)

    def accelerations(s: Any, v: Any, r: Any, tau: Any) -> Any:
        M, h = robot.mass_matrix(H, s), robot.bias_force(H, s, v, r)
        return jnp.linalg.solve(M, jnp.concatenate((jnp.zeros(6), tau)) - h)

    return accelerations, tuple(jnp.array(rng.normal(size=(STATES, k))) for k in (n, 6, n, n))


def mjx(path: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return forward dynamics of MJX, without constraints."""
    from mujoco import mjx as computations

    from benchmarks.mujoco_model import free_model

    plain = free_model(Path(path))
    model = computations.put_model(plain)
    data = computations.make_data(model)

    def accelerations(qpos: Any, qvel: Any, force: Any) -> Any:
        at = data.replace(qpos=qpos, qvel=qvel, qfrc_applied=force)
        return computations.forward(model, at).qacc

    rng = np.random.default_rng(1)
    qpos = rng.normal(size=(STATES, plain.nq))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    rates = (rng.normal(size=(STATES, plain.nv)) for _ in range(2))
    return accelerations, (jnp.array(qpos), *map(jnp.array, rates))


if __name__ == '__main__':
    main()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Same inputs, same bytes: in another process, with other hashes, beside other threads."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from geolin_estimation.sparse import Estimator, sensors

import geolin_ros
from geolin_ros import (
    Contact,
    Dynamics,
    Linearizer,
    TreeModel,
    Wrench,
    forward_dynamics,
    hybrid_dynamics,
    inverse_dynamics,
    robots,
)

COUNT = 12


def digest(threads=1):
    """Return a hash of what all algorithms make of a few states of both robots."""
    total = hashlib.sha256()

    def note(*arrays):
        for array in arrays:
            total.update(np.ascontiguousarray(array).tobytes())

    for name, link, feet in (
        ('quadruped', 'FL_foot', [Contact('FL_foot'), Contact('RR_foot')]),
        ('humanoid', 'left_sole', [Contact('left_sole', 'surface')]),
    ):
        model, rng = TreeModel.from_urdf(robots.path(name)), np.random.default_rng(1)
        states = [model.random_state(rng) for _ in range(COUNT)]
        tau, nu_dot = rng.normal(size=(COUNT, model.n)), rng.normal(size=(COUNT, model.m))
        linearizer, held = Linearizer(model), Linearizer(model, feet)
        pushed, own = [Wrench(link, [1.0, 2.0, 3.0])], Dynamics(model)
        half = np.arange(model.n) % 2 == 0
        for k, state in enumerate(states[:3]):
            for L in (
                linearizer(state, tau[k]),
                linearizer(state, tau[k], wrenches=pushed).frozen(),
            ):
                note(L.A, L.B, L.nu_dot, L.drift)
            step = linearizer.discretize(state, tau[k], 0.002, method='rkmk4')
            note(step.Phi, step.Gamma, step.next_state.data)
            C = held(state, tau[k])
            note(C.A, C.B, C.nu_dot, C.wrenches)
            note(inverse_dynamics(model, state, nu_dot[k], wrenches=pushed))
            note(forward_dynamics(model, state, tau[k]), own.forward_dynamics(state, tau[k]))
            note(*hybrid_dynamics(model, state, nu_dot[k, 6:], tau[k], half))
        found = Linearizer(model).batch(states, tau, threads=threads)
        note(
            found.A,
            found.B,
            found.nu_dot,
            geolin_ros.forward_dynamics(model, states, tau, threads=threads),
        )
        solver = Estimator(model, sensors.forward_dynamics(model))
        readings = np.zeros(solver.system.rows - solver.system.equations)
        readings[-model.n :] = tau[0]
        note(*solver.estimate(states[0], readings).variables)
        known = *sensors.base_sensors(model, 'tau'), *sensors.all_external_wrenches(model)
        noisy = [sensors.joint_acceleration(joint, 0.5) for joint in model.joint_names]
        estimator = Estimator(model, [*known, *noisy])
        readings = rng.normal(size=estimator.system.rows - estimator.system.equations)
        estimate = estimator.estimate(states[0], readings)
        note(*estimate.variables, np.array(estimate.chi_squared))
    return total.hexdigest()


def test_another_process__with_other_hashes_finds_the_same_bytes():
    found = subprocess.check_output(
        [sys.executable, __file__], env={**os.environ, 'PYTHONHASHSEED': '1'}, text=True
    )
    assert found == digest()


def test_threads__find_the_same_bytes_beside_each_other():
    alone = digest()
    with ThreadPoolExecutor(4) as pool:
        together = {job.result() for job in [pool.submit(digest, k % 2 + 1) for k in range(4)]}
    assert together == {alone}


if __name__ == '__main__':
    sys.stdout.write(digest())

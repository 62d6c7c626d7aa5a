# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What A and B say of a change of effort, on an arm that MuJoCo moves."""

import sys

import numpy as np
import pytest
from geolin_tools.identification import Signals
from support.environment import ROOT
from support.mujoco_oracle import bodies_only
from support.robots import example_robot

from geolin_ros import TreeModel

pytest.importorskip('scipy')
pytest.importorskip('rosbags')

sys.path.append(str(ROOT / 'tools'))
import predictions

mujoco = pytest.importorskip('mujoco')

ROTOR, DAMPING = 0.1, 1.0


def moved(path, seed, seconds=12.0):
    """Return what is measured of an arm whose efforts hold it, and step every 0.3 s."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec.from_string(bodies_only(path))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    spec.option.integrator, spec.option.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    robot = spec.compile()
    robot.dof_armature[:], robot.dof_damping[:], robot.dof_frictionloss[:] = ROTOR, DAMPING, 0.0
    data = mujoco.MjData(robot)
    rows = []
    for k in range(round(seconds / 1e-3)):
        if k % 300 == 0:
            step = rng.uniform(-1.0, 1.0, robot.nv) * [20.0, 20.0, 10.0, 3.0, 3.0, 3.0]
        mujoco.mj_forward(robot, data)
        held = data.qfrc_bias - 20.0 * data.qpos - 5.0 * data.qvel
        data.qfrc_applied[:] = held * np.minimum(1.0, 10.0 * robot.dof_M0) + step
        rows.append((k * 1e-3, data.qpos.copy(), data.qvel.copy(), data.qfrc_applied.copy()))
        mujoco.mj_step(robot, data)
    time, s, r, tau = (np.array(part) for part in zip(*rows, strict=True))
    noisy = [x + size * rng.normal(size=x.shape) for x, size in ((s, 1e-4), (r, 5e-3), (tau, 0.1))]
    return Signals('ur5', time, *noisy)


def test_A_and_B__predict_an_arm_after_steps_of_its_efforts():
    path = example_robot('ur5_robot')
    overlay = {'joints': {'*_joint': {'rotor_inertia': ROTOR, 'damping': DAMPING}}}
    model = TreeModel.from_urdf(path, base='fixed', overlay=overlay)
    tried, trained = (predictions.arm_motion(model, moved(path, seed)) for seed in (1, 2))
    found = predictions.responded([tried], trained)
    steady, black_box, linear, before = found.errors.T
    assert (linear < 0.5 * black_box).all()
    assert (linear < 0.2 * steady).all()
    assert (before[1:] < 0.6 * steady[1:]).all()  # 20 and 50 ms
    assert found.correlation > 0.9

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots of the example-robot-data wheel for us and for Pinocchio, at the same states."""

import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from geolin_ros import State, TreeModel
from geolin_ros.errors import GeolinError
from geolin_ros.typing import Array

FOLDER = Path(sysconfig.get_path('purelib')) / 'cmeel.prefix/share/example-robot-data/robots'


@dataclass
class Pair:
    """One robot with a floating base, read twice, mimic joints independent."""

    path: Path
    model: TreeModel
    pin_model: Any
    pin_data: Any

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.stem

    def operating_point(
        self, rng: np.random.Generator
    ) -> tuple[tuple[State, Array], tuple[Array, Array, Array]]:
        """Return (state, tau) and the same as Pinocchio's (q, v, tau)."""
        state = self.model.random_state(rng)
        tau = rng.normal(size=self.model.n)
        q, v, effort = (
            pin.neutral(self.pin_model),
            np.zeros(self.pin_model.nv),
            np.zeros(self.pin_model.nv),
        )
        q[:7] = pin.SE3ToXYZQUAT(pin.SE3(state.H))
        v[:6] = state.v
        for c, joint_name in enumerate(self.model.joint_names):
            joint = self.pin_model.joints[self.pin_model.getJointId(joint_name)]
            s = state.s[c]
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                s if joint.nq == 1 else (np.cos(s), np.sin(s))
            )
            v[joint.idx_v] = state.r[c]
            effort[joint.idx_v] = tau[c] - self.model.tree.damping[c] * state.r[c]
        return (state, tau), (q, v, effort)


def read(path: Path) -> Pair | None:
    """Return the pair, or None if one of the two readers refuses the URDF."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            model = TreeModel.from_urdf(path, mimic='independent', base='floating')
            pin_model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        except (GeolinError, ValueError):
            return None
    if pin_model.nv != model.m:
        return None
    return Pair(path, model, pin_model, pin_model.createData())


def paths(names: list[str]) -> list[Path]:
    """Return the URDFs with these names, or all of them."""
    found = sorted(FOLDER.rglob('*.urdf'))
    return [path for path in found if path.stem in names] if names else found

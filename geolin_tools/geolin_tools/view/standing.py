# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot that stands still, with a slider for each joint."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture, state_with
from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import InfeasibleError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.outputs.forces import contact_forces
from geolin_ros.typing import Array
from geolin_tools.view.health import Health
from geolin_tools.view.instant import Instant

NEAR = 0.01
"""Feet higher than the lowest one by more than this stand on nothing [m]."""
WIDEST = np.pi
"""Of a slider without limits [rad or m]."""
BASE = ('base height [m]', 'base roll [rad]', 'base pitch [rad]', 'base yaw [rad]')


class Standing:
    """Postures that the user chooses; the first support stays where it is on the ground.

    The efforts are those of the equilibrium on the supports that are on the ground; of a fixed
    base those that hold it; in the air none. Raises `InfeasibleError` if it cannot stand on the
    supports; `UnknownNameError` if a joint or frame is not part of the robot.

    Parameters
    ----------
    model, description
        The robot, see `Source`.
    supports
        What it may stand on; none: it is in the air.
    joints, height
        As of `control.posture.standing_posture`.
    """

    def __init__(
        self,
        model: TreeModel,
        description: str | Path,
        supports: Sequence[Support] = (),
        joints: Mapping[str, float] | None = None,
        height: float | None = None,
    ) -> None:
        self.model, self.description = model, description
        self._supports = tuple(supports)
        if supports:
            start = standing_posture(model, supports, joints=joints, height=height)
        else:
            start = state_with(model, joints or {})
        self._state = start
        self._start = start.copy()
        self._anchor = None
        if supports:
            self._anchor = Kinematics(model, start).pose(self._supports[0].at(model))
        self._linearizer = Linearizer(model)
        self._changed = Event()
        self._changed.set()
        self._sliders: dict[str, Any] = {}
        self._base: list[Any] = []

    def add_controls(self, gui: Any) -> None:
        """Add a slider for each joint, and for the base of a robot in the air."""
        model = self.model
        with gui.add_folder('joints', expand_by_default=False):
            if model.base == 'floating' and not self._supports:
                for name in BASE:
                    slider = gui.add_slider(
                        name, min=-np.pi, max=np.pi, step=0.001, initial_value=0.0
                    )
                    slider.on_update(lambda _: self._changed.set())
                    self._base.append(slider)
            if model.positions.groups:
                gui.add_markdown('joints with several axes have no sliders')
            else:
                self._add_joints(gui)
            reset = gui.add_button('back to the start')
        reset.on_click(lambda _: self._reset())

    def _add_joints(self, gui: Any) -> None:
        limits = self.model.limits
        for c, name in enumerate(self.model.joint_names):
            position = float(self._state.s[c])
            low, high = (
                float(np.clip(bound, -WIDEST, WIDEST))
                for bound in (limits.lower[c], limits.upper[c])
            )
            slider = gui.add_slider(
                name,
                min=min(low, position),
                max=max(high, position),
                step=0.001,
                initial_value=position,
            )
            slider.on_update(lambda _: self._changed.set())
            self._sliders[name] = slider

    def _reset(self) -> None:
        for slider, position in zip(self._sliders.values(), self._start.s, strict=True):
            slider.value = float(position)
        for slider in self._base:
            slider.value = 0.0

    def _posture(self) -> State:
        """Return the state that the sliders say."""
        state = self._start.copy()
        if self._sliders:
            state.s[:] = [slider.value for slider in self._sliders.values()]
        if self._base:
            height, *angles = (slider.value for slider in self._base)
            state.H[:3, :3] = se3.rotation_from_rpy(angles)
            state.H[2, 3] = self._start.H[2, 3] + height
        if self._anchor is not None:
            foot = Kinematics(self.model, state).pose(self._supports[0].at(self.model))
            state.H[:] = self._anchor @ se3.inverse(foot) @ state.H
        return state

    def newest(self) -> Instant | None:
        """Return the posture if a slider moved."""
        if not self._changed.is_set():
            return None
        self._changed.clear()
        self._state = state = self._posture()
        return self.about(state)

    def about(self, state: State) -> Instant:
        """Return the instant of a state at rest."""
        at = Kinematics(self.model, state)
        supports = self._on_the_ground(at)
        tau, remark = self._efforts(state, supports)
        self._linearizer.contacts = tuple(one.grounded(at).contact for one in supports)
        L = self._linearizer(state, tau)
        return Instant(
            0.0,
            state,
            L.A.copy(),
            L.B.copy(),
            forces=contact_forces(at, L.contacts, L.wrenches),
            supports=supports,
            remark=remark,
        )

    def _on_the_ground(self, at: Kinematics) -> tuple[Support, ...]:
        heights = [float(one.world_points(at)[:, 2].min()) for one in self._supports]
        lowest = min(heights, default=0.0)
        return tuple(
            one for one, z in zip(self._supports, heights, strict=True) if z - lowest <= NEAR
        )

    def _efforts(self, state: State, supports: Sequence[Support]) -> tuple[Array, str]:
        """Return joint efforts, and which they are."""
        if supports:
            try:
                return equilibrium(self.model, state, supports).tau, 'efforts of the equilibrium'
            except InfeasibleError as error:
                return np.zeros(self.model.n), f'without efforts: {error}'
        if self.model.base == 'fixed':
            return bias_force(self.model, state), 'efforts that hold the robot still'
        return np.zeros(self.model.n), 'in free fall, without efforts'

    def health(self) -> Health | None:
        """Return nothing: nobody publishes."""
        return None

    def close(self) -> None:
        """Nothing was opened."""

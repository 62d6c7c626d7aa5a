# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Control laws that follow a motion: LQR, and PD beside it."""

from geolin_control.anchoring import anchored

from geolin_demos.balance.motions import Moment, Motion
from geolin_ros.control.lqr import design
from geolin_ros.control.weights import effort_limits
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.typing import Array

PD_GAINS = {'point': ((8.0, 0.01), (16.0, 0.01)), 'surface': ((8.0, 0.02), (16.0, 0.01))}
"""Stiffness in effort limits a radian, damping in s of it: the best found, by kind of foot."""


class ScheduledLqr:
    """LQR with the gains of each knot, interpolated between knots on the same supports.

    u = u_ref - (K + K_complement) log(g_ref^-1 g), all three along the motion, the reference
    anchored at the feet.
    """

    def __init__(self, model: TreeModel, motion: Motion) -> None:
        self._model, self._motion = model, motion
        self._actuated = model.actuated
        designed: dict[int, Array] = {}  # knots that return are the same objects
        for knot in motion.knots:
            if id(knot) not in designed:
                gains = design(model, knot)
                designed[id(knot)] = gains.K + gains.K_complement
        self._gains = [designed[id(knot)] for knot in motion.knots]

    def __call__(self, time: float, state: State) -> Array:
        """Return the efforts (n_u,) of the actuated joints."""
        moment = self._motion.at(time)
        feet = [support.frame for support in moment.supports]
        reference = anchored(self._model, moment.state, state, feet)
        K = self.gains(moment, state)
        u: Array = moment.tau[self._actuated] - K @ reference.difference(state)
        return u

    def gains(self, moment: Moment, state: State) -> Array:
        """Return K + K_complement for a moment of the motion."""
        K = self._gains[moment.knot]
        if moment.fraction:
            K = (1.0 - moment.fraction) * K + moment.fraction * self._gains[moment.knot + 1]
        return K


class Pd:
    """Each joint a spring with a damper about the motion's, and the motion's efforts added.

    Stiffness is a share of the joint's effort limit a radian, so that one pair of numbers suits
    strong and weak joints.
    """

    def __init__(
        self, model: TreeModel, motion: Motion, gains: tuple[float, float] | None = None
    ) -> None:
        self._motion = motion
        self._actuated = model.actuated
        per_effort, damping = gains or PD_GAINS[motion.knots[0].supports[0].kind][0]
        self._stiffness = per_effort * effort_limits(model)
        self._damping = damping * self._stiffness

    def __call__(self, time: float, state: State) -> Array:
        """Return the efforts (n_u,) of the actuated joints."""
        moment, joints = self._motion.at(time), self._actuated
        lag = (moment.state.s - state.s)[joints]
        slow = (moment.state.r - state.r)[joints]
        u: Array = moment.tau[joints] + self._stiffness * lag + self._damping * slow
        return u

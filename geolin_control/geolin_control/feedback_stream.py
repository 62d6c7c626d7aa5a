# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""States, linearizations, contacts and references in, efforts and gains out."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from geolin_control.feedback_messages import frames_in_force, read_measured, read_reference
from geolin_control.gain_bank import GainBank, GaitGains, SteadyContacts
from geolin_control.regulator import Command, Reference, Regulator, RegulatorSettings
from geolin_ros.control.lqr import Gains
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.errors import GeolinError, InputError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.drops import Cause, DroppedInput, nanoseconds
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.state_input import StateInput
from geolin_ros.stream.topics import Counts, StateStream

NO_BASE = frozenset((Cause.NO_ODOMETRY, Cause.SKEW))
"""Why joints may be known where the base is not."""


class FeedbackStream(StateStream[Command]):
    """Feeds a `Regulator` with messages; knows no graph.

    Topics: ``joint_states``, ``odom``, ``linearization``, ``contact_states`` and ``reference``. A
    change of contacts counts after ``contact_dwell`` [s].

    Attributes
    ----------
    is_active
        Whether feedback is wanted; else joints are damped.
    is_obeyed
        Whether the motors get its efforts.
    stamp
        Of the state that the newest efforts are for [ns]; 0 before the first.
    """

    def __init__(
        self,
        model: TreeModel,
        supports: Sequence[Support],
        settings: RegulatorSettings,
        stream_settings: StreamSettings,
        counts: Counts,
        bank: GainBank | GaitGains | None = None,
        contact_dwell: float = 0.0,
    ) -> None:
        super().__init__(counts)
        self.model, self._states = model, StateInput(model, stream_settings)
        self._topics = {
            'joint_states': self._take_joint_state,
            'odom': self._take_odometry,
            'linearization': self._take_linearization,
            'contact_states': self._take_contacts,
            'reference': self._take_reference,
        }
        self._make = partial(Regulator, model, supports, settings, bank)
        self.regulator = self._make()
        self._steady = SteadyContacts(self.regulator.standing_on, contact_dwell)
        self._in_force = self.regulator.standing_on
        self.is_active = self.is_obeyed = False
        self._state = model.neutral_state()
        self._is_seen = False
        self.stamp = 0
        self._received_at: float | None = None
        self._odometry: Any = None
        self._linearization: Any = None

    @property
    def silence(self) -> float:
        """For how long [s] no state has come; 0 before the first."""
        return 0.0 if self._received_at is None else time.monotonic() - self._received_at

    def warm_up(self) -> None:
        """Stand once, with gains made cold and warm, so that no state waits for a compilation."""
        trial = self._make()
        with contextlib.suppress(GeolinError):  # of this stance, not of others
            stance = standing_posture(self.model, list(trial.supports.values()))
            trial.follow(Reference(stance))
            for k in range(3):
                trial.renew()
                trial.redesign()
                trial.command(k * trial.settings.dt, stance)

    def resume(self, earlier: 'FeedbackStream') -> None:
        """Go on where an earlier stream is.

        With the same motors efforts go on from those that it has sent; a robot with the same
        joints is kept where it is, by the gains that are there, whatever it weighs now.
        """
        old, new = earlier.model, self.model
        if old.actuated_joints != new.actuated_joints:
            return
        self.stamp, self._received_at = earlier.stamp, earlier._received_at
        if earlier.is_obeyed:
            guard, new_guard = earlier.regulator.guard, self.regulator.guard
            guard.limits, guard.settings = new_guard.limits, new_guard.settings
            self.regulator.guard = guard  # which goes on from what the motors have
        if old.joint_names != new.joint_names:
            return
        self.regulator.resume(earlier.regulator)
        if earlier.regulator.supports.keys() == self.regulator.supports.keys():
            self.regulator.stand_on(earlier.regulator.standing_on)
            self._steady = SteadyContacts(self.regulator.standing_on, self._steady.dwell)
            self._in_force = earlier._in_force
        self._state, self._is_seen = earlier._state.copy(), earlier._is_seen
        if old.hash == new.hash:
            self._linearization = earlier._linearization
        if earlier._odometry is not None:
            with contextlib.suppress(DroppedInput):
                self._take_odometry(earlier._odometry)

    def _take_joint_state(self, message: Any) -> Command | None:
        """Answer a sensor_msgs/JointState, without odometry near it by damping."""
        self.counts.received += 1
        reason = self._read(message)
        if reason is None:
            return None
        now, reason = self.stamp * 1e-9, reason if self.is_active else 'the node is not active'
        if reason:
            return self.regulator.damp(now, self._state, reason)
        if self._steady.update(now, self._in_force) != frozenset(self.regulator.standing_on):
            self.regulator.stand_on(tuple(self._steady.contacts))
        if self.regulator.reference is None:
            self.regulator.follow(Reference(self._state.at_rest()))
        return self.regulator.command(now, self._state)

    def _take_odometry(self, message: Any) -> None:
        self._states.take_odometry(message)
        self._odometry = message

    def _take_linearization(self, message: Any) -> None:
        """Take a geolin_msgs/LinearizedDynamics; it is read by the next `design`."""
        if not (np.isfinite(message.a.data).all() and np.isfinite(message.b.data).all()):
            error = InputError('linearization holds NaN or inf in a or b, expected finite numbers')
            raise DroppedInput(Cause.NOT_FINITE, str(error))
        self._linearization = message
        self.regulator.linearized_at = nanoseconds(message.header.stamp) * 1e-9

    def _take_contacts(self, message: Any) -> None:
        """Take a geolin_msgs/ContactStates; it counts once it has lasted."""
        in_force = frames_in_force(message)
        try:
            self.regulator.check_supports(in_force)
        except GeolinError as error:
            raise DroppedInput(Cause.CONTACTS, str(error)) from error
        self._in_force = in_force

    def _take_reference(self, message: Any) -> None:
        """Take a geolin_msgs/ReferenceState."""
        posture = self._state if self._is_seen else None
        try:
            self.regulator.follow(read_reference(message, self.model, posture))
        except GeolinError as error:
            raise DroppedInput(Cause.REFERENCE, str(error)) from error

    def design(self) -> Gains | None:
        """Return new gains if there are any; runs beside all the others.

        Raises `GeolinError` if there are none although something has changed; the old ones stay.
        """
        newest, self._linearization = self._linearization, None
        if newest is not None:
            self.regulator.newest = read_measured(newest, self.model)
        return self.regulator.gains if self.regulator.redesign() else None

    def release(self, reason: str) -> Command:
        """Return efforts on their way to zero, for as long as no state comes."""
        return self.regulator.release(self.stamp * 1e-9 + self.silence, reason)

    def ramp_down(self, reason: str, period: float) -> Iterator[Command]:
        """Yield efforts to be sent ``period`` [s] apart until the motors have none any more."""
        now, efforts = self.stamp * 1e-9 + self.silence, np.ones(1)
        while efforts.any():
            command = self.regulator.release(now, reason)
            yield command
            now, efforts = now + period, command.efforts

    def _read(self, message: Any) -> str | None:
        """Read a state; return why only its joints are known, if so, None if parts are missing."""
        whole = self._states.merge(message)
        if whole is None:
            return None
        stamp = nanoseconds(whole.header.stamp)
        self._states.check_order(stamp)
        reason = ''
        try:
            self._states.read(whole, stamp, self._state)
            self.counts.answered += 1
        except DroppedInput as drop:
            if drop.cause not in NO_BASE:
                raise
            self.counts.drops[drop.cause] += 1
            reason = f'no state of the base: {drop}'
        self.stamp, self._received_at, self._is_seen = stamp, time.monotonic(), True
        if not self.regulator.guard.has_begun:
            tau = np.zeros(self.model.n)
            with contextlib.suppress(DroppedInput):  # of a joint state without efforts
                self._states.read_efforts(whole, tau)
                self.regulator.guard.begin(tau[self.model.actuated])
        return reason

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""States, linearizations, contacts and references in, efforts and gains out."""

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from geolin_control.effort_guard import GuardSettings
from geolin_control.feedback_messages import frames_in_force, read_measured, read_reference
from geolin_control.gain_bank import SteadyContacts
from geolin_control.gain_file import load_bank
from geolin_control.regulator import Command, Reference, Regulator, RegulatorSettings
from geolin_ros.control.lqr import Gains
from geolin_ros.control.posture import standing_posture
from geolin_ros.control.support import Support
from geolin_ros.control.weights import Weights, weights_for
from geolin_ros.errors import ConfigurationError, GeolinError, InputError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.state_input import StateInput, StateStream
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import shared_rows, stream_settings
from geolin_ros.stream.parameters.table import (
    NO_NAMES,
    Parameter,
    entries_of,
    rows_of,
    settings_of,
)
from geolin_ros.stream.topic_stream import Cause, Counts, DroppedInput, nanoseconds

_WEIGHTS = {field.name for field in dataclasses.fields(Weights)} - {'single'}


def _weight(entry: str) -> tuple[str, float]:
    name, _, value = (part.strip() for part in entry.partition('='))
    try:
        return name, float(value)
    except ValueError:
        raise ConfigurationError(
            f'parameter weights holds {entry!r}, expected name=deviation, the name one of '
            f'{", ".join(sorted(_WEIGHTS))} or an entry of the state such as s.left_knee'
        ) from None


LQR_TABLE: tuple[Parameter, ...] = (
    *shared_rows(),
    Parameter(
        'supports',
        NO_NAMES,
        'Frames that the robot stands on: frame of a point, frame:RADIUS [m] of a ball, '
        'frame:LENGTHxWIDTH [m] of a sole, and @x,y,z behind it where it is off the origin of the '
        'frame.',
        entry=Support.parse,
    ),
    *rows_of(
        RegulatorSettings,
        {
            'friction 0.01 ... 10': 'Friction coefficient that equilibria stay below.',
            'dt 1e-4 ... 0.1 [s]': 'Sample time: efforts are constant over it (zero-order hold).',
            'calm 0 ... 10 [SI]': 'Largest twist, joint rate and displacement of a linearization '
            'for the design of gains.',
            'anchor': 'Whether the reference moves with feet that have slid.',
            'gains_timeout 0 ... 3600 [s]': 'After this long without a linearization, even if '
            'none has ever come, damping replaces feedback; 0: never. A gain_bank needs none.',
            'contacts_timeout 0 ... 10 [s]': 'After this long without gains for the active '
            'contacts, damping replaces feedback.',
            'reference_timeout 0.001 ... 10 [s]': 'After this long without a newer one, the '
            'velocities of a reference are set to zero.',
            'trust_position 0.001 ... 100 [m]': 'Distance of the base from its reference beyond '
            'which joints are only damped.',
            'trust_rotation 0.001 ... 3.2 [rad]': 'Angle of the base from its reference beyond '
            'which joints are only damped.',
        },
    ),
    Parameter(
        'weights',
        NO_NAMES,
        'Deviations of equal cost, each as name=deviation; others have defaults for the supports.',
        entry=_weight,
    ),
    Parameter(
        'delay',
        0.0,
        'Time from a measurement to its effort, beyond the zero-order hold: whole steps of dt.',
        unit='s',
        bounds=(0.0, 0.1),
    ),
    Parameter(
        'gain_bank',
        '',
        'File of gains over contact sets and postures, or along a gait, which begins where the '
        'robot stands; used instead of a design online.',
        live=False,
    ),
    Parameter(
        'contact_dwell',
        0.0,
        'Time for which a change of contacts must last before it is used.',
        unit='s',
        bounds=(0.0, 1.0),
    ),
    Parameter('design_rate', 20.0, 'Rate of gain designs.', unit='Hz', bounds=(0.1, 1000.0)),
    Parameter('publish_efforts', False, 'Whether efforts are published; gains always are.'),
    Parameter(
        'input_timeout',
        0.05,
        'After this long without a joint state, efforts go to zero.',
        unit='s',
        bounds=(0.001, 10.0),
    ),
    *rows_of(
        GuardSettings,
        {
            'full_swing_time 1e-4 ... 10 [s]': 'Least time of an effort from one limit to the '
            'other.',
            'ramp_time 1e-4 ... 60 [s]': 'Time over which feedback takes over from damping.',
            'damping_time 1e-4 ... 10 [s]': 'Damping reaches the effort limit at a joint rate of '
            '1 over this.',
        },
    ),
)

NO_BASE = frozenset((Cause.NO_ODOMETRY, Cause.SKEW))
"""Why joints may be known where the base is not."""


class FeedbackStream(StateStream[Command]):
    """Feeds a `Regulator` with messages, by the values of all parameters; knows no graph.

    Topics: ``joint_states``, ``odom``, ``linearization``, ``contact_states`` and ``reference``.

    Attributes
    ----------
    is_active
        Whether feedback is wanted; else joints are damped.
    is_obeyed
        Whether the motors get its efforts.
    stamp
        Of the state that the newest efforts are for [ns]; 0 before the first.
    """

    def __init__(self, model: TreeModel, values: Mapping[str, Any], counts: Counts) -> None:
        values = default_values() | dict(values)
        super().__init__(counts)
        self.model, self._states = model, StateInput(model, stream_settings(values))
        self._topics = {
            'joint_states': self._take_joint_state,
            'odom': self._take_odometry,
            'linearization': self._take_linearization,
            'contact_states': self._take_contacts,
            'reference': self._take_reference,
        }
        bank = load_bank(values['gain_bank'], model) if values['gain_bank'] else None
        settings = _regulator_settings(values)
        self._make = partial(Regulator, model, supports_of(values), settings, bank)
        self.regulator = self._make()
        self._steady = SteadyContacts(self.regulator.standing_on, values['contact_dwell'])
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
                self._states.joints.read(whole, 'effort', tau, Cause.MISSING_EFFORT)
                self.regulator.guard.begin(tau[self.model.actuated])
        return reason


def supports_of(values: Mapping[str, Any]) -> tuple[Support, ...]:
    """Return what the robot stands on; raises `ConfigurationError` if there is nothing."""
    supports = tuple(Support.parse(entry) for entry in entries_of(values['supports']))
    if not supports:
        raise ConfigurationError(
            'parameter supports is empty, expected the frames that the robot stands on, as '
            "['FL_foot:0.02', 'FR_foot:0.02'] or ['left_sole:0.2x0.1']"
        )
    return supports


def _regulator_settings(values: Mapping[str, Any]) -> RegulatorSettings:
    steps = values['delay'] / values['dt']
    if abs(steps - round(steps)) > 1e-6:
        raise ConfigurationError(
            f'parameter delay is {values["delay"]:g} s, expected a multiple of dt = '
            f'{values["dt"]:g} s'
        )
    weights, single = None, dict(_weight(entry) for entry in entries_of(values['weights']))
    if single:
        groups: dict[str, Any] = {name: single.pop(name) for name in _WEIGHTS & single.keys()}
        weights = dataclasses.replace(weights_for(supports_of(values)), **groups, single=single)
    return settings_of(RegulatorSettings, values, delay=round(steps), weights=weights)

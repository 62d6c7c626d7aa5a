# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU, joint states and contacts in; pose, velocity and IMU biases of a floating base out.

As nav_msgs/Odometry, sensor_msgs/Imu and contact states; joint states that came without rates go
through, with them.
"""

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from geolin_estimation.base_state import BaseEstimate, BaseFilter, Deviations, Feet, FootForces
from geolin_estimation.imu_input import NOT_MEASURED, ImuInput, ImuTopic
from geolin_ros.errors import ConfigurationError, NotFiniteError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.contacts import ContactInput, ContactSettings, write_contact
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.message_fields import write_pose, write_stamp, write_twist
from geolin_ros.stream.parameters.linearizer import (
    BY_NAME,
    MODEL_NAMES,
    NODE_NAMES,
    contact_settings,
)
from geolin_ros.stream.parameters.table import Parameter, deviations_of, rows_of, settings_of
from geolin_ros.stream.topic_stream import (
    Cause,
    Counts,
    DroppedInput,
    TopicStream,
    nanoseconds,
    starts_anew,
)
from geolin_ros.stream.warm_up import small_model
from geolin_ros.typing import Array

OUTPUTS = {
    'odometry': 'nav_msgs/msg/Odometry',
    'imu_bias': 'sensor_msgs/msg/Imu',
    'contact_states': 'geolin_msgs/msg/ContactStates',
    'joint_states': 'sensor_msgs/msg/JointState',
}
"""Topics and types: pose and twist of the base; biases in the place of angular velocity and
acceleration; feet in contact; joint states that came without rates, with them."""
CONTACT = 'geolin_msgs/msg/ContactState'
START_SAMPLES = 20
"""The mean of so many IMU samples says where up is."""


@dataclass(frozen=True)
class BaseSettings:
    """See the parameter table of the node for meanings, units and bounds."""

    imu: ImuTopic
    contacts: ContactSettings
    frame_prefix: str = ''
    world_frame: str = 'odom'
    max_skew: float = 0.05
    rate_cutoff: float = 50.0
    sole: float = 0.05
    foot_radius: float = 0.0
    flat_ground: float = 0.0
    gate: float = 16.0
    distrust: float = 0.1
    start: Sequence[float] = (0.0, 0.0, 0.0)
    deviations: Deviations = field(default_factory=Deviations)


BASE_TABLE: tuple[Parameter, ...] = (
    *(BY_NAME[name] for name in (*NODE_NAMES, *MODEL_NAMES, 'frame_prefix')),
    replace(
        BY_NAME['contact_source'],
        text='Active contacts: all of contacts; those of the topic contact_states; those of '
        'contacts with a measured foot force; or those with a foot force by joint efforts, IMU '
        'and model.',
        choices=(*BY_NAME['contact_source'].choices, 'efforts'),
    ),
    *(BY_NAME[name] for name in ('contacts', 'foot_force_topics', 'contact_on_force')),
    *(BY_NAME[name] for name in ('contact_off_force', 'wrench_timeout')),
    Parameter('imu_topic', 'imu', 'The IMU of the base.'),
    Parameter(
        'imu_link', '', 'Link of the IMU, with its axes; fixed to the base. Empty: the base.'
    ),
    Parameter('start', [0.0, 0.0, 0.0], 'x, y and yaw of the base at the start.', unit='m, rad'),
    *rows_of(
        BaseSettings,
        {
            'world_frame': 'Frame of the odometry.',
            'max_skew 0 ... 10 [s]': 'Largest time between a joint state and the newest sample of '
            'the IMU.',
            'rate_cutoff 0.1 ... 1e4 [Hz]': 'Cutoff of the filter that finds joint rates from '
            'positions where they are missing.',
            'sole 0.001 ... 1 [m]': 'Distance of the corners of a surface from its middle, along '
            'x and along y.',
            'foot_radius 0 ... 1 [m]': 'Radius of feet that are balls about their frames and '
            'roll; 0: they do not.',
            'flat_ground 0 ... 1 [m]': 'Standard deviation of the heights of flat ground where '
            'feet land, about that at the start; 0: it is not flat.',
            'gate 1 ... 1e9': 'Squared Mahalanobis distance from which on a contact is rejected.',
            'distrust 0 ... 1000 [s]': 'Time for which it is not used then.',
        },
    ),
    *deviations_of(
        Deviations,
        (
            ('gyro', 'angular velocities, a density', 'rad/s/sqrt(Hz)'),
            ('accelerometer', 'accelerations, a density', 'm/s^2/sqrt(Hz)'),
            ('tilt', 'roll and pitch at the start; 0.2 for a robot that moves then', 'rad'),
            ('velocity', 'the velocity at the start; 1.0 for a robot that moves then', 'm/s'),
            ('gyro_bias', 'the bias of the gyro at the start', 'rad/s'),
            ('accelerometer_bias', 'the bias of the accelerometer at the start', 'm/s^2'),
            ('gyro_walk', 'the random walk of the gyro bias, a density', 'rad/s^2/sqrt(Hz)'),
            (
                'accelerometer_walk',
                'the random walk of the other bias, a density',
                'm/s^3/sqrt(Hz)',
            ),
            ('slip', 'the slip of contacts, a density; 0.003 for soles', 'm/s/sqrt(Hz)'),
            ('joint', 'joint positions', 'rad or m'),
            ('point', 'positions of contacts in the description', 'm'),
        ),
    ),
)


def base_settings(values: Mapping[str, Any], base_link: str) -> BaseSettings:
    """Return the settings of the stream from parameter values."""
    contacts = contact_settings(values)
    if not contacts.contacts:
        raise ConfigurationError(
            "parameter contacts is empty, expected the feet, as ['left_foot point']; "
            'contact_source says how they are known to touch the ground'
        )
    return settings_of(
        BaseSettings,
        values,
        imu=ImuTopic(values['imu_topic'], values['imu_link'] or base_link),
        contacts=contacts,
        deviations=settings_of(Deviations, values),
    )


class BaseAnswer(NamedTuple):
    """One answer."""

    stamp: int
    """Of the joint state [ns]."""
    estimate: BaseEstimate
    joint_state: Any
    """As it was received."""
    rates: Array | None
    """Of its joints, by the filter [rad/s or m/s]; None: it has its own, or is the first."""
    imu_age: float
    """Distance of the newest IMU sample to the joint state [s]."""


def _has_rates(message: Any) -> bool:
    """Whether a joint state says any; drivers that do not know them leave them out, or say NaN."""
    rates = np.asarray(message.velocity, dtype=np.float64)
    return rates.size > 0 and not (math.isnan(rates[0]) and bool(np.isnan(rates).all()))


class BaseStream(TopicStream[BaseAnswer]):
    """Estimates the base at each joint state; IMU samples carry it from one to the next.

    It starts at rest, upright by the first samples, above ``start`` and with its lowest foot at
    height zero. It starts anew after a clock was set back or the IMU was silent for longer than a
    second. An input that cannot be used is counted, in ``counts`` of an earlier stream or in new
    ones, and reported to ``on_drop``. Topics: ``joint_states``, ``contact_states``, that of the
    IMU and those of foot forces. Raises `ConfigurationError` or `UnknownNameError` as `Feet`; or
    if contacts are of kinds that are no feet.
    """

    def __init__(
        self, model: TreeModel, settings: BaseSettings, counts: Counts | None = None
    ) -> None:
        super().__init__(counts or Counts())
        self.model, self.settings = model, settings
        feet = Feet(model, settings.imu.link, settings.contacts.contacts, settings.sole)
        self._filter = BaseFilter(
            *(feet, settings.deviations, settings.foot_radius, settings.gate, settings.distrust),
            flat_ground=settings.flat_ground,
        )
        soft = replace(settings.contacts, on_force=settings.contacts.off_force)
        self._joints, self._contacts = JointInput(model), ContactInput(model, soft)
        self._imu = ImuInput(model, settings.imu, settings.max_skew, settings.frame_prefix)
        self._forces = FootForces(feet) if settings.contacts.source == 'efforts' else None
        self._rates, self._filtered = Differentiator(settings.rate_cutoff), ['']
        self._accelerations = Differentiator(settings.rate_cutoff)
        self._state, self._tau = model.neutral_state(), np.zeros(model.n)
        self._start_anew()
        self._last_stamp: int | None = None
        self._topics: dict[str, Callable[[Any], BaseAnswer | None]] = {
            'joint_states': self._take_joint_state,
            'contact_states': self._contacts.take_states,
            settings.imu.topic: self._take_imu,
        }
        for foot in settings.contacts.measured_feet:
            self._topics[foot.topic] = partial(self._contacts.take_force, foot.topic)

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        return {'joint state': self._last_stamp, self.settings.imu.topic: self._imu.stamp}

    @property
    def waits_for(self) -> str:
        """The IMU, which says where up is."""
        topic = self.settings.imu.topic
        return '' if self._epoch is not None else f'{START_SAMPLES} samples of the IMU on {topic}'

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say of the stream."""
        return {'contacts let go': str(self._filter.let_go)}

    def warm_up(self) -> None:
        """Estimate once, so that the first joint state pays for nothing; then start anew."""
        f = self._filter
        f.start(0.0, np.array((0.0, 0.0, 9.81)))
        for k in (1, 2):
            f.propagate(1e-3 * k, np.array((0.0, 0.0, 0.0, 0.0, 0.0, 9.81)))
            f.correct(self._state.s, set(f.feet.names))
        f.estimate()
        if self._forces is not None:
            self._forces(*(self._state.s, self._state.r, self._tau, self._tau), self._imu.value)
        self._start_anew()

    def _start_anew(self) -> None:
        self._epoch: int | None = None  # stamp of the start [ns]
        self._levelling: list[Array] = []
        self._repeats = False  # whether the last IMU message was used by the filter
        self._ground: float | None = None  # height of the lowest foot at the start [m]
        self._filter.let_go = 0

    def _take_imu(self, message: Any) -> None:
        """Take a sensor_msgs/Imu."""
        imu, last = self._imu, self._imu.stamp
        self._repeats = False
        imu.take(message)
        stamp: Any = imu.stamp
        if last is not None and not 0 < stamp - last < 1_000_000_000:
            self._start_anew()
        if self._epoch is not None:
            self._filter.propagate((stamp - self._epoch) * 1e-9, imu.value)
            self._repeats = True
            return
        self._levelling.append(imu.value)
        if len(self._levelling) < START_SAMPLES:
            return
        mean = np.mean(self._levelling, axis=0)[3:]
        self._levelling = []
        if not np.linalg.norm(mean) > 1.0:
            raise DroppedInput(
                Cause.NO_IMU,
                f'IMU on {imu.topic.topic} has a mean acceleration of {mean.tolist()} m/s^2 at '
                'the start, expected gravity, about 9.8 m/s^2; correct the unit of its publisher',
            )
        self._epoch = stamp
        self._filter.start(0.0, mean, *self.settings.start)

    def repeat_imu(self, stamp: int, sample: tuple[float, ...]) -> bool:
        """Take a sample as an Imu message that differs from the last one in nothing else.

        Of [gyro; accelerometer] (6,) [rad/s, m/s^2] at ``stamp`` [ns]. Returns whether that was
        all there is to do; if not, `take` has to look at the message.
        """
        epoch, last = self._epoch, self._imu.stamp
        if not self._repeats or epoch is None or last is None:
            return False
        if not (0 < stamp - last < 1_000_000_000 and math.isfinite(sum(sample))):
            return False
        self._imu.stamp, self._imu.value = stamp, np.array(sample)
        self._filter.propagate((stamp - epoch) * 1e-9, self._imu.value)
        return True

    def _take_joint_state(self, message: Any) -> BaseAnswer | None:
        """Estimate at a joint state; None while the IMU has not measured where up is."""
        self.counts.received += 1
        stamp = nanoseconds(message.header.stamp)
        if starts_anew('joint state', stamp, self._last_stamp) and self._last_stamp is not None:
            self._contacts.forget()
        self._last_stamp = stamp
        self._joints.read(message, 'position', self._state.s, Cause.MISSING_JOINT)
        rates = self._filtered_rates(stamp, message)
        if self._forces is not None and self._epoch is not None:
            self._estimate_contacts(stamp, message, rates, self._forces)
        contacts = self._contacts.at(stamp, self._state)
        if self._epoch is None:
            self.counts.skipped += 1
            return None
        age = self._imu.age(stamp)
        self._filter.propagate((stamp - self._epoch) * 1e-9)
        try:
            on_ground = {c.name for c in contacts if c.active}
            self._filter.correct(self._state.s, on_ground, self._inverse_probabilities())
        except NotFiniteError as error:
            self._start_anew()
            raise DroppedInput(Cause.NOT_FINITE, str(error)) from error
        estimate = self._filter.estimate()
        if self._ground is None:
            self._ground = self._filter.feet.lowest(self._state.s, estimate.H)
            self._ground -= self.settings.foot_radius
        estimate.H[2, 3] -= self._ground
        self.counts.answered += 1
        return BaseAnswer(stamp, estimate, message, rates, age)

    def _inverse_probabilities(self) -> dict[str, float]:
        """Return 1 / p of feet on the ground, p logistic: 1/2 at on_force, 1/10 at off_force."""
        settings = self.settings.contacts
        if settings.source not in ('forces', 'efforts') or settings.on_force == settings.off_force:
            return {}
        rise = settings.on_force - settings.off_force
        return {
            frame: 1.0 + 9.0 ** min((settings.on_force - force) / rise, 1.0)
            for frame, force in self._contacts.forces.items()
        }

    def _filtered_rates(self, stamp: int, message: Any) -> Array | None:
        """Return the rates of a joint state that has none; None: it has, or nobody knows yet."""
        if _has_rates(message):
            return None
        if list(message.name) != self._filtered:
            self._rates.forget()
            self._filtered = list(message.name)
        self._rates.add(stamp, np.asarray(message.position, dtype=np.float64))
        return self._rates.rate

    def _estimate_contacts(
        self, stamp: int, message: Any, rates: Array | None, forces: FootForces
    ) -> None:
        """Say which feet stand by efforts; what is not known yet of the motion counts as none."""
        if not len(message.effort):
            raise DroppedInput(
                Cause.MISSING_EFFORT,
                'joint state has no efforts, expected them as contact_source is efforts; let its '
                'publisher fill effort, or choose another contact_source',
            )
        state = self._state
        self._joints.read(message, 'effort', self._tau, Cause.MISSING_EFFORT)
        state.r[:] = 0.0
        known = message if rates is None else SimpleNamespace(name=message.name, velocity=rates)
        if _has_rates(known):
            self._joints.read(known, 'velocity', state.r, Cause.MISSING_VELOCITY)
            self._accelerations.add(stamp, state.r)
        r_dot = self._accelerations.rate
        r_dot = np.zeros(self.model.n) if r_dot is None else r_dot
        try:
            found = forces(state.s, state.r, r_dot, self._tau, self._imu.value)
            self._contacts.take_forces(found)
        except NotFiniteError as error:
            raise DroppedInput(Cause.NOT_FINITE, str(error)) from error


class BaseWriter:
    """Fills messages of `OUTPUTS`, its own from now on, with one answer after another.

    ``make`` returns an empty message of a type of that name.
    """

    def __init__(self, make: Callable[[str], Any], stream: BaseStream) -> None:
        model, settings = stream.model, stream.settings
        self.messages = {name: make(kind) for name, kind in OUTPUTS.items()}
        odometry, bias, contacts, _ = self.messages.values()
        odometry.header.frame_id = contacts.header.frame_id = settings.world_frame
        odometry.child_frame_id = settings.frame_prefix + model.base_link
        bias.header.frame_id = settings.frame_prefix + settings.imu.link
        bias.orientation_covariance[0] = NOT_MEASURED
        contacts.contacts = [make(CONTACT) for _ in settings.contacts.contacts]
        for state, contact in zip(contacts.contacts, settings.contacts.contacts, strict=True):
            write_contact(state, replace(contact, active=False), model)
        self._on_ground: frozenset[str] = frozenset()

    def write(self, answer: BaseAnswer) -> dict[str, Any]:
        """Fill and return the messages by output; None for joint states that have rates."""
        odometry, bias, contacts, joints = self.messages.values()
        estimate = answer.estimate
        for message in (odometry, bias, contacts):
            write_stamp(message.header.stamp, answer.stamp)
        write_pose(odometry.pose.pose, estimate.H)
        write_twist(odometry.twist.twist, estimate.v)
        odometry.pose.covariance = estimate.pose_covariance.ravel()
        odometry.twist.covariance = estimate.twist_covariance.ravel()
        w, a = bias.angular_velocity, bias.linear_acceleration
        w.x, w.y, w.z, a.x, a.y, a.z = estimate.biases.tolist()
        P = estimate.bias_covariance
        bias.angular_velocity_covariance = np.ravel(P[:3, :3])
        bias.linear_acceleration_covariance = np.ravel(P[3:, 3:])
        if estimate.on_ground != self._on_ground:
            self._on_ground = estimate.on_ground
            for state in contacts.contacts:
                state.active = state.frame in estimate.on_ground
        if answer.rates is None:
            return self.messages | {'joint_states': None}
        received = answer.joint_state
        write_stamp(joints.header.stamp, answer.stamp)
        joints.name = list(received.name)
        joints.position, joints.velocity, joints.effort = (
            array('d', np.asarray(values, dtype=np.float64).tobytes())
            for values in (received.position, answer.rates, received.effort)
        )
        return self.messages


def warm_up() -> None:
    """Compile, or load from the cache, what the stream runs."""
    model = small_model()
    foot = ContactSettings(contacts=(Contact(model.body_names[-1]),))
    BaseStream(model, BaseSettings(ImuTopic('imu', model.base_link), foot)).warm_up()

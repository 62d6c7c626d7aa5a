# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states, IMUs and force sensors in; torques, external wrenches and their message out.

Nobody has to know where the base is: the equations of motion are the same in every frame that
moves evenly, so that base pose and linear velocity are set to rest, and accelerations count less
gravity, as accelerometers read them. The angular velocity of the base comes from its own IMU.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from geolin_estimation.imu_input import ImuInput, ImuTopic
from geolin_estimation.sparse import (
    Estimator,
    Sensor,
    Term,
    Variable,
    accelerometer,
    all_external_wrenches,
    angular_acceleration,
    base_sensors,
    external_wrench,
)
from geolin_estimation.sparse.sensors import Kind
from geolin_ros.errors import ConfigurationError, InputError, UnsolvableError
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.differentiation import Differentiator
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.inputs.wrench_input import WrenchInput, WrenchTopic
from geolin_ros.stream.message_fields import (
    allocate,
    read_matrix,
    write_matrix,
    write_stamp,
    write_wrench,
)
from geolin_ros.stream.parameters.linearizer import BY_NAME, MODEL_NAMES, NODE_NAMES
from geolin_ros.stream.parameters.table import (
    NO_NAMES,
    Parameter,
    deviations_of,
    entries_of,
    rows_of,
    settings_of,
)
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

ACCELERATIONS, EFFORTS = 'joint accelerations', 'joint efforts'


@dataclass(frozen=True)
class TorqueSettings:
    """See the parameter table of the node for meanings, units and bounds."""

    imu_topics: tuple[ImuTopic, ...] = ()
    wrench_topics: tuple[WrenchTopic, ...] = ()
    wrench_messages: Literal['plain', 'with_covariance'] = 'plain'
    frame_prefix: str = ''
    wrench_timeout: float = 0.1
    max_skew: float = 0.05
    acceleration_cutoff: float = 50.0
    unknown_wrenches: tuple[str, ...] = ()
    joint_acceleration: float = 2.0
    joint_effort: float = 0.0
    linear_acceleration: float = 0.1
    angular_acceleration: float = 1.0
    force: float = 2.0
    moment: float = 0.2
    unknown_force: float = 200.0
    unknown_moment: float = 50.0
    covariance_rate: float = 20.0


def _sensor(entry: str) -> ImuTopic:
    match entry.split():
        case [topic, link]:
            return ImuTopic(topic, link)
    raise ConfigurationError(
        f'parameter imu_topics or wrench_topics holds {entry!r}, expected a topic and a link with '
        'a blank between'
    )


TORQUE_TABLE: tuple[Parameter, ...] = (
    *(BY_NAME[name] for name in (*NODE_NAMES, *MODEL_NAMES, 'frame_prefix', 'wrench_timeout')),
    Parameter(
        'imu_topics',
        NO_NAMES,
        'IMUs, each as `topic link`; one must be fixed to a floating base.',
        entry=_sensor,
    ),
    Parameter(
        'wrench_topics',
        NO_NAMES,
        'Measured wrenches on links, such as those of the ground on feet, each as `topic link`.',
        entry=_sensor,
    ),
    Parameter(
        'unknown_wrenches',
        NO_NAMES,
        'Links with an external wrench that no sensor measures, such as a hand in contact.',
    ),
    *rows_of(
        TorqueSettings,
        {
            'wrench_messages': 'Type of wrench_topics: geometry_msgs/WrenchStamped, or '
            'geolin_msgs/WrenchWithCovariance.',
            'max_skew 0 ... 10 [s]': 'Largest time between a joint state and a sample of an IMU.',
            'acceleration_cutoff 0.01 ... 10000 [Hz]': 'Cut-off of the low-pass filter of '
            'differentiated joint rates and angular velocities.',
            'covariance_rate 0 ... 10000 [Hz]': 'Rate of estimates with covariance; 0: none.',
            'deviation.joint_effort 0 ... 1e9 [N m or N]': 'Standard deviation of the efforts of '
            'the joint states; 0: they are not used.',
        },
    ),
    *deviations_of(
        TorqueSettings,
        (
            ('joint_acceleration', 'differentiated joint rates', 'rad/s^2 or m/s^2'),
            ('linear_acceleration', 'accelerometers whose messages have no covariance', 'm/s^2'),
            ('angular_acceleration', 'differentiated angular velocities', 'rad/s^2'),
            ('force', 'measured forces whose messages have no covariance', 'N'),
            ('moment', 'measured moments whose messages have no covariance', 'N m'),
            ('unknown_force', 'forces that no sensor measures, from zero', 'N'),
            ('unknown_moment', 'moments that no sensor measures, from zero', 'N m'),
        ),
        bounds=(1e-9, 1e9),
    ),
)


def torque_settings(values: Mapping[str, Any]) -> TorqueSettings:
    """Return the settings of the stream from parameter values."""
    return settings_of(
        TorqueSettings,
        values,
        imu_topics=tuple(map(_sensor, entries_of(values['imu_topics']))),
        wrench_topics=tuple(
            WrenchTopic(*_sensor(entry), 'body') for entry in entries_of(values['wrench_topics'])
        ),
        unknown_wrenches=tuple(entries_of(values['unknown_wrenches'])),
    )


class TorqueEstimate(NamedTuple):
    """One answer; the arrays are its own."""

    stamp: int
    """Of the joint state [ns]."""
    tau: Array
    """(n,) joint torques [N m or N]."""
    wrenches: Array
    """(k, 6) [force; torque] on each of the stream's ``links``, in its axes, about its origin."""
    covariance: Array | None
    """(n + 6 k, n + 6 k) of tau, then of the wrenches; None if it is not the time for it."""
    chi_squared: float
    degrees_of_freedom: int
    imu_age: float
    """Largest distance of a sample of an IMU to the joint state [s]."""
    compute_time: float
    """[s]"""


class TorqueStream(TopicStream[TorqueEstimate]):
    """Estimates torques and wrenches at each joint state from the newest of everything else.

    Joints have a single axis; those that mimic others have no torque of their own. ``links`` are
    those whose wrenches are estimated: measured ones first, then unknown ones.

    An input that cannot be used is counted, in ``counts`` of an earlier stream or in new ones, and
    reported to ``on_drop``; the next is taken as if nothing had happened. Topics:
    ``joint_states``, those of IMUs and wrenches in the settings.

    Raises `ConfigurationError` if a floating base has no IMU, two topics are about one link, or
    the robot has loops. Raises `UnsolvableError` if the available inputs do not determine the
    torques; it names them. Raises `UnknownNameError` or `UnsupportedJointError` if a link is not
    part of the robot, or a joint not of a kind that can be served.
    """

    def __init__(
        self, model: TreeModel, settings: TorqueSettings, counts: Counts | None = None
    ) -> None:
        super().__init__(counts or Counts())
        if model.loops:
            raise ConfigurationError(
                f'robot {model.name!r} has closed loops, whose forces no sensor measures, '
                'expected a tree; leave them out by loops: [none], and name the links at their '
                'ends in unknown_wrenches'
            )
        self.model, self.settings = model, settings
        cutoff, prefix = settings.acceleration_cutoff, settings.frame_prefix
        self._joints = JointInput(model)
        self._imus = [
            ImuInput(model, topic, settings.max_skew, prefix, Differentiator(cutoff))
            for topic in settings.imu_topics
        ]
        self._wrenches = WrenchInput(
            model, settings.wrench_topics, settings.wrench_timeout, 'drop', prefix
        )
        self._topics: dict[str, Callable[[Any], TorqueEstimate | None]] = {
            'joint_states': self._take_joint_state
        }
        self._topics |= {imu.topic.topic: imu.take for imu in self._imus}
        self._topics |= {t.topic: partial(self._take_wrench, t) for t in settings.wrench_topics}
        self._rates = Differentiator(cutoff)
        self.links = *(t.link for t in settings.wrench_topics), *settings.unknown_wrenches
        self._on_base = self._find_base_imu()
        self._estimator = Estimator(model, self._sensors())
        system = self._estimator.system
        self._readings = np.zeros(system.rows - system.equations)
        self._bodies = [model.frame(link).body for link in self.links]
        self._map = np.eye(model.n + 6 * len(self.links))
        for i, link in enumerate(self.links):
            rows = slice(model.n + 6 * i, model.n + 6 * i + 6)
            self._map[rows, rows] = external_wrench(model, link).terms[0].matrix
        self._state = model.neutral_state()
        self._covariances: dict[str, Array] = {}  # covariances of messages
        self._last_stamp: int | None = None
        self._last_covariance: int | None = None

    @property
    def newest_stamps(self) -> dict[str, int | None]:
        """Stamps [ns] of the inputs taken last, None before the first."""
        imus = {imu.topic.topic: imu.stamp for imu in self._imus}
        return {'joint state': self._last_stamp, **imus}

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say of the stream."""
        return {'delay of measured accelerations [ms]': f'{self._rates.delay * 1e3:.3f}'}

    def _take_wrench(self, wrench: WrenchTopic, message: Any) -> None:
        """Take a geometry_msgs/WrenchStamped, or a geolin_msgs/WrenchWithCovariance."""
        self._wrenches.take(wrench.topic, message)
        if self.settings.wrench_messages == 'with_covariance' and message.covariance.rows:
            if message.header.frame_id != self.settings.frame_prefix + wrench.link:
                raise DroppedInput(
                    Cause.WRENCH_FRAME,
                    f'wrench with covariance on {wrench.topic} has frame_id '
                    f'{message.header.frame_id!r}, expected {wrench.link!r}',
                )
            self._note_covariance(f'external_wrench[{wrench.link}]', message.covariance)

    def warm_up(self) -> None:
        """Estimate once at rest, so that the first joint state pays for nothing."""
        self._estimator.estimate(self._state, self._readings)
        self._covariance()

    def _find_base_imu(self) -> str | None:
        """Return the link of the IMU that turns with a floating base."""
        model, imus = self.model, [topic.link for topic in self.settings.imu_topics]
        for links in (self.links, imus):
            if len(set(links)) != len(links):
                raise ConfigurationError(
                    f'robot {model.name!r}: wrenches or IMUs of {", ".join(links)}, expected each '
                    'link once'
                )
        if model.base == 'fixed':
            return None
        for link in imus:
            if model.frame(link).body == 0:
                return link
        raise ConfigurationError(
            f'robot {model.name!r} has a floating base and no IMU that turns with it, expected '
            f'one in imu_topics whose link is fixed to {model.base_link!r}'
        )

    def _sensors(self) -> list[Sensor]:
        """Return what the estimator is to know; the readings follow in this order."""
        model, settings = self.model, self.settings
        sensors = [
            *base_sensors(model, 'tau'),
            *all_external_wrenches(model, but=self.links),
            _joint_sensor(model, ACCELERATIONS, 'qdd', settings.joint_acceleration),
        ]
        if settings.joint_effort > 0.0:
            sensors.append(_joint_sensor(model, EFFORTS, 'tau', settings.joint_effort))
        for topic in settings.imu_topics:
            sensors.append(accelerometer(model, topic.link, settings.linear_acceleration))
            sensors.append(angular_acceleration(model, topic.link, settings.angular_acceleration))
        measured = np.repeat((settings.force, settings.moment), 3)
        unknown = np.repeat((settings.unknown_force, settings.unknown_moment), 3)
        for link in self.links:
            deviation = unknown if link in settings.unknown_wrenches else measured
            sensors.append(external_wrench(model, link, deviation=deviation))
        return sensors

    def _note_covariance(self, sensor: str, given: Any) -> None:
        """Believe what a message says of its own noise: an array, or a geolin_msgs/Matrix."""
        try:
            covariance = given if isinstance(given, np.ndarray) else read_matrix(given)
            known = self._covariances.get(sensor)
            if known is not None and np.array_equal(known, covariance):
                return
            self._estimator.set_covariance(sensor, covariance)
        except (ConfigurationError, InputError) as error:
            raise DroppedInput(Cause.COVARIANCE, str(error)) from error
        self._covariances[sensor] = covariance.copy()

    def _take_joint_state(self, message: Any) -> TorqueEstimate | None:
        """Estimate at a joint state; None at the first of a clock."""
        start = time.perf_counter()
        self.counts.received += 1
        state, readings, place = self._state, self._readings, self._estimator.system.places
        stamp = nanoseconds(message.header.stamp)
        if starts_anew('joint state', stamp, self._last_stamp):
            self._rates.forget()
            self._last_covariance = None
        self._last_stamp = stamp
        self._joints.read(message, 'position', state.s, Cause.MISSING_JOINT)
        self._joints.read(message, 'velocity', state.r, Cause.MISSING_VELOCITY)
        self._rates.add(stamp, state.r)
        if self._rates.rate is None:
            self.counts.skipped += 1
            return None
        readings[place[ACCELERATIONS]] = self._rates.rate
        if EFFORTS in place:
            self._joints.read(message, 'effort', readings[place[EFFORTS]], Cause.MISSING_EFFORT)
        age = max((imu.age(stamp) for imu in self._imus), default=0.0)
        for imu in self._imus:
            link: str = imu.topic.link
            name, turning = f'accelerometer[{link}]', cast('Differentiator', imu.turning)
            readings[place[name]] = imu.value[3:]
            readings[place[f'angular_acceleration[{link}]']] = turning.rate
            if any(imu.covariance):
                self._note_covariance(name, np.reshape(imu.covariance, (3, 3)))
            if link == self._on_base:
                state.v[3:] = self.model.frame(link).placement[:3, :3] @ imu.value[:3]
        wrenches, _ = self._wrenches.at(stamp, '')
        for wrench in wrenches:
            at = place[f'external_wrench[{wrench.link}]']
            readings[at] = np.concatenate((wrench.force, wrench.moment))
        try:
            found = self._estimator.estimate(state, readings)
        except (UnsolvableError, ConfigurationError) as error:
            raise DroppedInput(Cause.UNSOLVABLE, str(error)) from error
        n, (_, _, fx, tau, _) = self.model.n, found.variables
        answer = self._map @ np.concatenate((tau[-n:], fx[self._bodies].ravel()))
        if not np.isfinite(answer).all():
            raise DroppedInput(
                Cause.NOT_FINITE,
                'torques overflow, expected readings of sizes that a robot can have; look for '
                'large numbers in joint states, IMUs and wrenches',
            )
        rate, last, covariance = self.settings.covariance_rate, self._last_covariance, None
        if rate > 0.0 and (last is None or (stamp - last) * 1e-9 * rate > 0.999):
            self._last_covariance, covariance = stamp, self._covariance()
        self.counts.answered += 1
        return TorqueEstimate(
            stamp,
            answer[:n],
            answer[n:].reshape(-1, 6),
            covariance,
            found.chi_squared,
            found.degrees_of_freedom,
            age,
            time.perf_counter() - start,
        )

    def _covariance(self) -> Array:
        """Return the joint covariance of torques and wrenches of the last estimate."""
        names = self.model.body_names
        variables = [Variable('tau', name) for name in self.model.joint_names]
        variables += [Variable('fx', names[body]) for body in self._bodies]
        return np.asarray(self._map @ self._estimator.covariance(variables) @ self._map.T)


def _joint_sensor(model: TreeModel, name: str, kind: Kind, deviation: float) -> Sensor:
    """Return one sensor of all joints."""
    unit = np.eye(model.n)
    terms = tuple(
        Term(Variable(kind, joint), unit[:, [c]]) for c, joint in enumerate(model.joint_names)
    )
    return Sensor(name, terms, deviation**2 * unit)


class TorqueWriter:
    """Fills one geolin_msgs/TorqueEstimate, its own from now on, with each estimate.

    ``make_wrench`` makes an empty geolin_msgs/WrenchWithCovariance.
    """

    def __init__(self, message: Any, make_wrench: Callable[[], Any], stream: TorqueStream) -> None:
        model, prefix = stream.model, stream.settings.frame_prefix
        self.message = message
        message.header.frame_id = prefix + model.base_link
        message.model_hash = model.hash
        message.joint_names = list(model.joint_names)
        message.wrenches = [make_wrench() for _ in stream.links]
        for wrench, link in zip(message.wrenches, stream.links, strict=True):
            wrench.header.frame_id = prefix + link
        self._torques = allocate(message, 'joint_torques', model.n)

    def write(self, estimate: TorqueEstimate) -> Any:
        """Fill and return the message."""
        message, covariance, n = self.message, estimate.covariance, len(estimate.tau)
        write_stamp(message.header.stamp, estimate.stamp)
        self._torques[:] = estimate.tau
        write_matrix(message.covariance, covariance)
        for k, wrench in enumerate(message.wrenches):
            write_stamp(wrench.header.stamp, estimate.stamp)
            write_wrench(wrench.wrench, estimate.wrenches[k])
            own = slice(n + 6 * k, n + 6 * k + 6)
            write_matrix(wrench.covariance, None if covariance is None else covariance[own, own])
        message.chi_squared = estimate.chi_squared
        message.degrees_of_freedom = estimate.degrees_of_freedom
        message.compute_time = estimate.compute_time
        return message


def warm_up() -> None:
    """Compile, or load from the cache, what the stream runs."""
    model = small_model()
    TorqueStream(model, TorqueSettings((ImuTopic('imu', model.base_link),))).warm_up()

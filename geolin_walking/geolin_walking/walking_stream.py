# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Messages in, plans out, without a graph."""

from array import array
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from geolin_control.feedback_messages import frames_in_force, read_gains, write_gains
from geolin_control.feedback_stream import LQR_TABLE, supports_of

from geolin_ros import robots
from geolin_ros.control.posture import standing_posture
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.stream.inputs.state_input import StateInput, StateStream
from geolin_ros.stream.message_fields import read_matrix, write_matrix, write_stamp
from geolin_ros.stream.parameters.file import default_values
from geolin_ros.stream.parameters.linearizer import shared_rows, stream_settings
from geolin_ros.stream.parameters.table import Parameter
from geolin_ros.stream.topic_stream import Counts, check_finite, nanoseconds
from geolin_walking.gait import Phase
from geolin_walking.reference import Command
from geolin_walking.walker import (
    Law,
    Linearize,
    Plan,
    Walker,
    contacts_of,
    valid_until,
    walker_for,
)

WALKING_TABLE: tuple[Parameter, ...] = (
    *shared_rows(),
    *(row for row in LQR_TABLE if row.name in ('supports', 'friction')),
    Parameter(
        'dynamics',
        'library',
        'Where A and B come from: the library, in this process, or a service, linearize_along of '
        'linearizer unless it is remapped.',
        choices=('library', 'service'),
    ),
    Parameter('plan_rate', 50.0, 'Rate of plans.', unit='Hz', bounds=(20.0, 1000.0)),
    Parameter(
        'service_timeout',
        0.04,
        'After this long without an answer of the service the robot stops on all feet, on A and B '
        'of this process; two intervals of the default plan_rate.',
        unit='s',
        bounds=(0.001, 60.0),
    ),
    Parameter(
        'command_timeout',
        0.5,
        'After this long without a newer one, a command is over and the robot stops; 0: never.',
        unit='s',
        bounds=(0.0, 3600.0),
    ),
)


class Question(NamedTuple):
    """What a plan is made of: stamp of the state [ns], and time since the first one [s]."""

    stamp: int
    time: float
    state: State
    touching: list[bool]
    command: Command


class WalkingStream(StateStream[Question]):
    """Asks for a plan, at the rate of plans, by the values of all parameters.

    Topics: ``joint_states``, ``odom``, ``contact_states`` with the feet that touch the ground, and
    ``cmd_vel``. ``linearize`` as of `Walker` sets ``stops`` while the robot has to stop, whatever
    is commanded. ``phase`` is that of the newest plan, ``left_out`` counts those not made in time.
    """

    def __init__(
        self,
        model: TreeModel,
        values: Mapping[str, Any],
        counts: Counts,
        linearize: Linearize | None = None,
        stops: Event | None = None,
    ) -> None:
        settings = stream_settings(default_values() | dict(values))
        super().__init__(counts)
        self.model, self._states = model, StateInput(model, settings)
        self.supports = supports_of(values)
        self.contacts = contacts_of(self.supports)
        self._state = model.neutral_state()
        self._touching = {support.frame for support in self.supports}
        self._command, self._commanded_at = Command(), 0
        self._period, self._patience = 1.0 / values['plan_rate'], values['command_timeout']
        self.stops = stops or Event()
        self._posture = standing_posture(model, self.supports)
        given = {'friction': values['friction'], 'linearize': linearize}
        self._make = partial(walker_for, model, self.supports, self._posture, **given)
        self.walker: Walker = self._make()
        self.phase, self.left_out = Phase.STAND, 0
        self._first = self._stamp = self._next = 0
        self._topics = {
            'joint_states': self._take_joint_state,
            'odom': self._states.take_odometry,
            'contact_states': self._take_contacts,
            'cmd_vel': self._take_command,
        }

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say of the stream."""
        return {'phase': self.phase.name.lower(), 'plans left out': str(self.left_out)}

    def warm_up(self) -> None:
        """Stand and walk once, so that no state waits for a compilation."""
        trial = self._make()
        for k in range(4):
            trial.plan(
                0.02 * k, self._posture, [True] * len(self.supports), Command(0.1 * (k > 1))
            )

    def rise(self) -> None:
        """Stand, also after a fall."""
        self.walker = self._make()
        self._first, self._next = self._stamp, 0

    def _take_contacts(self, message: Any) -> None:
        self._touching = set(frames_in_force(message))

    def _take_command(self, message: Any) -> None:
        """Take a geometry_msgs/Twist, in the robot's heading."""
        command = Command(message.linear.x, message.linear.y, message.angular.z)
        check_finite('cmd_vel', command)
        self._command, self._commanded_at = command, self._stamp

    def _take_joint_state(self, message: Any) -> Question | None:
        self.counts.received += 1
        whole = self._states.merge(message)
        if whole is None:
            return None
        stamp = nanoseconds(whole.header.stamp)
        is_first = self._states.check_order(stamp)
        self._stamp = stamp
        if is_first:
            self.rise()
        self._states.read(whole, stamp, self._state)
        time = 1e-9 * (stamp - self._first)
        if time < self._next * self._period - 1e-6:
            return None
        self._next = int(time / self._period + 1e-6) + 1
        self.counts.answered += 1
        age = 1e-9 * (stamp - self._commanded_at)  # negative where the clock was set back
        is_old = self._patience and not 0.0 <= age <= self._patience
        touching = [support.frame in self._touching for support in self.supports]
        command = Command() if is_old else self._command
        return Question(stamp, time, self._state.copy(), touching, command)


def write_plan(
    make: Callable[[str], Any], stream: WalkingStream, plan: Plan, stamp: int, compute_time: float
) -> tuple[Any, Any]:
    """Return a geolin_msgs/WalkingPlan about the state at ``stamp`` [ns], and ContactStates.

    These are the feet that stand now. ``make`` returns an empty message of geolin_msgs by its
    name.
    """
    model, message = stream.model, make('WalkingPlan')
    gains, state = message.gains, model.neutral_state()
    for header in (message.header, gains.header):
        write_stamp(header.stamp, stamp)
        header.frame_id = stream.world_frame
    message.phase = int(plan.phase)
    message.times = array('d', (plan.times - plan.times[0]).tobytes())
    for field in ('states', 'efforts', 'wrenches'):
        write_matrix(getattr(message, field), getattr(plan, field))
    message.feet = [contact.name for contact in stream.contacts]
    message.in_force = [foot in names for names in plan.in_force for foot in message.feet]
    state.data[:] = plan.states[0]
    standing = make('ContactStates')
    standing.header = message.header
    contacts = [contact for contact in stream.contacts if contact.name in plan.in_force[0]]
    law = state, plan.law.efforts, -plan.gains, plan.complement
    write_gains(gains, make, model, contacts, law)
    standing.contacts = gains.contacts
    gains.dt, gains.compute_time = float(plan.times[1] - plan.times[0]), compute_time
    gains.source = gains.SOURCE_MODEL
    return message, standing


def read_law(message: Any, limit: Any) -> tuple[Phase, Law]:
    """Return phase and law of a geolin_msgs/WalkingPlan, for times since its stamp [s].

    ``limit`` (n_u,) are the largest efforts. Raises `InputError` if sizes contradict each other.
    """
    _, feedforward, K, _ = read_gains(message.gains)
    states, times = read_matrix(message.states)[:2], np.array(message.times)
    joints = list(message.gains.joint_names)
    actuated = np.array([joints.index(joint) for joint in message.gains.actuated_joints])
    law = Law(times[:2], states, feedforward, -K, limit, actuated, valid_until(times))
    return Phase(message.phase), law


def warm_up() -> None:
    """Compile, or load from the cache, what the stream runs."""
    model = TreeModel.from_urdf(robots.path('quadruped'))
    feet = {'supports': [f'{leg}_foot:0.02' for leg in ('FL', 'FR', 'RL', 'RR')]}
    WalkingStream(model, default_values('walking_node') | feet, Counts()).warm_up()

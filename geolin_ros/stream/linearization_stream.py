# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry in, linearizations out."""

import contextlib
import functools
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import NotFiniteError, SingularInertiaError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream.contact_answer import ContactAnswer, ContactReporter
from geolin_ros.stream.drops import Cause, DroppedInput
from geolin_ros.stream.given_acceleration import Forces, forces_for, with_base_wrench
from geolin_ros.stream.inputs.contact_input import ContactInput, ContactSettings
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.stamps import nanoseconds
from geolin_ros.stream.inputs.state_input import StateInput
from geolin_ros.stream.inputs.watch import Watch
from geolin_ros.stream.inputs.wrench_input import WrenchInput
from geolin_ros.stream.self_check import SelfCheck, Verdict
from geolin_ros.stream.state_stream import StateStream
from geolin_ros.stream.topics import Counts
from geolin_ros.typing import Array


class Answer:
    """One linearization with all that belongs to it; arrays are views until the next one.

    ``A``, ``B``, ``drift`` and ``nu_dot`` are in the form and representation of the settings;
    ``nu_dot`` is always that of the body twist. ``next_state`` is None in continuous form.
    ``base_wrench`` (6,) is the [force; moment] on the base, in base axes, that nothing provides;
    ``contact_wrenches`` (rows,) are those of the contacts in force, None where nobody needs them;
    ``contacts`` are those that A, B and ``nu_dot`` obey, None of an unconstrained robot;
    ``findings`` are warnings about the inputs; ``received_at`` is when the joint state came, by
    time.perf_counter() [s]. ``forces`` are the efforts and wrenches that it is linearized under;
    ``verdict`` is the newest check of an earlier answer, None before the first.
    """

    __slots__ = (
        'A',
        'B',
        'base_wrench',
        'compute_time',
        'contact_wrenches',
        'contacts',
        'drift',
        'findings',
        'forces',
        'mass_matrix',
        'next_state',
        'nu_dot',
        'odometry_age',
        'odometry_stamp',
        'received_at',
        'stamp',
        'state',
        'tau',
        'verdict',
        'world_frame',
        'wrenches',
    )

    A: Array
    B: Array
    base_wrench: Array
    compute_time: float
    contact_wrenches: Array | None
    contacts: ContactAnswer | None
    drift: Array
    findings: Sequence[str]
    forces: tuple[Array, Sequence[Wrench]]
    mass_matrix: Array | None
    next_state: State | None
    nu_dot: Array
    odometry_age: float
    odometry_stamp: int
    received_at: float
    stamp: int
    state: State
    tau: Array
    verdict: Verdict | None
    world_frame: str
    wrenches: Sequence[Wrench]


class _Waiting(NamedTuple):
    """A joint state that waits for the odometry after it."""

    message: Any
    stamp: int
    received_at: float


class _Held:
    """What a stream has more for a robot in contact."""

    def __init__(self, model: TreeModel, settings: ContactSettings) -> None:
        self.contacts = ContactInput(model, settings)
        self.linearizer = Linearizer(model)
        self._in_force: tuple[Closure, ...] = ()
        self.reporter = ContactReporter(
            self.linearizer, settings.source, settings.admissible_basis
        )

    def update(self, stamp: int, state: State) -> None:
        """Put into force what holds at a joint state."""
        contacts = self.contacts.at(stamp, state)
        if contacts is not self._in_force:
            self.linearizer.contacts = self._in_force = contacts


class LinearizationStream(StateStream[Answer]):
    """Pairs odometry with each joint state and linearizes there.

    The node, a replay and the tests hand it messages by `take`; it knows no clock, no graph. An
    input that cannot be used is counted and reported to ``on_drop``; the next one is taken as if
    nothing had happened. Topics: ``joint_states``, ``odom``, ``tf``, ``tf_static``, ``imu``,
    ``joint_efforts``, ``contact_states``, those of wrenches and foot forces in the settings, and
    two without a message: at each ``timer`` the newest joint state is answered, where the timer is
    the trigger; at the ``end`` those that wait are answered or dropped.

    Parameters
    ----------
    model
        The robot.
    settings
        What to do; see `StreamSettings`.
    counts
        Where to count, to go on with the counts of an earlier stream.
    """

    def __init__(
        self, model: TreeModel, settings: StreamSettings, counts: Counts | None = None
    ) -> None:
        self.model = model
        self.settings = settings
        super().__init__(counts if counts is not None else Counts(), StateInput(model, settings))
        self._linearizer: Linearizer = Linearizer(model)
        self._held: _Held | None = None
        if settings.contacts.are_expected or model.loops:
            if model.loops:
                settings.check_loops()
            self._held = _Held(model, settings.contacts)
            self._linearizer = self._held.linearizer
        self._efforts = JointInput(model)
        self._wrenches = WrenchInput(
            model,
            settings.wrench_topics,
            settings.wrench_timeout,
            settings.missing_wrench,
            settings.frame_prefix,
        )
        self._acceleration: Any = None  # MeasuredAcceleration, where it is wanted
        if settings.nu_dot == 'measured':
            from geolin_ros.stream.inputs.acceleration import MeasuredAcceleration

            self._acceleration = MeasuredAcceleration(model.base, settings.nu_dot_cutoff)
        self._least_gap = 0.999e9 / settings.max_rate if settings.max_rate > 0.0 else 0.0
        self._last_answered: int | None = None
        self._waiting: deque[_Waiting] = deque()
        self._is_ending = False
        self._newest: Any = None  # joint state that the timer has not answered yet
        self._odometry: Any = None
        self._effort: Any = None
        self._new_effort = np.zeros(model.n)
        self._passive = np.array(
            [c for c, name in enumerate(model.joint_names) if name not in model.actuated_joints],
            dtype=np.intp,
        )
        self.self_check = SelfCheck(model, settings)
        self.watch = Watch(model, settings.nu_dot == 'predicted')
        self._topics = self._readers()
        self._result = Answer()
        self._result.state = model.neutral_state()
        self._result.tau = np.zeros(model.n)
        self._result.base_wrench = np.zeros(6)
        self._result.wrenches, self._result.findings = [], []

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say: how late filtered signals are, and of checks."""
        delays = {}
        if self._acceleration is not None:
            delays['measured accelerations'] = self._acceleration.delay
        if self.settings.base_source == 'tf':
            delays['the linear velocity of the base'] = self._states.base_velocity_delay
        details = {f'delay of {what} [ms]': f'{delay * 1e3:.3f}' for what, delay in delays.items()}
        return details | self.self_check.details

    def resume(self, earlier: 'LinearizationStream') -> None:
        """Start with the newest inputs of an earlier stream, where they fit."""
        self._wrenches.resume(earlier._wrenches)
        self.self_check.resume(earlier.self_check)
        self._newest = earlier._newest
        if self._held is not None and earlier._held is not None:
            self._held.contacts.resume(earlier._held.contacts)
        with contextlib.suppress(DroppedInput):
            if earlier._odometry is not None:
                self._take_odometry(earlier._odometry)
        with contextlib.suppress(DroppedInput):
            if earlier._effort is not None:
                self._take_effort(earlier._effort)

    def forget(self) -> None:
        """Start anew: the clock was set back."""
        self._states.forget()
        self._wrenches.forget()
        if self._held is not None:
            self._held.contacts.forget()
        if self._acceleration is not None:
            self._acceleration.forget()
        self._waiting.clear()
        self._odometry = self._last_answered = self._newest = None

    # ---- topics

    def _readers(self) -> dict[str, Callable[[Any], Answer | None]]:
        """Return what takes the messages of each topic."""
        settings, by_timer = self.settings, self.settings.trigger == 'timer'
        readers: dict[str, Callable[[Any], Answer | None]] = {
            'joint_states': self._keep_joint_state if by_timer else self._take_joint_state,
            'timer': self._take_tick,
            'end': self._end_waiting,
            'odom': self._take_odometry,
            'tf': self._take_transforms,
            'tf_static': functools.partial(self._take_transforms, is_static=True),
            'imu': self._states.take_imu,
        }
        if settings.torque_source == 'topic':
            readers['joint_efforts'] = self._take_effort
        for wrench in settings.wrench_topics:
            readers[wrench.topic] = functools.partial(self._wrenches.take, wrench.topic)
        if self._held is not None:
            contacts = self._held.contacts
            readers['contact_states'] = contacts.take_states
            for foot in settings.contacts.measured_feet:
                readers[foot.topic] = functools.partial(contacts.take_force, foot.topic)
        return readers

    def _take_joint_state(self, message: Any) -> Answer | None:
        """Linearize at a joint state.

        None if max_rate leaves it out, if it is a part of a joint state of which others are
        missing, or if it has to wait for an odometry.
        """
        received_at = time.perf_counter()
        self.counts.received += 1
        whole = self._states.merge(message)
        if whole is None:
            self.counts.parts += 1
            return None
        stamp = nanoseconds(whole.header.stamp)
        if self._states.check_order(stamp):
            self._last_answered = None
        if self._last_answered is not None and stamp - self._last_answered < self._least_gap:
            self.counts.skipped += 1
            return None
        if not self._waiting and self._states.is_ready(stamp):
            answer = self._linearize(whole, stamp, received_at)
            self._last_answered = stamp
            return answer
        self._last_answered = stamp
        self._waiting.append(_Waiting(whole, stamp, received_at))
        self._check_waiting(stamp)
        return None

    def _keep_joint_state(self, message: Any) -> None:
        if self._newest is not None:
            self.counts.received += 1
            self.counts.skipped += 1
        self._newest = message

    def _take_tick(self, _: Any) -> Answer | None:
        message, self._newest = self._newest, None
        return None if message is None else self._take_joint_state(message)

    def _can_answer(self) -> bool:
        if not self._waiting:
            self._is_ending = False
            return False
        return self._is_ending or self._states.is_ready(self._waiting[0].stamp)

    def _next_answer(self) -> Answer:
        return self._linearize(*self._waiting.popleft())

    def _check_waiting(self, stamp: int) -> None:
        """Wait no longer for odometry than allowed, by the stamps [ns] of the joint states."""
        first, settings = self._waiting[0], self.settings
        waited, most = (stamp - first.stamp) * 1e-9, settings.max_wait or settings.max_skew
        if waited > most or waited < 0.0:
            self._waiting.popleft()
            raise DroppedInput(
                Cause.SKEW,
                f'joint state has waited for {abs(waited):.4f} s for an odometry after it, '
                f'expected at most {most:g} s; raise max_skew or max_wait, or check the odometry',
            )

    def _end_waiting(self, _: Any) -> None:
        self._is_ending = True

    def _take_odometry(self, message: Any) -> None:
        self._states.take_odometry(message)
        self._odometry = message
        self._note_acceleration()
        self.watch.note_odometry(message)

    def _take_transforms(self, message: Any, is_static: bool = False) -> None:
        self._states.take_transforms(message, is_static)
        self._note_acceleration()

    def _note_acceleration(self) -> None:
        sample = self._states.newest_base
        if self._acceleration is not None and sample is not None:
            self._acceleration.add_base(sample.stamp, sample.v)

    def _take_effort(self, message: Any) -> None:
        self._efforts.read(message, 'effort', self._new_effort, Cause.MISSING_EFFORT)
        self._result.tau[:] = self._new_effort
        self._effort = message

    def _linearize(self, message: Any, stamp: int, received_at: float) -> Answer:
        start = time.perf_counter()
        answer, settings = self._result, self.settings
        answer.odometry_age = self._states.read(message, stamp, answer.state)
        floating = self.model.base == 'floating'
        answer.odometry_stamp = stamp - round(answer.odometry_age * 1e9) if floating else 0
        if self._acceleration is not None:
            self._acceleration.add_joints(stamp, answer.state.r)
        if settings.torque_source == 'effort':
            self._states.read_efforts(message, answer.tau)
        elif settings.torque_source == 'topic' and self._effort is None:
            raise DroppedInput(
                Cause.NO_EFFORT, 'no efforts yet, expected a message on the effort topic first'
            )
        if self._passive.size:
            answer.tau[self._passive] = 0.0
        answer.stamp, answer.world_frame = stamp, self.world_frame
        answer.wrenches, answer.findings = self._wrenches.at(stamp, answer.world_frame)
        if self._held is not None:
            self._held.update(stamp, answer.state)
        self._fill(answer)
        answer.compute_time = time.perf_counter() - start
        answer.received_at = received_at
        answer.verdict = self.self_check.newest
        self.watch.note(answer)
        self.counts.answered += 1
        return answer

    def warm_up(self) -> None:
        """Linearize once at rest, so that the first joint state pays for nothing."""
        answer = self._result
        with contextlib.suppress(SingularInertiaError):  # of this posture, not of others
            if self._held is not None:
                self._warm_up_contacts(self._held)
            self._linearize_under(answer, answer.tau, ())
            self.self_check.warm_up(answer.state, answer.A, answer.B)
        if self._held is not None:
            self._held.reporter.forget()

    def _warm_up_contacts(self, part: _Held) -> None:
        """Linearize once on contacts, on dependent ones too, whatever is in force later."""
        answer, frame = self._result, self.model.link_names[-1]
        for contacts in ((Contact(frame),), (Contact(frame), Contact(frame, 'surface'))):
            part.linearizer.contacts = contacts
            self._linearize_under(answer, answer.tau, ())
        part.linearizer.contacts = ()
        rotation_from_quaternion((0.0, 0.0, 0.0, 1.0))  # for references in messages

    def _fill(self, answer: Answer) -> None:
        """Linearize; what the robot cannot answer is a drop like any other."""
        try:
            self._linearize_under(answer, *self._forces(answer))
        except SingularInertiaError as error:
            raise DroppedInput(Cause.SINGULAR, str(error)) from error
        except NotFiniteError as error:
            raise DroppedInput(Cause.NOT_FINITE, str(error)) from error

    def _linearize_under(self, answer: Answer, tau: Array, wrenches: Sequence[Wrench]) -> None:
        reporter = None if self._held is None else self._held.reporter
        answer.forces = tau, wrenches
        fill(answer, self._linearizer, self.settings, tau, wrenches, reporter)

    def _forces(self, answer: Answer) -> tuple[Array, Sequence[Wrench]]:
        """Return efforts and wrenches that the robot is linearized under."""
        model, settings = self.model, self.settings
        answer.base_wrench[:] = 0.0
        if settings.torque_source == 'inverse_dynamics':
            needed = self._needed(answer, np.zeros(model.m))
            answer.tau[:] = needed.tau
            answer.tau[self._passive] = 0.0
            if needed.base is not None:
                answer.base_wrench[:] = needed.base
        if settings.nu_dot == 'predicted':
            return answer.tau, answer.wrenches
        nu_dot = np.zeros(model.m)
        if self._acceleration is not None:
            nu_dot = self._acceleration.nu_dot()
        needed = self._needed(answer, nu_dot)
        if needed.base is not None:
            answer.base_wrench[:] = needed.base
        return needed.tau, with_base_wrench(model, answer.wrenches, needed.base)

    def _needed(self, answer: Answer, nu_dot: Array) -> Forces:
        """Return what an acceleration needs besides wrenches and contacts."""
        J = None
        if self._held is not None and self._held.linearizer.contacts:
            J = self._held.linearizer(answer.state, answer.tau).J
        return forces_for(self.model, answer.state, nu_dot, answer.wrenches, J)


def fill(
    answer: Answer,
    linearizer: Linearizer,
    settings: StreamSettings,
    tau: Array,
    wrenches: Sequence[Wrench],
    reporter: ContactReporter | None = None,
) -> None:
    """Linearize about ``answer.state`` under ``tau`` in the form that ``settings`` say.

    Raises
    ------
    NotFiniteError, SingularInertiaError
        As for a linearization, and if finite inputs overflow.
    """
    answer.contacts = answer.mass_matrix = None
    if settings.mass_matrix:
        from geolin_ros.dynamics.functions import mass_matrix  # few ask for it

        answer.mass_matrix = mass_matrix(linearizer.model, answer.state)
    if settings.form == 'discrete':
        step = linearizer.discretize(
            *(answer.state, tau, settings.dt),
            method=settings.method,
            reference=settings.reference,
            wrenches=wrenches,
        )
        if settings.representation != 'body':
            step = step.in_representation(settings.representation)
        answer.A, answer.B, answer.drift = step.Phi, step.Gamma, step.defect
        answer.nu_dot, answer.next_state = step.nu_dot, step.next_state
        here = None if reporter is None else linearizer(answer.state, tau, wrenches=wrenches)
    else:
        here = result = linearizer(answer.state, tau, wrenches=wrenches)
        if settings.reference == 'frozen':
            result = result.frozen()
        if settings.representation != 'body':
            result = result.in_representation(settings.representation)
        answer.A, answer.B, answer.drift = result.A, result.B, result.drift
        answer.nu_dot, answer.next_state = result.nu_dot, None
    numbers = [answer.A, answer.B, answer.nu_dot]
    if settings.form == 'discrete' or settings.reference == 'frozen':  # else it is zero
        numbers.append(answer.drift)
    answer.contact_wrenches = None
    if here is not None and here.contacts:
        answer.contact_wrenches = here.wrenches
        numbers += [here.wrenches, here.wrench_by_state, here.wrench_by_tau]
    if not math.isfinite(sum([np.vdot(array, array) for array in numbers])):  # quick, any size
        raise NotFiniteError(
            f'linearization of robot {linearizer.model.name!r} overflows, expected inputs of '
            'sizes that a robot can have; look for large numbers in state, efforts, wrenches and '
            'contacts'
        )
    if reporter is not None and here is not None:
        answer.contacts = reporter.report(here, answer.state, settings.representation)
        answer.findings = [*answer.findings, *answer.contacts.redundancy.warnings]

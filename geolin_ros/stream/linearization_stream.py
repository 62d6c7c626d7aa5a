# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Joint states and odometry in, linearizations out."""

import contextlib
import functools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.errors import ConfigurationError, NotFiniteError, SingularInertiaError
from geolin_ros.linearization.contacts import Contact
from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import External, Wrench
from geolin_ros.spatial.se3 import rotation_from_quaternion
from geolin_ros.stream.contacts import ContactAnswer, ContactInput, ContactReporter
from geolin_ros.stream.inputs.differentiation import MeasuredAcceleration
from geolin_ros.stream.inputs.joint_input import JointInput
from geolin_ros.stream.inputs.plausibility import Watch
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.inputs.state_input import BaseSample, StateInput, StateStream
from geolin_ros.stream.inputs.wrench_input import WrenchInput
from geolin_ros.stream.self_check import SelfCheck, Verdict
from geolin_ros.stream.topic_stream import Cause, Counts, DroppedInput, nanoseconds
from geolin_ros.typing import Array

NO_WRENCH = np.zeros(6)
NO_WRENCH.setflags(write=False)


class OperatingPoint(NamedTuple):
    """A joint state with all that belongs to it: where to linearize, and under which forces.

    Arrays of a stream are views until its next one.
    """

    stamp: int
    """[ns] of the joint state"""
    odometry_stamp: int
    """[ns]; zero with a fixed base"""
    state: State
    tau: Array
    """(n,) efforts that were measured or asked for"""
    efforts: Array
    """(n,) efforts to linearize under"""
    wrenches: External
    """External wrenches to linearize under"""
    contacts: tuple[Closure, ...]
    """All contacts; the same tuple as long as nothing changes"""
    external: External = ()
    """External wrenches that were measured or asked for"""
    base_wrench: Array = NO_WRENCH
    """(6,) [force; moment] on the base, in base axes, that nothing provides"""
    world_frame: str = ''
    odometry_age: float = 0.0
    """[s]"""
    findings: Sequence[str] = ()
    """Warnings about the inputs"""
    received_at: float = 0.0
    """When the joint state came, by time.perf_counter() [s]"""
    began_at: float = 0.0
    """When work on it began, by the same clock"""
    verdict: Verdict | None = None
    """The newest check of an earlier answer, None before the first"""

    def copy(self) -> 'OperatingPoint':
        """Return where to linearize, and under what, on memory of its own, without the rest."""
        tau, wrenches = self.tau.copy(), tuple(self.wrenches)
        efforts = tau if self.efforts is self.tau else self.efforts.copy()
        stamps = self.stamp, self.odometry_stamp
        return OperatingPoint(*stamps, self.state.copy(), tau, efforts, wrenches, self.contacts)


class Answer(NamedTuple):
    """One linearization about a point.

    ``A``, ``B``, ``drift`` and ``nu_dot`` are in the form and representation of the settings;
    ``nu_dot`` is always that of the body twist. ``next_state`` is None in continuous form.
    ``contact_wrenches`` (rows,) are those of the contacts in force, None where nobody needs them;
    ``contacts`` are those that A, B and ``nu_dot`` obey, None of an unconstrained robot.
    """

    point: OperatingPoint
    A: Array
    B: Array
    drift: Array
    nu_dot: Array
    next_state: State | None
    mass_matrix: Array | None
    contact_wrenches: Array | None
    contacts: ContactAnswer | None
    compute_time: float
    """[s]"""


class LinearizationStream(StateStream[Answer]):
    """Pairs odometry with each joint state and linearizes there, or does what ``answer_at`` says.

    The node, a replay and the tests hand it messages by `take`; it knows no clock, no graph. An
    input that cannot be used is counted and reported to ``on_drop``; the next one is taken as if
    nothing had happened. Topics: ``joint_states``, ``odom``, ``tf``, ``tf_static``, ``imu``,
    ``joint_efforts``, ``contact_states``, those of wrenches and foot forces in the settings, and
    two without a message: at each ``timer`` the newest joint state is answered, where the timer is
    the trigger; at the ``end`` those that wait are answered or dropped. ``counts`` may be those of
    an earlier stream.
    """

    def __init__(
        self, model: TreeModel, settings: StreamSettings, counts: Counts | None = None
    ) -> None:
        self.model, self.settings = model, settings
        super().__init__(counts if counts is not None else Counts())
        self.answer_at: Callable[[OperatingPoint], Any] = self._linearize_at
        self._linearizer: Linearizer = Linearizer(model)
        self._reporter: ContactReporter | None = None
        self._in_force: tuple[Closure, ...] = ()
        nu_dot, torque_source = settings.nu_dot, settings.torque_source
        if model.loops and (nu_dot != 'predicted' or torque_source == 'inverse_dynamics'):
            raise ConfigurationError(
                f'nu_dot is {nu_dot!r} and torque_source is {torque_source!r} of a robot with '
                'loops, whose forces follow from efforts that are known; set nu_dot to predicted '
                'and torque_source to another choice than inverse_dynamics, or take out loops'
            )
        if settings.contacts.are_expected or model.loops:
            source, basis = settings.contacts.source, settings.contacts.admissible_basis
            self._reporter = ContactReporter(self._linearizer, source, basis)
        self._efforts = JointInput(model)
        self._least_gap = 0.999e9 / settings.max_rate if settings.max_rate > 0.0 else 0.0
        self._newest: Any = None  # joint state that the timer has not answered yet
        self._kept: dict[str, Any] = {}  # newest message of each topic, for a later stream
        self._new_effort = np.zeros(model.n)
        actuated = model.actuated_joints
        self._passive = np.flatnonzero([name not in actuated for name in model.joint_names])
        self.self_check = SelfCheck(model, settings)
        self.watch = Watch(model, settings.nu_dot == 'predicted')
        self.forget()
        self._state, self._tau = model.neutral_state(), np.zeros(model.n)
        self._base_wrench = np.zeros(6)

    @property
    def details(self) -> dict[str, str]:
        """What the diagnostics say: how late filtered signals are, and of checks."""
        details = {}
        if self._acceleration is not None:
            delay = self._acceleration.delay
            details['delay of measured accelerations [ms]'] = f'{delay * 1e3:.3f}'
        if self.settings.base_source == 'tf' and self.model.base == 'floating':
            delay = self._states.base.velocity.delay
            details['delay of the linear velocity of the base [ms]'] = f'{delay * 1e3:.3f}'
        return details | self.self_check.details

    def resume(self, earlier: 'LinearizationStream') -> None:
        """Start with the newest inputs of an earlier stream, where they fit."""
        self.self_check.resume(earlier.self_check)
        self._newest = earlier._newest
        if self._contacts is not None and earlier._contacts is not None:
            self._contacts.resume(earlier._contacts)
        for topic, message in earlier._kept.items():
            if topic in self._topics:
                with contextlib.suppress(DroppedInput):
                    self._topics[topic](message)

    def forget(self) -> None:
        """Start with inputs that are empty but for efforts, also where the clock was set back."""
        model, settings = self.model, self.settings
        self._states = StateInput(model, settings)
        self._contacts: ContactInput | None = None
        if self._reporter is not None:
            self._contacts = ContactInput(model, settings.contacts)
        topics, timeout = settings.wrench_topics, settings.wrench_timeout
        self._wrenches = WrenchInput(
            model, topics, timeout, settings.missing_wrench, settings.frame_prefix
        )
        self._acceleration: MeasuredAcceleration | None = None
        if settings.nu_dot == 'measured':
            self._acceleration = MeasuredAcceleration(model.base, settings.nu_dot_cutoff)
        self._last_answered: int | None = None
        self._waiting: deque[tuple[Any, int, float]] = deque()
        """Joint states that wait for the odometry after them: stamps [ns], when they came [s]."""
        self._newest = None
        self._kept = {k: message for k, message in self._kept.items() if k == 'joint_efforts'}
        self._topics = self._readers()

    # ---- topics

    def take(self, topic: str, message: Any) -> Iterator[Answer]:
        """Take a message, and answer the joint states that have waited for it."""
        yield from super().take(topic, message)
        while self._waiting and (topic == 'end' or self._states.is_ready(self._waiting[0][1])):
            yield from self._answer(self._linearize, *self._waiting.popleft())

    def _readers(self) -> dict[str, Callable[[Any], Answer | None]]:
        """Return what takes the messages of each topic."""
        settings, by_timer = self.settings, self.settings.trigger == 'timer'
        readers: dict[str, Callable[[Any], Answer | None]] = {
            'joint_states': self._keep_joint_state if by_timer else self._take_joint_state,
            'timer': self._take_tick,
        }
        for topic, reader in self._states.topics.items():
            readers[topic] = functools.partial(self._take_base, topic, reader)
        if settings.torque_source == 'topic':
            readers['joint_efforts'] = self._take_effort
        for wrench in settings.wrench_topics:
            readers[wrench.topic] = functools.partial(self._wrenches.take, wrench.topic)
        if self._contacts is not None:
            readers['contact_states'] = self._contacts.take_states
            for foot in settings.contacts.measured_feet:
                readers[foot.topic] = functools.partial(self._contacts.take_force, foot.topic)
        for topic in readers.keys() & {'joint_efforts', 'contact_states', *settings.force_topics}:
            readers[topic] = functools.partial(self._keep, topic, readers[topic])
        return readers

    def _take_joint_state(self, message: Any) -> Answer | None:
        """Linearize at a joint state; None if it is left out, in parts, or has to wait."""
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
        self._waiting.append((whole, stamp, received_at))
        waited = (stamp - self._waiting[0][1]) * 1e-9  # no longer for odometry than allowed
        most = self.settings.max_wait or self.settings.max_skew
        if waited > most or waited < 0.0:
            self._waiting.popleft()
            raise DroppedInput(
                Cause.SKEW,
                f'joint state has waited for {abs(waited):.4f} s for an odometry after it, '
                f'expected at most {most:g} s; raise max_skew or max_wait, or check the odometry',
            )
        return None

    def _keep_joint_state(self, message: Any) -> None:
        if self._newest is not None:
            self.counts.received += 1
            self.counts.skipped += 1
        self._newest = message

    def _take_tick(self, _: Any) -> Answer | None:
        message, self._newest = self._newest, None
        return None if message is None else self._take_joint_state(message)

    def _keep(self, topic: str, reader: Callable[[Any], Any], message: Any) -> None:
        reader(message)
        self._kept[topic] = message

    def _take_base(
        self, topic: str, reader: Callable[[Any], BaseSample | None], message: Any
    ) -> None:
        sample = reader(message)
        if sample is not None and self._acceleration is not None:
            self._acceleration.base.add(sample.stamp, sample.v)
        if topic == 'odom':
            self._kept[topic] = message
            self.watch.note_odometry(message)

    def _take_effort(self, message: Any) -> None:
        self._efforts.read(message, 'effort', self._new_effort, Cause.MISSING_EFFORT)
        self._tau[:] = self._new_effort

    # ---- answers

    def _linearize(self, message: Any, stamp: int, received_at: float) -> Answer:
        """Answer; what the robot cannot answer is a drop like any other."""
        try:
            answer: Answer = self.answer_at(self._pair(message, stamp, received_at))
        except SingularInertiaError as error:
            raise DroppedInput(Cause.SINGULAR, str(error)) from error
        except NotFiniteError as error:
            raise DroppedInput(Cause.NOT_FINITE, str(error)) from error
        self.counts.answered += 1
        return answer

    def _pair(self, message: Any, stamp: int, received_at: float) -> OperatingPoint:
        """Return where a joint state is to be linearized, with what else is known of then."""
        start, settings = time.perf_counter(), self.settings
        state, tau = self._state, self._tau
        age = self._states.read(message, stamp, state)
        if self._acceleration is not None:
            self._acceleration.joints.add(stamp, state.r)
        if settings.torque_source == 'effort':
            self._states.joints.read(message, 'effort', tau, Cause.MISSING_EFFORT)
        elif settings.torque_source == 'topic' and 'joint_efforts' not in self._kept:
            raise DroppedInput(
                Cause.NO_EFFORT, 'no efforts yet, expected a message on the effort topic first'
            )
        if self._passive.size:
            tau[self._passive] = 0.0
        wrenches, findings = self._wrenches.at(stamp, self.world_frame)
        if self._contacts is not None:
            contacts = self._contacts.at(stamp, state)
            if contacts is not self._in_force:
                self._linearizer.contacts = self._in_force = contacts
        efforts, loads = self._forces(wrenches)
        return OperatingPoint(
            stamp,
            stamp - round(age * 1e9) if self.model.base == 'floating' else 0,
            state,
            tau,
            efforts,
            loads,
            () if self._contacts is None else self._linearizer.contacts,
            wrenches,
            self._base_wrench,
            self.world_frame,
            age,
            findings,
            received_at,
            start,
            self.self_check.newest,
        )

    def _linearize_at(self, point: OperatingPoint) -> Answer:
        answer = linearize(point, self._linearizer, self.settings, self._reporter)
        self.watch.note(answer)
        return answer

    def warm_up(self) -> None:
        """Linearize once at rest, so that the first joint state pays for nothing."""
        frame = self.model.link_names[-1]
        # on contacts, on dependent ones too, whatever is in force later
        sets = (Contact(frame),), (Contact(frame), Contact(frame, 'surface')), ()
        with contextlib.suppress(SingularInertiaError):  # of this posture, not of others
            for contacts in sets if self._reporter is not None else ((),):
                self._linearizer.contacts = contacts
                point = OperatingPoint(0, 0, self._state, self._tau, self._tau, (), ())
                linearize(point, self._linearizer, self.settings, self._reporter)
        if self._reporter is not None:
            self._linearizer.contacts = ()  # also where it was singular on one of the sets
            rotation_from_quaternion((0.0, 0.0, 0.0, 1.0))  # for references in messages
            self._reporter.forget()

    def _forces(self, wrenches: External) -> tuple[Array, External]:
        """Return efforts and wrenches that the robot is linearized under."""
        model, settings = self.model, self.settings
        self._base_wrench[:] = 0.0
        if settings.torque_source == 'inverse_dynamics':
            self._tau[:], self._base_wrench[:] = self._needed(wrenches, np.zeros(model.m))
            self._tau[self._passive] = 0.0
        if settings.nu_dot == 'predicted':
            return self._tau, wrenches
        nu_dot = np.zeros(model.m) if self._acceleration is None else self._acceleration.nu_dot()
        tau, base = self._needed(wrenches, nu_dot)
        self._base_wrench[:] = base
        if model.base == 'floating':
            wrenches = [*wrenches, Wrench(model.base_link, base[:3], base[3:])]
        return tau, wrenches

    def _needed(self, wrenches: External, nu_dot: Array) -> tuple[Array, Array]:
        """Return what an acceleration needs besides wrenches and contacts."""
        J = self._linearizer(self._state, self._tau).J if self._linearizer.contacts else None
        return forces_for(self.model, self._state, nu_dot, wrenches, J)


def forces_for(
    model: TreeModel, state: State, nu_dot: Array, wrenches: External = (), J: Array | None = None
) -> tuple[Array, Array]:
    """Return what ``nu_dot`` (m,) needs besides the wrenches and contacts J (k, m) [N, N m].

    Efforts (n,), and [force; moment] (6,) on a floating base, in base axes about its origin.
    [Bos 2022] evaluates the derivatives of the inverse dynamics at nu_dot. Where nu_dot is not
    what the efforts produce, these are missing. With them in force, constant in the axes of base
    and joints, the forward dynamics returns nu_dot, and its linearization is the one about it. In
    contact the forces of the ground, as small as can be, take of the wrench on the base what they
    can; nu_dot is returned as far as the contacts allow it.
    """
    from geolin_ros.dynamics.functions import inverse_dynamics  # few robots send accelerations

    forces = inverse_dynamics(model, state, nu_dot, wrenches=wrenches)
    if model.base == 'fixed':
        return forces, np.zeros(6)
    if J is not None:
        forces = forces - J.T @ np.linalg.lstsq(J[:, :6].T, forces[:6], rcond=None)[0]
    return forces[6:], forces[:6]


def linearize(
    point: OperatingPoint,
    linearizer: Linearizer,
    settings: StreamSettings,
    reporter: ContactReporter | None = None,
) -> Answer:
    """Return the linearization about a point, in the form that ``settings`` say.

    On the contacts of the linearizer, which has those of the point. Raises `NotFiniteError` or
    `SingularInertiaError` as for a linearization, and if finite inputs overflow.
    """
    state, tau, wrenches = point.state, point.efforts, point.wrenches
    M = None
    if settings.mass_matrix:
        from geolin_ros.dynamics.functions import mass_matrix  # few ask for it

        M = mass_matrix(linearizer.model, state)
    if settings.form == 'discrete':
        step = linearizer.discretize(
            *(state, tau, settings.dt),
            method=settings.method,
            reference=settings.reference,
            wrenches=wrenches,
        )
        if settings.representation != 'body':
            step = step.in_representation(settings.representation)
        A, B, drift, nu_dot = step.Phi, step.Gamma, step.defect, step.nu_dot
        next_state: State | None = step.next_state
        here = None if reporter is None else linearizer(state, tau, wrenches=wrenches)
    else:
        here = result = linearizer(state, tau, wrenches=wrenches)
        if settings.reference == 'frozen':
            result = result.frozen()
        if settings.representation != 'body':
            result = result.in_representation(settings.representation)
        A, B, drift, nu_dot, next_state = result.A, result.B, result.drift, result.nu_dot, None
    numbers = [A, B, nu_dot]
    if settings.form == 'discrete' or settings.reference == 'frozen':  # else it is zero
        numbers.append(drift)
    contact_wrenches = None
    if here is not None and here.contacts:
        contact_wrenches = here.wrenches
        numbers += [here.wrenches, here.wrench_by_state, here.wrench_by_tau]
    if not math.isfinite(sum([np.vdot(array, array) for array in numbers])):  # quick, any size
        raise NotFiniteError(
            f'linearization of robot {linearizer.model.name!r} overflows, expected inputs of '
            'sizes that a robot can have; look for large numbers in state, efforts, wrenches and '
            'contacts'
        )
    contacts = None
    if reporter is not None and here is not None:
        contacts = reporter.report(here, state, settings.representation)
        findings = [*point.findings, *contacts.redundancy.warnings]
        point = point._replace(findings=findings)
    took = time.perf_counter() - point.began_at
    return Answer(point, A, B, drift, nu_dot, next_state, M, contact_wrenches, contacts, took)

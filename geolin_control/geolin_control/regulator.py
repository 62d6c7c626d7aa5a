# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot that is kept where it should be: which gains, which reference, and when to let go.

Two things go on at their own pace. `Regulator.redesign`, in a thread of its own, makes gains of
the newest A and B, or, before there are any near the reference, of those of its own model.
`Regulator.command`, at the rate of the states, uses the gains that are there and never waits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, NamedTuple

import numpy as np

from geolin_control.effort_guard import EffortGuard, GuardSettings
from geolin_control.gain_bank import GainBank, GaitGains
from geolin_ros.control.equilibrium import FRICTION, equilibrium
from geolin_ros.control.lqr import Feedback, Gains, Tuning, regulate
from geolin_ros.control.support import Support, level
from geolin_ros.control.weights import effort_limits
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, InputError, UnknownNameError, unknown_name
from geolin_ros.linearization.contacts.description import Closure, resolve
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.linearization.reduction import reduce
from geolin_ros.linearization.result import Linearization
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.spatial import se3
from geolin_ros.typing import Array

linalg = optional('scipy.linalg', extra='control')

Source = Literal['linearization', 'model', 'bank']
"""What gains are made of: A and B from outside, those of the own model, or a gain file."""
MOST_DEVIATION = 1.0
"""Of A and of B from outside, relative to those of the own model."""


class Mode(Enum):
    """What the efforts of a moment are."""

    FEEDBACK = 'feedback'
    DAMPING = 'damping'
    RELEASE = 'release'


@dataclass(frozen=True)
class RegulatorSettings(Tuning, GuardSettings):
    """How a robot is regulated: the parameters of `lqr_node` of the same names.

    Units are those of SI; ``delay`` are steps of ``dt``.
    """

    friction: float = FRICTION
    gains_timeout: float = 1.0
    contacts_timeout: float = 0.2
    reference_timeout: float = 0.1
    trust_position: float = 0.25
    trust_rotation: float = 0.7
    calm: float = 0.05
    anchor: bool = True


class Reference(NamedTuple):
    """Where the robot should be, and the efforts (n_u,) that takes; None: those of the gains."""

    state: State
    efforts: Array | None = None


class Command(NamedTuple):
    """What the motors get, and why it is not feedback; empty if it is."""

    efforts: Array
    mode: Mode
    reason: str


class Measured(NamedTuple):
    """A continuous linearization from outside, moving reference, body twist, and its contacts."""

    state: State
    tau: Array
    A: Array
    B: Array
    wrench_by_state: Array
    wrench_by_tau: Array
    contacts: tuple[Closure, ...]
    """In the order of the rows."""

    def fits(self, posture: State, own: Linearizer, calm: float) -> bool:
        """Whether it is about this posture, at rest, on the contacts of the own linearizer.

        All within ``calm`` [m, rad, m/s, rad/s]; a point may have any axes.
        """
        away = posture.difference(self.state)[: own.model.m]
        if not np.abs(np.concatenate((self.state.v, self.state.r, away))).max() <= calm:
            return False
        ours, theirs = _placed(own.model, own.contacts), _placed(own.model, self.contacts)
        return len(ours) == len(theirs) and all(
            a[:2] == b[:2]
            and np.abs(a[2] - b[2])[:3, slice(3 if a[0] == 'point' else 0, 4)].max() <= calm
            for a, b in zip(ours, theirs, strict=True)
        )

    def on(self, linearizer: Linearizer) -> Linearization:
        """Return A, B and forces' derivatives with the geometry of the own linearizer.

        Raises `InputError` if they are further from those of this model than these are from zero.
        """
        own = linearizer(self.state, self.tau)
        for name, theirs, ours in (('A', self.A, own.A), ('B', self.B, own.B)):
            deviation = float(np.linalg.norm(theirs - ours) / np.linalg.norm(ours))
            if not deviation <= MOST_DEVIATION:
                raise InputError(
                    f'{name} of the linearization is {deviation:.1f} times as far from that '
                    f'of this model as this is from zero, expected at most {MOST_DEVIATION:g}; '
                    'look at the linearizer'
                )
        blocks: list[Array] = []  # from the axes of the contacts outside to the own ones
        ends = (_placed(linearizer.model, ones) for ones in (linearizer.contacts, self.contacts))
        for (kind, _, inner), (_, _, outer) in zip(*ends, strict=True):
            R = inner[:3, :3].T @ outer[:3, :3]
            blocks += [R] if kind == 'point' else [R, R]
        turn = linalg.block_diag(*blocks)
        by_state, by_tau = turn @ self.wrench_by_state, turn @ self.wrench_by_tau
        return replace(own, A=self.A, B=self.B, wrench_by_state=by_state, wrench_by_tau=by_tau)


def _placed(model: TreeModel, contacts: Sequence[Closure]) -> list[tuple[str, int, Array]]:
    """Return kind, body and placement there of contacts."""
    ends = [(contact.kind, resolve(model, contact)[0]) for contact in contacts]
    return [(kind, at.body, at.placement) for kind, at in ends]


class Regulator:
    """Keeps a robot at a reference on the supports in force.

    Raises `ConfigurationError` if an actuated joint has no effort limit, or there is no support;
    `UnknownNameError` if the bank has no gains for all supports, or the gait other feet.

    Parameters
    ----------
    bank
        Gains designed offline: they are used, and none are designed. Those of a gait are played:
        the robot stands at its reference until feedback has taken over, then it walks from there.

    Attributes
    ----------
    supports
        All frames it can stand on, by name; those of ``standing_on``, at first all, are in force.
    source, failure
        What the gains were made of, and why the last design failed, or empty.
    reference
        Where the robot should be, or None; `follow` sets it.
    newest, linearized_at
        A linearization of which the next gains are made if it is calm and for the same contacts,
        and when it came [s]: gains go on to be trusted.
    guard
        Which has the last word on efforts.
    """

    def __init__(
        self,
        model: TreeModel,
        supports: Sequence[Support],
        settings: RegulatorSettings | None = None,
        bank: GainBank | GaitGains | None = None,
    ) -> None:
        if not supports:
            raise ConfigurationError(
                f'robot {model.name!r} has no supports, expected the frames it stands on'
            )
        self.model, self.settings = model, settings or RegulatorSettings()
        self._gait = bank if isinstance(bank, GaitGains) else None
        self._bank = bank if isinstance(bank, GainBank) else None
        self._walks_since: float | None = None
        self._place: Array | None = None
        self.supports = {support.frame: support for support in supports}
        self.standing_on = tuple(self.supports)
        if self._bank is not None:
            self._bank.route(self.standing_on)
        if self._gait is not None:
            self.check_supports(sorted({foot for k in self._gait.knots for foot in k.contacts}))
        if self.settings.weights is not None:
            self.settings.weights.deviations(model)  # which looks up what they name
        self.guard = EffortGuard(effort_limits(model), self.settings)
        self._linearizer = Linearizer(model, [s.contact for s in supports])
        self._feedback: Feedback | None = None
        self.reference: Reference | None = None
        self.newest: Measured | None = None
        self.linearized_at: float | None = None
        self._misfit_since: float | None = None
        self._followed_since: float | None = None
        self._rest = ''
        self._designed_for: tuple[object, ...] = ()
        self._designed_of: Measured | None = None
        self.source: Source = 'model'
        self.failure = ''

    @property
    def gains(self) -> Gains | None:
        """In use, or None before the first design."""
        return None if self._feedback is None else self._feedback.gains

    @property
    def warning(self) -> str:
        """What is amiss even where there is feedback; empty if nothing is."""
        earlier = self.failure and f'on earlier gains: {self.failure}'
        return '; '.join(filter(None, (self._rest, earlier)))

    def resume(self, earlier: 'Regulator') -> None:
        """Keep a robot with the same joints where an earlier regulator does, by its gains."""
        self._feedback, self.source = earlier._feedback, earlier.source
        self.reference, self._followed_since = earlier.reference, earlier._followed_since
        self.linearized_at, self._misfit_since = earlier.linearized_at, earlier._misfit_since
        if earlier.model.hash == self.model.hash:
            self.newest = earlier.newest
            if self._gait is not None and earlier._gait is not None:
                self._walks_since, self._place = earlier._walks_since, earlier._place
        self._look_up()

    def check_supports(self, frames: Sequence[str]) -> None:
        """Raise `UnknownNameError` if a frame is none of the supports."""
        for frame in frames:
            if frame not in self.supports:
                raise unknown_name('support', frame, self.supports, 'the supports')

    def stand_on(self, frames: Sequence[str]) -> None:
        """Put these supports in force, and no others; gains for them come with `redesign`.

        Without any the joints are damped after a while. Raises as `check_supports`.
        """
        self.check_supports(frames)
        self.standing_on = tuple(frame for frame in self.supports if frame in set(frames))
        self._look_up()

    def follow(self, reference: Reference) -> None:
        """Keep the robot there, or begin a gait there; one that moves holds until a time-out."""
        self.reference, self._followed_since = reference, None
        self._walks_since = self._place = None
        self._look_up()

    # ---- gains, in a thread of their own

    def renew(self) -> None:
        """Let the next `redesign` make gains where nothing has changed, too."""
        self._designed_for = ()

    def redesign(self) -> bool:
        """Make gains for reference and supports of this moment; return whether there are new ones.

        Cold after a change of supports, else warm from the gains in use. Raises as `equilibrium`
        and `design` if there are none, `UnknownNameError` if the bank has none: `failure` says why
        until the next success, and gains in use stay.
        """
        reference, frames, newest = self.reference, self.standing_on, self.newest
        if reference is None:
            return False
        if self._gait is not None:
            return self._feedback is not None
        wanted = reference.state.data.tobytes(), frames
        if wanted == self._designed_for and newest is self._designed_of:
            return False
        self._designed_for, self._designed_of = wanted, newest
        if self._bank is not None:
            self._bank.route(frames)  # says what is missing
            return True
        settings, own = self.settings, self._linearizer
        try:
            supports = tuple(self.supports[frame] for frame in frames)
            point = equilibrium(self.model, reference.state, supports, friction=settings.friction)
            own.contacts = tuple(support.contact for support in point.supports)
            if newest is not None and newest.fits(reference.state, own, settings.calm):
                self.source, C = 'linearization', newest.on(own)
            else:
                self.source, C = 'model', own(point.state, point.tau)
            gains = regulate(self.model, point, reduce(C), settings, self.gains)
        except Exception as error:
            self.failure = str(error)
            raise
        self.failure = ''
        self._use(gains)
        return True

    def _use(self, gains: Gains) -> None:
        if self._feedback is None:
            self._feedback = Feedback(gains)
        self._feedback.gains = gains

    def _look_up(self) -> None:
        """Take what the bank has for supports and reference; it is quick."""
        if self._bank is None or self.reference is None:
            return
        try:
            gains = self._bank.gains(self.standing_on, self.reference.state)
        except UnknownNameError as error:
            self.failure = str(error)
            return
        self.source, self.failure = 'bank', ''
        self._use(gains)

    # ---- efforts, at the rate of the states

    def command(self, time: float, state: State) -> Command:
        """Return what the motors get for the state at ``time`` [s]."""
        rates = state.r[self.model.actuated]
        if self._gait is not None and self.reference is not None:
            self._play(self._gait, time, self.reference)
        self._rest = self._taken_to_rest(time)
        reason = self._objection(time, state)
        if reason or self._feedback is None or self.reference is None:
            return self._sent(self.guard.damp(time, rates), Mode.DAMPING, reason)
        reference, given = self.reference
        if self._rest:
            reference = reference.at_rest()
        if self.settings.anchor and self._gait is None and np.isfinite(state.data).all():
            reference = anchored(self.model, reference, state, self.standing_on)
        wanted = self._feedback.efforts(state, reference=reference, feedforward=given)
        efforts = self.guard.feedback(time, wanted, rates)
        if self.guard.share:
            return self._sent(efforts, Mode.FEEDBACK, '')
        return self._sent(efforts, Mode.DAMPING, 'feedback is not finite or begins only now')

    def _play(self, gait: GaitGains, time: float, reference: Reference) -> None:
        """Put the gains of this moment in force, and their state as the reference."""
        if self._place is None:
            stood = level(gait.knots[0].state.H)
            self._place = level(reference.state.H) @ se3.inverse(stood)
        if self._walks_since is None and self.guard.share == 1.0:
            self._walks_since = time
        elapsed = 0.0 if self._walks_since is None else time - self._walks_since
        gains = gait.at(elapsed, self._place)
        self.source, self.standing_on = 'bank', gains.contacts
        self._use(gains)
        self.reference, self._followed_since = Reference(gains.state), time

    def damp(self, time: float, state: State, reason: str) -> Command:
        """Return efforts that only slow the joints down; a gait is over, and its reference."""
        if self._gait is not None:
            self.reference = self._walks_since = self._place = None
        efforts = self.guard.damp(time, state.r[self.model.actuated])
        return self._sent(efforts, Mode.DAMPING, reason)

    def release(self, time: float, reason: str) -> Command:
        """Return efforts on their way to zero, for when no state is known."""
        return self._sent(self.guard.release(time), Mode.RELEASE, reason)

    def _sent(self, efforts: Array, mode: Mode, reason: str) -> Command:
        """Return a command, whose efforts the feedback remembers."""
        if self._feedback is not None:
            self._feedback.sent(efforts)
        return Command(efforts, mode, reason)

    def _objection(self, time: float, state: State) -> str:
        """Return why feedback is not to be trusted, or nothing."""
        settings = self.settings
        if self.reference is None:
            return 'no reference yet'
        if self._feedback is None:
            return self.failure or 'no gains yet'
        if set(self._feedback.gains.contacts) == set(self.standing_on):
            self._misfit_since = None
        elif self._misfit_since is None:
            self._misfit_since = time
        elif abs(time - self._misfit_since) > settings.contacts_timeout:
            standing_on = ', '.join(self.standing_on) or 'no contacts'
            return f'no gains for {standing_on}: {self.failure or "they are being made"}'
        if self._walks_since is not None and not self.guard.share:
            return 'the gait was interrupted: a reference begins it anew'
        if settings.gains_timeout and self._bank is None and self._gait is None:
            if self.linearized_at is None:
                self.linearized_at = time
            age = time - self.linearized_at
            if abs(age) > settings.gains_timeout:  # one from the future is none of now
                within = f'{settings.gains_timeout:g} s'
                return f'no linearization for {age:.2f} s, expected one within {within}'
        at = se3.relative(self.reference.state.H, state.H)
        distance = float(np.linalg.norm(at[:3, 3]))
        turn = math.acos(min(1.0, max(-1.0, 0.5 * (float(np.trace(at[:3, :3])) - 1.0))))
        most = settings.trust_position, settings.trust_rotation
        if distance <= most[0] and turn <= most[1]:
            return ''
        return (
            f'the base is {distance:.3f} m and {turn:.3f} rad away from its reference, beyond the '
            f'trust region of {most[0]:g} m and {most[1]:g} rad'
        )

    def _taken_to_rest(self, time: float) -> str:
        """Return why velocities of the reference do not count any more, or nothing."""
        if self.reference is None:
            return ''
        if self._followed_since is None:
            self._followed_since = time
        age, state = time - self._followed_since, self.reference.state
        most = self.settings.reference_timeout
        if abs(age) <= most or not (state.v.any() or state.r.any()):
            return ''
        return (
            f'the reference moves and is {age:.2f} s old, expected a newer one within {most:g} s: '
            'its velocities count as zero'
        )


def anchored(model: TreeModel, reference: State, state: State, frames: Sequence[str]) -> State:
    """Return the reference, moved along the ground to the feet of a state.

    Fixed in the world it would pull the base back over where ``frames``, the feet that carry it,
    were before they slid. The planar motion is that of least squares over their places seen from
    above, of a single foot its heading too. Raises `UnknownNameError` if a foot is no link.
    """
    if not frames:
        return reference
    ends = Kinematics(model, reference), Kinematics(model, state)
    poses = np.array([[at.pose(frame) for frame in frames] for at in ends])
    places = poses[..., 0, 3] + 1j * poses[..., 1, 3]  # x + i y
    if len(frames) == 1:  # a second point, a metre ahead, says where it heads
        places = np.hstack((places, places + poses[..., 0, 0] + 1j * poses[..., 1, 0]))
    centre, place = places.mean(axis=1)
    turn = np.exp(1j * np.angle(np.vdot(places[0] - centre, places[1] - place)))
    way = place - turn * centre
    T = [[turn.real, -turn.imag, 0.0, way.real], [turn.imag, turn.real, 0.0, way.imag]]
    moved = reference.copy()
    moved.H[:2] = T @ reference.H
    return moved

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers into geolin_msgs messages.

Each writer keeps one message for its life: names are set once, and the long arrays are filled
through views of the message's own memory, which is a hundred times faster than assigning lists.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.linearization.contacts.description import Closure
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import WrenchKind
from geolin_ros.stream.analysis import Analysis
from geolin_ros.stream.contacts import ContactAnswer, each_wrench, write_contact
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer, OperatingPoint
from geolin_ros.stream.message_fields import (
    MatrixWriter,
    allocate,
    write_pose,
    write_stamp,
    write_twist,
    write_wrench,
)
from geolin_ros.stream.self_check import Verdict
from geolin_ros.stream.topic_stream import Counts
from geolin_ros.typing import Array

OUTPUTS = {
    'linearization': 'geolin_msgs/msg/LinearizedDynamics',
    'forward_dynamics': 'geolin_msgs/msg/ForwardDynamics',
    'summary': 'geolin_msgs/msg/LinearizationSummary',
}
"""Topics of the linearizer below its name, and their types."""

# The constants of geolin_msgs, by the words of the settings.
CODES = {
    'reference': {'moving': 1, 'frozen': 2},
    'form': {'continuous': 1, 'discrete': 2},
    'method': {'euler': 2, 'zoh': 3, 'midpoint': 4, 'rkmk4': 5},
    'representation': {'body': 1, 'inertial': 2, 'mixed': 3},
}
WRENCH_KINDS: dict[WrenchKind, int] = {'body': 1, 'world': 2, 'world_oriented': 3}
METHOD_NONE = 1
SOURCES = {'parameter': 1, 'topic': 2, 'forces': 3, 'given': 4}
_EFFORT_SOURCES = {'effort': 1, 'zero': 2, 'topic': 3, 'inverse_dynamics': 4, 'given': 5}
_NU_DOT_SOURCES = {'predicted': 1, 'measured': 2, 'zero': 3}


def _write_header(header: Any, point: OperatingPoint) -> None:
    write_stamp(header.stamp, point.stamp)
    header.frame_id = point.world_frame


class StateWriter:
    """Writes a state into a geolin_msgs/RobotState."""

    def __init__(self, message: Any, n: int) -> None:
        self._pose, self._twist = message.base_pose, message.base_twist
        self._positions = allocate(message, 'joint_positions', n)
        self._rates = allocate(message, 'joint_rates', n)

    def write(self, state: State) -> None:
        """Fill the message."""
        write_pose(self._pose, state.H)
        write_twist(self._twist, state.v)
        self._positions[:] = state.s
        self._rates[:] = state.r


def empty_linearization(make: Callable[[str], Any], model: TreeModel, wrenches: int = 0) -> Any:
    """Return a LinearizedDynamics that is empty but for the parts that are messages of their own.

    ``make`` returns an empty message of geolin_msgs by its name, ``wrenches`` is how many external
    ones there will be.
    """
    message = make('LinearizedDynamics')
    message.external_wrenches = [make('ExternalWrench') for _ in range(wrenches)]
    for name, kind in (('dependent_joints', 'DependentJoint'), ('locked_joints', 'LockedJoint')):
        for joint in getattr(model, name):
            entry = make(kind)
            for field, value in joint._asdict().items():
                setattr(entry, field, value)
            getattr(message, name).append(entry)
    return message


class ContactWriter:
    """Fills one geolin_msgs/ContactDynamics with the contacts of one answer after another.

    ``message`` is the writer's from now on; ``make_contact`` returns an empty ContactState.
    """

    def __init__(self, message: Any, model: TreeModel, make_contact: Callable[[], Any]) -> None:
        self.message = message
        self._model, self._make_contact = model, make_contact
        self._written: tuple[Closure, ...] | None = None
        self._wrenches = np.zeros(0)
        self._by_state = MatrixWriter(message.wrench_by_state)
        self._by_effort = MatrixWriter(message.wrench_by_tau)
        self._basis = MatrixWriter(message.admissible_basis)

    def write(self, answer: ContactAnswer) -> None:
        """Fill the message."""
        message = self.message
        message.source = SOURCES[answer.source]
        if answer.contacts is not self._written:
            message.contacts = [self._make_contact() for _ in answer.contacts]
            for state, contact in zip(message.contacts, answer.contacts, strict=True):
                write_contact(state, contact, self._model)
            self._written = answer.contacts
        wrenches = each_wrench(answer.contacts, answer.wrenches)
        for state, (_, wrench) in zip(message.contacts, wrenches, strict=True):
            write_wrench(state.wrench, wrench)
        message.rank = answer.redundancy.rank
        message.smallest_kept = answer.redundancy.smallest_kept
        message.largest_dropped = answer.redundancy.largest_dropped
        if answer.wrenches.shape != self._wrenches.shape:
            self._wrenches = allocate(message, 'wrenches', answer.wrenches.size)
        self._wrenches[:] = answer.wrenches
        self._by_state.write(answer.wrench_by_state)
        self._by_effort.write(answer.wrench_by_tau)
        if answer.basis is not None:
            self._basis.write(answer.basis)


class LinearizationWriter:
    """Fills one geolin_msgs/LinearizedDynamics with one answer after another.

    ``message`` is one of `empty_linearization`, the writer's from now on. ``effort_given`` says
    whether the efforts come with a service call. ``make_contact`` returns an empty
    geolin_msgs/ContactState; needed for answers with contacts.
    """

    def __init__(
        self,
        message: Any,
        model: TreeModel,
        settings: StreamSettings,
        effort_given: bool = False,
        make_contact: Callable[[], Any] | None = None,
    ) -> None:
        self.message = message
        self._verdict: Verdict | None = None
        self._contacts = None
        if make_contact is not None:
            self._contacts = ContactWriter(message.contact_dynamics, model, make_contact)
        n, m = model.n, model.m
        message.model_name, message.model_hash = model.name, model.hash
        message.base_frame = settings.frame_prefix + model.base_link
        message.floating_base = model.base == 'floating'
        message.joint_names = list(model.joint_names)
        message.actuated_joints = list(model.actuated_joints)
        gravity = message.gravity
        gravity.x, gravity.y, gravity.z = model.gravity.tolist()
        source = 'given' if effort_given else settings.torque_source
        message.effort_source = _EFFORT_SOURCES[source]
        message.nu_dot_source = _NU_DOT_SOURCES[settings.nu_dot]
        for name, codes in CODES.items():
            setattr(message, name, codes[getattr(settings, name)])
        discrete = settings.form == 'discrete'
        message.dt = settings.dt if discrete else 0.0
        if not discrete:
            message.method = METHOD_NONE
        self._state = StateWriter(message.state, n)
        self._next_state = StateWriter(message.next_state, n) if discrete else None
        self._efforts = allocate(message, 'joint_efforts', n)
        self._nu_dot = allocate(message, 'nu_dot', m)
        self._drift = allocate(message, 'drift', 2 * m)
        self._A = MatrixWriter(message.a, 2 * m, 2 * m).view
        self._B = MatrixWriter(message.b, 2 * m, len(model.actuated_joints)).view
        self._M = MatrixWriter(message.mass_matrix)

    def write(self, answer: Answer) -> Any:
        """Fill and return the message."""
        message, point = self.message, answer.point
        _write_header(message.header, point)
        write_stamp(message.odometry_stamp, point.odometry_stamp)
        self._state.write(point.state)
        if self._next_state is not None and answer.next_state is not None:
            self._next_state.write(answer.next_state)
        self._efforts[:] = point.tau
        self._nu_dot[:] = answer.nu_dot
        write_wrench(message.base_wrench_residual, point.base_wrench)
        for written, wrench in zip(message.external_wrenches, point.external, strict=True):
            written.link, written.kind = wrench.link, WRENCH_KINDS[wrench.kind]
            write_wrench(written.wrench, np.concatenate((wrench.force, wrench.moment)))
            written.point.x, written.point.y, written.point.z = np.asarray(wrench.point).tolist()
        trust, verdict = message.trust, point.verdict
        trust.findings = [*point.findings, *(() if verdict is None else verdict.warnings)]
        if verdict is not self._verdict and verdict is not None:
            self._verdict, found = verdict, verdict.certificate
            write_stamp(trust.stamp, verdict.stamp)
            trust.checked, trust.failed = True, found.failed
            trust.deviation, trust.limit = found.deviation, found.limit
            trust.mass_matrix_condition = found.condition
            trust.checks, trust.failures = verdict.checks, verdict.failures
        if self._contacts is not None and answer.contacts is not None:
            self._contacts.write(answer.contacts)
        self._drift[:] = answer.drift
        self._A[:] = answer.A
        self._B[:] = answer.B
        if answer.mass_matrix is not None:
            self._M.write(answer.mass_matrix)
        message.compute_time = answer.compute_time
        return message


class ForwardDynamicsWriter:
    """Fills one geolin_msgs/ForwardDynamics with one answer after another."""

    def __init__(self, message: Any, model: TreeModel, frame_prefix: str = '') -> None:
        self.message = message
        message.model_hash, message.base_frame = model.hash, frame_prefix + model.base_link
        message.joint_names = list(model.joint_names)
        self._first = model.m - model.n
        self._joints = allocate(message, 'joint_accelerations', model.n)

    def write(self, answer: Answer) -> Any:
        """Fill and return the message."""
        message = self.message
        _write_header(message.header, answer.point)
        if self._first:
            write_twist(message.base_acceleration, answer.nu_dot[:6])
        self._joints[:] = answer.nu_dot[self._first :]
        return message


class SummaryWriter:
    """Fills one geolin_msgs/LinearizationSummary with one answer after another.

    ``analysis`` of an earlier answer is for the messages from now on; another thread may set it.
    """

    def __init__(self, message: Any, model: TreeModel) -> None:
        self.message = message
        self.analysis: Analysis | None = None
        self._floating = model.base == 'floating'

    def write(self, answer: Answer, counts: Counts, latency: float) -> Any:
        """Fill and return the message; ``latency`` from the callback's start until now [s]."""
        message, point = self.message, answer.point
        _write_header(message.header, point)
        message.compute_time, message.latency = answer.compute_time, latency
        message.odometry_age = point.odometry_age
        message.a_norm, message.b_norm = largest(answer.A), largest(answer.B)
        nu_dot = answer.nu_dot
        if self._floating:
            message.base_linear_acceleration = float(np.sqrt(nu_dot[:3] @ nu_dot[:3]))
            message.base_angular_acceleration = float(np.sqrt(nu_dot[3:6] @ nu_dot[3:6]))
            nu_dot = nu_dot[6:]
        residual = point.base_wrench
        message.base_force_residual = float(np.sqrt(residual[:3] @ residual[:3]))
        message.base_torque_residual = float(np.sqrt(residual[3:] @ residual[3:]))
        message.joint_acceleration = largest(nu_dot) if nu_dot.size else 0.0
        if answer.contacts is not None:
            message.active_contacts = sum(c.active for c in answer.contacts.contacts)
            message.contact_rank = answer.contacts.redundancy.rank
        message.base_tilt = float(np.arccos(np.clip(point.state.H[2, 2], -1.0, 1.0)))
        message.received, message.published = counts.received, counts.answered
        message.dropped = counts.dropped
        if point.verdict is not None:
            message.trust_deviation = point.verdict.certificate.deviation
        analysis, self.analysis = self.analysis, None
        if analysis is not None:
            write_stamp(message.spectrum_stamp, analysis.stamp)
            message.largest_real_part = analysis.largest_real_part
            message.spectral_radius = analysis.spectral_radius
            message.mass_matrix_condition = analysis.mass_matrix_condition
        return message


def largest(values: Array) -> float:
    """Return the largest absolute entry; 0 of none, as of B without joints."""
    return float(max(values.max(), -values.min())) if values.size else 0.0

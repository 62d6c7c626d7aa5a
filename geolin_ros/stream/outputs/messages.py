# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers into geolin_msgs messages.

Each writer keeps one message for its life: names are set once, and the long arrays are filled
through views of the message's own memory, which is a hundred times faster than assigning lists.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench, WrenchKind
from geolin_ros.stream.analysis import Analysis
from geolin_ros.stream.geometry import write_pose, write_stamp, write_twist, write_wrench
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import Answer
from geolin_ros.stream.message_memory import MatrixWriter, allocate
from geolin_ros.stream.outputs.contact_messages import ContactWriter
from geolin_ros.stream.self_check import Verdict
from geolin_ros.stream.topics import Counts
from geolin_ros.typing import Array

# The constants of geolin_msgs, by the words of the settings.
CODES = {
    'reference': {'moving': 1, 'frozen': 2},
    'form': {'continuous': 1, 'discrete': 2},
    'method': {'euler': 2, 'zoh': 3, 'midpoint': 4, 'rkmk4': 5},
    'representation': {'body': 1, 'inertial': 2, 'mixed': 3},
}
WRENCH_KINDS: dict[WrenchKind, int] = {'body': 1, 'world': 2, 'world_oriented': 3}
_EFFORT_SOURCES = {'effort': 1, 'zero': 2, 'topic': 3, 'inverse_dynamics': 4}
_EFFORT_GIVEN = 5
_NU_DOT_SOURCES = {'predicted': 1, 'measured': 2, 'zero': 3}
_METHOD_NONE = 1


def _write_header(header: Any, answer: Answer) -> None:
    write_stamp(header.stamp, answer.stamp)
    header.frame_id = answer.world_frame


def _write_external_wrench(message: Any, wrench: Wrench) -> None:
    message.link, message.kind = wrench.link, WRENCH_KINDS[wrench.kind]
    write_wrench(message.wrench, np.concatenate((wrench.force, wrench.moment)))
    message.point.x, message.point.y, message.point.z = np.asarray(wrench.point).tolist()


def _write_verdict(message: Any, verdict: Verdict) -> None:
    """Fill a geolin_msgs/Trust, but for its findings."""
    found = verdict.certificate
    message.checked, message.failed = True, found.failed
    write_stamp(message.stamp, verdict.stamp)
    message.deviation, message.limit = found.deviation, found.limit
    message.mass_matrix_condition = found.condition
    message.checks, message.failures = verdict.checks, verdict.failures


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

    Parameters
    ----------
    make
        Returns an empty message of geolin_msgs by its name.
    model
        Whose dependent and locked joints are filled in.
    wrenches
        How many external wrenches there will be.
    """
    message = make('LinearizedDynamics')
    message.external_wrenches = [make('ExternalWrench') for _ in range(wrenches)]
    message.dependent_joints = [_filled(make('DependentJoint'), j) for j in model.dependent_joints]
    message.locked_joints = [_filled(make('LockedJoint'), joint) for joint in model.locked_joints]
    return message


def _filled(message: Any, values: NamedTuple) -> Any:
    """Return a message with the fields of a tuple of the same names."""
    for field, value in values._asdict().items():
        setattr(message, field, value)
    return message


class LinearizationWriter:
    """Fills one geolin_msgs/LinearizedDynamics with one answer after another.

    Parameters
    ----------
    message
        An empty message, but for dependent_joints, locked_joints and as many external_wrenches as
        answers will have; the writer's from now on.
    model, settings
        Of the stream whose answers will be written.
    effort_given
        Whether the efforts come with a service call instead of the stream's own source.
    make_contact
        Returns an empty geolin_msgs/ContactState; needed for answers with contacts.
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
        message.effort_source = (
            _EFFORT_GIVEN if effort_given else _EFFORT_SOURCES[settings.torque_source]
        )
        message.nu_dot_source = _NU_DOT_SOURCES[settings.nu_dot]
        message.reference = CODES['reference'][settings.reference]
        message.form = CODES['form'][settings.form]
        discrete = settings.form == 'discrete'
        message.method = CODES['method'][settings.method] if discrete else _METHOD_NONE
        message.dt = settings.dt if discrete else 0.0
        message.representation = CODES['representation'][settings.representation]
        self._state = StateWriter(message.state, n)
        self._next_state = StateWriter(message.next_state, n) if discrete else None
        self._efforts = allocate(message, 'joint_efforts', n)
        self._nu_dot = allocate(message, 'nu_dot', m)
        self._drift = allocate(message, 'drift', 2 * m)
        n_u = len(model.actuated_joints)
        for matrix, cols in ((message.a, 2 * m), (message.b, n_u)):
            matrix.rows, matrix.cols = 2 * m, cols
        self._A = allocate(message.a, 'data', 4 * m * m).reshape(2 * m, 2 * m)
        self._B = allocate(message.b, 'data', 2 * m * n_u).reshape(2 * m, n_u)
        self._M = MatrixWriter(message.mass_matrix)

    def write(self, answer: Answer) -> Any:
        """Fill and return the message."""
        message = self.message
        _write_header(message.header, answer)
        write_stamp(message.odometry_stamp, answer.odometry_stamp)
        self._state.write(answer.state)
        if self._next_state is not None and answer.next_state is not None:
            self._next_state.write(answer.next_state)
        self._efforts[:] = answer.tau
        self._nu_dot[:] = answer.nu_dot
        write_wrench(message.base_wrench_residual, answer.base_wrench)
        for written, wrench in zip(message.external_wrenches, answer.wrenches, strict=True):
            _write_external_wrench(written, wrench)
        warnings = () if answer.verdict is None else answer.verdict.warnings
        message.trust.findings = [*answer.findings, *warnings]
        if answer.verdict is not self._verdict and answer.verdict is not None:
            _write_verdict(message.trust, answer.verdict)
            self._verdict = answer.verdict
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
        _write_header(message.header, answer)
        if self._first:
            write_twist(message.base_acceleration, answer.nu_dot[:6])
        self._joints[:] = answer.nu_dot[self._first :]
        return message


class SummaryWriter:
    """Fills one geolin_msgs/LinearizationSummary with one answer after another.

    Attributes
    ----------
    analysis
        Of an earlier answer, for the messages from now on; may be set by another thread.
    """

    def __init__(self, message: Any, model: TreeModel) -> None:
        self.message = message
        self.analysis: Analysis | None = None
        self._floating = model.base == 'floating'

    def write(self, answer: Answer, counts: Counts, latency: float) -> Any:
        """Fill and return the message; ``latency`` from the callback's start until now [s]."""
        message = self.message
        _write_header(message.header, answer)
        message.compute_time, message.latency = answer.compute_time, latency
        message.odometry_age = answer.odometry_age
        message.a_norm, message.b_norm = largest(answer.A), largest(answer.B)
        nu_dot = answer.nu_dot
        if self._floating:
            message.base_linear_acceleration = float(np.sqrt(nu_dot[:3] @ nu_dot[:3]))
            message.base_angular_acceleration = float(np.sqrt(nu_dot[3:6] @ nu_dot[3:6]))
            nu_dot = nu_dot[6:]
        residual = answer.base_wrench
        message.base_force_residual = float(np.sqrt(residual[:3] @ residual[:3]))
        message.base_torque_residual = float(np.sqrt(residual[3:] @ residual[3:]))
        message.joint_acceleration = largest(nu_dot) if nu_dot.size else 0.0
        if answer.contacts is not None:
            message.active_contacts = sum(c.active for c in answer.contacts.contacts)
            message.contact_rank = answer.contacts.redundancy.rank
        message.base_tilt = float(np.arccos(np.clip(answer.state.H[2, 2], -1.0, 1.0)))
        message.received, message.published = counts.received, counts.answered
        message.dropped = counts.dropped
        if answer.verdict is not None:
            message.trust_deviation = answer.verdict.certificate.deviation
        self._write_analysis()
        return message

    def _write_analysis(self) -> None:
        message, analysis, self.analysis = self.message, self.analysis, None
        if analysis is not None:
            write_stamp(message.spectrum_stamp, analysis.stamp)
            message.largest_real_part = analysis.largest_real_part
            message.spectral_radius = analysis.spectral_radius
            message.mass_matrix_condition = analysis.mass_matrix_condition


def largest(values: Array) -> float:
    """Return the largest absolute entry; 0 of none, as of B without joints."""
    return float(max(values.max(), -values.min())) if values.size else 0.0

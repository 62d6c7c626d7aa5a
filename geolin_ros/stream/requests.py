# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""geolin_msgs/srv/Linearize and LinearizeAlong: about states that the caller gives."""

import dataclasses
import itertools
import time
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from geolin_ros.dynamics.arguments import check_base
from geolin_ros.errors import GeolinError, InputError, unknown_name
from geolin_ros.linearization.along import ARRAYS, LinearizedTrajectory
from geolin_ros.linearization.contacts import anchored_where_needed
from geolin_ros.linearization.contacts.description import SIZES, Closure
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_ros.stream.contacts import ContactReporter, fields, read_contact, write_contact
from geolin_ros.stream.inputs.settings import StreamSettings
from geolin_ros.stream.linearization_stream import OperatingPoint, linearize
from geolin_ros.stream.message_fields import (
    pose_numbers,
    read_matrix,
    read_pose,
    twist_numbers,
    word_of,
    write_matrix,
)
from geolin_ros.stream.outputs.messages import CODES, WRENCH_KINDS, LinearizationWriter
from geolin_ros.stream.topic_stream import check_unit
from geolin_ros.typing import Array


def write_request(
    request: Any,
    make_contact: Callable[[], Any],
    model: TreeModel,
    contacts: Sequence[Closure],
    trajectory: tuple[Array, Array, Array, Sequence[tuple[str, ...]]],
) -> None:
    """Write states, efforts, times and contacts in force, as `Linearizer.along` takes them.

    ``request`` is an empty geolin_msgs/srv/LinearizeAlong_Request, ``make_contact`` returns an
    empty ContactState, ``contacts`` are all there are.
    """
    states, efforts, times, in_force = trajectory
    request.model_hash = model.hash
    write_matrix(request.states, states)
    write_matrix(request.efforts, efforts)
    request.times = array('d', np.ascontiguousarray(times).tobytes())
    for contact in contacts:
        message = make_contact()
        write_contact(message, contact, model)
        request.contacts.append(message)
    request.in_force = [contact.name in names for names in in_force for contact in contacts]


def read_trajectory(
    message: Any, contacts: Sequence[Closure], in_force: Sequence[tuple[str, ...]]
) -> LinearizedTrajectory:
    """Return a geolin_msgs/LinearizedTrajectory, whose memory it shares.

    ``contacts`` and ``in_force`` are those of the request.
    """
    N, k, n_u, rows = message.intervals, message.columns, message.inputs, message.rows
    shapes = (N, k, k), (N, k, n_u), (N, k), (N, k // 2), (N, rows), (N, rows, k), (N, rows, n_u)
    arrays: list[Any] = [
        np.asarray(getattr(message, name.lower())).reshape(shape)
        for name, shape in zip(ARRAYS, shapes, strict=True)
    ]
    ends = np.cumsum([0, *(SIZES[contact.kind] for contact in contacts)]).tolist()
    first = {contact.name: at for contact, at in zip(contacts, ends, strict=False)}
    return LinearizedTrajectory(
        **dict(zip(ARRAYS, arrays, strict=True)), in_force=tuple(in_force), first=first
    )


QUATERNION_TOLERANCE = 1e-3
MOST_NODES = 1000
"""Of one trajectory."""


class RequestAnswerer:
    """Answers requests with a linearizer of its own, so that the stream is not disturbed.

    Settings count where a request leaves something open; ``make_message`` and ``make_contact``
    return an empty geolin_msgs/LinearizedDynamics and ContactState.
    """

    def __init__(
        self,
        model: TreeModel,
        settings: StreamSettings,
        make_message: Callable[[], Any],
        make_contact: Callable[[], Any] | None = None,
    ) -> None:
        self._model, self._settings = model, settings
        self._make_message, self._make_contact = make_message, make_contact
        self._linearizer = Linearizer(model)
        self._along_of: Any = None  # contacts of the last trajectory: of its linearizer and room
        self._along: Any = None
        self._room: Any = None
        self._taken: deque[tuple[float, float]] = deque()
        """When each request of the last second ended, and what it took [s]."""

    def answer(self, request: Any, response: Any, stamp: int, world_frame: str = '') -> Any:
        """Fill ``response``; what is wrong with the request goes into its message.

        ``stamp`` [ns] and ``world_frame`` go into the header.
        """
        acting = len(request.external_wrenches) + len(request.contacts)
        return self._answer(response, acting, self._linearize, request, stamp, world_frame)

    def answer_along(self, request: Any, response: Any) -> Any:
        """Fill the response of a geolin_msgs/srv/LinearizeAlong, as `answer`."""
        return self._answer(response, len(request.contacts), self._linearize_along, request)

    def _answer(self, response: Any, acting: int, work: Callable[..., None], *about: Any) -> Any:
        """Refuse, before any work, what is too large: ``acting`` wrenches and contacts."""
        start = time.perf_counter()
        response.success, response.message = False, self._overload(start)
        if response.message:
            return response
        try:
            if acting > self._settings.service_size:
                raise InputError(
                    f'request has {acting} wrenches and contacts, expected at most '
                    f'{self._settings.service_size}; raise parameter service.size'
                )
            work(response, *about)
            response.success = True
        except GeolinError as error:
            response.message = str(error)
        end = time.perf_counter()
        self._taken.append((end, end - start))
        return response

    def _linearize(self, response: Any, request: Any, stamp: int, world_frame: str) -> None:
        start = time.perf_counter()
        settings = self._requested_settings(request)
        model = self._model
        if request.override_gravity:
            g = request.gravity
            model = model.with_gravity((g.x, g.y, g.z))
        order = self._order(request.joint_names)
        state = self._state(request.state, order)
        tau = self._values('joint_efforts', request.joint_efforts, order)
        wrenches = [read_wrench(w) for w in request.external_wrenches]
        linearizer, reporter = self._linearizer, None
        if model is not self._model:
            linearizer = Linearizer(model)
        if request.contacts or model.loops:
            asked = [read_contact(model, contact) for contact in request.contacts]
            contacts = anchored_where_needed(model, state, asked)
            linearizer = Linearizer(model, contacts)
            reporter = ContactReporter(linearizer, 'given', settings.contacts.admissible_basis)
        point = OperatingPoint(
            *(stamp, 0, state, tau, tau, wrenches, linearizer.contacts, wrenches),
            world_frame=world_frame,
            began_at=start,
        )
        answer = linearize(point, linearizer, settings, reporter)
        message = self._make_message()
        message.external_wrenches = list(request.external_wrenches)
        writer = LinearizationWriter(
            message, model, settings, effort_given=True, make_contact=self._make_contact
        )
        response.linearization = writer.write(answer)

    def _linearize_along(self, response: Any, request: Any) -> None:
        """Answer by a linearizer that is kept as long as requests name the same contacts."""
        model = self._model
        if request.model_hash not in ('', model.hash):
            raise InputError(
                f'request is about model {request.model_hash}, expected {model.hash} '
                f'({model.name!r}); give both nodes the same description and parameters'
            )
        states, efforts = read_matrix(request.states), read_matrix(request.efforts)
        count, feet = len(efforts), len(request.contacts)
        if len(states) > MOST_NODES or len(request.in_force) != count * feet:
            raise InputError(
                f'request has {len(states)} states and {len(request.in_force)} entries in '
                f'in_force, expected at most {MOST_NODES} and {count} x {feet}: each contact in '
                'each interval'
            )
        of = tuple(map(fields, request.contacts))
        if of != self._along_of:
            contacts = [read_contact(model, contact) for contact in request.contacts]
            self._along_of, self._along, self._room = of, Linearizer(model, contacts), None
        if self._room is None or len(self._room) < count:
            self._room = self._along.along.room(count)
        names = [contact.name for contact in self._along.contacts]
        flags = np.array(request.in_force, dtype=bool).reshape(count, feet)
        in_force = [tuple(itertools.compress(names, row)) for row in flags]
        plan = self._along.along(states, efforts, request.times, contacts=in_force, out=self._room)
        message = response.trajectory
        message.intervals, message.columns, message.inputs = plan.B.shape
        message.rows = plan.wrenches.shape[1]
        for name in ARRAYS:
            setattr(message, name.lower(), array('d', getattr(plan, name).tobytes()))

    def _overload(self, now: float) -> str:
        """Return why one more request is too many, or too much work for others; empty if not."""
        taken, settings = self._taken, self._settings
        while taken and now - taken[0][0] >= 1.0:
            taken.popleft()
        if len(taken) >= settings.service_rate:
            return (
                f'request is one of more than {settings.service_rate} within a second; ask less '
                'often, or raise parameter service.rate'
            )
        spent = min(sum(duration for _, duration in taken), 1.0)  # one may have begun before it
        if spent <= settings.service_budget:
            return ''
        return (
            f'requests have taken {spent:.3f} s of the last second, expected at most '
            f'{settings.service_budget:g} s; ask less often or for less, or raise parameter '
            'service.budget'
        )

    def _requested_settings(self, request: Any) -> StreamSettings:
        changed: dict[str, Any] = {'nu_dot': 'predicted'}
        for name, codes in CODES.items():
            code = getattr(request, name)
            if code:  # 0: as the node is configured
                changed[name] = word_of(f'request has {name}', code, codes)
        if request.dt != 0.0:
            changed['dt'] = request.dt
        return dataclasses.replace(self._settings, **changed)

    def _order(self, names: Any) -> Array | None:
        """Return where each joint coordinate stands in the request, or None for the same order."""
        known = self._model.joint_names
        if len(names) not in (0, len(known)) or len(set(names)) < len(names):
            raise InputError(
                f'request names {len(names)} joints, expected each of the {len(known)} once'
            )
        for name in names:
            if name not in known:
                raise unknown_name('joint', name, known, f'robot {self._model.name!r}')
        order = {name: k for k, name in enumerate(names)}
        return np.array([order[name] for name in known], dtype=np.intp) if order else None

    def _values(self, name: str, values: Any, order: Array | None) -> Array:
        if len(values) == 0:
            return np.zeros(self._model.n)
        if len(values) != self._model.n:
            raise InputError(
                f'request has {len(values)} entries in {name}, expected {self._model.n} or none'
            )
        array = np.array(values, dtype=np.float64)
        return array if order is None else array[order]

    def _state(self, message: Any, order: Array | None) -> State:
        sample = np.array((*pose_numbers(message.base_pose), *twist_numbers(message.base_twist)))
        check_unit('request', float(np.linalg.norm(sample[3:7])), QUATERNION_TOLERANCE)
        check_base(self._model, sample[7:], 'request')
        return State(
            read_pose(message.base_pose),
            self._values('state.joint_positions', message.joint_positions, order),
            sample[7:],
            self._values('state.joint_rates', message.joint_rates, order),
        )


def read_wrench(message: Any) -> Wrench:
    """Return a geolin_msgs/ExternalWrench as a `Wrench`; `InputError` if its kind is unknown."""
    kind = word_of(f'wrench on link {message.link!r} has kind', message.kind, WRENCH_KINDS)
    force, moment, point = message.wrench.force, message.wrench.torque, message.point
    return Wrench(
        message.link,
        (force.x, force.y, force.z),
        (moment.x, moment.y, moment.z),
        kind,
        (point.x, point.y, point.z),
    )

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Robots of a page, and what it shows of one moment: of one that stands still, or of a bag."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geolin_ros.control.equilibrium import equilibrium
from geolin_ros.control.posture import standing_posture, state_with
from geolin_ros.control.soles import read_feet
from geolin_ros.control.support import Support
from geolin_ros.dynamics.functions import bias_force
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import (
    GeolinError,
    InfeasibleError,
    NotFiniteError,
    RecordingError,
    SingularInertiaError,
)
from geolin_ros.linearization.contacts.description import Closure, Contact
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.spatial import se3
from geolin_ros.stream.linearization_stream import linearize
from geolin_ros.stream.outputs.markers import Force, contact_forces, external_forces
from geolin_ros.typing import Array

if TYPE_CHECKING:
    from geolin_ros.offline.points import Watch
    from geolin_ros.offline.source import Source as Recorded

NOTHING = np.zeros((0, 0))


class Instant(NamedTuple):
    """One moment of a robot; ``time`` [s] from when the source says.

    A (2 m, 2 m) and B (2 m, n_u) are empty where there is no linearization yet; ``dt`` is the
    step of the discrete form [s], 0 if they are continuous. ``paths`` are places (N + 1, 3) of
    base and feet in the plan of a robot that walks [m], ``remark`` a sentence for the reader.
    """

    time: float
    state: State
    A: Array = NOTHING
    B: Array = NOTHING
    dt: float = 0.0
    forces: tuple[Force, ...] = ()
    supports: tuple[Support, ...] = ()
    paths: tuple[Array, ...] = ()
    remark: str = ''


class Health(NamedTuple):
    """What a source says of itself at a time [s].

    ``latency`` of the newest linearization [s], NaN if nobody measures it; ``dropped`` joint
    states were not linearized; ``values`` are other figures by name.
    """

    time: float
    latency: float
    dropped: int
    values: Mapping[str, str]


class Source:
    """A robot, and what happens to it; this one has no controls, no health, nothing to close."""

    model: TreeModel
    """Another one where `newest` found that it was replaced."""
    description: str | Path
    """Path or text of its URDF or MJCF."""

    def add_controls(self, gui: Any) -> None:
        """Add what a user moves to viser's panel."""

    def newest(self) -> Instant | None:
        """Return what is to be shown now, None if nothing has changed; called 30 times a second.

        A that has not changed is the same array.
        """
        raise NotImplementedError

    def health(self) -> Health | None:
        """Return latencies and drops; None if there are none."""
        return None

    def close(self) -> None:
        """Let go of what was opened."""


def feet_finder(
    model: TreeModel, description: str | Path
) -> Callable[[Iterable[Closure]], tuple[Support, ...]]:
    """Return what finds the supports of active contacts with the world.

    They are the ball or sole that the shapes of the link make, the contact frame alone where
    these say nothing or another kind.
    """

    @cache
    def by_shapes(frame: str) -> Support | None:
        try:
            return read_feet(description, model, [frame])[0].support
        except GeolinError:
            return None

    def support(contact: Contact) -> Support:
        known = by_shapes(contact.frame)
        if known is not None and known.kind == contact.kind:
            return known
        placement = np.eye(4) if contact.placement is None else contact.placement
        return Support(contact.frame, contact.kind, placement=placement)

    return lambda contacts: tuple(
        support(one) for one in contacts if isinstance(one, Contact) and one.active
    )


NEAR = 0.01  # feet higher than the lowest one by more than this stand on nothing [m]
WIDEST = np.pi  # of a slider without limits [rad or m]
BASE = ('base height [m]', 'base roll [rad]', 'base pitch [rad]', 'base yaw [rad]')


class Standing(Source):
    """Postures that the user chooses; the first support stays where it is on the ground.

    The efforts are those of the equilibrium on the supports that are on the ground; of a fixed
    base those that hold it; in the air none. Raises `InfeasibleError` if it cannot stand on the
    supports; `UnknownNameError` if a joint or frame is not part of the robot.

    Without ``supports`` it is in the air; ``joints`` and ``height`` are those of
    `control.posture.standing_posture`.
    """

    def __init__(
        self,
        model: TreeModel,
        description: str | Path,
        supports: Sequence[Support] = (),
        joints: Mapping[str, float] | None = None,
        height: float | None = None,
    ) -> None:
        self.model, self.description = model, description
        self._supports = tuple(supports)
        if supports:
            self._start = standing_posture(model, supports, joints=joints, height=height)
            self._anchor = self._first_support(self._start)
        else:
            self._start = state_with(model, joints or {})
        self._linearizer = Linearizer(model)
        self._shown: list[float] | None = None
        self._sliders: list[Any] = []
        self._of_base = 0  # so many sliders, the first ones

    def _first_support(self, state: State) -> Array:
        return Kinematics(self.model, state).pose(self._supports[0].at(self.model))

    def add_controls(self, gui: Any) -> None:
        """Add a slider for each joint, and for the base of a robot in the air."""
        model, rows = self.model, list[tuple[str, float, float, float]]()
        if model.base == 'floating' and not self._supports:
            rows = [(name, -WIDEST, WIDEST, 0.0) for name in BASE]
        self._of_base = len(rows)
        with gui.add_folder('joints', expand_by_default=False):
            if model.positions.groups:
                gui.add_markdown('joints with several axes have no sliders')
            else:
                start = self._start.s
                low, high = np.clip((model.limits.lower, model.limits.upper), -WIDEST, WIDEST)
                bounds = np.minimum(low, start), np.maximum(high, start), start
                columns = (bound.tolist() for bound in bounds)
                rows += zip(model.joint_names, *columns, strict=True)
            self._sliders = [
                gui.add_slider(name, min=least, max=most, step=0.001, initial_value=value)
                for name, least, most, value in rows
            ]
            reset = gui.add_button('back to the start')

        def go_back(_: Any) -> None:
            for slider, (*_, value) in zip(self._sliders, rows, strict=True):
                slider.value = value

        reset.on_click(go_back)

    def newest(self) -> Instant | None:
        """Return the posture that the sliders say if one of them moved."""
        values = [slider.value for slider in self._sliders]
        if values == self._shown:
            return None
        self._shown, state = values, self._start.copy()
        of_base, of_joints = values[: self._of_base], values[self._of_base :]
        if of_joints:
            state.s[:] = of_joints
        if of_base:
            state.H[:3, :3] = se3.rotation_from_rpy(of_base[1:])
            state.H[2, 3] += of_base[0]
        if self._supports:
            state.H[:] = self._anchor @ se3.inverse(self._first_support(state)) @ state.H
        return self.about(state)

    def about(self, state: State) -> Instant:
        """Return the instant of a state at rest."""
        at = Kinematics(self.model, state)
        heights = np.array([one.world_points(at)[:, 2].min() for one in self._supports])
        near = heights - heights.min(initial=np.inf) <= NEAR
        supports = tuple(one for one, is_near in zip(self._supports, near, strict=True) if is_near)
        tau, remark = self._efforts(state, supports)
        L = self._linearizer(state, tau, contacts=[one.grounded(at).contact for one in supports])
        forces = contact_forces(at, L.contacts, L.wrenches)
        return Instant(0.0, state, L.A, L.B, forces=forces, supports=supports, remark=remark)

    def _efforts(self, state: State, supports: Sequence[Support]) -> tuple[Array, str]:
        """Return joint efforts, and which they are."""
        if supports:
            try:
                return equilibrium(self.model, state, supports).tau, 'efforts of the equilibrium'
            except InfeasibleError as error:
                return np.zeros(self.model.n), f'without efforts: {error}'
        if self.model.base == 'fixed':
            return bias_force(self.model, state), 'efforts that hold the robot still'
        return np.zeros(self.model.n), 'in free fall, without efforts'


RATE = 100.0  # samples of a bag that can be shown [Hz]


class Bag(Source):
    """The joint states of a bag, paired as by the node and linearized when they are looked at.

    ``watch`` wraps the messages while they are read. Raises `RecordingError` if an input is
    missing, the bag is damaged, or nothing of it can be used.
    """

    def __init__(self, source: 'Recorded', watch: 'Watch' = lambda items, total: items) -> None:
        from geolin_ros.offline.points import chooser, point_stream, recorded_points  # an extra

        source.require_inputs()
        self.model, self.description = source.model, source.description
        self._settings = source.settings
        self._drops: Counter[str] = Counter()
        stream = point_stream(source, lambda drop: self._drops.update([drop.cause.value]))
        is_chosen, points = chooser(rate=RATE), recorded_points(stream, source, watch)
        self._points = [point for point in points if is_chosen(point.stamp)]
        if not self._points:
            raise RecordingError(
                f'{source.recording.name} holds no joint state that can be used: '
                f'{dict(self._drops) or "see geolin inspect"}'
            )
        self._times = 1e-9 * np.array([one.stamp - self._points[0].stamp for one in self._points])
        self.duration = float(self._times[-1])
        """From the first sample to the last [s]."""
        self._linearizer = Linearizer(self.model)
        self._supports = feet_finder(self.model, self.description)
        self._shown = -1
        self._slider: Any = None
        self._play: Any = None
        self._last = time.monotonic()

    def add_controls(self, gui: Any) -> None:
        """Add the time slider, and whether it moves by itself."""
        end = max(self.duration, 1e-3)
        with gui.add_folder('bag'):
            self._slider = gui.add_slider(
                'time [s]', min=0.0, max=end, step=end / 2000.0, initial_value=0.0
            )
            self._play = gui.add_checkbox('play', initial_value=False)

    def newest(self) -> Instant | None:
        """Return the sample at the slider if it is another one; let the time go by if it plays."""
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        if self._play.value:
            later = self._slider.value + elapsed
            self._slider.value = later if later < self.duration else 0.0
        index = int(np.searchsorted(self._times, self._slider.value, side='right')) - 1
        if index == self._shown:
            return None
        self._shown = index
        point, settings = self._points[index], self._settings
        state, contacts = point.state, point.contacts
        at, when = Kinematics(self.model, state), float(self._times[index])
        supports = self._supports(contacts)
        forces = external_forces(at, point.wrenches)
        self._linearizer.contacts = contacts
        try:
            answer = linearize(point, self._linearizer, settings)
        except (SingularInertiaError, NotFiniteError) as error:
            return Instant(when, state, forces=forces, supports=supports, remark=str(error))
        if answer.contact_wrenches is not None:
            forces += contact_forces(at, contacts, answer.contact_wrenches)
        dt = settings.dt if settings.form == 'discrete' else 0.0
        return Instant(when, state, answer.A.copy(), answer.B.copy(), dt, forces, supports)

    def health(self) -> Health | None:
        """Return what was dropped; nobody measures latencies."""
        values = {f'dropped: {cause}': str(count) for cause, count in self._drops.items()}
        samples = {'samples shown': str(len(self._times)), 'duration [s]': f'{self.duration:.3f}'}
        dropped = sum(self._drops.values())
        return Health(self._slider.value, float('nan'), dropped, samples | values)

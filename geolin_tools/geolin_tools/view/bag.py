# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded run with a slider for the time."""

import time
from collections import Counter
from typing import Any

import numpy as np

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import NotFiniteError, RecordingError, SingularInertiaError
from geolin_ros.linearization.linearizer import Linearizer
from geolin_ros.offline import source as recorded
from geolin_ros.offline.points import Watch, chooser, recorded_points
from geolin_ros.stream.linearization_stream import OperatingPoints, linearize
from geolin_ros.stream.outputs.markers import contact_forces, external_forces
from geolin_tools.view.source import Health, Instant, Source, feet_finder

RATE = 100.0  # samples of a bag that can be shown [Hz]


class Bag(Source):
    """The joint states of a bag, paired as by the node and linearized when they are looked at.

    ``watch`` wraps the messages while they are read. Raises `RecordingError` if an input is
    missing, the bag is damaged, or nothing of it can be used.
    """

    def __init__(self, source: recorded.Source, watch: Watch = lambda items, total: items) -> None:
        source.require_inputs()
        self.model, self.description = source.model, source.description
        self._settings = source.settings
        self._drops: Counter[str] = Counter()
        stream = OperatingPoints(self.model, self._settings)
        stream.on_drop = lambda drop: self._drops.update([drop.cause.value])
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

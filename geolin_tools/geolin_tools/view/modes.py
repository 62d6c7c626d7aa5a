# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes of `control.stabilizability.analyze_modes`, animated on the robot."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.control.mode_report import Mode
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.errors import GeolinError
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_tools.modes import displaced
from geolin_tools.view.source import Instant

NONE = 'none'
SHOWN = 0.7
"""Swings a second on the page, whatever the mode's frequency is [Hz]."""
STILL, MOVED = 1e-3, 5e-3
"""Of a posture, from one look to the next and since the last analysis [m, rad]."""


def describe(mode: Mode) -> str:
    """Return name, frequency and time constant of a mode in Markdown."""
    swings = mode.frequency / (2.0 * np.pi)
    lasting = f'{mode.time_constant:.3g} s' if np.isfinite(mode.time_constant) else 'for ever'
    return (
        f'**{mode.words}**\n\n'
        f'{mode.trend} · frequency {swings:.3g} Hz · time constant {lasting} · '
        f'damping {mode.damping:+.2f}'
    )


class ModePanel:
    """A button that analyses the current posture, and a list of its modes.

    The chosen mode swings about the current posture. When that has moved and rests again, it is
    analysed anew, and the mode of the most similar shape stays chosen.

    Parameters
    ----------
    newest
        Returns what is shown now.

    Attributes
    ----------
    phase
        Of the mode that is shown [rad]; None lets it swing.
    """

    def __init__(self, gui: Any, model: TreeModel, newest: Callable[[], Instant]) -> None:
        self._model, self._newest = model, newest
        self._modes: dict[str, Mode] = {}
        self._analysed: State | None = None
        self._last: State | None = None
        self.phase: float | None = None
        button = gui.add_button('analyse the posture of now')
        self._choice = gui.add_dropdown('mode', (NONE,))
        self._amplitude = gui.add_slider(
            'amplitude [rad, m]', min=0.0, max=0.5, step=0.01, initial_value=0.2
        )
        self._text = gui.add_markdown('Modes about the posture at rest, on what it stands on.')
        button.on_click(lambda _: self.analyse())
        self._choice.on_update(lambda _: self._describe())

    def analyse(self) -> None:
        """Find the modes about the posture of now, at rest; say it where there are none."""
        instant, before = self._newest(), self._modes.get(self._choice.value)
        self._analysed = state = instant.state.at_rest()
        try:
            report = analyze_modes(self._model, state, instant.supports)
        except GeolinError as error:
            self._modes, text = {}, str(error)
        else:
            modes = enumerate(report.modes, 1)
            self._modes = {f'{number}: {mode.words}'[:60]: mode for number, mode in modes}
            text = report.text().splitlines()[0]
        self._choice.options = (NONE, *self._modes)
        self._text.content = text
        if before is not None and self._modes:
            alike = {name: _likeness(mode, before) for name, mode in self._modes.items()}
            self._choice.value = max(alike, key=lambda name: alike[name])
            self._describe()

    def follow(self) -> None:
        """Analyse anew if a mode is chosen and the posture is another one, at rest again."""
        instant = self._newest()
        last, self._last = self._last, instant.state
        if last is None or self._analysed is None or self._choice.value not in self._modes:
            return
        rests = _distance(last, instant.state) <= STILL
        if rests and _distance(self._analysed, instant.state) > MOVED:
            self.analyse()

    def _describe(self) -> None:
        mode = self._modes.get(self._choice.value)
        if mode is not None:
            self._text.content = describe(mode)

    def posture(self) -> State | None:
        """Return where the chosen mode has the robot now, None if none is chosen."""
        mode = self._modes.get(self._choice.value)
        if mode is None:
            return None
        phase = 2.0 * np.pi * SHOWN * time.monotonic() if self.phase is None else self.phase
        about = self._newest().state.at_rest()
        return displaced(self._model, about, mode.shape, self._amplitude.value, phase)


def _likeness(mode: Mode, other: Mode) -> float:
    """Return the cosine between the shapes of two modes of one robot."""
    a, b = mode.shape, other.shape
    sizes = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(abs(np.vdot(a, b))) / max(sizes, 1e-300)


def _distance(a: State, b: State) -> float:
    """Return the largest difference of two postures [m, rad]."""
    z = a.difference(b)
    return float(np.abs(z[: z.size // 2]).max())

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
from geolin_tools.view.instant import Instant

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
    """A button that analyses the posture of now, and a list of its modes.

    The chosen mode swings about the posture of now. When that has moved and rests again, it is
    analysed anew, and the mode of the most similar shape stays chosen.

    Parameters
    ----------
    newest
        Returns what is shown now, or None.

    Attributes
    ----------
    phase
        Of the mode that is shown [rad]; None lets it swing.
    """

    def __init__(self, gui: Any, model: TreeModel, newest: Callable[[], Instant | None]) -> None:
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

    @property
    def chosen(self) -> Mode | None:
        """The mode that swings."""
        return self._modes.get(self._choice.value)

    def analyse(self) -> None:
        """Find the modes about the posture of now, at rest; say it where there are none."""
        instant, before = self._newest(), self.chosen
        if instant is None:
            return
        self._analysed = state = instant.state.at_rest()
        try:
            report = analyze_modes(self._model, state, instant.supports)
        except GeolinError as error:
            self._modes = {}
            self._choice.options = (NONE,)
            self._text.content = str(error)
            return
        self._modes = {
            f'{number}: {mode.words}'[:60]: mode for number, mode in enumerate(report.modes, 1)
        }
        self._choice.options = (NONE, *self._modes)
        self._text.content = report.text().splitlines()[0]
        if before is not None and self._modes:
            self._choice.value = max(
                self._modes, key=lambda name: _likeness(self._modes[name], before)
            )
            self._describe()

    def follow(self) -> None:
        """Analyse anew if a mode is chosen and the posture is another one, at rest again."""
        instant = self._newest()
        if instant is None or self._analysed is None:
            return
        last, self._last = self._last, instant.state
        if last is None or self.chosen is None or _distance(last, instant.state) > STILL:
            return
        if _distance(self._analysed, instant.state) > MOVED:
            self.analyse()

    def _describe(self) -> None:
        mode = self.chosen
        if mode is not None:
            self._text.content = describe(mode)

    def posture(self) -> State | None:
        """Return where the chosen mode has the robot now, None if none is chosen."""
        mode, instant = self.chosen, self._newest()
        if mode is None or instant is None:
            return None
        phase = self.phase
        if phase is None:
            phase = 2.0 * np.pi * SHOWN * time.monotonic()
        about = instant.state.at_rest()
        return displaced(self._model, about, mode.shape, self._amplitude.value, phase)


def _likeness(mode: Mode, other: Mode) -> float:
    """Return the cosine between the shapes of two modes."""
    a, b = mode.shape, other.shape
    if a.shape != b.shape:
        return 0.0
    sizes = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(abs(np.vdot(a, b))) / max(sizes, 1e-300)


def _distance(a: State, b: State) -> float:
    """Return the largest difference of two postures [m, rad]."""
    z = a.difference(b)
    return float(np.abs(z[: z.size // 2]).max())

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Panels: A and B as a heat map, eigenvalues of A as they move, modes, latencies and drops."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.control.mode_report import Mode
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.errors import GeolinError
from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.stream.analysis import continuous_rates
from geolin_tools.modes import displaced
from geolin_tools.view.source import Health, Instant

figures = optional('plotly.graph_objects', extra='view')
PAST = 40
"""Sets of eigenvalues that stay visible."""
DOT = 0.008
"""Length of what marks one of those, of half the axis."""
LONGEST = 600
"""Samples of a curve."""
BLUE, RED = '#1d4e79', '#b23a2e'
NONE = 'none'
SHOWN = 0.7
"""Swings a second on the page, whatever the mode's frequency is [Hz]."""
STILL, MOVED = 1e-3, 5e-3
"""Of a posture, from one look to the next and since the last analysis [m, rad]."""


def _add_figure(gui: Any, figure: Any, title: str, **layout: Any) -> Any:
    margin, font = {'l': 40, 'r': 10, 't': 30, 'b': 35}, {'size': 13}
    figure.update_layout(title={'text': title, 'font': font}, margin=margin, **layout)
    return gui.add_plotly(figure, aspect=1.15, config={'displayModeBar': False})


class HeatMap:
    """[A B] as colours, sign(x) log10(1 + |x|); the pointer shows row, column and value."""

    def __init__(self, gui: Any, model: TreeModel) -> None:
        self._model, self._form = model, ''
        hover = '%{y}<br>by %{x}<br><b>%{customdata:.5g}</b><extra></extra>'
        self._figure = figures.Figure(
            figures.Heatmap(colorscale='RdBu', zmid=0.0, showscale=False, hovertemplate=hover)
        )
        self._figure.add_vline(2 * model.m - 0.5, line_width=1, line_color='black')
        self._handle = _add_figure(
            gui,
            self._figure,
            'A | B',
            xaxis={'showticklabels': False, 'title': 'state, then efforts'},
            yaxis={'showticklabels': False, 'autorange': 'reversed', 'title': 'rates'},
        )

    def show(self, instant: Instant) -> None:
        """Show A and B."""
        form = 'discrete' if instant.dt else 'continuous'
        joined = np.hstack((instant.A, instant.B))
        data = self._figure.data[0]
        if form != self._form:
            self._form = form
            labels = (*state_labels(self._model), *input_labels(self._model))
            data.x = [str(label) for label in labels]
            data.y = [str(label) for label in row_labels(self._model, form)]
        data.z = np.sign(joined) * np.log10(1.0 + np.abs(joined))
        data.customdata = joined
        self._handle.figure = self._figure


class Spectrum:
    """The eigenvalues of A in the complex plane, with those of a while ago."""

    def __init__(self, gui: Any) -> None:
        marker = {'size': 7, 'symbol': 'x', 'color': BLUE}
        past = {'width': 3, 'color': 'rgba(154, 165, 177, 0.4)'}
        hover = '%{x:.4g} %{y:+.4g}i [1/s]<extra></extra>'
        self._figure = figures.Figure(
            [
                figures.Scatter(mode='lines', line=past, hoverinfo='skip'),
                figures.Scatter(mode='markers', marker=marker, hovertemplate=hover),
            ]
        )
        self._past: deque[Any] = deque(maxlen=PAST)
        self._handle = _add_figure(
            gui,
            self._figure,
            'eigenvalues of A [1/s]',
            showlegend=False,
            xaxis={'title': 'real: decays | grows', 'zerolinecolor': RED},
            yaxis={'title': 'imaginary'},
        )

    def show(self, instant: Instant) -> None:
        """Show the eigenvalues; of the discrete form log(z) / dt."""
        eigenvalues = np.linalg.eigvals(instant.A).astype(np.complex128)
        values = continuous_rates(eigenvalues, instant.dt)
        values = values[np.isfinite(values)]
        past, now = self._figure.data
        now.x, now.y = values.real, values.imag
        # powers of 2, so that axes seldom change
        wide, high = (
            2.0 ** np.ceil(np.log2(1.05 * np.abs(part).max(initial=1.0)))
            for part in (now.x, now.y)
        )
        if self._past:  # one line with a stroke for each: a browser draws it as one element
            old = np.concatenate(self._past)
            strokes = old[:, np.newaxis] + 0.5 * DOT * wide * np.array([-1.0, 1.0, np.nan])
            past.x, past.y = strokes.real.ravel(), strokes.imag.ravel()
        self._figure.update_layout(xaxis_range=(-wide, wide), yaxis_range=(-high, high))
        self._past.append(values)
        self._handle.figure = self._figure


class HealthPanel:
    """Latency and drops as curves, and a table of the other figures."""

    def __init__(self, gui: Any) -> None:
        self._rows: deque[tuple[float, float, float]] = deque(maxlen=LONGEST)
        self._charts = [
            gui.add_uplot(
                (np.zeros(1), np.zeros(1)),
                ({'label': 'time [s]'}, {'label': name, 'stroke': colour, 'width': 2}),
                scales={'x': {'time': False}},
                title=name,
                aspect=2.2,
            )
            for name, colour in (('latency [ms]', BLUE), ('inputs dropped', RED))
        ]
        self._table = gui.add_markdown('no figures yet')

    def show(self, health: Health) -> None:
        """Add a sample."""
        self._rows.append((health.time, 1e3 * health.latency, float(health.dropped)))
        times, *curves = np.array(self._rows).T
        for chart, curve in zip(self._charts, curves, strict=True):
            if np.isfinite(curve).any():
                chart.data = times - times[-1], curve
        rows = [f'| {name} | {value} |' for name, value in health.values.items()]
        text = '\n'.join(['| | |', '|---|---|', *rows])
        if text != self._table.content:
            self._table.content = text


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
    analysed anew, and the mode of the most similar shape stays chosen. ``newest`` returns what is
    shown now; ``phase`` is that of the mode [rad], None lets it swing.
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

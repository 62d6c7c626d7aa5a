# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The page: a viser server that shows what a source says thirty times a second, with panels."""

import asyncio
import contextlib
import io
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from geolin_ros.control.mode_report import Mode
from geolin_ros.control.stabilizability import analyze_modes
from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.errors import ConfigurationError, GeolinError
from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.model.state import State
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.stream.analysis import continuous_rates
from geolin_tools.modes import displaced
from geolin_tools.view.scene import Scene, drawn
from geolin_tools.view.source import NOTHING, Health, Instant, Source

figures = optional('plotly.graph_objects', extra='view')
viser = optional('viser', extra='view')

PAST = 40  # sets of eigenvalues that stay visible
DOT = 0.008  # length of what marks one of those, of half the axis
LONGEST = 600  # samples of a curve
BLUE, RED = '#1d4e79', '#b23a2e'
NONE = 'none'
SHOWN = 0.7  # swings a second on the page, whatever the mode's frequency is [Hz]
STILL, MOVED = 1e-3, 5e-3
"""Of a posture, from one look to the next and since the last analysis [m, rad]."""


def _add_figure(gui: Any, figure: Any, title: str, **layout: Any) -> Any:
    margin, font = {'l': 40, 'r': 10, 't': 30, 'b': 35}, {'size': 13}
    figure.update_layout(title={'text': title, 'font': font}, margin=margin, **layout)
    return gui.add_plotly(figure, aspect=1.15, config={'displayModeBar': False})


class HeatMap:
    """[A B] as colours, sign(x) log10(1 + |x|); the pointer shows row, column and value."""

    def __init__(self, gui: Any, model: TreeModel) -> None:
        self._model, self._form, self._shown = model, '', NOTHING
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
        """Show A and B if they are new."""
        if not instant.A.size or instant.A is self._shown:
            return
        self._shown = instant.A
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
        self._shown = NOTHING
        self._handle = _add_figure(
            gui,
            self._figure,
            'eigenvalues of A [1/s]',
            showlegend=False,
            xaxis={'title': 'real: decays | grows', 'zerolinecolor': RED},
            yaxis={'title': 'imaginary'},
        )

    def show(self, instant: Instant) -> None:
        """Show the eigenvalues of a new A; of the discrete form log(z) / dt."""
        if not instant.A.size or instant.A is self._shown:
            return
        self._shown = instant.A
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

    def show(self, health: Health | None) -> None:
        """Add a sample."""
        if health is None:
            return
        self._rows.append((health.time, 1e3 * health.latency, float(health.dropped)))
        times, *curves = np.array(self._rows).T
        for chart, curve in zip(self._charts, curves, strict=True):
            if np.isfinite(curve).any():
                chart.data = times - times[-1], curve
        rows = [f'| {name} | {value} |' for name, value in health.values.items()]
        text = '\n'.join(['| | |', '|---|---|', *rows])
        if text != self._table.content:
            self._table.content = text


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
            shapes = np.array([mode.shape for mode in self._modes.values()])
            alike = np.abs(shapes.conj() @ before.shape) / np.linalg.norm(shapes, axis=1)
            self._choice.value = [*self._modes][int(alike.argmax())]
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
            self._text.content = mode.text()

    def posture(self) -> State | None:
        """Return where the chosen mode has the robot now, None if none is chosen."""
        mode = self._modes.get(self._choice.value)
        if mode is None:
            return None
        phase = 2.0 * np.pi * SHOWN * time.monotonic() if self.phase is None else self.phase
        about = self._newest().state.at_rest()
        return displaced(self._model, about, mode.shape, self._amplitude.value, phase)


def _distance(a: State, b: State) -> float:
    """Return the largest difference of two postures [m, rad]."""
    z = a.difference(b)
    return float(np.abs(z[: z.size // 2]).max())


RATE = 30.0  # frames a second
PERIODS = {'spectrum': 0.25, 'matrices': 1.0, 'health': 0.5, 'modes': 0.5}
"""Least time from one look of a panel to the next [s]."""
FRICTION = 0.8


class Page:
    """Serves the page of one source until it is closed; port 0 is any.

    ``say`` is called with what is drawn otherwise than described. Raises `ConfigurationError` if
    the extra is not installed, or the port is taken.
    """

    def __init__(
        self,
        source: Source,
        host: str = '127.0.0.1',
        port: int = 8080,
        say: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self._source, self._say = source, say
        with _quiet():
            self._server = server = viser.ViserServer(host=host, port=port, verbose=False)
        found = server.get_port()
        self.url = f'http://{server.get_host()}:{found}'
        """Where a browser finds the page."""
        if port and found != port:
            with _quiet():
                server.stop()
            raise ConfigurationError(
                f'port {port} of {host} is taken, expected a free one; give --port {found}'
            )
        server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=False)
        self._fill()

    def _fill(self) -> None:
        """Add scene and panels; the first instant says where the ground is."""
        source, gui, model = self._source, self._server.gui, self._source.model
        figure = drawn(model, source.description)
        for note in figure.notes:
            self._say(note)
        gui.set_panel_label(model.name)
        self._model, self._due = model, dict.fromkeys(PERIODS, 0.0)
        self._remark = gui.add_markdown('')
        source.add_controls(gui)
        self._instant = first = source.newest() or Instant(0.0, model.neutral_state())
        at = Kinematics(model, first.state)
        places = at.H[:, :3, 3]
        on_ground = [one.world_points(at) for one in first.supports] or [places]
        ground = float(np.concatenate(on_ground)[:, 2].min())
        self._scene = Scene(self._server, model, figure, ground, FRICTION)
        # from ahead of the robot, from its left and from above
        middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
        size = max(float(np.linalg.norm(np.ptp(places, axis=0))), 0.5)
        self._server.initial_camera.look_at = tuple(middle)
        self._server.initial_camera.position = tuple(middle + size * np.array([1.1, 1.2, 0.6]))
        tabs = gui.add_tab_group()
        with tabs.add_tab('spectrum'):
            spectrum = Spectrum(gui)
        with tabs.add_tab('A, B'):
            matrices = HeatMap(gui, model)
        with tabs.add_tab('modes'):
            self._modes = ModePanel(gui, model, lambda: self._instant)
        with tabs.add_tab('node'):
            health = HealthPanel(gui)
        with tabs.add_tab('scene'):
            self._friction = gui.add_slider(
                'friction', min=0.05, max=1.5, step=0.05, initial_value=FRICTION
            )
        self._looks: dict[str, Callable[[], object]] = {
            'spectrum': lambda: spectrum.show(self._instant),
            'matrices': lambda: matrices.show(self._instant),
            'health': lambda: health.show(source.health()),
            'modes': self._modes.follow,
        }
        self._take(first)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Show what the source says until it is over."""
        loop = self._server.get_event_loop()
        due = time.monotonic()
        while not is_over():
            asyncio.run_coroutine_threadsafe(self._frame(), loop).result()
            due = max(due + 1.0 / RATE, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    async def _frame(self) -> None:
        """Draw in the thread that sends: viser's queues bear no other while a client waits."""
        self.step()

    def step(self) -> None:
        """Draw one frame, and the panel that is due longest."""
        newest = self._source.newest()
        if self._source.model is not self._model:  # nothing of the one before stays
            self._server.gui.reset()
            self._server.scene.reset()
            self._fill()
        with self._server.atomic():
            if newest is not None or self._friction.value != self._scene.friction:
                self._scene.friction = self._friction.value
                self._take(newest or self._instant)
            posture = self._modes.posture()
            if posture is not None:
                self._scene.pose(posture)
        self._show_panels()

    def _take(self, newest: Instant) -> None:
        self._instant = newest
        self._scene.show(newest)
        if newest.remark != self._remark.content:
            self._remark.content = newest.remark

    def _show_panels(self) -> None:
        """Show the first panel whose time has come: one a frame, so that none is late."""
        now = time.monotonic()
        due = [name for name in PERIODS if now >= self._due[name]]
        for name in due[:1]:
            self._due[name] = now + PERIODS[name]
            self._looks[name]()

    def close(self) -> None:
        """End server and source."""
        with _quiet():
            self._server.stop()
        self._source.close()


def _quiet() -> contextlib.AbstractContextManager[Any]:
    """Keep viser's own words off standard output."""
    return contextlib.redirect_stdout(io.StringIO())

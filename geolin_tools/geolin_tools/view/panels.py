# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Panels: A and B as a heat map, the eigenvalues of A as they move, latencies and drops."""

from collections import deque
from typing import Any

import numpy as np

from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.stream.analysis import continuous_rates
from geolin_tools.view.source import Health, Instant

figures = optional('plotly.graph_objects', extra='view')
PAST = 40
"""Sets of eigenvalues that stay visible."""
DOT = 0.008
"""Length of what marks one of those, of half the axis."""
LONGEST = 600
"""Samples of a curve."""
BLUE, RED = '#1d4e79', '#b23a2e'


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
        time, *curves = np.array(self._rows).T
        for chart, curve in zip(self._charts, curves, strict=True):
            if np.isfinite(curve).any():
                chart.data = time - time[-1], curve
        rows = [f'| {name} | {value} |' for name, value in health.values.items()]
        text = '\n'.join(['| | |', '|---|---|', *rows])
        if text != self._table.content:
            self._table.content = text

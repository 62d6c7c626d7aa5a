# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A and B as a heat map with labels under the pointer, and the eigenvalues of A as they move."""

from collections import deque
from typing import Any

import numpy as np

from geolin_ros.model.labels import input_labels, row_labels, state_labels
from geolin_ros.model.tree import TreeModel
from geolin_ros.optional import optional
from geolin_ros.typing import Array
from geolin_tools.modes import rates
from geolin_tools.view.instant import Instant

figures = optional('plotly.graph_objects', extra='view')
PAST = 40
"""Sets of eigenvalues that stay visible."""
DOT = 0.008
"""Length of what marks one of those, of half the axis."""
PLAIN = {'displayModeBar': False}
MARGIN = {'l': 40, 'r': 10, 't': 30, 'b': 35}


class HeatMap:
    """[A B] as colours, sign(x) log10(1 + |x|); the pointer shows row, column and value."""

    def __init__(self, gui: Any, model: TreeModel) -> None:
        self._model, self._form = model, ''
        self._figure = figures.Figure(
            figures.Heatmap(
                colorscale='RdBu',
                zmid=0.0,
                showscale=False,
                hovertemplate='%{y}<br>by %{x}<br><b>%{customdata:.5g}</b><extra></extra>',
            )
        )
        self._figure.update_layout(
            title={'text': 'A | B', 'font': {'size': 13}},
            margin=MARGIN,
            xaxis={'showticklabels': False, 'title': 'state, then efforts'},
            yaxis={'showticklabels': False, 'autorange': 'reversed', 'title': 'rates'},
        )
        self._figure.add_vline(2 * model.m - 0.5, line_width=1, line_color='black')
        self._handle = gui.add_plotly(self._figure, aspect=1.15, config=PLAIN)

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
        marker = {'size': 7, 'symbol': 'x', 'color': '#1d4e79'}
        past = {'width': 3, 'color': 'rgba(154, 165, 177, 0.4)'}
        hover = '%{x:.4g} %{y:+.4g}i [1/s]<extra></extra>'
        self._figure = figures.Figure(
            [
                figures.Scatter(mode='lines', line=past, hoverinfo='skip'),
                figures.Scatter(mode='markers', marker=marker, hovertemplate=hover),
            ]
        )
        self._figure.update_layout(
            title={'text': 'eigenvalues of A [1/s]', 'font': {'size': 13}},
            margin=MARGIN,
            showlegend=False,
            xaxis={'title': 'real: decays | grows', 'zerolinecolor': '#b23a2e'},
            yaxis={'title': 'imaginary'},
        )
        self._past: deque[Array] = deque(maxlen=PAST)
        self._handle = gui.add_plotly(self._figure, aspect=1.15, config=PLAIN)

    def show(self, instant: Instant) -> None:
        """Show the eigenvalues; of the discrete form log(z) / dt."""
        form = 'discrete' if instant.dt else 'continuous'
        values = rates(np.linalg.eigvals(instant.A), {'form': form, 'dt': instant.dt})
        values = values[np.isfinite(values)]
        past, now = self._figure.data
        now.x, now.y = values.real, values.imag
        wide, high = (_round_up(np.abs(part).max(initial=1.0)) for part in (now.x, now.y))
        if self._past:
            past.x, past.y = _dots(np.concatenate(self._past), DOT * wide)
        self._figure.update_layout(xaxis_range=(-wide, wide), yaxis_range=(-high, high))
        self._past.append(values)
        self._handle.figure = self._figure


def _dots(values: Array, length: float) -> tuple[Array, Array]:
    """Return x and y of a line with a stroke for each value: a browser draws it as one element."""
    gap = np.full(len(values), np.nan)
    x = np.stack((values.real - 0.5 * length, values.real + 0.5 * length, gap), axis=1)
    y = np.stack((values.imag, values.imag, gap), axis=1)
    return x.ravel(), y.ravel()


def _round_up(largest: float) -> float:
    """Return a power of 2 above a value, so that axes seldom change."""
    return float(2.0 ** np.ceil(np.log2(1.05 * largest)))

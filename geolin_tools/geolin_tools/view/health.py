# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Latencies and drops of the node, as curves and as the table of its diagnostics."""

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

LONGEST = 600
"""Samples of a curve."""


class Health(NamedTuple):
    """What a source says of itself."""

    time: float
    """[s]"""
    latency: float
    """Of the newest linearization [s]; NaN if nobody measures it."""
    dropped: int
    """Joint states that were not linearized."""
    values: Mapping[str, str]
    """Other figures by name."""


class HealthPanel:
    """Two curves and a table."""

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._rows: deque[tuple[float, float, float]] = deque(maxlen=LONGEST)
        self._charts = [
            self._chart('latency [ms]', '#1d4e79'),
            self._chart('inputs dropped', '#b23a2e'),
        ]
        self._table = gui.add_markdown('no figures yet')
        self._text = ''

    def _chart(self, name: str, colour: str) -> Any:
        nothing = np.zeros(1)
        return self._gui.add_uplot(
            (nothing, nothing),
            ({'label': 'time [s]'}, {'label': name, 'stroke': colour, 'width': 2}),
            scales={'x': {'time': False}},
            title=name,
            aspect=2.2,
        )

    def show(self, health: Health) -> None:
        """Add a sample."""
        latency = 1e3 * health.latency
        self._rows.append((health.time, latency, float(health.dropped)))
        time, *curves = np.array(self._rows).T
        for chart, curve in zip(self._charts, curves, strict=True):
            if np.isfinite(curve).any():
                chart.data = time - time[-1], curve
        text = '\n'.join(
            [
                '| | |',
                '|---|---|',
                *(f'| {name} | {value} |' for name, value in health.values.items()),
            ]
        )
        if text != self._text:
            self._text = self._table.content = text

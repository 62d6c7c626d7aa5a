# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One picture of all cases: how far the base was off, and a filmstrip of the robot."""

from pathlib import Path
from typing import Any

import numpy as np

from geolin_demos.balance.report import Row
from geolin_ros.typing import Array

GREY, LQR, PD, BACKGROUND = '#9aa5b1', '#1d4e79', '#b23a2e', '#eceff2'
DEPTH = np.array([[0.9, -0.45, 0.0], [0.2, 0.25, 1.0]])
"""Oblique view: seen from the right, a little from ahead and above."""


def draw(rows: list[Row], output: Path) -> None:
    """Save the picture; the suffix of ``output`` chooses the format.

    Raises `OSError` if the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16.0, 0.6 + 2.3 * len(rows)), layout='constrained', facecolor='white')
    grid = figure.add_gridspec(len(rows), 2, width_ratios=(1.0, 2.2))
    for index, row in enumerate(rows):
        axes = figure.add_subplot(grid[index, 0])
        _draw_errors(axes, row)
        _draw_film(figure.add_subplot(grid[index, 1]), row)
    axes.set_xlabel('time [s]')
    lines, names = axes.get_legend_handles_labels()
    figure.legend(lines, names, frameon=False, loc='outside upper left', ncols=len(names))
    figure.savefig(output, dpi=110)


def _draw_errors(axes: Any, row: Row) -> None:
    for start in row.pushes:
        axes.axvspan(start, start + 0.1, color=BACKGROUND, zorder=0)
    axes.plot(row.pd_times, 1e3 * row.pd_errors, color=PD, linewidth=0.9, label='PD')
    axes.plot(row.times, 1e3 * row.errors, color=LQR, linewidth=1.2, label='LQR over DDS')
    pd = row.pd_errors.max() if row.pd_stands else np.quantile(row.pd_errors, 0.5)
    axes.set_ylim(0.0, max(1.0, 1.1e3 * max(row.errors.max(), pd)))
    axes.set_title(f'{row.robot}: {row.case}, J {row.lqr["impulse"]:g} s', loc='left')
    axes.set_ylabel('base off by [mm]')
    axes.spines[:].set_color(GREY)


def _draw_film(axes: Any, row: Row) -> None:
    """Draw the figures side by side, each about its own place on the floor."""
    from matplotlib.collections import LineCollection

    width = 0.0
    for figure in row.figures:
        flat: Array = (figure - _place(row.figures[0])) @ DEPTH.T
        left = float(flat[..., 0].min())
        shift = np.array([width - left, 0.0])
        axes.add_collection(LineCollection(list(flat + shift), colors=LQR, linewidths=1.8))
        width += float(np.ptp(flat[..., 0])) + 0.08
    axes.axhline(0.0, color=GREY, linewidth=1.0)
    axes.set_xlim(-0.05, width)
    axes.set_ylim(-0.15, max(float(figure[..., 2].max()) for figure in row.figures) + 0.15)
    axes.set_aspect('equal')
    axes.axis('off')


def _place(figure: Array) -> Array:
    centre = figure.reshape(-1, 3).mean(axis=0)
    return np.array([centre[0], centre[1], 0.0])

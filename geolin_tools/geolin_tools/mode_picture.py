# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stabilizability report as a picture: where the poles are, and which are out of reach."""

from pathlib import Path

import numpy as np

from geolin_ros.control.mode_report import ModeReport
from geolin_ros.optional import optional

figures = optional('matplotlib.figure', extra='plot')

_COLOURS = {'grows': '#c44e52', 'decays': '#4c72b0', 'neither grows nor decays': '#8c8c8c'}
_LINES = 40


def save_picture(report: ModeReport, path: str | Path) -> None:
    """Draw the poles in the complex plane and their time constants into a file.

    Its suffix says which format, such as ``.png`` or ``.svg``.
    """
    figure = figures.Figure(figsize=(11.0, 5.5), layout='constrained')
    plane, times = figure.subplots(1, 2)
    figure.suptitle(report.text().splitlines()[0], fontsize=9)
    for trend, colour in _COLOURS.items():
        values = np.array([mode.eigenvalue for mode in report.modes if mode.trend == trend])
        values = np.concatenate((values, values.conj()))
        plane.plot(values.real, values.imag, 'x', color=colour, label=trend)
    hidden, ring = report.uncontrollable_eigenvalues, {'mfc': 'none', 'ms': 11, 'color': '#222222'}
    plane.plot(hidden.real, hidden.imag, 'o', label='out of reach', **ring)
    plane.axvline(0.0, color='0.8', lw=0.8, zorder=0)
    plane.set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]', title='poles')
    plane.set_xscale('symlog', linthresh=1.0)
    plane.set_yscale('symlog', linthresh=1.0)
    poles = np.array([*(mode.eigenvalue for mode in report.modes), *hidden, 0.0])
    height = 2.0 * max(1.0, np.abs(poles.imag).max())
    plane.set_ylim(-height, height)
    plane.set_xlim(2.0 * min(-1.0, poles.real.min()), 2.0 * max(1.0, poles.real.max()))
    figure.legend(loc='outside lower center', ncols=4, fontsize=8)
    if report.uncontrollable:
        text = '\n'.join(('out of reach:', *report.uncontrollable[:_LINES]))
        plane.text(0.02, 0.02, text, transform=plane.transAxes, fontsize=6, va='bottom')
    # a bar a mode, the longest time constants first; endless ones as wide as the axes
    drawn = report.modes[:_LINES]
    lasting = [mode.time_constant for mode in drawn if mode.eigenvalue.real]
    endless = 3.0 * max(lasting, default=1.0)
    for row, mode in enumerate(drawn):
        width, hatch = min(mode.time_constant, endless), '' if mode.eigenvalue.real else '//'
        times.barh(row, width, color=_COLOURS[mode.trend], hatch=hatch, edgecolor='white')
    times.set_yticks(range(len(drawn)), [mode.words for mode in drawn], fontsize=5)
    times.invert_yaxis()
    some = '' if len(drawn) == len(report.modes) else f', {len(drawn)} of {len(report.modes)}'
    times.set(xlabel='time constant [s]; hatched: for ever', title=f'what moves most{some}')
    if drawn:
        times.set_xscale('log')
        times.set_xlim(0.5 * min(lasting, default=1.0), endless)
    figure.savefig(path, dpi=120)

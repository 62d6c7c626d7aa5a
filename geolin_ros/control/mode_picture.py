# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A stabilizability report as a picture: where the poles are, and which are out of reach."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from geolin_ros.control.stabilizability import ModeReport

_GROWS, _DECAYS, _HIDDEN = '#c44e52', '#4c72b0', '#222222'
_LINES = 40


def save_picture(report: ModeReport, path: str | Path) -> None:
    """Draw the poles in the complex plane and their time constants, and save that.

    Parameters
    ----------
    report
        What to draw.
    path
        Where; its suffix says which format, such as ``.png`` or ``.svg``.
    """
    figure = Figure(figsize=(11.0, 5.5), layout='constrained')
    plane, times = figure.subplots(1, 2)
    figure.suptitle(report.text().splitlines()[0], fontsize=9)
    values = np.array([mode.eigenvalue for mode in report.modes])
    values = np.concatenate((values, values[values.imag > 0.0].conj()))
    for picked, colour, label in (
        (values.real > 0.0, _GROWS, 'grows'),
        (values.real <= 0.0, _DECAYS, 'does not'),
    ):
        plane.plot(values[picked].real, values[picked].imag, 'x', color=colour, label=label)
    hidden = report.uncontrollable_eigenvalues
    plane.plot(
        hidden.real, hidden.imag, 'o', mfc='none', ms=11, color=_HIDDEN, label='out of reach'
    )
    plane.axvline(0.0, color='0.8', lw=0.8, zorder=0)
    plane.set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]', title='poles')
    plane.set_xscale('symlog', linthresh=1.0)
    plane.set_yscale('symlog', linthresh=1.0)
    plane.legend(fontsize=8)
    moving = [mode for mode in report.modes if mode.eigenvalue.real][:_LINES]
    times.barh(
        range(len(moving)),
        [mode.time_constant for mode in moving],
        color=[_GROWS if mode.eigenvalue.real > 0.0 else _DECAYS for mode in moving],
    )
    times.set_yticks(range(len(moving)), [mode.words for mode in moving], fontsize=5)
    times.invert_yaxis()
    times.set(xlabel='time constant [s]', title='what moves most')
    if moving:
        times.set_xscale('log')
    out_of_reach = '\n'.join(report.uncontrollable[:_LINES])
    if out_of_reach:
        plane.text(
            0.02,
            0.02,
            f'out of reach:\n{out_of_reach}',
            transform=plane.transAxes,
            fontsize=6,
            va='bottom',
        )
    figure.savefig(path, dpi=120)

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One picture of a linearization: values of A and B, eigenvalues of A."""

from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.stream.outputs.reading import ReceivedLinearization

GREY, ZERO, EIGENVALUE = '#7b8794', '#eceff2', '#b23a2e'
DECADES = 6  # of the colours, below the largest entry


def draw(received: ReceivedLinearization, output: Path) -> None:
    """Save the picture; the suffix of ``output`` chooses the format.

    Raises `OSError` if the file cannot be written.
    """
    from matplotlib.colors import SymLogNorm
    from matplotlib.figure import Figure

    A, B, m = received.A, received.B, len(received.nu_dot)
    k, n = B.shape
    base = m - len(received.tau)
    figure = Figure(figsize=(16.0, 6.0), layout='constrained', facecolor='white')
    title = f'{received.model_name}: {n} joints, {k} states, {n} inputs'
    figure.suptitle(title, fontsize=15, fontweight='bold')
    left, middle, right = figure.subplots(1, 3, width_ratios=(k, n + 0.1 * k, k))
    top = 10.0 ** np.ceil(np.log10(max(np.abs(A).max(), np.abs(B).max(), 1e-9)))
    norm = SymLogNorm(top * 10.0**-DECADES, vmin=-top, vmax=top, linscale=0.5)
    names, starts = ('Hsvr', [0, base, m, m + base]) if base else ('sr', [0, m])
    edges = np.array([*starts, k]) - 0.5
    middles = 0.5 * (edges[1:] + edges[:-1])
    for axes, name, matrix in ((left, 'A', A), (middle, 'B', B)):
        image = axes.imshow(np.ma.masked_equal(matrix, 0.0), norm=norm, cmap='RdBu_r')
        share = np.count_nonzero(matrix) / matrix.size
        axes.set_title(f'{name}, {share:.0%} not zero', loc='left')
        axes.set_facecolor(ZERO)  # where entries are zero
        axes.set_yticks(middles, [f'{letter}\u0307' for letter in names], fontsize=13)
        axes.tick_params(length=0)
        for edge in edges[1:-1]:
            axes.axhline(edge, color=GREY, linewidth=0.8)
    left.set_xticks(middles, list(names), fontsize=13)
    middle.set_xticks([0.5 * n - 0.5], ['τ'], fontsize=13)
    for edge in edges[1:-1]:
        left.axvline(edge, color=GREY, linewidth=0.8)
    figure.colorbar(image, ax=middle, shrink=0.82, label='entries in SI units')
    _draw_eigenvalues(right, np.linalg.eigvals(A))
    figure.savefig(output, dpi=120)


def _draw_eigenvalues(axes: Any, eigenvalues: Any) -> None:
    """Draw the complex plane, linear within 1/s and logarithmic beyond."""
    reach = 1.6 * max(2.0, np.abs(eigenvalues).max())
    axes.axvspan(0.0, reach, color='#fbeeec', zorder=0)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.plot(eigenvalues.real, eigenvalues.imag, 'o', color=EIGENVALUE, fillstyle='none')
    axes.set_xscale('symlog', linthresh=1.0)
    axes.set_yscale('symlog', linthresh=1.0)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), box_aspect=1.0)
    axes.set(xlabel='real part [1/s]', ylabel='imaginary part [1/s]')
    axes.set_title('Eigenvalues of A: decaying to the left, growing to the right', loc='left')

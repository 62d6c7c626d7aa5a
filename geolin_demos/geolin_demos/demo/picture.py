# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One picture of a linearization: values and sparsity of A and B, eigenvalues of A."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolin_ros.stream.outputs.reading import ReceivedLinearization
from geolin_ros.typing import Array, IntArray

INK, GREY, ZERO, FILLED, EIGENVALUE = '#1f2933', '#7b8794', '#eceff2', '#1d4e79', '#b23a2e'
STYLE: Any = {
    **dict.fromkeys(('text.color', 'axes.labelcolor', 'xtick.color', 'ytick.color'), INK),
    'axes.edgecolor': GREY,
    'axes.titlelocation': 'left',
}
DECADES = 6  # of the colours, below the largest entry


def draw(received: ReceivedLinearization, output: Path) -> None:
    """Save the picture; the suffix of ``output`` chooses the format.

    Raises `OSError` if the file cannot be written.
    """
    from matplotlib import rc_context

    with rc_context(STYLE):
        _draw(received).savefig(output, dpi=120)


def _draw(received: ReceivedLinearization) -> Any:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    A, B = received.A, received.B
    k, n = B.shape
    figure = Figure(figsize=(15.0, 10.2), layout='constrained', facecolor='white')
    names, edges = _blocks(received)
    tilt = np.degrees(np.arccos(np.clip(received.state.H[2, 2], -1.0, 1.0)))
    way = f' in flight, base tilted by {tilt:.0f}°' if 'H' in names else ''
    figure.suptitle(
        f'{received.model_name}{way}: {n} joints, {k} states, {n} inputs',
        fontsize=15,
        fontweight='bold',
    )
    grid = figure.add_gridspec(2, 3, width_ratios=(k, n + 0.1 * k, 1.05 * k))
    axes = [[figure.add_subplot(grid[row, column]) for column in range(3)] for row in range(2)]
    colours = _colours(max(np.abs(A).max(), np.abs(B).max(), 1e-9))
    for column, (name, matrix) in enumerate((('A', A), ('B', B))):
        shown = np.ma.masked_equal(matrix, 0.0)
        axes[0][column].imshow(shown, **colours, interpolation='nearest')
        axes[0][column].set_title(f'{name}, values')
        filled = np.ma.masked_equal(matrix != 0.0, False)
        axes[1][column].imshow(filled, cmap=ListedColormap([FILLED]), interpolation='nearest')
        axes[1][column].set_title(f'{name}, {filled.count() / matrix.size:.0%} not zero')
        for row in range(2):
            _frame_blocks(axes[row][column], names, edges, n if name == 'B' else 0)
    bar = figure.colorbar(
        ScalarMappable(colours['norm'], colours['cmap']), ax=axes[0][1], shrink=0.82, pad=0.06
    )
    bar.set_label('entries in SI units')
    bar.outline.set_visible(False)
    bar.ax.minorticks_off()
    _draw_eigenvalues(axes[0][2], np.linalg.eigvals(A))
    _draw_block_sizes(axes[1][2], names, edges, np.hstack((A, B)), colours)
    return figure


def _colours(largest: float) -> dict[str, Any]:
    """Return a symmetric logarithmic colour scale, white in the middle."""
    from matplotlib.colors import SymLogNorm

    top = 10.0 ** np.ceil(np.log10(largest))
    norm = SymLogNorm(top * 10.0**-DECADES, vmin=-top, vmax=top, linscale=0.5)
    return {'norm': norm, 'cmap': 'RdBu_r'}


def _blocks(received: ReceivedLinearization) -> tuple[str, IntArray]:
    """Return the letters of H, s, v, r that there are, and where each begins, and the end."""
    k, m = len(received.A), len(received.nu_dot)
    base = m - len(received.tau)
    starts = {'H': 0, 's': base, 'v': m, 'r': m + base}
    names = 'Hsvr' if base else 'sr'
    return names, np.array([*(starts[name] for name in names), k])


def _frame_blocks(axes: Any, names: str, edges: IntArray, inputs: int) -> None:
    """Draw lines between the blocks and name them; zeros keep the axes' background."""
    axes.set_facecolor(ZERO)
    middles = 0.5 * (edges[1:] + edges[:-1]) - 0.5
    axes.set_yticks(middles, _rates(names), fontsize=13)
    axes.hlines(edges[1:-1] - 0.5, -0.5, axes.get_xlim()[1], color=GREY, linewidth=0.8)
    if inputs:
        axes.set_xticks([0.5 * inputs - 0.5], ['τ'], fontsize=13)
    else:
        axes.set_xticks(middles, list(names), fontsize=13)
        axes.vlines(edges[1:-1] - 0.5, -0.5, edges[-1] - 0.5, color=GREY, linewidth=0.8)
    axes.tick_params(length=0)


def _draw_eigenvalues(axes: Any, eigenvalues: NDArray[Any]) -> None:
    """Draw the complex plane, linear within 1/s and logarithmic beyond."""
    reach = 1.6 * max(2.0, np.abs(eigenvalues).max())
    axes.axvspan(0.0, reach, color='#fbeeec', zorder=0)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.scatter(
        eigenvalues.real,
        eigenvalues.imag,
        s=46,
        facecolors='none',
        edgecolors=EIGENVALUE,
        linewidths=1.4,
        zorder=3,
    )
    axes.set_xscale('symlog', linthresh=1.0)
    axes.set_yscale('symlog', linthresh=1.0)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.set_box_aspect(1.0)
    axes.set(title='Eigenvalues of A', xlabel='real part [1/s]', ylabel='imaginary part [1/s]')
    axes.text(0.97, 0.03, 'growing', transform=axes.transAxes, ha='right', color=EIGENVALUE)
    axes.text(0.03, 0.03, 'decaying', transform=axes.transAxes, color=GREY)


def _rates(names: str) -> list[str]:
    return [f'{name}\u0307' for name in names]


def _number(value: float) -> str:
    return f'{value:.0f}' if value >= 100.0 or value == 0.0 else f'{value:.3g}'


def _draw_block_sizes(
    axes: Any, names: str, edges: IntArray, A_B: Array, colours: dict[str, Any]
) -> None:
    """Draw a table of the largest absolute entry of each block."""
    by_rows = np.maximum.reduceat(np.abs(A_B), edges[:-1], axis=0)
    largest = np.maximum.reduceat(by_rows, edges, axis=1)
    count = len(names)
    axes.imshow(np.ma.masked_equal(largest, 0.0), **colours)
    axes.set_facecolor(ZERO)
    for (row, column), value in np.ndenumerate(largest):
        dark = value > 0.0 and colours['norm'](value) > 0.85
        axes.text(
            column,
            row,
            _number(value),
            ha='center',
            va='center',
            color='white' if dark else INK if value > 0.0 else GREY,
            fontsize=12,
        )
    axes.set_xticks(range(count + 1), [*names, 'τ'], fontsize=13)
    axes.set_yticks(range(count), _rates(names), fontsize=13)
    axes.hlines(np.arange(0.5, count - 1.0), -0.5, count + 0.5, color='white', linewidth=2.0)
    axes.vlines(np.arange(0.5, count), -0.5, count - 0.5, color='white', linewidth=2.0)
    axes.set_title('Largest entry of each block [SI]')
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Every ratio of the results as a dot, a line a quantity, with its limit."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from benchmarks.report import Row
from benchmarks.tables import ROOT

PICTURE = ROOT / 'docs' / 'speed.svg'
WIDTH, HEIGHT, MARGIN = 8.0, 0.42, 1.0  # inches: all, a line, all lines together


def draw(rows: Sequence[Row], path: Path = PICTURE) -> None:
    """Draw the ratios; what a line is about stands above its dots, so that no label is cut."""
    mpl.use('agg')
    mpl.rcParams['svg.hashsalt'], mpl.rcParams['svg.fonttype'] = 'geolin_ros', 'none'
    from matplotlib import pyplot as plt

    groups: dict[tuple[str, str, float | None], list[float]] = {}
    for row in rows:
        groups.setdefault((row.what, row.peer, row.limit), []).append(row.ratio)
    size = WIDTH, HEIGHT * len(groups) + MARGIN
    figure, axes = plt.subplots(figsize=size, layout='constrained')
    beside = axes.get_yaxis_transform()  # x in widths of the axes, y in lines
    for height, ((what, peer, limit), ratios) in enumerate(groups.items()):
        axes.axhspan(height - 0.5, height + 0.5, color='0.95' if height % 2 else '1.0')
        axes.plot(ratios, [height + 0.2] * len(ratios), 'o', color='C0', alpha=0.6)
        if limit is not None:
            axes.plot([limit, limit], [height - 0.05, height + 0.45], color='C3')
        axes.text(0.01, height - 0.25, what, transform=beside, size=9, va='center')
        axes.text(
            0.99,
            height - 0.25,
            peer,
            transform=beside,
            size=8,
            va='center',
            ha='right',
            color='0.4',
        )
    axes.axvline(1.0, color='0.5', linewidth=0.8, zorder=0.5)
    axes.set_xscale('log')
    axes.set_ylim(len(groups) - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_xlabel('time of ours / time of the peer, named on the right (red: limit)')
    figure.savefig(path, metadata={'Date': None} if path.suffix == '.svg' else {})
    plt.close(figure)

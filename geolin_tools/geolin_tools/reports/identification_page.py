# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""One page about what was identified of a robot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geolin_ros.typing import Array
from geolin_tools.identification import Identification
from geolin_tools.reports.web_page import rounded, write_page

POINTS = 1500
"""Most points of a curve."""


def write_identification(
    found: Identification, recordings: Sequence[str], output: str | Path
) -> None:
    """Write the page about what recordings, by their names, determined.

    Raises `OSError` if it cannot be written; one that was there before stays.
    """
    title = f'{found.model.name}: identified from {", ".join(recordings)}'
    write_page(output, 'identify', title, _content(found, recordings))


def _content(found: Identification, recordings: Sequence[str]) -> dict[str, Any]:
    aside, every = found.aside, max(1, len(found.aside.measured) // POINTS)
    curves = np.stack((aside.measured, aside.described, found.predicted))
    numbers = zip(found.rows, found.effort, found.before, found.after, strict=True)
    return {
        'robot': found.model.name,
        'recordings': list(recordings),
        'samples': len(found.trained.measured),
        'cutoff': rounded(found.cutoff),
        'delay': rounded(found.delay),
        'rank': found.rank,
        'time': rounded(_parted(_time(found), found, every), 5),
        'rows': [
            {
                'name': name,
                'effort': rounded(effort, 4),
                'before': rounded(before, 4),
                'after': rounded(after, 4),
                'values': None
                if np.isnan(after)
                else [rounded(_parted(curve[:, k], found, every), 4) for curve in curves],
            }
            for k, (name, effort, before, after) in enumerate(numbers)
        ],
        'changes': [
            change._asdict()
            | {key: rounded(getattr(change, key), 5) for key in ('before', 'after', 'deviation')}
            | {'moved': rounded(change.moved, 4), 'determined': rounded(change.determined, 4)}
            for change in found.changes()
        ],
        'combinations': [
            {
                'left': rounded(combination.left, 4),
                'shares': [[name, rounded(part, 3)] for name, part in combination.shares],
            }
            for combination in found.combinations()
        ],
    }


def _time(found: Identification) -> Array:
    """Return the times of the data kept aside [s], of one recording after the other."""
    parts, end = [], 0.0
    for motion in found.aside.motions:
        parts.append(motion.time - motion.time[0] + end)
        end = float(parts[-1][-1])
    return np.concatenate(parts)


def _parted(values: Array, found: Identification, every: int) -> Array:
    """Return some of the values, with NaN between recordings."""
    parts = (values[part] for part in found.aside.parts)
    return np.concatenate([np.append(part[::every], np.nan) for part in parts])

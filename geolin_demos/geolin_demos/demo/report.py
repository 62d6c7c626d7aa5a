# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the consumer found, for people: rates, latencies, sizes, verdicts and the picture."""

from pathlib import Path

import numpy as np

from geolin_demos.demo.checks import (
    Verdict,
    check_accelerations,
    check_answered,
    check_linearizations,
)
from geolin_demos.demo.picture import draw
from geolin_demos.demo.recording import Recording
from geolin_demos.demo.referee import make_referee
from geolin_ros.typing import IntArray


def report(
    recording: Recording, description: str | Path, message_size: int, picture: Path
) -> bool:
    """Print numbers and verdicts, save the picture; return whether every check passed.

    ``description`` is URDF text, or the path of an MJCF file. Raises `GeolinError` if the
    description or a message cannot be read; `OSError` if the picture cannot be saved.
    """
    received = recording.linearizations()
    last = received[-1]
    states, n = last.B.shape
    print()
    print(
        f'robot     {last.model_name}: {len(last.joint_names)} joints, {states} states; '
        f'A {states} x {states}, B {states} x {n}, {message_size / 1000:.1f} kB a message'
    )
    stamps, answered_stamps = recording.joint_state_stamps, recording.answered_stamps
    due = stamps[stamps >= min(answered_stamps, default=0)]
    print(
        f'rate      {_rate(due):.1f} joint states/s, {_rate(answered_stamps):.1f} linearizations/s'
    )
    taken, published, dropped = recording.node_counts
    print(
        f'node      received {taken} joint states since its start, answered {published}, '
        f'dropped {dropped}'
    )
    print(f'latency   {_percentiles(recording.delays)}  stamp to consumer')
    print(f'          {_percentiles(recording.latencies)}  joint-state callback to published')
    linearizations = check_linearizations(received, make_referee(description, last))
    accelerations = check_accelerations(
        *recording.motion(), *recording.accelerations(), is_fixed=not recording.is_floating
    )
    answered = check_answered(stamps, answered_stamps)
    print('worst deviation of each block of A and B')
    print(block_table(linearizations))
    verdicts = (linearizations, accelerations, answered)
    for verdict in verdicts:
        print(verdict)
    draw(last, picture)
    print(f'picture   {picture}', flush=True)
    return all(verdict.passed for verdict in verdicts)


def block_table(verdict: Verdict) -> str:
    """Return the deviations of the blocks, rows and columns as in A and B."""
    columns = ('H', 's', 'v', 'r', ' tau')
    lines = [' ' * 8 + ''.join(f'{column.strip():>10}' for column in columns)]
    for row in 'Hsvr':
        found = (verdict.details.get(f'{row}{column}') for column in columns)
        cells = ''.join(f'{"-" if value is None else f"{value:.1e}":>10}' for value in found)
        lines.append(f'{f"d{row}/dt":>8}{cells}')
    return '\n'.join(lines)


def _rate(stamps: IntArray) -> float:
    """Return how many a second, between the first and the last."""
    if stamps.size < 2:
        return 0.0
    return float((stamps.size - 1) / ((stamps[-1] - stamps[0]) * 1e-9))


def _percentiles(durations: list[float]) -> str:
    if not durations:
        return 'unknown'
    p50, p99 = np.percentile(durations, (50, 99)) * 1e3
    return f'p50 {p50:.3f} ms, p99 {p99:.3f} ms'

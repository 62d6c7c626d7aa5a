# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Fail where a ratio to a peer is half as large again as the stored one.

Ratios are stored for each set of vector instructions: ``python -m benchmarks.gate --store`` adds
those of this processor to `ratios.json`, medians of three runs. What is compared with them is the
best of three, so that load on the machine counts little. On a processor of another set the largest
stored ratio of a row is what counts. ``NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=`` makes this
one a processor without AVX-512.
"""

import argparse
import json
import sys
from pathlib import Path
from statistics import median

from benchmarks import (
    along,
    batch,
    contacts,
    discretization,
    dynamics,
    riccati,
    single_state,
    torso,
)
from benchmarks.measure import environment
from benchmarks.report import Row
from benchmarks.robots import paths, read

STORED = Path(__file__).with_name('ratios.json')
SLACK, RUNS, ROUNDS = 1.5, 3, 40
BATCH, BATCH_ROUNDS = 'go2', 8
STANDING, STANDING_ROUNDS = ('go2, 4 feet', 'humanoid, 2 soles'), 20


def runs() -> dict[str, list[float]]:
    """Return the ratios of each row over a few runs."""
    found: dict[str, list[float]] = {}
    many = [pair for pair in map(read, paths([BATCH])) if pair is not None]
    for _ in range(RUNS):
        rows: list[Row] = [
            *single_state.measure(list(single_state.ROBOTS), ROUNDS),
            *dynamics.measure(ROUNDS),
            *torso.measure(ROUNDS),
            *contacts.measure(ROUNDS),
            *discretization.measure(ROUNDS),
            *along.measure(ROUNDS // 4),
            *riccati.measure(STANDING_ROUNDS, names=STANDING),
            *(row for pair in many for row in batch.linearizations(pair, BATCH_ROUNDS)),
        ]
        for row in rows:
            found.setdefault(row.key, []).append(row.ratio)
    return found


def allowed(stored: dict[str, dict[str, float]], vectors: str) -> dict[str, float]:
    """Return the largest accepted ratio of each row on a processor with these vectors."""
    ratios = stored.get(vectors)
    if ratios is None:
        ratios = {}
        for other in stored.values():
            for key, ratio in other.items():
                ratios[key] = max(ratio, ratios.get(key, ratio))
    return {key: SLACK * ratio for key, ratio in ratios.items()}


def slower(found: dict[str, float], limits: dict[str, float]) -> list[str]:
    """Return what is wrong, a line per row: too slow, or not known to one side."""
    wrong = [
        f'{key}: ratio {found[key]:.3f}, at most {limit:.3f} is accepted'
        for key, limit in limits.items()
        if key in found and not found[key] <= limit
    ]
    wrong += [f'{key}: stored but not measured' for key in sorted(limits.keys() - found.keys())]
    wrong += [
        f'{key}: measured but not stored, run python -m benchmarks.gate --store'
        for key in sorted(found.keys() - limits.keys())
    ]
    return wrong


def main() -> int:
    """Measure and compare, or store."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.gate', description=__doc__)
    parser.add_argument('--store', action='store_true', help='store the ratios of this processor')
    store = parser.parse_args().store
    stored = json.loads(STORED.read_text(encoding='utf-8')) if STORED.exists() else {}
    vectors, measured = environment()['vectors'], runs()
    if store:
        stored[vectors] = {key: round(median(ratios), 3) for key, ratios in measured.items()}
        STORED.write_text(f'{json.dumps(stored, indent=1, sort_keys=True)}\n', encoding='utf-8')
        return 0
    found = {key: min(ratios) for key, ratios in measured.items()}
    wrong = slower(found, allowed(stored, vectors))
    print('\n'.join(wrong) or f'all {len(found)} ratios within {SLACK} x of those stored')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a fresh start to the first A and B: nothing cached, then with the cache of that run.

Processes of their own, with a cache folder of their own. The installation itself compiles nothing:
the first run is what follows `pip install`. Seconds of this machine, medians of a few runs.
"""

import json
import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.report import Figure, line

ROBOT = 'humanoid'
COLD, WARM = 3, 2  # runs with nothing cached, and after each of them
IMPORT_LIMIT, COLD_LIMIT, WARM_LIMIT = 0.6, 15.0, 1.0  # [s]
FIRST = """
import json, time
start, busy = time.perf_counter(), time.process_time()
import geolin_ros
imported = time.perf_counter()
import numpy as np
from geolin_ros import Linearizer, TreeModel, robots
model = TreeModel.from_urdf(robots.path('{robot}'))
L = Linearizer(model)(model.neutral_state(), np.zeros(model.n))
assert np.isfinite(L.A).all()
done = time.perf_counter()
print(json.dumps(dict(
    imported=imported - start,
    first=done - imported,
    all=done - start,
    busy=time.process_time() - busy,
)))
"""


def first_result(cache: str) -> dict[str, float]:
    """Return what a new process takes [s]: import, then first A and B, and both."""
    own = {'NUMBA_CACHE_DIR': cache, 'PYTHONPYCACHEPREFIX': cache, 'PYTHONDONTWRITEBYTECODE': ''}
    environment = {**os.environ, **own}
    code = FIRST.format(robot=ROBOT)
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def measure() -> list[Figure]:
    """Run and judge."""
    cold, warm = [], []
    for _ in range(COLD):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(first_result(cache)['all'])
            warm += [first_result(cache) for _ in range(WARM)]
    what = 'first A and B'
    figures = [
        Figure(
            'import geolin_ros', '', median(run['imported'] for run in warm), 's', IMPORT_LIMIT
        ),
        Figure(what, f'{ROBOT}, nothing cached, import included', median(cold), 's', COLD_LIMIT),
        Figure(
            what,
            f'{ROBOT}, compiled before, after the import',
            median(run['first'] for run in warm),
            's',
            WARM_LIMIT,
        ),
    ]
    for figure in figures:
        print(line(figure), flush=True)
    busy = median(run['busy'] for run in warm)
    print(f'of the last: {busy:.2f} s of processor time, import included')
    return figures


def main() -> int:
    """Return 1 if a limit is exceeded."""
    return int(not all(figure.passes for figure in measure()))


if __name__ == '__main__':
    sys.exit(main())

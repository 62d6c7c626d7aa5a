# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From a fresh start to the first A and B: nothing cached, then with the cache of that run.

Processes of their own, with a cache folder of their own. The installation itself compiles nothing:
the first run is what follows `pip install`.
"""

import json
import os
import subprocess
import sys
import tempfile

ROBOT = 'humanoid'
LIMITS = {'import': 0.6, 'cold': 15.0, 'warm': 1.0}
FIRST = """
import json, time
start, busy = time.perf_counter(), time.process_time()
import geolin_ros
imported = time.perf_counter()
import numpy as np
from geolin_ros import Linearizer, TreeModel, robots
model = TreeModel.from_urdf(robots.path('{robot}'))
L = Linearizer(model)(model.neutral_state(), np.zeros(model.n))
assert np.all(np.isfinite(L.A))
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
    environment = {**os.environ, 'NUMBA_CACHE_DIR': cache}
    code = FIRST.format(robot=ROBOT)
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def main() -> int:
    """Print and judge; return 1 if a limit is exceeded."""
    with tempfile.TemporaryDirectory() as cache:
        cold = first_result(cache)
        warm = [first_result(cache) for _ in range(5)]
    busy = {'import': 0.0, 'cold': cold['busy'], 'warm': min(run['busy'] for run in warm)}
    rows = {
        'import': min(run['imported'] for run in warm),
        'cold': cold['all'],
        'warm': min(run['first'] for run in warm),
    }
    what = {
        'import': 'import geolin_ros',
        'cold': 'start to first A, B, nothing cached',
        'warm': 'import done to first A, B, cached',
    }
    for name, seconds in rows.items():
        mark = '' if seconds <= LIMITS[name] else '  EXCEEDED'
        processor = f', {busy[name]:.2f} s of processor time in all' if busy[name] else ''
        print(f'{what[name]:40} {seconds:7.2f} s  limit {LIMITS[name]:g}{mark}{processor}')
    return int(any(seconds > LIMITS[name] for name, seconds in rows.items()))


if __name__ == '__main__':
    sys.exit(main())

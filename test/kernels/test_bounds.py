# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled with every access checked: all are legal, and checks would find others."""

import os
import subprocess
import sys
from pathlib import Path

TEST = Path(__file__).resolve().parents[1]
MODULES = (
    'kernels/test_engine',
    'batch/test_batch_linearization',
    'control/test_stein',
    'dynamics/test_dynamics',
    'test_discretization',
)
USE = """
import importlib, sys
for name in sys.argv[1:]:
    print(name, flush=True)
    importlib.import_module(name).access_everything()
"""


def test_every_access__is_within_bounds():
    """In a process of its own: Numba's checks are set for a whole process."""
    files = [TEST / module for module in MODULES]
    folders = dict.fromkeys([TEST, *(file.parent for file in files)])
    # Level 1 compiles sooner and makes the same accesses; of level 0 Numba caches nothing.
    checks = {'NUMBA_BOUNDSCHECK': '1', 'NUMBA_OPT': '1'}
    path = os.pathsep.join([*map(str, folders), *sys.path])
    done = subprocess.run(
        [sys.executable, '-c', USE, *(file.name for file in files)],
        env={**os.environ, **checks, 'PYTHONPATH': path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f'{done.stdout}{done.stderr[-2000:]}'
    assert done.stdout.split() == [file.name for file in files]

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled with every access checked, in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path


def assert_within_bounds(code, test_file):
    """Run ``code``, which may import the tests beside ``test_file``; fail where it does."""
    here = Path(test_file).parent
    path = os.pathsep.join((str(here), str(here.parent), *sys.path))
    # Unoptimized machine code is compiled sooner and makes the same accesses.
    checks = {'NUMBA_BOUNDSCHECK': '1', 'NUMBA_OPT': '0'}
    environment = {**os.environ, **checks, 'PYTHONPATH': path}
    done = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]

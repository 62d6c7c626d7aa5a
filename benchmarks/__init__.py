# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Measurements, one module each: ``python -m benchmarks.single_state``."""

import os

# One thread, whatever the BLAS behind a peer would like; before anything imports it.
for variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ[variable] = '1'

# Freed at once: from then on malloc keeps memory of that size instead of giving it back, and large
# temporaries, of peers above all, cost no fresh pages in every call.
bytearray(1 << 24)

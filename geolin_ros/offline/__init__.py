# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: bags in; datasets, bags, reports and comparisons out, without ROS and graph.

Needs the packages of the extra ``offline``: ``pip install geolin_ros[offline]``.
"""

import os

from geolin_ros.optional import require

# Work is spread over processes: threads of BLAS would only stand in each other's way, and results
# would depend on how many there are. Works only before NumPy is loaded.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

require(
    'dask', 'distributed', 'fsspec', 'rosbags', 'tqdm', 'xacro', 'xarray', 'zarr', extra='offline'
)

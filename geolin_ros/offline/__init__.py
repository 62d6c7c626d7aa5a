# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorded runs: bags in; datasets, bags, reports and comparisons out, without ROS and graph.

Needs the packages of the extra ``offline``: ``pip install geolin_ros[offline]``.
"""

import os
from importlib.util import find_spec

from geolin_ros.errors import ConfigurationError

# Work is spread over processes: threads of BLAS would only stand in each other's way, and results
# would depend on how many there are. Works only before NumPy is loaded.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

for _name in ('dask', 'distributed', 'fsspec', 'rosbags', 'tqdm', 'xacro', 'xarray', 'zarr'):
    if find_spec(_name) is None:
        raise ConfigurationError(
            f'package {_name} is not installed, expected what geolin_ros.offline needs: '
            'pip install "geolin_ros[offline]", with Python 3.11 or later'
        )

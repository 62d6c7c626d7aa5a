# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin warm-up``: fill the cache of compiled kernels."""

import argparse
import time
from importlib.metadata import entry_points

from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels import _jit
from geolin_ros.stream.warm_up import (
    warm_up,
    warm_up_commands,
    warm_up_contacts,
    warm_up_discretization,
    warm_up_fixed_base,
)

WARM_UPS = 'geolin.warm_up'
"""Group of entry points: functions of packages beside this one that run their kernels."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(options: argparse.Namespace) -> int:
    """Compile what is not in the cache yet."""
    if _jit.CACHE_FOLDER is None:
        raise ConfigurationError(
            'no private folder for compiled kernels can be written, expected one of '
            'NUMBA_CACHE_DIR, XDG_CACHE_HOME or ~/.cache; set NUMBA_CACHE_DIR to one'
        )
    start = time.monotonic()
    warm_up()
    warm_up_fixed_base()
    warm_up_discretization()
    warm_up_contacts()
    warm_up_commands()
    for found in entry_points(group=WARM_UPS):
        found.load()()
    print(f'kernels are ready after {time.monotonic() - start:.1f} s, kept in {_jit.CACHE_FOLDER}')
    return 0

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""``geolin warm-up``: fill the cache of compiled kernels."""

import argparse
import pkgutil
import time
from importlib.metadata import entry_points

from geolin_ros.cli import VERBS
from geolin_ros.errors import ConfigurationError
from geolin_ros.kernels import _jit
from geolin_ros.stream.warm_up import (
    warm_up,
    warm_up_commands,
    warm_up_contacts,
    warm_up_discretization,
    warm_up_fixed_base,
)


def warm_up_beside() -> None:
    """Run what packages beside this one name as ``WARM_UP``; say what lacks an extra."""
    for entry in entry_points(group=VERBS):
        for name in getattr(entry.load(), 'WARM_UP', ()):
            try:
                pkgutil.resolve_name(name)()
            except ConfigurationError as error:
                print(f'{name} is left out: {error}')


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
    warm_up_beside()
    print(f'kernels are ready after {time.monotonic() - start:.1f} s, kept in {_jit.CACHE_FOLDER}')
    return 0

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A cache of kernels in which some are missing."""

import shutil
from pathlib import Path

from numba.core.caching import _CacheLocator

from geolin_ros.kernels import _jit
from geolin_ros.stream.warm_up import warm_up


def copy_cache(folder, *left_out):
    """Copy what every robot takes but for files of these patterns; return the new cache folder."""
    warm_up()
    copied = folder / 'kernels' / 'geolin_ros'
    copied.mkdir(mode=0o700, parents=True)
    for file in Path(_jit.__file__).parent.rglob('*.py'):
        of_checkout = _CacheLocator.get_suitable_cache_subpath(str(file))
        place = Path(_jit._fingerprint(file), of_checkout)
        if (_jit.CACHE_FOLDER / place).is_dir():
            ignored = shutil.ignore_patterns(*left_out)
            shutil.copytree(
                _jit.CACHE_FOLDER / place, copied / place, ignore=ignored, dirs_exist_ok=True
            )
    return copied.parent

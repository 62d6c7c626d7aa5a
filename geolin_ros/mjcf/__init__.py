# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""From an MJCF file, by MuJoCo's own reader, to a description (extra ``mujoco``)."""

from typing import TYPE_CHECKING, Any

from geolin_ros.mjcf.text import check_no_root, is_mjcf

if TYPE_CHECKING:
    from geolin_ros.mjcf.reader import Reading, read, read_shapes

__all__ = ['Reading', 'check_no_root', 'is_mjcf', 'read', 'read_shapes']


def __getattr__(name: str) -> Any:
    """Import the reader when one of its names is first used [PEP 562]."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from geolin_ros.mjcf import reader

    return getattr(reader, name)

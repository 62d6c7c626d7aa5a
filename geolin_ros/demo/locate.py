# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Which robot the user means."""

from pathlib import Path

from geolin_ros import robots
from geolin_ros.errors import UnknownNameError


def locate(robot: str) -> Path:
    """Return the URDF file of a bundled name or a path.

    Raises
    ------
    UnknownNameError
        If there is neither; the message lists the bundled names.
    """
    path = Path(robot)
    if robot not in robots.ROBOTS and not path.is_file():
        raise UnknownNameError(
            f'robot {robot!r} is no file and none of the bundled robots '
            f'({", ".join(robots.ROBOTS)}); expected a URDF path or one of these names'
        )
    return robots.path(robot) if robot in robots.ROBOTS else path

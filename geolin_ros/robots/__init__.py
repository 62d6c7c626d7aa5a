# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bundled robots: URDF files of primitive shapes with plausible masses and limits."""

from pathlib import Path

from geolin_ros.errors import unknown_name

ROBOTS = {file.stem: file for file in sorted(Path(__file__).parent.glob('*.urdf'))}


def path(name: str) -> Path:
    """Return the URDF file of a bundled robot, ``quadruped`` or ``humanoid``.

    Raises
    ------
    UnknownNameError
        If no bundled robot has this name.
    """
    if name not in ROBOTS:
        raise unknown_name('robot', name, ROBOTS, 'the bundled robots')
    return ROBOTS[name]

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


def locate(robot: str | Path) -> Path:
    """Return the file that a user means: a path, or the name of a bundled robot.

    A file counts more than a name. What could only be a path is returned as it is: whoever reads
    it says what is wrong.

    Raises
    ------
    UnknownNameError
        If a word without suffix or folder is neither a file nor a bundled robot.
    """
    file = Path(robot)
    if file.is_file() or file.suffix or len(file.parts) != 1:
        return file
    return path(str(robot))

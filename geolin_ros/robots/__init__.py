# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The bundled robots: URDF files of primitive shapes with plausible masses and limits."""

import sysconfig
from pathlib import Path

from geolin_ros.errors import ConfigurationError, unknown_name

ROBOTS = {file.stem: file for file in sorted(Path(__file__).parent.glob('*.urdf'))}
EXAMPLES = Path(sysconfig.get_path('purelib'), 'cmeel.prefix/share/example-robot-data/robots')
"""URDFs of real robots, where the package example-robot-data is installed."""


def path(name: str) -> Path:
    """Return the URDF file of a bundled robot, ``quadruped`` or ``humanoid``.

    Raises `UnknownNameError` if no bundled robot has this name.
    """
    if name not in ROBOTS:
        raise unknown_name('robot', name, ROBOTS, 'the bundled robots')
    return ROBOTS[name]


def locate(robot: str | Path) -> Path:
    """Return the file that a user means: a path, or the name of a robot.

    Names are those of the bundled robots, and of the URDFs of example-robot-data, ``panda``.

    A file counts more than a name. What could only be a path is returned as it is: whoever reads
    it says what is wrong. Raises `UnknownNameError` if a word without suffix or folder is neither
    a file nor such a name; `ConfigurationError` if several URDFs have the name.
    """
    file = Path(robot)
    if file.is_file() or file.suffix or len(file.parts) != 1:
        return file
    name = str(robot)
    if name in ROBOTS:
        return ROBOTS[name]
    examples = sorted(EXAMPLES.rglob('*.urdf'))
    found = [example for example in examples if example.stem == name]
    if len(found) > 1:
        raise ConfigurationError(
            f'robot {name!r} is one of {", ".join(map(str, found))}; give the path'
        )
    if not found:
        known = [*ROBOTS, *(example.stem for example in examples)]
        others = ' and of example-robot-data' if examples else ''
        raise unknown_name('robot', name, known, f'the bundled robots{others}')
    return found[0]

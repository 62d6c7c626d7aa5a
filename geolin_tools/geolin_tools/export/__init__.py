# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as a C library: the compiled kernels, the robot's numbers, and a header.

`export` writes a folder that CMake builds. The kernels serve any robot, so the machine code is the
same but for the names, and the robot is data.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from geolin_ros.control.support import Support
from geolin_ros.errors import ConfigurationError
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_tools.export.machine_code import default_names, object_code, targets_of
from geolin_tools.export.robot import FUNCTIONS, kernels_of, pack_robot
from geolin_tools.export.sources import check_identifier, identifier_of, sources

__all__ = ['FUNCTIONS', 'Build', 'export']


class Build(NamedTuple):
    """How a library is made."""

    targets: Sequence[str] | None = None
    """Some of ``x86-64-v4``, ``x86-64-v3``, ``x86-64-v2``, ``aarch64``, of which the library takes
    the best that a processor has; or ``native``. Default: all of this machine's kind."""
    functions: Sequence[str] = FUNCTIONS
    """What there is beside A, B and nu_dot."""
    casadi: bool = False
    """Whether there is a second library, ``lib<name>_casadi.so``, with functions for CasADi; it
    needs all functions."""
    ros2: bool = False
    """Whether there is a component of ROS 2, ``<name>::Linearizer``, built by colcon."""


def export(
    model: TreeModel,
    folder: str | Path,
    *,
    name: str | None = None,
    contacts: Sequence[Contact | Support] = (),
    wrenches: Sequence[Wrench] = (),
    build: Build | None = None,
) -> str:
    """Write a robot as a C library into a new folder; return its name.

    Parameters
    ----------
    model
        The robot.
    folder
        Where; it must not exist. All of it is written, or nothing.
    name
        Of the library and what its functions begin with (default: the robot's name, as an
        identifier of C).
    contacts
        What the robot may stand on; which of them are in force is chosen at run time. A ball, a
        `Support` with a radius, is held at each state at the point that touches level ground.
    wrenches
        Where external wrenches may act, and of which kind; values are given at run time.
    build
        For which processors, and with which functions; by default all.

    Raises
    ------
    ConfigurationError
        If the robot has spherical or floating joints, the folder exists, an option cannot be
        used, or a component is to stand on balls.
    UnknownNameError
        If a link is not part of the robot.
    """
    build = build or Build()
    folder, more = Path(folder), (*['casadi'] * build.casadi, *['ros2'] * build.ros2)
    targets = targets_of(default_names() if build.targets is None else build.targets)
    name = identifier_of(model.name) if name is None else name
    check_identifier(name)
    robot = pack_robot(model, contacts, wrenches)
    if folder.exists() or folder.is_symlink():
        raise ConfigurationError(
            f'{folder} exists, expected a new folder; remove it, or choose another one'
        )
    functions = FUNCTIONS if build.casadi else tuple(build.functions)
    kernels = kernels_of(robot, functions, build.casadi)
    balls = [one for one in contacts if isinstance(one, Support) and one.radius]
    if build.ros2 and balls:
        raise ConfigurationError(
            f'contact {balls[0].frame!r} is a ball of radius {balls[0].radius:g} m, expected a '
            f'point or a sole in a component of ROS 2, as in messages; say {balls[0].frame}:0'
        )
    files = sources(robot, name, targets, (*functions, *more), kernels)
    for target in targets:
        code = object_code(kernels, target, f'{name}__')
        files[f'lib/{target.architecture}/{target.symbol}.o'] = code
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f'.{folder.name}.') as draft:
        for path, content in files.items():
            place = Path(draft, 'whole', path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        os.rename(Path(draft, 'whole'), folder)
    return name

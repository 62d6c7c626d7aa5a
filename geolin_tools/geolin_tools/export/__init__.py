# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A robot as a C library: the compiled kernels, the robot's numbers, and a header.

`export` writes a folder that CMake builds. The kernels serve any robot, so the machine code is the
same but for the names, and the robot is data.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from geolin_ros.control.support import Support
from geolin_ros.linearization.contacts.description import Contact
from geolin_ros.model.tree import TreeModel
from geolin_ros.model.wrenches import Wrench
from geolin_tools.export.folder import identifier_of, write_folder
from geolin_tools.export.kernel_set import FUNCTIONS
from geolin_tools.export.robot import pack_robot
from geolin_tools.export.targets import Target, default_names, targets_of

__all__ = ['FUNCTIONS', 'Build', 'export']


class Build(NamedTuple):
    """How a library is made."""

    targets: Sequence[str] | None = None
    """Some of ``x86-64-v4``, ``x86-64-v3``, ``x86-64-v2``, ``aarch64``, of which the library takes
    the best that a processor has; or ``native``. Default: all of this machine's kind."""
    functions: Sequence[str] = FUNCTIONS
    """What there is beside A, B and nu_dot."""
    progress: Callable[[Iterable[Target]], Iterable[Target]] = iter
    """Gets the targets and returns them, counted."""
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
    chosen = targets_of(list(default_names() if build.targets is None else build.targets))
    word = identifier_of(model.name) if name is None else name
    robot = pack_robot(model, contacts, wrenches)
    more = (*['casadi'] * build.casadi, *['ros2'] * build.ros2)
    functions = FUNCTIONS if build.casadi else tuple(build.functions)
    write_folder(robot, Path(folder), word, chosen, functions, build.progress, more)
    return word

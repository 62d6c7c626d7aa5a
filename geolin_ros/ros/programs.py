# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The console scripts of the nodes: they answer signals before they import what takes seconds."""

import gc
import importlib
import os
import sys
from typing import NoReturn

from geolin_ros.ros.signals import end_early


def linearizer() -> int:
    """Run the linearization node; return the exit status."""
    return run_program('linearizer', 'geolin_ros.ros.linearizer')


def run_program(program: str, module: str) -> int:
    """Run the ``main`` of a node's module, which is imported first; return the exit status."""
    end_early(program)
    try:
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        package = (error.name or '').partition('.')[0]
        if package == module.partition('.')[0]:
            raise
        fix = 'source its setup.bash (and that of the workspace), or run `make setup`'
        if package == 'geolin_msgs':
            fix = (
                '`colcon build` in the workspace and `source install/setup.bash`, or `make setup`'
            )
        sys.stderr.write(
            f'{program}: package {package} is not installed, expected ROS 2 with rclpy and '
            f'geolin_msgs: {fix}; `geolin` and the Python library need neither\n'
        )
        return 1
    _leave(main())


def _leave(status: int) -> NoReturn:
    """End the process at once: node and context are gone, and nothing else is to be cleaned up.

    What the interpreter takes apart at its end, threads of the middleware may still look at.
    """
    gc.unfreeze()
    gc.collect()  # the participant leaves the graph with the last that refers to it
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

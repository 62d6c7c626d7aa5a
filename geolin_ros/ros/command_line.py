# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of the nodes take beside the arguments of ROS: nothing but --help."""

import argparse
import sys
from typing import NamedTuple

from rclpy.utilities import remove_ros_args


class Program(NamedTuple):
    """What a node says of itself to somebody who asks for help.

    Attributes
    ----------
    name, node
        Of the command, and of the node.
    about
        What it does, in a sentence.
    takes, gives
        Topics and services, as they are without remapping.
    """

    name: str
    node: str
    about: str
    takes: str
    gives: str


def read_arguments(program: Program, arguments: list[str] | None) -> bool:
    """Return whether the node is to end with its parent.

    Answers --help, and ends the process where an argument is neither of these nor one of ROS.
    """
    parser = argparse.ArgumentParser(
        program.name,
        usage='%(prog)s [-h] [--end-with-parent] '
        '[--ros-args -p NAME:=VALUE --params-file FILE -r FROM:=TO ...]',
        description=f'{program.about}\n\nin:  {program.takes}\nout: /diagnostics, {program.gives}',
        epilog=f'parameters: geolin parameters {program.node}',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--end-with-parent',
        action='store_true',
        help='end when the process that started this one is gone',
    )
    given = sys.argv[1:] if arguments is None else arguments
    try:
        own = remove_ros_args(given)
    except RuntimeError:
        return False  # rclpy.init says what is wrong with those of ROS
    return bool(parser.parse_args(own).end_with_parent)

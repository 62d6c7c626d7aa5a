# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the programs of the nodes take beside the arguments of ROS: nothing but --help."""

import argparse
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from rclpy.utilities import remove_ros_args

from geolin_ros.renamed import OLD_NODE


class Program(NamedTuple):
    """What a node says of itself: its name, what it does, and topics and services of it."""

    name: str
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
        epilog=f'parameters: geolin parameters {program.name}',
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


def with_old_name(arguments: list[str] | None, name: str) -> list[str]:
    """Return the arguments of a node, which keeps its old name with a parameter file of that.

    ``name`` is the new one; a name of the user's own is kept. Warns on standard error.
    """
    given = list(sys.argv if arguments is None else arguments)
    named = next((word for word in given if word.startswith('__node:=')), f'__node:={name}')
    for word, file in pairwise(given):
        of_old = rf'^[^#]*\b{OLD_NODE}["\']?:'
        if word != '--params-file' or named != f'__node:={name}' or not Path(file).is_file():
            continue
        if re.search(of_old, Path(file).read_text(errors='replace'), re.MULTILINE):
            sys.stderr.write(
                f'{name}: {file} has parameters of {OLD_NODE}, and the node keeps this name: '
                f'lqr_node and walking_node, which expect {name}/..., get nothing from it; '
                f'rename it to {name} there: the old name ends with the next version\n'
            )
            rest = [other for other in given if other != named]
            if named in given:
                rest.pop(given.index(named) - 1)  # -r
            return [*rest, '--ros-args', '-r', f'__node:={OLD_NODE}']
    return given

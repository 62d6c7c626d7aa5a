# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the nodes: what they take beside the arguments of ROS, and how they end."""

import argparse
import gc
import os
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import rclpy
from rclpy.utilities import remove_ros_args

from geolin_ros.renamed import OLD_NODE
from geolin_ros.ros.executor import init, spin
from geolin_ros.ros.programs import PARENT, handled_signals

SWITCH_INTERVAL = 5e-4
"""How long another thread, a compiler, may keep the interpreter from the executor's [s]."""


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
    given = list(sys.argv[1:] if arguments is None else arguments)
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


def security_hint() -> str:
    """Return what to look at where a start failed and ROS 2 security is on, else nothing."""
    if os.environ.get('ROS_SECURITY_ENABLE') != 'true':
        return ''
    names = 'ROS_SECURITY_STRATEGY', 'ROS_SECURITY_KEYSTORE'
    given = ', '.join(f'{name}={os.environ.get(name) or "none"}' for name in names)
    return f'; security is on ({given}): make keys and permissions as docs/security.md says'


def run(make_node: Callable[[], Any], program: Program, arguments: list[str] | None = None) -> int:
    """Run a node until SIGINT, SIGTERM or SIGHUP; return the exit status of its program.

    With --end-with-parent also until the process that started it is gone: `ros2 launch` that is
    ended by SIGTERM or SIGKILL leaves its nodes alone. Signals are ignored afterwards.
    """
    with_parent = read_arguments(program, arguments)
    failure, node = None, None
    sys.setswitchinterval(SWITCH_INTERVAL)
    with handled_signals() as signalled:

        def asked_to_stop() -> bool:
            return signalled() or (with_parent and os.getppid() != PARENT)

        try:
            init(arguments)
            node = make_node()
            node.asked_to_stop = asked_to_stop
            spin(node, node.is_over, node.autostart)
            if not asked_to_stop():
                failure = node.failure
        except KeyboardInterrupt:
            pass
        except Exception as error:
            if not asked_to_stop():
                if node is not None:
                    raise
                failure = f'{error}{security_hint()}'  # a parameter file, for one
        finally:
            if node is not None:
                node.destroy_node()
            else:
                gc.collect()  # what was made of a node before a signal came
            rclpy.try_shutdown()
            rclpy.get_default_context().destroy()
    if failure is not None:
        sys.stderr.write(f'{program.name}: {failure}\n')
        return 1
    return 0

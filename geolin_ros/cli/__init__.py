# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The ``geolin`` command: one file a subcommand, each imported when it is asked for.

Other packages add theirs by an entry point of the group `VERBS`: a package with a table as
`COMMANDS`, and a file for each. Functions that its ``WARM_UP`` names, if any, run the kernels of
that package for `geolin warm-up`.

A file has ``add_arguments(parser)`` and ``run(options)``, which returns the exit status. Its
``INTERRUPTED``, if any, is printed after Ctrl-C.
"""

import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

COMMANDS = {
    'info': 'print the model of a robot description: joints, bodies, mass, warnings',
    'linearize': 'linearize about all samples of a bag, into a dataset',
    'parameters': 'print the parameters of a node, as a file to start from',
    'replay': 'write the bag of linearizations that a node would have published',
    'warm-up': 'compile all kernels into the cache, before the first start',
}

VERBS = 'geolin.verbs'
BESIDE = {
    **dict.fromkeys(('analyze-modes', 'compare', 'export', 'identify'), 'geolin_tools'),
    **dict.fromkeys(('import', 'inspect', 'lint-urdf', 'recheck'), 'geolin_tools'),
    **dict.fromkeys(('record', 'report', 'view'), 'geolin_tools'),
    **dict.fromkeys(('gain-bank', 'gains'), 'geolin_control'),
    'estimate': 'geolin_estimation',
    'gait-gains': 'geolin_walking',
}
"""What packages beside this one add, with these."""

ENDS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
AT_ONCE = 1.0
"""Signals so soon after another are the same Ctrl-C [s]."""


def main(arguments: list[str] | None = None) -> int:
    """Run a subcommand; return its exit status, 1 for an error that it explains.

    Like other commands it ends with 130 after Ctrl-C, 143 after SIGTERM, 129 where its terminal
    goes, and with 141 when nobody reads on; what it was writing is brought to an end or removed.
    Without ``arguments`` it is the whole program: no signal disturbs what Python does at its end.
    """
    usual, hook = {number: signal.getsignal(number) for number in ENDS}, sys.unraisablehook
    received: list[tuple[int, float]] = []
    # of jobs in the background SIGINT is ignored, with nohup SIGHUP
    by_default = signal.default_int_handler, signal.SIG_DFL
    handled = [number for number, handler in usual.items() if handler in by_default]
    is_program = arguments is None
    after = usual | dict.fromkeys(handled if is_program else (), signal.SIG_IGN)
    for number in handled:
        signal.signal(number, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)  # blocked in .venv until now
    import logging

    from geolin_ros.errors import ModelWarning
    from geolin_ros.stream.compiling import compile_line
    from geolin_ros.urdf.reader import argument_of, xacro_arguments

    arguments = sys.argv[1:] if arguments is None else arguments
    name, interrupted = 'geolin', 'interrupted'
    try:
        options = _parsed(arguments)
        name, interrupted = f'geolin {options.command}', options.interrupted
        for number in handled:
            signal.signal(number, _once(received))
        sys.unraisablehook = _again(received, hook)
        with warnings.catch_warnings(), compile_line(name):
            warnings.simplefilter('ignore', ModelWarning)  # `info` and `lint-urdf` print them
            given = dict(map(argument_of, getattr(options, 'xacro_args', ())))
            with xacro_arguments(given):
                status = int(options.run(options))
        sys.stdout.flush()
    except BaseException as error:
        # what an import in C makes of an interruption is no KeyboardInterrupt any more
        if not (
            isinstance(error, KeyboardInterrupt) or (received and isinstance(error, Exception))
        ):
            return _explained(error, name)
        # a store that is left in the middle of a write has nothing to add at the exit
        logging.getLogger('asyncio').setLevel(logging.CRITICAL)
        warnings.filterwarnings('ignore', 'coroutine .* was never awaited', RuntimeWarning)
        print(f'{name}: {interrupted}', file=sys.stderr)
        return 128 + (received[0][0] if received else signal.SIGINT)
    finally:
        for number, handler in after.items():
            signal.signal(number, handler)
        if not is_program:
            sys.unraisablehook = hook
    return status


def _explained(error: BaseException, name: str) -> int:
    """Return the exit status of an error that the user can fix; raise any other."""
    from geolin_ros.errors import GeolinError

    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    if isinstance(error, GeolinError | OSError):
        print(f'{name}: {error}', file=sys.stderr)
        return 1
    raise error


def _once(received: list[tuple[int, float]]) -> Callable[[int, object], None]:
    """Return a handler that raises KeyboardInterrupt once for signals that come together."""

    def interrupt(number: int, frame: object) -> None:
        before = received[-1][1] if received else float('-inf')
        received.append((number, time.monotonic()))
        if received[-1][1] - before > AT_ONCE:
            raise KeyboardInterrupt

    return interrupt


def _again(received: list[tuple[int, float]], usual: Callable[[Any], Any]) -> Callable[..., None]:
    """Return a hook for exceptions that Python ignores, as in callbacks of weak references.

    An interruption that is lost there comes again; after one, all others are left out.
    """

    def hook(ignored: Any) -> None:
        if not received:
            usual(ignored)
        elif isinstance(ignored.exc_value, KeyboardInterrupt):
            number, _ = received.pop()
            received.clear()  # it is no second one of the same
            threading.Timer(0.05, os.kill, (os.getpid(), number)).start()

    return hook


def _leave(number: int, frame: object) -> None:
    """End at once: while modules are imported there is nothing to clean up.

    An exception would end some imports in the middle, and be ignored by others.
    """
    os.write(2, b'geolin: interrupted\n')
    os._exit(128 + number)


def all_commands() -> dict[str, tuple[str, str]]:
    """Return the package and the text of each subcommand, by name."""
    from importlib.metadata import entry_points

    found = {name: ('geolin_ros.cli', text) for name, text in COMMANDS.items()}
    for entry in entry_points(group=VERBS):
        found |= {name: (entry.value, text) for name, text in entry.load().COMMANDS.items()}
    return dict(sorted(found.items()))


def _parsed(arguments: list[str]) -> 'argparse.Namespace':
    import argparse

    from geolin_ros.optional import not_installed

    completes = '_ARGCOMPLETE' in os.environ
    if completes:
        arguments = os.environ['COMP_LINE'].split()[1:]
    parser = argparse.ArgumentParser(
        prog='geolin', description='Geometric linearization of moving-base robots.'
    )
    commands = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    known = all_commands()
    if arguments[:1] and arguments[0] in BESIDE and arguments[0] not in known:
        raise not_installed(f'{arguments[0]} is a command', BESIDE[arguments[0]])
    for name, (package, text) in known.items():
        command = commands.add_parser(name, help=text, description=f'{text[0].upper()}{text[1:]}.')
        if name in arguments[:1]:
            module = importlib.import_module(f'{package}.{name.replace("-", "_")}')
            module.add_arguments(command)
            text = getattr(module, 'INTERRUPTED', 'interrupted')
            command.set_defaults(run=module.run, interrupted=text)
    if completes:
        import argcomplete

        argcomplete.autocomplete(parser)  # and the end
    return parser.parse_args(arguments)

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is notified that kernels are being compiled, and a line on a terminal that says so."""

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO

TICK = 1.0
"""The line is brought up to date this often [s]."""


@contextmanager
def announced(begins: Callable[[str], object]) -> Generator[None, None, None]:
    """Call ``begins`` with the name of each kernel that is compiled inside, as it begins.

    What is found in the cache is not compiled.
    """
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            function = event.data['dispatcher'].py_func
            if function.__module__.startswith('geolin_ros.'):
                begins(function.__name__)

        def on_end(self, event: event.Event) -> None:
            pass

    listener = Listener()
    event.register('numba:compile', listener)
    try:
        yield
    finally:
        event.unregister('numba:compile', listener)


@contextmanager
def compile_line(program: str, out: TextIO | None = None) -> Generator[None, None, None]:
    """Say in a line what is compiled inside, and for how long; nothing if nothing is.

    On a terminal the line is rewritten and goes at the end; elsewhere it is printed once.

    Parameters
    ----------
    program
        Opens the line.
    out
        Where it goes; standard error by default.
    """
    line = _Line(program, out or sys.stderr)
    with announced(line.begin):
        try:
            yield
        finally:
            line.end()


class _Line:
    def __init__(self, program: str, out: TextIO) -> None:
        self._program, self._out = program, out
        self._last, self._count, self._start = '', 0, 0.0
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def begin(self, kernel: str) -> None:
        self._last, self._count = kernel, self._count + 1
        if self._count == 1:
            self._start = time.monotonic()
            if self._out.isatty():
                self._ticker.start()
            else:
                self._write(f'{self._text()}\n')

    def end(self) -> None:
        self._over.set()
        if self._ticker.is_alive():
            self._ticker.join()
            self._write('\r\x1b[K')

    def _tick(self) -> None:
        while not self._over.is_set():
            self._write(f'\r\x1b[K{self._text()}, {time.monotonic() - self._start:.0f} s')
            self._over.wait(TICK)

    def _text(self) -> str:
        return (
            f'{self._program}: compiles for this machine, once (`geolin warm-up` does all): '
            f'{self._count}, {self._last}'
        )

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):  # nobody reads, or it is closed
            self._over.set()

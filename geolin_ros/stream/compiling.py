# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is notified that kernels are being compiled, and a line on a terminal that says so."""

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

TICK = 1.0
"""The line is brought up to date this often [s]."""
CLEAR = '\r\x1b[K'


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
def compile_line(program: str) -> Generator[None, None, None]:
    """Say on standard error what ``program`` compiles inside; nothing if nothing is.

    On a terminal the line is rewritten, with the time it takes, and goes at the end; elsewhere it
    is printed once.
    """
    out, kernels, over = sys.stderr, list[str](), threading.Event()

    def write(begin: str, end: str) -> None:
        line = f'{program}: compiles for this machine, once (`geolin warm-up` does all): '
        try:
            out.write(f'{begin}{line}{len(kernels)}, {kernels[-1]}{end}')
            out.flush()
        except (OSError, ValueError):  # nobody reads, or it is closed
            over.set()

    def tick() -> None:
        start = time.monotonic()
        while not over.is_set():
            write(CLEAR, f', {time.monotonic() - start:.0f} s')
            over.wait(TICK)

    ticker = threading.Thread(target=tick, daemon=True)

    def begin(kernel: str) -> None:
        kernels.append(kernel)
        if len(kernels) > 1:
            return
        if out.isatty():
            ticker.start()
        else:
            write('', '\n')

    with announced(begin):
        try:
            yield
        finally:
            over.set()
            if ticker.is_alive():
                ticker.join()
                write(CLEAR, CLEAR)

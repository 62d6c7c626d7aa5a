# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is notified that kernels are being compiled, and a line on a terminal that says so."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

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

    with event.install_listener('numba:compile', Listener()):
        yield


@contextmanager
def compile_line(program: str) -> Generator[None, None, None]:
    """Say on standard error what ``program`` compiles inside; nothing if nothing is.

    On a terminal the line is rewritten for each kernel, and goes at the end; elsewhere it is
    printed once.
    """
    out, kernels = sys.stderr, list[str]()
    before, after = (CLEAR, '') if out.isatty() else ('', '\n')
    line = f'{program}: compiles for this machine, once (`geolin warm-up` does all): '

    def write(text: str) -> None:
        with suppress(OSError, ValueError):  # nobody reads, or it is closed
            out.write(text)
            out.flush()

    def begin(kernel: str) -> None:
        kernels.append(kernel)
        if before or len(kernels) == 1:
            write(f'{before}{line}{len(kernels)}, {kernel}{after}')

    with announced(begin):
        try:
            yield
        finally:
            if kernels:
                write(before)

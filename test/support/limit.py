# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""A limit for each test: one that hangs fails, and what it has started ends with it.

GEOLIN_TEST_LIMIT=SECONDS  another one than `LIMIT`; tests marked ``soak`` have none
"""

import contextlib
import faulthandler
import os
import signal
import time
from collections.abc import Generator
from types import FrameType

import psutil
import pytest

from support.processes import began, end_all, ended_with_it, watch

LIMIT = 600.0
"""Of setup, call and teardown, each, on a busy machine [s]."""
AGAIN = 2.0
"""After this the same again, where the end of a test waits too [s]."""
STUCK = 60.0
"""So much later the whole process ends: no Python code runs in it any more [s]."""
TICK = 1.0 / os.sysconf('SC_CLK_TCK')
"""How exactly a process tells when it began [s]."""
_stderr = 2


@contextlib.contextmanager
def _limit(item: pytest.Item) -> Generator[None]:
    limit = float(os.environ.get('GEOLIN_TEST_LIMIT', LIMIT))
    if item.get_closest_marker('soak'):
        yield
        return
    start = time.clock_gettime(time.CLOCK_BOOTTIME)

    def end(number: int, frame: FrameType | None) -> None:
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):
                if began(process.pid) > start - TICK:
                    process.kill()
        pytest.fail(f'takes longer than {limit:g} s')

    usual = signal.signal(signal.SIGALRM, end)
    faulthandler.dump_traceback_later(limit + STUCK, exit=True, file=_stderr)
    signal.setitimer(signal.ITIMER_REAL, limit, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, usual)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the fixtures of a test."""
    with _limit(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Limit a test, and end what it has started."""
    with ended_with_it(), _limit(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Limit its end."""
    with _limit(item):
        return (yield)


def pytest_sessionstart() -> None:
    """Let no program outlive this process, however that ends; it says where it was stuck."""
    global _stderr
    _stderr = os.dup(2)  # which is captured during a test
    watch()


def pytest_sessionfinish() -> None:
    """End what fixtures have left."""
    end_all()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where work is done: in this process, on all cores of this machine, or on a Dask cluster."""

import gc
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import starmap
from typing import Any

from geolin_ros.errors import ConfigurationError, RecordingError
from geolin_ros.processes import end_with_parent

LAST_JOBS = 3.0
"""What is left to processes after Ctrl-C [s]."""
IN_FLIGHT = 3
"""Jobs that wait or run, for each worker: memory is bounded by them."""
PATIENCE = 10.0
"""Until a scheduler answers [s]."""


def run(
    work: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    workers: int | None = None,
    scheduler: str | None = None,
) -> Iterator[Any]:
    """Yield ``work(*job)`` of all jobs in the order in which they are ready, few at a time.

    Jobs, which can be pickled, are done by ``workers`` processes on this machine, by default one a
    core, with one in this process; or by the Dask ``scheduler`` at an address. Raises
    `ConfigurationError` if ``workers`` is not positive, or the scheduler does not answer or has no
    workers; `RecordingError` if a process is killed.
    """
    count = workers if workers is not None else len(os.sched_getaffinity(0))
    if count < 1:
        raise ConfigurationError(f'workers is {count}, expected at least 1')
    if count == 1 and scheduler is None:
        yield from starmap(work, jobs)
        return
    with _pool(count) if scheduler is None else _cluster(scheduler) as (executor, count):
        running: set[Future[Any]] = set()
        for job in jobs:
            running.add(executor.submit(work, *job))
            if len(running) >= IN_FLIGHT * count:
                yield from _ready(running)
        while running:
            yield from _ready(running)


def _ready(running: set['Future[Any]']) -> list[Any]:
    """Take what is ready out of what runs, at least one; return the results."""
    done = wait(running, return_when=FIRST_COMPLETED).done
    running -= done
    return [future.result() for future in done]


@contextmanager
def _pool(count: int) -> Iterator[tuple[Executor, int]]:
    """Make processes that Ctrl-C does not reach: this one ends them."""
    # with all that is imported and compiled here; zarr and fsspec make their threads anew
    context = multiprocessing.get_context('fork')
    gc.freeze()  # no collection goes through what is imported, here, or copies it, in a process
    with ProcessPoolExecutor(count, mp_context=context, initializer=_begin) as pool:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                pool.submit(os.getpid)  # has all processes forked, which inherit what is blocked
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            yield pool, count
        except BrokenProcessPool as error:
            raise RecordingError(
                'a worker process was killed, perhaps for lack of memory; what it had finished '
                'stays: run again to go on, with fewer --workers or a smaller --chunk'
            ) from error
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):  # do not wait for a compilation, say
                deadline = time.monotonic() + LAST_JOBS
                for process in multiprocessing.active_children():
                    process.join(max(0.0, deadline - time.monotonic()))
                    process.terminate()
            raise
        finally:
            gc.unfreeze()


def _begin() -> None:
    """End with the parent, and by a signal at once: handlers are those of the parent."""
    end_with_parent()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def _cluster(address: str) -> Iterator[tuple[Executor, int]]:
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigurationError(
            f'no Dask scheduler answers at {address!r}: {error}; expected one, as '
            '`dask scheduler` prints it'
        ) from error
    with client:
        count = len(client.scheduler_info(n_workers=-1)['workers'])
        if count == 0:
            raise ConfigurationError(f'the Dask scheduler at {address!r} has no workers')
        yield client.get_executor(pure=False), count

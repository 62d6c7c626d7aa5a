# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile into the cache, with a line that counts, what would else be compiled unseen.

By default what `make demo` runs; with ``--all`` all of `geolin warm-up`, and what programs of
users alone call.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Queue, get_context

JOBS = ('demo',)
MORE = ('commands', 'contacts', 'discretization', 'other packages', 'fixed base', 'library')
PROCESSES = 2


def count(queue: Queue) -> None:
    """Have every function that Numba compiles in this process put into a queue."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            pass

        def on_end(self, event: event.Event) -> None:
            queue.put(event.data['dispatcher'].__name__)

    event.register('numba:compile', Listener())


def compile_for(job: str) -> None:
    """Run each kernel of the demo once, or of what else there is."""
    from geolin_ros.cli.warm_up import warm_up_beside
    from geolin_ros.stream import warm_up

    if job == 'demo':
        from geolin_demos.demo.flight import Flight

        warm_up.warm_up()
        Flight(warm_up.small_model()).advance(1e-3)
        return
    {
        'contacts': warm_up.warm_up_contacts,
        'discretization': warm_up.warm_up_discretization,
        'fixed base': warm_up.warm_up_fixed_base,
        'commands': warm_up.warm_up_commands,
        'library': call_library,
        'other packages': warm_up_beside,
    }[job]()


def call_library() -> None:
    """Run the kernels that no node and no command does."""
    import numpy as np

    import geolin_ros
    from geolin_ros.stream.warm_up import small_model

    model = small_model()
    at, n, m = (model, model.neutral_state()), np.zeros(model.n), np.zeros(model.m)
    none, variation = np.zeros(model.n, bool), geolin_ros.Variation(gravity=np.ones(3))
    geolin_ros.inverse_dynamics_regressor(*at, m)
    geolin_ros.inverse_dynamics_derivatives(*at, m)
    geolin_ros.forward_dynamics_derivatives(*at, n)
    geolin_ros.hybrid_dynamics_derivatives(*at, n, n, none)
    geolin_ros.inverse_dynamics_variation(*at, m, variation)
    geolin_ros.hybrid_dynamics_variation(*at, n, n, none, variation)
    many = model, [at[1]] * 9
    geolin_ros.hybrid_dynamics(*many, [n] * 9, [n] * 9, none)
    geolin_ros.inverse_dynamics_derivatives(*many, [m] * 9)
    geolin_ros.forward_dynamics_derivatives(*many, [n] * 9)


def main() -> None:
    """Compile in two processes at once; say how far it is."""
    jobs_of = (*MORE, *JOBS) if sys.argv[1:] == ['--all'] else JOBS
    context, start, compiled = get_context('spawn'), time.monotonic(), 0
    queue, on_terminal = context.Queue(), sys.stdout.isatty()
    with ProcessPoolExecutor(PROCESSES, context, count, (queue,)) as pool:
        jobs = [pool.submit(compile_for, job) for job in jobs_of]
        printed = 0.0
        while not all(job.done() for job in jobs):
            time.sleep(0.2)
            while not queue.empty():
                queue.get()
                compiled += 1
            seconds = time.monotonic() - start
            if compiled and seconds - printed > (0.2 if on_terminal else 15.0):
                printed = seconds
                end = '\r' if on_terminal else '\n'
                print(f'    {compiled} functions, {seconds:.0f} s', end=end, flush=True)
        for job in jobs:
            job.result()
    seconds = time.monotonic() - start
    print(f'    {compiled} functions compiled in {seconds:.0f} s, kept for later starts')


if __name__ == '__main__':
    main()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a page in a browser costs the node that it watches, and how many frames a second it has.

Robot and node are processes; the page is this one, and headless Chromium looks at it. In turns, so
that a busy machine is the same to both: the node alone, then watched. Figures are medians. What
does not depend on the load is printed too: CPU time for a linearization and for a frame.

Chromium draws in software, which takes more than a core. It gets only what the others leave:
elsewhere a GPU does that, or another machine.
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from geolin_demos.demo.__main__ import discovery
from geolin_demos.demo.processes import Child
from geolin_tools.view.live import Live
from geolin_tools.view.page import Page

from benchmarks.node_latency import path_of

NODE = '/linearizer'
AUTOGROUP = Path('/proc/self/autogroup')
FRAMES, LOSS = 30.0, 0.02
"""Limits: least frames a second of the page, largest share of the node's rate."""
COUNT = """
window.frames_drawn = 0;
const count = () => { window.frames_drawn++; requestAnimationFrame(count); };
requestAnimationFrame(count);
"""


def main() -> int:
    """Measure, print, return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--robot', default='humanoid')
    parser.add_argument('--rate', type=float, default=500.0, help='[Hz]')
    parser.add_argument('--seconds', type=float, default=8.0, help='of each turn')
    parser.add_argument('--turns', type=int, default=3)
    parser.add_argument('--json', type=Path, help='file to write')
    options = parser.parse_args()
    os.environ.update(discovery())
    from geolin_tools.view.live import NICE, Watcher

    robot = path_of(options.robot)
    quiet = ['--ros-args', '--log-level', 'error']
    children = [
        Child('robot', 'benchmarks.robot_process', [str(options.rate), '--robot', robot], {}),
        Child('node', 'geolin_ros.ros.linearizer', quiet, {}),
    ]
    watcher = Watcher(NODE)
    os.nice(NICE)
    rows: dict[str, list[float]] = {
        name: []
        for name in (
            *('alone', 'watched', 'page', 'browser'),
            *('node_us', 'node_watched_us', 'page_ms', 'browser_ms'),
        )
    }
    try:
        source = Live.wait_for(watcher, Path(robot), None, lambda words: None)
        assert source is not None
        page = Page(source)
        with browser(leave_processors_to_others) as window:
            for _ in range(options.turns):
                window.get('about:blank')
                node = Cost(children[1].pid)
                rate = rate_of(watcher, options.seconds, lambda: time.sleep(0.1))
                rows['alone'].append(rate)
                rows['node_us'].append(1e6 * node.a_second() / rate)
                window.get(page.url)
                settle(page, 6.0)
                window.execute_script(COUNT)
                frames = Frames(page)
                costs = (
                    Cost(children[1].pid),
                    Cost(os.getpid()),
                    Cost(window.service.process.pid, with_children=True),
                )
                rate = rate_of(watcher, options.seconds, frames.next)
                node_load, page_load, browser_load = (cost.a_second() for cost in costs)
                rows['watched'].append(rate)
                rows['node_watched_us'].append(1e6 * node_load / rate)
                rows['page'].append(frames.count / frames.elapsed)
                rows['page_ms'].append(1e3 * page_load / rows['page'][-1])
                drawn = window.execute_script('return window.frames_drawn') / frames.elapsed
                rows['browser'].append(drawn)
                rows['browser_ms'].append(1e3 * browser_load / max(drawn, 1e-9))
        page.close()
    finally:
        for child in children:
            child.interrupt(mute=True)
            child.finish()
    found = {name: float(np.median(row)) for name, row in rows.items()}
    alone, watched, page_rate = found['alone'], found['watched'], found['page']
    loss = 1.0 - watched / alone
    print(f'load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors')
    print(
        f'node alone {alone:.1f} Hz, watched {watched:.1f} Hz: loses {loss:.1%} (limit {LOSS:.0%})'
    )
    print(
        f'page {page_rate:.1f} frames/s (limit {FRAMES:g}), '
        f'browser draws {found["browser"]:.1f} /s'
    )
    print(
        f'CPU time: a linearization alone {found["node_us"]:.0f} us, watched '
        f'{found["node_watched_us"]:.0f} us; a frame of the page {found["page_ms"]:.1f} ms, of '
        f'the browser {found["browser_ms"]:.1f} ms'
    )
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=2) + '\n')
    return int(loss > LOSS or page_rate < 0.99 * FRAMES)


class Cost:
    """CPU time of a process, and of all that it started, from now on."""

    def __init__(self, pid: int, with_children: bool = False) -> None:
        self._root, self._with_children = psutil.Process(pid), with_children
        self._start, self._before = time.monotonic(), self._taken()

    def _taken(self) -> float:
        family = self._root.children(recursive=True) if self._with_children else []
        times = [one.cpu_times() for one in (self._root, *family)]
        return sum(one.user + one.system for one in times)

    def a_second(self) -> float:
        """Return how many seconds of CPU time it took a second."""
        return (self._taken() - self._before) / (time.monotonic() - self._start)


class Frames:
    """Frames of a page, each when it is due, from the first one on."""

    def __init__(self, page: Page) -> None:
        self._page, self._start, self._end, self.count = page, 0.0, 0.0, 0

    @property
    def elapsed(self) -> float:
        """From the first frame to the time at which one after the last is due [s]."""
        return self._end - self._start

    def next(self) -> None:
        """Make the next frame."""
        if not self.count:
            self._start = time.monotonic()
        self._page.step()
        self.count += 1
        due = self._start + self.count / FRAMES
        time.sleep(max(0.0, due - time.monotonic()))
        self._end = time.monotonic()


def settle(page: Page, seconds: float) -> None:
    """Let the browser load the page."""
    end = time.monotonic() + seconds
    page.run(lambda: time.monotonic() > end)


def rate_of(watcher: Any, seconds: float, work: Any) -> float:
    """Return the linearizations a second that the node publishes while ``work`` is repeated."""
    first = published(watcher)
    start = time.monotonic()
    while time.monotonic() < start + seconds:
        work()
    last = published(watcher)
    return (last[0] - first[0]) / ((last[1] - first[1]) * 1e-9)


def published(watcher: Any) -> tuple[int, int]:
    """Return how many linearizations there were, and the stamp [ns] of the newest."""
    count = watcher.counts.get('summary', 0)
    while watcher.counts.get('summary', 0) < count + 2:  # the first one may have waited
        time.sleep(0.01)
        watcher.poll()
    summary = watcher.newest['summary']
    return summary.published, summary.header.stamp.sec * 10**9 + summary.header.stamp.nanosec


def leave_processors_to_others() -> None:
    """Let this process, and all that it starts, run where nobody else wants to.

    Chromium chooses the niceness of its processes itself, but keeps a scheduling policy. Where
    Linux shares processors among sessions first, it has one of its own, with the least share.
    """
    os.setsid()
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if AUTOGROUP.exists():
        AUTOGROUP.write_text('19')


@contextlib.contextmanager
def browser(before: Callable[[], None] | None = None) -> Iterator[Any]:
    """Open headless Chromium with WebGL in software; its process calls ``before`` first."""
    from selenium import webdriver

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which('chromium') or ''
        for argument in (
            *('headless=new', 'no-sandbox', 'disable-dev-shm-usage', 'window-size=800,600'),
            *('use-angle=swiftshader', 'enable-unsafe-swiftshader', f'user-data-dir={profile}'),
        ):
            options.add_argument(f'--{argument}')
        driver = webdriver.ChromeService(
            shutil.which('chromedriver'), popen_kw={'preexec_fn': before}
        )
        window = webdriver.Chrome(options, driver)
        try:
            yield window
        finally:
            window.quit()


if __name__ == '__main__':
    sys.exit(main())

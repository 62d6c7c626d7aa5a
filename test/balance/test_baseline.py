# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The processes that compare with PD: killed, and left alone."""

import multiprocessing
import os
from threading import Event, Thread, Timer

import pytest

pytest.importorskip('mujoco')

from geolin_demos.balance.__main__ import parse
from geolin_demos.balance.baseline import compare

from geolin_ros.errors import GeolinError

ASKED = '--robot=quadruped', '--cases=4 feet'


def test_comparison__ends_if_a_process_is_killed(tmp_path):
    stop = Event()
    rescue = Timer(90.0, stop.set)
    os.mkfifo(tmp_path / '0.json')
    others = multiprocessing.active_children()  # of other tests

    def kill():
        with (tmp_path / '0.json').open('wb'):  # which waits until it is read
            (worker,) = {*multiprocessing.active_children()} - {*others}
            worker.kill()

    killer = Thread(target=kill)
    killer.start()
    rescue.start()
    try:
        with pytest.raises(GeolinError, match='was killed, perhaps for lack of memory'):
            compare([(parse(ASKED), tmp_path / '0.json')], stop, with_largest=False)
    finally:
        rescue.cancel()
        killer.join()
    assert not stop.is_set()

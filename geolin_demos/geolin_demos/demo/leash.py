# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a module that ends with the process that started it, however that one ends.

Its standard input is a pipe whose other end that process alone holds: the system closes it where
there was no time to send a signal. ``python -m geolin_demos.demo.leash MODULE ARGUMENT ...``
"""

import os
import runpy
import signal
import sys
import threading
import time

PATIENCE = 15.0  # after SIGINT [s]


def _follow() -> None:
    """Wait for the end of the other process, then end this one."""
    os.read(0, 1)  # nobody writes
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == '__main__':
    threading.Thread(target=_follow, daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)

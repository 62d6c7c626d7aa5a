# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin view` as a process."""

import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

from support.browser import PATIENCE
from support.processes import Program


def free_port():
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


@contextmanager
def serving(*arguments, environment=None):
    """Run `geolin view` with arguments; yield where its page is."""
    command = [
        sys.executable,
        '-c',
        'import sys; from geolin_ros.cli import main; sys.exit(main())',
    ]
    process = Program(
        [*command, 'view', *arguments, '--port', str(free_port())],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        lasts=True,
    )
    alarm = threading.Timer(PATIENCE, process.kill)
    alarm.start()
    try:
        line = process.stdout.readline()
        alarm.cancel()
        found = re.search(r'http://127\.0\.0\.1:\d+', line)
        assert found, f'geolin view says {line!r}'
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(100.0) == 0
    finally:
        alarm.cancel()
        process.kill()
        process.stdout.close()
        process.wait()

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""`geolin view` as a process."""

import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from support.browser import PATIENCE
from support.processes import Program


@contextmanager
def serving(*arguments):
    """Run `geolin view` with arguments; yield where its page is."""
    words = Path(sys.executable).with_name('geolin'), 'view', *arguments, '--port', '0'
    with Program(words, stdout=subprocess.PIPE, text=True, lasts=True) as process:
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        line = process.stdout.readline()
        alarm.cancel()
        found = re.search(r'http://127\.0\.0\.1:\d+', line)
        assert found, f'geolin view says {line!r}'
        yield found[0]
        process.send_signal(signal.SIGINT)
        assert process.wait(100.0) == 0

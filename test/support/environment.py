# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What the processes of tests get from their environment: a DDS domain, and this checkout."""

import fcntl
import itertools
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PROFILE = str(Path(__file__).with_name('udp_alone.xml'))
UDP_ALONE = {
    # With LOCALHOST, which all other tests have, the middleware ignores profiles.
    'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
    'FASTDDS_DEFAULT_PROFILES_FILE': _PROFILE,
    'FASTRTPS_DEFAULT_PROFILES_FILE': _PROFILE,  # of Jazzy
}
"""Loopback without shared memory."""


PROGRAMS = {
    'linearizer': 'geolin_ros.ros.linearizer',
    'lqr_node': 'geolin_control.lqr_node',
    'state_estimator': 'geolin_estimation.state_estimator',
    'torque_estimator': 'geolin_estimation.torque_estimator',
    'walking_node': 'geolin_walking.walking_node',
}
"""Modules of the nodes, by their programs; functions in ``programs`` beside them run them."""

_numbers = itertools.count()


@contextmanager
def own_domain():
    """Give a DDS domain that no other test of this machine uses meanwhile.

    1 to 100: below the ports that the system hands out. Nor the one of the call before, where a
    process that was killed stays on the graph for a while.
    """
    for _ in range(100):
        domain = 1 + (os.getpid() + next(_numbers)) % 100
        lock = os.open(f'{tempfile.gettempdir()}/geolin_ros_domain_{domain}.lock', os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            break
    else:
        raise RuntimeError('100 tests on this machine use DDS, expected a free domain')
    try:
        yield domain
    finally:
        os.close(lock)


def with_checkout(environment=os.environ):
    """Return an environment whose Python finds this checkout first, then all that it found."""
    paths = str(ROOT), environment.get('PYTHONPATH', '')
    return {**environment, 'PYTHONPATH': os.pathsep.join(filter(None, paths))}

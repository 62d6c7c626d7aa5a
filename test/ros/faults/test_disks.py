# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Disks that take nothing: the node compiles in memory, logs to its output, and answers."""

import contextlib
import os
import subprocess
import time
from collections import Counter

import pytest
from support.fault_stage import Account
from support.kernel_cache import copy_cache
from support.ros_graph import Client, Process

from geolin_ros import robots
from geolin_ros.kernels import _jit

OWN_MOUNTS = ('unshare', '--user', '--map-root-user', '--mount', 'sh', '-ec')
MOUNT = 'mount -t tmpfs -o size=500m tmpfs "$DISK"; '
FILL = 'cp -a "$SEED/." "$DISK/geolin_ros"; cat /dev/zero > "$DISK/rest" 2> /dev/null || true; '
FULL = MOUNT + 'mkdir -m 700 "$DISK/geolin_ros"; ' + FILL + 'exec "$@"'
READ_ONLY = MOUNT + 'mount -o remount,ro "$DISK"; exec "$@"'
SMALL = 'se3.place_base-*'
"""A kernel that is not in the cache of the full disk."""


@pytest.fixture(scope='module', autouse=True)
def _own_mounts():
    run = subprocess.run([*OWN_MOUNTS, 'true'], capture_output=True, check=False)
    if run.returncode:
        pytest.skip(f'no mounts of our own here: {run.stderr.decode()}')


def answers(graph, model, folder, wrapper, environment, accounts, fault):
    """Start the node so, let it answer, note that, stop it and return its log."""
    disk = folder / 'disk'
    disk.mkdir()
    client = Client(graph, folder, model)
    start = time.monotonic()
    client.process = Process(
        folder,
        {'robot_description_file': str(robots.path('quadruped'))},
        client.namespace,
        wrapper=wrapper,
        environment={'DISK': str(disk), **environment},
    )
    with contextlib.closing(client):
        client.wait_until_active()
        client.wait_until_serving()
        client.shake_hands()
        recovery = time.monotonic() - start
        for _ in range(10):
            assert client.ask().model_hash == model.hash
    accounts.append(Account(fault, 10, 0, 10, Counter(), recovery))
    return client.process.log


def test_full_disk_for_the_cache__is_said_and_the_node_answers(
    graph, quadruped, tmp_path, accounts
):
    seed = copy_cache(tmp_path, SMALL) / 'geolin_ros'
    environment = {'SEED': str(seed), 'XDG_CACHE_HOME': str(tmp_path / 'disk')}
    log = answers(
        graph, quadruped, tmp_path, (*OWN_MOUNTS, FULL, 'sh'), environment, accounts,
        'disk full for the cache (time of a start)',
    )  # fmt: skip
    says = f'compiled code cannot be kept in {tmp_path / "disk"}/geolin_ros: No space left'
    assert log.count(says) == 1


def test_read_only_home__is_no_obstacle(graph, quadruped, tmp_path, accounts):
    """The cache is then in the folder for temporary files, and there is no log file."""
    os.symlink(_jit.CACHE_FOLDER, tmp_path / f'geolin_ros-{os.getuid()}')
    environment = dict.fromkeys(('ROS_LOG_DIR', 'ROS_HOME', 'XDG_CACHE_HOME', 'NUMBA_CACHE_DIR'))
    environment |= {'HOME': str(tmp_path / 'disk'), 'TMPDIR': str(tmp_path)}
    log = answers(
        graph, quadruped, tmp_path, (*OWN_MOUNTS, READ_ONLY, 'sh'), environment, accounts,
        'home read-only (time of a start)',
    )  # fmt: skip
    assert 'serve quadruped' in log

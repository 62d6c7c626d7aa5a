# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import sys

import pytest

# xarray looks for a package of this name, and must not find the folder of tests.
sys.modules.setdefault('sparse', None)

if sys.version_info < (3, 11):
    collect_ignore_glob = ['*']  # the extra needs it
else:
    from support.bags import Messages, flight, quadruped, write_bag


@pytest.fixture(scope='session')
def robot():
    """The quadruped: model and URDF text."""
    return quadruped()


@pytest.fixture(scope='session')
def samples(robot):
    """Half a second of its flight."""
    return flight(robot[0], 250)


@pytest.fixture(scope='session')
def bag(robot, samples, tmp_path_factory):
    """The same as a bag."""
    model, text = robot
    path = tmp_path_factory.mktemp('bags') / 'flight'
    return write_bag(path, Messages(model).of_samples(samples), text)

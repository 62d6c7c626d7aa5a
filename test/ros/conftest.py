# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

import contextlib
from pathlib import Path

import pytest

from geolin_ros import TreeModel, robots

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

from support.environment import own_domain
from support.ros_graph import Client, Graph


def pytest_collection_modifyitems(items):
    """Mark all that talks over DDS."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope='session')
def graph():
    with contextlib.closing(Graph()) as graph:
        yield graph


@pytest.fixture(scope='session')
def quadruped():
    return TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture(scope='module')
def robot(graph, quadruped, tmp_path_factory):
    """A client of one node that serves all tests of a module; the quadruped, from its file."""
    client = Client(graph, tmp_path_factory.mktemp('node'), quadruped)
    with contextlib.closing(client):
        client.serve()
        client.new_drops()
        yield client


@pytest.fixture
def new_client(graph, tmp_path_factory):
    """Return a function that makes clients; the nodes that they start end with the test."""
    with contextlib.ExitStack() as clients:

        def new(model, **options):
            client = Client(graph, tmp_path_factory.mktemp('node'), model, **options)
            return clients.enter_context(contextlib.closing(client))

        yield new


@pytest.fixture
def client(new_client, quadruped):
    """A client whose node the test starts itself."""
    return new_client(quadruped)


@pytest.fixture
def own_graph():
    """A domain of its own: what a killed process does to shared memory, it does to this one."""
    with own_domain() as domain, contextlib.closing(Graph(domain)) as graph:
        yield graph

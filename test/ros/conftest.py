# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import pytest

from geolin_ros import TreeModel, robots

pytest.importorskip('rclpy')
pytest.importorskip('geolin_msgs.msg')

from support.ros_graph import Client, Graph


def pytest_collection_modifyitems(items):
    """Mark all that talks over DDS."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope='session')
def graph():
    graph = Graph()
    yield graph
    graph.close()


@pytest.fixture(scope='session')
def quadruped():
    return TreeModel.from_urdf(robots.path('quadruped'))


@pytest.fixture(scope='module')
def robot(graph, quadruped, tmp_path_factory):
    """A client of one node that serves all tests of a module; the quadruped, from its file."""
    client = Client(graph, tmp_path_factory.mktemp('node'), quadruped)
    client.start(robot_description_file=str(robots.path('quadruped')))
    client.wait_until_active()
    client.wait_until_serving()
    client.shake_hands()
    yield client
    client.close()


@pytest.fixture
def client(graph, quadruped, tmp_path):
    """A client whose node the test starts itself."""
    client = Client(graph, tmp_path, quadruped)
    yield client
    client.close()

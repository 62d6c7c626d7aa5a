# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Contact forces and modes for RViz, over DDS."""

import numpy as np
import pytest
from support.close import assert_close
from support.ros_graph import RELIABLE

from geolin_ros.dynamics.kinematics import Kinematics
from geolin_ros.stream.outputs.reading import read_linearization

markers = pytest.importorskip('visualization_msgs.msg')
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')


def ends(marker):
    return np.array([(point.x, point.y, point.z) for point in marker.points])


def test_markers__are_the_contact_forces_and_modes_of_the_linearization(client):
    arrays = []
    client.graph.node.create_subscription(
        markers.MarkerArray, f'{client.node_name}/markers', arrays.append, RELIABLE
    )
    client.serve(contacts=[f'{foot} point' for foot in FEET], marker_rate=100.0)

    def with_modes():
        client.time += 20_000_000
        client.ask()
        return arrays and any(marker.ns == 'mode_1' for marker in arrays[-1].markers)

    client.wait_for(with_modes)
    array = arrays[-1]
    stamp = array.markers[0].header.stamp
    (message,) = [one for one in client.linearizations if one.header.stamp == stamp]
    first, *rest = array.markers
    assert first.action == markers.Marker.DELETEALL
    assert {one.header.frame_id for one in rest} == {'odom'}
    assert len({(one.ns, one.id) for one in rest}) == len(rest)
    forces = [one for one in rest if one.ns == 'contact_forces']
    at = Kinematics(client.model, read_linearization(message).state)
    scale = 0.6 / (9.81 * client.model.total_mass)
    for foot, contact, arrow in zip(FEET, message.contact_dynamics.contacts, forces, strict=True):
        H, force = at.pose(foot), contact.wrench.force
        assert arrow.type == markers.Marker.ARROW
        start, end = ends(arrow)
        assert_close(start, H[:3, 3], 1e-9)
        assert_close(end - start, scale * H[:3, :3] @ (force.x, force.y, force.z), 1e-9)
    modes = [one for one in rest if one.ns == 'mode_1']
    arrows = [one for one in modes if one.type == markers.Marker.ARROW]
    (words,) = [one.text for one in modes if one.type == markers.Marker.TEXT_VIEW_FACING]
    assert len(arrows) == len(client.model.body_names)
    lengths = [np.linalg.norm(np.diff(ends(one), axis=0)) for one in arrows]
    assert max(lengths) == pytest.approx(0.3, rel=1e-6)
    assert ' Hz, ' in words

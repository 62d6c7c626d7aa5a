# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Names in parameters of the other nodes are looked up in the robot before they are taken.

test_live_model.py does that for the linearization node.
"""

import pytest
from rcl_interfaces.srv import SetParametersAtomically
from support.ros_graph import START, Process, parameter_request

from geolin_ros import robots

QUADRUPED = {'robot_description_file': str(robots.path('quadruped'))}


@pytest.mark.parametrize(
    ('module', 'parameters', 'cases'),
    [
        (
            'lqr_node',
            {'supports': ['FL_foot:0.02', 'FR_foot:0.02']},
            [
                ({'supports': ['FL_sole:0.02']}, "'FL_sole'"),
                ({'weights': ['s.knee=0.1']}, "'s.knee'"),
            ],
        ),
        (
            'torque_estimator',
            {'imu_topics': ['imu base']},
            [
                ({'imu_topics': ['imu tray']}, "'tray'"),
                ({'imu_topics': ['imu FL_foot']}, 'no IMU that turns with it'),
                ({'unknown_wrenches': ['hand']}, "'hand'"),
                ({'wrench_topics': ['force hand']}, "'hand'"),
            ],
        ),
    ],
    ids=['lqr_node', 'torque_estimator'],
)
def test_name_that_the_robot_has_not__is_refused(graph, tmp_path, module, parameters, cases):
    process = Process(tmp_path, QUADRUPED | parameters, '/names', module=module, forked=True)
    service = f'/names/{module}/set_parameters_atomically'
    client = graph.node.create_client(SetParametersAtomically, service)

    def answer_to(values):
        nonlocal client
        response, client = graph.call(client, parameter_request(values), process)
        return response.result

    try:
        graph.wait_for(lambda: 'serve quadruped' in process.log, START, process)
        for values, says in cases:
            result = answer_to(values)
            assert not result.successful
            assert says in result.reason
        assert answer_to(parameters).successful
        process.stop()
    finally:
        process.end()
        graph.node.destroy_client(client)

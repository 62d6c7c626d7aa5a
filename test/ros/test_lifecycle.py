# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0

from diagnostic_msgs.msg import DiagnosticStatus

from geolin_ros import robots


def test_node__is_driven_by_a_lifecycle_manager(client):
    client.start(autostart=False, robot_description_file=str(robots.path('quadruped')))
    assert client.state() == 'unconfigured'
    assert not client.change_state('activate')
    outputs = f'{client.node_name}/linearization'

    for round_number in (1, 2):
        assert client.change_state('configure')
        assert client.state() == 'inactive'
        level, text, _ = client.next_diagnostics()
        assert (level, text) == (DiagnosticStatus.WARN, 'waits for activation')
        client.wait_for(lambda: client.joint_states.get_subscription_count() == 0)
        assert client.change_state('activate')
        client.wait_until_active()
        client.shake_hands()
        assert client.ask().model_hash == client.model.hash

        assert client.change_state('deactivate')
        client.wait_for(lambda: client.joint_states.get_subscription_count() == 0)
        assert client.change_state('activate')
        client.wait_until_active()
        client.linearizations.clear()
        client.shake_hands()

        assert client.change_state('deactivate')
        assert client.change_state('cleanup')
        assert client.state() == 'unconfigured'
        client.wait_for(lambda: client.graph.node.count_publishers(outputs) == 0)
        client.linearizations.clear()
        assert client.process.log.count('serve quadruped') == round_number

    assert client.change_state('configure')
    assert client.change_state('activate')
    assert client.change_state('shutdown')
    assert client.state() == 'finalized'
    client.wait_for(lambda: client.graph.node.count_publishers(outputs) == 0)


def test_parameters_set_before_configuring__are_checked_and_hold(client):
    """On the robot of the parameters, also once it has been served."""
    client.start(autostart=False)
    client.wait_for(lambda: client.state() == 'unconfigured')
    text = robots.path('quadruped').read_text()
    assert client.set_parameters(robot_description=text, reference='frozen') == (True, '')
    for _ in range(2):
        accepted, reason = client.set_parameters(contacts=['FL_sole point'])
        assert not accepted
        assert "'FL_sole'" in reason
        assert client.change_state('configure')
        assert client.change_state('cleanup')
    assert client.change_state('configure')
    assert client.change_state('activate')
    client.wait_until_active()
    client.shake_hands()
    assert client.ask().reference == 2

# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the robot description comes from: a parameter, a file, another node, or a topic."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from std_msgs.msg import String

from geolin_ros.ros.executor import STEADY
from geolin_ros.ros.topics import LATCHED, overridable

SOURCE_NAMES = ('robot_description', 'robot_description_file', 'robot_description_node')
PERIOD = 1.0
"""Time between two questions to another node [s]."""


class DescriptionSource:
    """Looks for a description from its making until `close`.

    The first of these parameter ``values`` that is given wins: ``robot_description`` (text),
    ``robot_description_file``, ``robot_description_node`` (which is asked until it answers); else
    the topic ``robot_description`` is followed. ``found`` is called with a text or a path: at
    once, or when it comes, from the executor's thread.
    """

    def __init__(
        self, node: Any, values: Mapping[str, Any], found: Callable[[str | Path], None]
    ) -> None:
        self._node, self._found = node, found
        self._entities: list[tuple[Callable[[Any], object], Any]] = []
        self._question: Any = None
        self.waits_for = ''  # what a user has to provide
        if values['robot_description'] or values['robot_description_file']:
            found(values['robot_description'] or Path(values['robot_description_file']))
        elif values['robot_description_node']:
            self._ask(values['robot_description_node'])
        else:
            self._listen()

    def close(self) -> None:
        """Look no more."""
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities.clear()

    def _listen(self) -> None:
        node, name = self._node, 'robot_description'
        subscription = node.create_subscription(
            String, name, lambda message: self._found(message.data), **overridable(LATCHED)
        )
        self._entities.append((node.destroy_subscription, subscription))
        self.waits_for = (
            f'a robot description on topic {node.resolve_topic_name(name)} '
            '(std_msgs/String, transient local), or in parameter robot_description, '
            'robot_description_file or robot_description_node'
        )

    def _ask(self, other: str) -> None:
        """Ask for the parameter of another node, again and again: it may start later."""
        node = self._node
        service = node.resolve_service_name(f'{other}/get_parameters')
        client = node.create_client(GetParameters, service)
        timer: Any = node.create_timer(PERIOD, lambda: self._send(client, timer), clock=STEADY)
        self._entities += [(node.destroy_timer, timer), (node.destroy_client, client)]
        self.waits_for = (
            f'parameter robot_description of node {other} by service {service} '
            '(rcl_interfaces/GetParameters)'
        )
        self._send(client, timer)

    def _send(self, client: Any, timer: Any) -> None:
        if self._question is not None:  # lost: the other node may have gone
            client.remove_pending_request(self._question)
        self._question = None
        if client.service_is_ready():
            self._question = client.call_async(GetParameters.Request(names=['robot_description']))
            self._question.add_done_callback(lambda answer: self._on_answer(answer, timer))

    def _on_answer(self, answer: Any, timer: Any) -> None:
        if not self._entities or answer.cancelled() or answer.exception() is not None:
            return
        values = answer.result().values
        if values and values[0].type == ParameterType.PARAMETER_STRING and values[0].string_value:
            timer.cancel()
            self._found(values[0].string_value)

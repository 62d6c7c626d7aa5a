# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node is given: parameters, checked and served together, and a robot description."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import ParameterType, SetParametersResult
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.parameter import Parameter
from rclpy.parameter_service import ParameterService
from std_msgs.msg import String

from geolin_ros.ros.running import STEADY
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


class ParameterServices(ParameterService):
    """As those of every node, but ``ros2 param load`` of a whole file is one change.

    rclpy sets the parameters of one request one by one. Those that do not fit together still are.
    The node tries them on its robot in a thread of its own, while others are answered.
    """

    async def _set_parameters_callback(
        self, request: SetParameters.Request, response: SetParameters.Response
    ) -> SetParameters.Response:
        node = self._get_node()
        given = [Parameter.from_parameter_msg(message) for message in request.parameters]
        known = [parameter for parameter in given if node.has_parameter(parameter.name)]
        together = [p for p in known if not node.describe_parameter(p.name).read_only]
        result = SetParametersResult(successful=False)
        if len(together) > 1:
            result = await self._set(together)
        for parameter in given:
            is_set = result.successful and parameter in together
            response.results.append(result if is_set else await self._set([parameter]))
        return response

    async def _set_parameters_atomically_callback(
        self, request: SetParametersAtomically.Request, response: SetParametersAtomically.Response
    ) -> SetParametersAtomically.Response:
        given = [Parameter.from_parameter_msg(message) for message in request.parameters]
        response.result = await self._set(given)
        return response

    async def _set(self, parameters: Sequence[Any]) -> SetParametersResult:
        node: Any = self._get_node()
        try:
            reason = await node.objection(parameters)
            if reason:
                return SetParametersResult(successful=False, reason=reason)
            return node.set_parameters_atomically(parameters)
        except ParameterNotDeclaredException as error:
            return SetParametersResult(successful=False, reason=str(error))
